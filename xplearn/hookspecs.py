"""What a plugin can hook into. These functions are the documentation: a plugin implements those it wants.

A plugin is a distribution with an entry point in group ``xplearn``; the entry point's name is the plugin's name and the prefix of
everything it registers. ::

    [project.entry-points.xplearn]
    mine = "my_module"

    # my_module.py
    import xplearn

    @xplearn.hookimpl
    def xplearn_register(registry):
        registry.add("selector", "lucky", "my_module.lucky:Lucky", help="picks what never failed")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import argparse

    from xplearn.registry import PluginRegistry
    from xplearn.types import EpisodeResult

hookspec = pluggy.HookspecMarker("xplearn")
hookimpl = pluggy.HookimplMarker("xplearn")


@hookspec
def xplearn_register(registry: PluginRegistry) -> None:
    """Register parts and presets. Called once; store lazy ``"module:Class"`` strings, import nothing heavy."""


@hookspec
def xplearn_cli(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add a command: ``commands.add_parser(name, help=…)``, then ``set_defaults(call=function_of_the_namespace)``."""


@hookspec
def xplearn_run_start(folder: str, config: dict[str, Any]) -> None:
    """A run starts or resumes. Observers only look: what they raise is reported once and changes nothing."""


@hookspec
def xplearn_episode_end(result: EpisodeResult) -> None:
    """An episode ended."""


@hookspec
def xplearn_learn_end(stage: int, round: int, learner: str, scalars: dict[str, float]) -> None:
    """A learner finished."""


@hookspec
def xplearn_run_end(folder: str, status: str) -> None:
    """A run ended: ``finished``, ``interrupted`` or ``failed``."""
