"""Progress of one run among many: nothing of it stays on the screen."""

from __future__ import annotations

import sys

from xplearn.cli.progress import LiveObserver, QuietObserver, SilentObserver


class PassingObserver(LiveObserver):
    """Bars that are gone when the run ends."""

    def __init__(self) -> None:
        super().__init__()
        self._progress.live.transient = True


class BeatObserver(QuietObserver):
    """One line a minute, and none when a phase ends."""

    def phase_end(self) -> None:
        self._ended.set()


def passing(quiet: bool) -> PassingObserver | SilentObserver:
    """The observer of one run among many that suits whoever is watching."""
    if quiet:
        return SilentObserver()
    return PassingObserver() if sys.stderr.isatty() else BeatObserver()
