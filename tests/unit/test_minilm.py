import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from xplearn.encoders.minilm import MiniLmEncoder  # noqa: E402
from xplearn.errors import ConfigError, ContractError, DataError  # noqa: E402

WORDS = "[PAD] [UNK] [CLS] [SEP] open the door find a living thing in kitchen and focus on it"
TEXTS = ["open the door", "", "find a living thing in the kitchen and focus on it", "open the door", "a"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A random encoder of two layers in the same format."""
    folder = tmp_path_factory.mktemp("bert")
    words = WORDS.split()
    vocabulary = {word: index for index, word in enumerate(words)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=384, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=64
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def _encoder(folder, **fields):
    encoder = MiniLmEncoder(model=str(folder), max_tokens=32, **fields)
    encoder.setup(None)
    return encoder


def test_vectors_have_length_one_and_an_empty_text_is_zero(folder):
    vectors = _encoder(folder).encode(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1, 1], atol=1e-5)


def test_a_vector_is_the_mean_of_the_last_states(folder):
    model, tokenizer = transformers.AutoModel.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        states = model.eval()(**tokenizer(TEXTS[2], return_tensors="pt")).last_hidden_state[0].mean(0)
    np.testing.assert_allclose(_encoder(folder).encode(TEXTS[2:3])[0], (states / states.norm()).numpy(), atol=1e-6)


def test_a_vector_depends_on_its_text_alone_to_the_bit(folder):
    encoder = _encoder(folder)
    together = encoder.encode(TEXTS)
    assert np.array_equal(together, np.concatenate([encoder.encode([text]) for text in TEXTS]))
    assert np.array_equal(together[0], together[3])


def test_larger_batches_keep_order_and_change_only_rounding(folder):
    np.testing.assert_allclose(_encoder(folder, batch=4).encode(TEXTS), _encoder(folder).encode(TEXTS), atol=1e-6)


def test_long_texts_are_cut(folder):
    encoder = _encoder(folder)
    assert np.array_equal(encoder.encode(["door " * 30]), encoder.encode(["door " * 300]))


def test_no_text_gives_no_row(folder):
    assert _encoder(folder).encode([]).shape == (0, 384)


def test_the_id_names_model_and_limit(folder):
    assert MiniLmEncoder().id == "core.minilm/all-MiniLM-L6-v2/256"
    assert MiniLmEncoder(model=str(folder)).id == f"core.minilm/{folder.name}/256"


def test_missing_weights_name_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path))
    monkeypatch.setattr("xplearn.policies.backbone.wheel_folder", lambda known: None)
    with pytest.raises(DataError, match="xplearn models get minilm"):
        MiniLmEncoder().setup(None)


def test_a_model_of_another_width_is_refused(folder, tmp_path):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    config = json.loads((folder / "config.json").read_text()) | {"hidden_size": 16}
    (tmp_path / "config.json").write_text(json.dumps(config))
    transformers.BertModel(transformers.BertConfig.from_pretrained(tmp_path)).save_pretrained(tmp_path)
    with pytest.raises(ContractError, match="vectors of 16 entries"):
        MiniLmEncoder(model=str(tmp_path)).setup(None)


def test_encoding_before_setup_is_refused():
    with pytest.raises(ContractError, match="before setup"):
        MiniLmEncoder().encode(["a"])


@pytest.mark.parametrize(("field", "value"), [("max_tokens", 0), ("max_tokens", 513), ("batch", 0)])
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match=field):
        MiniLmEncoder(**{field: value})
