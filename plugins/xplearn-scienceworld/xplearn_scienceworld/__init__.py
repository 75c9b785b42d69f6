"""ScienceWorld as an xplearn environment: ``scienceworld.text``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the environment."""
    registry.add(
        "environment",
        "text",
        "xplearn_scienceworld.environment:ScienceWorld",
        help="30 tasks of elementary science, 7,207 variations, each with a gold path; carries its own Java",
    )
