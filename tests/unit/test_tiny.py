import json
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.errors import ConfigError, ContractError, RecordError  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.tiny import TinyPolicy  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.types import Conditioning, Query, Sampling, Selection, Step, Task, Trajectory  # noqa: E402

THINGS = ["cup", "key", "lamp", "book", "shoe", "coin"]
CORPUS = [f"The {thing} is on the {place}." for thing in THINGS for place in THINGS] + [f"take {thing}" for thing in THINGS]
GREEDY = Sampling(temperature=0.0)


def _policy(seed=0, **fields):
    policy = TinyPolicy(**{"layers": 2, "width": 32, "heads": 2, "vocabulary": 320, "context_tokens": 256} | fields)
    policy.setup(SimpleNamespace(seed=seed))
    return policy


def _prepared(seed=0, **fields):
    policy = _policy(seed, **fields)
    policy.prepare(CORPUS)
    return policy


def _asked(text):
    return Conditioning(messages=({"role": "user", "content": text},))


def _say(policy, text, sampling=GREEDY):
    return policy.generate([_asked(text)], sampling, [1])[0]


def _weights(policy):
    return {name: value.detach().clone() for name, value in policy.parameters()}


def _equal(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def test_it_needs_a_corpus_until_it_is_prepared():
    policy = _policy()
    assert policy.needs_corpus
    with pytest.raises(ContractError, match=r"no vocabulary yet; call prepare"):
        _say(policy, "hello")
    policy.prepare(CORPUS)
    assert not policy.needs_corpus
    assert _say(policy, "The cup is on the key.").token_ids


def test_the_same_seed_and_corpus_give_the_same_policy_and_another_seed_does_not():
    first, same, other = _prepared(3), _prepared(3), _prepared(4)
    assert _equal(_weights(first), _weights(same))
    assert not _equal(_weights(first), _weights(other))
    assert _say(first, "The cup is on the key.") == _say(same, "The cup is on the key.")


def test_making_it_leaves_the_global_generator():
    state = torch.get_rng_state()
    _prepared()
    assert torch.equal(torch.get_rng_state(), state)


def test_the_size_is_what_was_asked_for():
    policy = _prepared(layers=3, width=48, heads=3)
    shapes = {name: tuple(value.shape) for name, value in policy.parameters()}
    assert sum(name.endswith("q_proj.weight") for name in shapes) == 3
    assert all(value.dtype == torch.float32 for _, value in policy.parameters())
    assert shapes["model.embed_tokens.weight"][1] == 48
    assert shapes["model.embed_tokens.weight"][0] <= 320


def test_a_saved_policy_loads_into_an_empty_one_as_it_was(tmp_path):
    policy = _prepared()
    with torch.no_grad():
        for _, value in policy.parameters():
            value.add_(0.01)
    policy.version = 4
    policy.save(tmp_path / "policy")
    loaded = _policy(seed=9)
    loaded.load(tmp_path / "policy")
    assert not loaded.needs_corpus
    assert loaded.version == 4
    assert _equal(_weights(policy), _weights(loaded))
    assert _say(loaded, "The cup is on the key.") == _say(policy, "The cup is on the key.")


def test_a_policy_that_was_loaded_is_saved_as_the_same_bytes(tmp_path):
    _prepared().save(tmp_path / "first")
    policy = _policy()
    policy.load(tmp_path / "first")
    policy.save(tmp_path / "second")
    first, second = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()}
        for name in ("first", "second")
    )
    assert first == second


def test_loading_again_keeps_what_is_attached(tmp_path):
    policy = _prepared()
    policy.save(tmp_path / "policy")
    engine = policy._engine
    policy.load(tmp_path / "policy")
    assert policy._engine is engine


def test_another_shape_is_refused_on_loading(tmp_path):
    _prepared().save(tmp_path / "policy")
    with pytest.raises(RecordError, match="another configuration"):
        _policy(layers=1).load(tmp_path / "policy")


def test_a_missing_or_damaged_save_is_refused(tmp_path):
    with pytest.raises(RecordError, match="no saved policy"):
        _policy().load(tmp_path / "nothing")
    _prepared().save(tmp_path / "policy")
    (tmp_path / "policy" / "weights" / "model.safetensors").write_bytes(b"")
    with pytest.raises(RecordError, match=r"model\.safetensors has 0 bytes"):
        _policy().load(tmp_path / "policy")


@pytest.mark.parametrize("name", ["weights/model.safetensors", "tokenizer/tokenizer.json"])
def test_a_save_of_the_right_size_but_other_content_is_refused(tmp_path, name):
    _prepared().save(tmp_path / "policy")
    file = tmp_path / "policy" / name
    content = bytearray(file.read_bytes())
    content[-8] ^= 1
    file.write_bytes(content)
    with pytest.raises(RecordError, match="does not match its digest"):
        _policy().load(tmp_path / "policy")


def test_saving_without_a_vocabulary_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(ContractError, match="no vocabulary"):
        _policy().save(tmp_path / "policy")
    assert not list(tmp_path.iterdir())


def test_its_state_restores_an_empty_policy():
    policy = _prepared()
    with torch.no_grad():
        next(iter(policy.parameters()))[1].mul_(2.0)
    assert json.loads(policy.state_dict()["tokenizer"])
    fresh = _policy()
    assert fresh.state_dict() == {}
    fresh.load_state_dict({})
    fresh.load_state_dict(policy.state_dict())
    assert _equal(_weights(policy), _weights(fresh))


def test_a_second_vocabulary_is_refused():
    with pytest.raises(ContractError, match="another vocabulary"):
        _prepared().prepare(["something else entirely, twice", "something else entirely, twice"])


@pytest.mark.parametrize(("field", "value"), [("layers", 0), ("width", 30), ("heads", 5), ("vocabulary", 258), ("context_tokens", 0)])
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match="width" if field == "heads" else field):
        TinyPolicy(**{field: value})


@pytest.mark.parametrize("field", ["model", "lora", "dtype", "template_options"])
def test_fields_without_meaning_here_do_not_exist(field):
    with pytest.raises(TypeError, match=field):
        TinyPolicy(**{field: "x"})


def _lesson(policy, thing, place):
    """One demonstration: take what lies there."""
    text, action = f"The {thing} is on the {place}.", f"take {thing}"
    task = Task(id=f"{thing}-{place}", env="toy", split="train", goal="take it")
    query = Query(purpose="act", task=task, messages=_asked(text).messages)
    completion = policy.transcribe([_asked(text)], [action])[0]
    step = Step(
        query=query,
        selection=Selection(),
        conditioning=_asked(text),
        completion=completion,
        action=action,
        reward=1.0,
        terminated=True,
        truncated=False,
        valid=True,
    )
    return Trajectory(id=task.id, task=task, steps=(step,), arm="experience", group=task.id, seed=0, source="demonstration", score=1.0)


def test_cloning_teaches_it_what_holds_for_pairs_it_never_saw():
    policy = _prepared(width=64)
    pairs = [(thing, place) for thing in THINGS for place in THINGS if thing != place]
    held = pairs[::7]
    agent = FakeAgent(policy=policy)
    before = sum(_say(policy, f"The {a} is on the {b}.").text == f"take {a}" for a, b in held)
    lessons = [_lesson(policy, *pair) for pair in pairs if pair not in held]
    figures = CloneLearner(lr=3e-3, epochs=40, batch=4).learn(lessons, agent)
    after = sum(_say(policy, f"The {a} is on the {b}.").text == f"take {a}" for a, b in held)
    assert before == 0
    assert after == len(held)
    assert figures["loss_last"] < 0.1 < figures["loss_first"]
    assert policy.version == 1
