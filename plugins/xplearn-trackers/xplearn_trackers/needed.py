"""Packages that only some trackers need."""

from __future__ import annotations

import importlib
from typing import Any

from xplearn import PluginError


def needed(module: str, extra: str) -> Any:
    """A module of a tracker's package.

    Raises:
        PluginError: the package is not installed; the message says what to type.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        reason = f"tracker 'trackers.{extra}' needs the package '{error.name}': pip install 'xplearn-trackers[{extra}]'"
        raise PluginError("trackers", reason) from error
