"""EDGE's parts: a bank that evolves with what experience is worth, and a learner that distils it into the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn import Reported
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the parts and presets."""
    registry.add(
        "learner",
        "distill",
        "xplearn_edge.distill:DistillLearner",
        help="GRPO in both arms, and the policy with experience as teacher of the policy without",
    )
    registry.add("learner", "evolve", "xplearn_edge.evolve:EvolveLearner", help="writes principles from contrasts, prunes those that hurt")
    registry.add("selector", "retrieve", "xplearn_edge.retrieve:RetrieveSelector", help="similarity, utility and curiosity (UCB)")
    registry.add(
        "conditioner", "prompt", "xplearn_edge.prompt:PrinciplesConditioner", help="task and step principles as bullets, with a caution"
    )
    registry.add_presets("xplearn_edge")


@hookimpl
def xplearn_reported() -> list[Reported]:
    """What the paper reports."""
    from xplearn_edge.reported import rows

    return rows()
