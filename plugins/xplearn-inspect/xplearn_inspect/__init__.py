"""The evaluated episodes of a run as inspect_ai logs, so that ``inspect view`` opens them."""

from __future__ import annotations

from typing import Any

from xplearn import hookimpl


@hookimpl
def xplearn_cli(commands: Any) -> None:
    """Add ``xplearn inspect``."""
    from xplearn_inspect.commands import add

    add(commands)
