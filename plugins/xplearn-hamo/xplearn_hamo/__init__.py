"""HaMo's parts: cards are written, some chosen for study, the suitable shown, and those no longer needed released."""

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
        "learner", "cards", "xplearn_hamo.cards:CardWriter", help="one card per expert trajectory: task, first observation, outline"
    )
    registry.add("learner", "release", "xplearn_hamo.release:ReleaseLearner", help="removes cards of what the policy now does without them")
    registry.add(
        "selector", "coverage", "xplearn_hamo.coverage:CoverageSelector", help="anchors whose neighbourhoods cover the stage's cards"
    )
    registry.add(
        "selector",
        "gate",
        "xplearn_hamo.gate:GateSelector",
        help="the nearest experience, where it is suitable",
    )
    registry.add_presets("xplearn_hamo")


@hookimpl
def xplearn_reported() -> list[Reported]:
    """What the paper reports."""
    from xplearn_hamo.reported import rows

    return rows()
