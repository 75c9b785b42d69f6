import pytest

from xplearn.testing import parts
from xplearn.testing.contracts.policy import ACTIONS, LocalPolicyContract, PolicyContract
from xplearn.testing.server import ChatServer, completion

BARE = [name for name in parts.names("policy") if name in {"core.scripted", "core.random"}]


class TestPolicies(PolicyContract):
    @pytest.fixture(params=BARE)
    def make(self, request):
        return parts.maker("policy", request.param)


class TestOpenAiPolicy(PolicyContract):
    @pytest.fixture
    def make(self):
        with ChatServer(lambda number, request: completion(ACTIONS[request["seed"] % len(ACTIONS)])) as server:
            yield parts.maker("policy", "core.openai", {"url": server.url, "model": "small"})


class TestHfPolicy(LocalPolicyContract):
    @pytest.fixture(params=["lora", "all-weights"])
    def make(self, request):
        pytest.importorskip("torch")
        from xplearn.policies.weights import LoraConfig
        from xplearn.testing.fakes import FakePolicy

        return lambda: FakePolicy(lora=LoraConfig(rank=4) if request.param == "lora" else None)
