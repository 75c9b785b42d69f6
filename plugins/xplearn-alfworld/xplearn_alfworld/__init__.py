"""ALFWorld as an xplearn environment: ``alfworld.text``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the environment, on both engines, and its presets."""
    registry.add(
        "environment",
        "text",
        "xplearn_alfworld.environment:AlfWorld",
        help="household tasks in text: generated houses, or the released games by path; no compiler, equal to TextWorld",
    )
    registry.add(
        "environment",
        "textworld",
        "xplearn_alfworld.textworld:TextWorldAlfWorld",
        help="the same games on the original TextWorld engine (extra: textworld)",
    )
    registry.add_presets("xplearn_alfworld")
