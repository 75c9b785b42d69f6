"""Every registered part of a slot, as parameters of a contract test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from xplearn.component import Component
from xplearn.errors import PluginError
from xplearn.plugins import installed
from xplearn.registry import Slot

Make = Callable[[], Any]
"""Builds a new part, not yet set up."""


def names(slot: Slot) -> list[str]:
    """Names of the parts registered in a slot."""
    return [entry.name for entry in installed().registry.entries(slot)]


def maker(slot: Slot, name: str, fields: Mapping[str, Any] | None = None) -> Make:
    """A function that builds the part ``name``; skips the test where a package the part needs is absent."""
    try:
        part: type[Component] = installed().registry.get(slot, name).load()
    except PluginError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            pytest.skip(str(error))
        raise
    return lambda: part(**(fields or {}))
