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

from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from xplearn.registry import PluginRegistry
    from xplearn.reported import Reported
    from xplearn.types import EpisodeResult

hookspec = pluggy.HookspecMarker("xplearn")
hookimpl = pluggy.HookimplMarker("xplearn")


class Tracker(Protocol):
    """Sends a run's figures elsewhere: the observing hooks as methods. Built without arguments, for each run anew.

    The constructor raises an ``XplearnError`` that says what to install or set where the tracker cannot work; nothing was begun then.
    """

    def run_start(self, folder: str, config: dict[str, Any]) -> None:
        """As ``xplearn_run_start``. What is to be kept from one process to the next belongs below ``<folder>/trackers``."""

    def episode_end(self, result: EpisodeResult) -> None:
        """As ``xplearn_episode_end``."""

    def learn_end(self, stage: int, round: int, learner: str, scalars: dict[str, float]) -> None:
        """As ``xplearn_learn_end``."""

    def run_end(self, folder: str, status: str) -> None:
        """As ``xplearn_run_end``."""


@hookspec
def xplearn_register(registry: PluginRegistry) -> None:
    """Register parts and presets. Called once; store lazy ``"module:Class"`` strings, import nothing heavy."""


@hookspec
def xplearn_cli(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add a command: ``commands.add_parser(name, help=…)``, then ``set_defaults(call=function_of_the_namespace)``."""


@hookspec
def xplearn_trackers() -> Mapping[str, str]:
    """Offer trackers: lazy ``"module:Class"`` of a ``Tracker`` by name; ``run.track`` says which are used, as ``<plugin>.<name>``."""
    raise NotImplementedError


@hookspec
def xplearn_reported() -> list[Reported]:
    """Tell what a paper reports of its own runs. It is shown apart from what was measured here, and marked as the paper's."""
    raise NotImplementedError


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
