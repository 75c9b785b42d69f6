"""What other methods are compared with: learners, and presets that lay a baseline over any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry

LEARNERS = {
    "untrained": ("xplearn_baselines.untrained:Untrained", "asks for demonstrations, so that a bank is written, and trains nothing"),
    "agent_tuning": ("xplearn_baselines.agent_tuning:AgentTuningLearner", "clones demonstrations among general conversations"),
    "eto": ("xplearn_baselines.eto:EtoLearner", "clones, then DPO on own failures beside the expert's successes"),
}


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the learners and presets."""
    for name, (target, help) in LEARNERS.items():
        registry.add("learner", name, target, help=help)
    registry.add_presets("xplearn_baselines")
