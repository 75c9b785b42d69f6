from __future__ import annotations

import numpy as np
import pytest

from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent


def fill(agent, numbers, *, space="state"):
    """Experiences of these numbers, with the policy's own states of them."""
    from xplearn_expweaver.states import encoder_id, states

    experiences = [samples.experience(number) for number in numbers]
    vectors = states(agent.policy, [experience.content for experience in experiences])
    agent.store.open_space(space, encoder=encoder_id(agent.policy), dim=vectors.shape[1])
    agent.store.add(experiences, {space: np.ascontiguousarray(vectors)})
    return experiences


@pytest.fixture
def beside_policy():
    """An agent with a tiny language model and a bank of ten experiences."""
    pytest.importorskip("torch")
    from xplearn.testing.fakes import FakePolicy

    with FakeAgent(policy=FakePolicy()) as agent:
        fill(agent, range(10))
        yield agent
