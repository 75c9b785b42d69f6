"""Every registered learner that needs no language model; those that do are held to the same contract beside it."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import LearnerContract

NAMES = parts.names("learner")
BESIDE_A_POLICY = {
    "baselines.agent_tuning",
    "baselines.eto",
    "core.clone",
    "core.grpo",
    "edge.distill",
    "expweaver.summaries",
    "hamo.cards",
}


class TestLearners(LearnerContract):
    @pytest.fixture(params=[name for name in NAMES if name not in BESIDE_A_POLICY])
    def make(self, request):
        return parts.maker("learner", request.param)


def test_the_core_registers_its_learners():
    assert {"core.record", "core.clone"} <= set(NAMES)
