"""Banks from elsewhere that hold figures nobody could have measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from xplearn_edge.evolve import EvolveLearner
from xplearn_edge.retrieve import RetrieveSelector
from xplearn_edge.ucb import worth

from xplearn import Experience, Query
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent


def entry(number, **fields):
    key = f"Take the lamp {number}"
    told = {"content": f"When it is dark: take lamp {number}.", "source": f"t/{number}", "task": f"other/{number}", "task_kind": "take"}
    return Experience(id=f"x/{number}", kind="principle", key=key, **told, **fields)


def fill(agent, *entries):
    agent.store.open_space("key", encoder=agent.encoder.id, dim=agent.encoder.dim)
    agent.store.add(list(entries), {"key": agent.encoder.encode([found.key for found in entries])})


def selected(*entries):
    query = Query(purpose="act", task=samples.task(0), messages=({"role": "user", "content": "It is dark."},))
    with FakeAgent() as agent:
        fill(agent, *entries)
        selector = RetrieveSelector(k=2)
        selector.setup(agent)
        (found,) = selector.select([query], agent.store)
    assert np.isfinite(found.scores).all()
    return {experience.id for experience in found.experiences}


@pytest.mark.parametrize("uses", [-1, -7])
def test_an_entry_used_less_than_never_hides_no_other(uses):
    assert selected(entry(1, uses=uses), entry(2)) == {"x/1", "x/2"}
    assert worth([0.0], [uses]) == worth([0.0], [0])


def test_utilities_beyond_single_precision_hide_no_other():
    assert selected(entry(1, utility=1e308), entry(2, utility=1e300), entry(3, utility=-1e308)) == {"x/1", "x/2"}


@pytest.mark.parametrize("figure", [10**30, -(10**30), -3, 1.5, "3", [1], None])
def test_counts_that_cannot_be_are_none(figure):
    counts = dict.fromkeys(("negative", "made_at", "shown_at"), figure)
    rollouts = [dataclasses.replace(samples.trajectory(number), source="rollout") for number in range(2)]
    with FakeAgent() as agent:
        fill(agent, entry(1, utility=-0.5, meta=counts), entry(2, meta=counts))
        learner = EvolveLearner(writer="rules", window=1, new_per_step=0)
        learner.setup(agent)
        figures = learner.learn(rollouts, agent)
        assert (figures["pruned"], figures["bank"]) == (1.0, 1.0), "made before the first step, it is old enough to go"
        assert learner.state_dict()["step"] == 1
