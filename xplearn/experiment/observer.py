"""Who watches a run: a person's progress display, and the plugins' observing hooks. Neither can change anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from xplearn.hookspecs import Tracker
from xplearn.plugins import Plugins


class Observer(Protocol):
    """Progress for a person."""

    def phase_start(self, name: str, total: int) -> None:
        """Work of ``total`` units begins; phases do not nest."""

    def advance(self, n: int = 1, **figures: float) -> None:
        """``n`` more units are done; ``figures`` are the latest."""

    def phase_end(self) -> None:
        """The phase ended, done or not."""

    def note(self, text: str) -> None:
        """One line worth reading."""


class Silent:
    """Watches nothing."""

    def phase_start(self, name: str, total: int) -> None: ...
    def advance(self, n: int = 1, **figures: float) -> None: ...
    def phase_end(self) -> None: ...
    def note(self, text: str) -> None: ...


class Hooks:
    """The plugins' observing hooks, and the trackers of one run. What one raises is told once and changes nothing."""

    def __init__(self, plugins: Plugins, observer: Observer, trackers: Mapping[str, Tracker]) -> None:
        self._hooks, self._observer, self._trackers = plugins.hooks, observer, trackers
        self._failed: set[str] = set()

    def __call__(self, name: str, **arguments: Any) -> None:
        """Call every plugin's implementation of a hook, then every tracker."""
        self._call(f"a plugin's {name}", self._hooks, name, arguments)
        for who, tracker in self._trackers.items():
            self._call(f"tracker '{who}'", tracker, name.removeprefix("xplearn_"), arguments)

    def _call(self, who: str, told: object, method: str, arguments: Mapping[str, Any]) -> None:
        try:
            getattr(told, method)(**arguments)
        except (Exception, SystemExit) as error:
            if who not in self._failed:
                self._failed.add(who)
                self._observer.note(f"{who} failed and is not waited for: {error!r}")
