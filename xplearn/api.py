"""The library in three calls: build a part, run an experiment, read a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xplearn.plugins import installed
from xplearn.registry import Slot

if TYPE_CHECKING:
    from xplearn.component import Component


def make(slot: Slot, name: str, /, **fields: Any) -> Component:
    """Build one registered part.

    Args:
        slot: ``environment``, ``store``, ``selector``, ``conditioner``, ``learner``, ``policy`` or ``encoder``.
        name: registered name, e.g. ``alfworld.text``.
        fields: its configuration.

    Raises:
        UnknownComponentError: no such part; the message suggests the nearest.
        ConfigError: a field is unknown or has a wrong type or value.
    """
    return installed().registry.make(slot, name, **fields)
