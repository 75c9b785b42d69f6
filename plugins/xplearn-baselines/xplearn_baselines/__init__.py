"""What other methods are compared with: learners, and presets that lay a baseline over any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the parts and presets."""
    registry.add(
        "learner",
        "untrained",
        "xplearn_baselines.untrained:Untrained",
        help="asks for demonstrations, so that a bank is written, and trains nothing",
    )
    registry.add(
        "learner", "eto", "xplearn_baselines.eto:EtoLearner", help="clones, then DPO on own failures beside the expert's successes"
    )
    registry.add_presets("xplearn_baselines")
