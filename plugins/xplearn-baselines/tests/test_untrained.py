from xplearn_baselines.untrained import Untrained

from xplearn.testing.agents import FakeAgent
from xplearn.testing.samples import trajectory


def test_it_asks_for_demonstrations_and_learns_nothing():
    with FakeAgent() as agent:
        assert Untrained().plan().source == "demonstration"
        assert Untrained().learn([trajectory(0)], agent) == {}
        assert (agent.policy.version, len(agent.store)) == (0, 0)
