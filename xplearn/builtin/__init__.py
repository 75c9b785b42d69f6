"""The core's own parts, registered as ``core`` through the door every plugin uses."""

from __future__ import annotations

import pluggy

from xplearn.builtin.catalogue import PARTS

hookimpl = pluggy.HookimplMarker("xplearn")


@hookimpl
def xplearn_register(registry) -> None:  # type: ignore[no-untyped-def]  # layer 2' never imports the registry
    """Register every part of ``PARTS`` and the presets beside this file."""
    for slot, parts in PARTS.items():
        for name, (target, help) in parts.items():
            registry.add(slot, name, target, help=help)
    registry.add_presets("xplearn.builtin")
