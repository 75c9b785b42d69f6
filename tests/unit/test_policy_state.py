import contextlib
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.encoders.policy_state import PolicyEncoder  # noqa: E402
from xplearn.errors import ContractError  # noqa: E402
from xplearn.policies.tiny import TinyPolicy  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.contracts import EncoderContract  # noqa: E402


class Policy:
    """States are counts of two letters, shifted by what was learned."""

    width, identity = 2, "folder/1f"

    def __init__(self):
        self.learned, self.version = 0.0, 0

    def encode(self, texts):
        return torch.tensor([[text.count("a") + self.learned, text.count("b") * 1.0] for text in texts])

    @contextlib.contextmanager
    def reference(self):
        kept, self.learned = self.learned, 0.0
        yield
        self.learned = kept


def _encoder(policy, **fields):
    encoder = PolicyEncoder(**fields)
    encoder.setup(SimpleNamespace(policy=policy))
    return encoder


def test_states_are_normalised_and_an_empty_text_is_zero():
    vectors = _encoder(Policy()).encode(["aaabbbb", "", "b"])
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0, 0], [0, 1]], atol=1e-6)
    assert vectors.dtype == np.float32


def test_the_width_is_the_policys():
    assert _encoder(Policy()).dim == 2
    assert _encoder(Policy()).encode([]).shape == (0, 2)


def test_reference_vectors_stay_while_current_ones_follow_the_policy():
    policy = Policy()
    reference, current = _encoder(policy), _encoder(policy, weights="current")
    before = reference.encode(["ab"])
    policy.learned = 3.0
    assert np.array_equal(reference.encode(["ab"]), before)
    np.testing.assert_allclose(current.encode(["ab"])[0], [4 / 17**0.5, 1 / 17**0.5], atol=1e-6)
    assert policy.learned == 3.0


def test_the_id_tells_the_kinds_apart_and_stays_while_the_policy_learns():
    policy = Policy()
    encoder = _encoder(policy)
    before = encoder.id
    policy.version = 5
    assert encoder.id == before == "core.policy/reference/folder/1f"
    assert _encoder(policy, weights="current").id == "core.policy/current/folder/1f"


def test_it_asks_for_what_it_uses():
    assert PolicyEncoder().requires == {"policy.encode", "policy.reference"}
    assert PolicyEncoder(weights="current").requires == {"policy.encode"}


def test_encoding_before_setup_is_refused():
    with pytest.raises(ContractError, match="before setup"):
        PolicyEncoder().encode(["a"])


class ReadyPolicy(TinyPolicy):
    """A policy that has its vocabulary from the start."""

    def setup(self, agent):
        super().setup(agent)
        self.prepare(["open the door", "open the lamp"])


class TestBesideAPolicy(EncoderContract):
    @pytest.fixture(params=["reference", "current"])
    def make(self, request):
        return lambda: PolicyEncoder(weights=request.param)

    @pytest.fixture
    def agent(self):
        with FakeAgent(policy=ReadyPolicy(layers=2, width=32, heads=2, vocabulary=280, context_tokens=256)) as agent:
            yield agent
