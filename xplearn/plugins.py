"""Finding plugins: entry points of group ``xplearn``. The core's own parts come through the same door, as ``core``."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pluggy

from xplearn import hookspecs
from xplearn.registry import Registry

GROUP = "xplearn"


class Plugins:
    """The loaded plugins: their hooks and the registry they filled.

    A plugin that fails to import or register is remembered in ``registry.failures`` and does not disturb the others.
    """

    def __init__(self) -> None:
        self.registry = Registry()
        self.versions: dict[str, str] = {}
        """``<distribution> <version>`` by plugin name."""
        self._manager = pluggy.PluginManager("xplearn")
        self._manager.add_hookspecs(hookspecs)

    @property
    def hooks(self) -> Any:
        """Callers by hook name, e.g. ``hooks.xplearn_run_end(folder=…, status=…)``."""
        return self._manager.hook

    def discover(self) -> Plugins:
        """Load every installed plugin, by name."""
        for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: (point.name != "core", point.name)):
            if point.dist is not None:
                self.versions[point.name] = f"{point.dist.name} {point.dist.version}"
            try:
                module = point.load()
            except Exception as error:
                self.registry.failures[point.name] = error
                continue
            self.add(point.name, module)
        return self

    def add(self, name: str, module: ModuleType | object) -> None:
        """Register one plugin object; what it raises is remembered as its failure, and nothing of it stays."""
        try:
            self._manager.register(module, name=name)
            self._manager.check_pending()
            self._register_parts(name, module)
        except Exception as error:
            self.registry.failures[name] = error
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)

    def _register_parts(self, name: str, module: ModuleType | object) -> None:
        scratch = Registry()
        others = [plugin for plugin in self._manager.get_plugins() if plugin is not module]
        self._manager.subset_hook_caller("xplearn_register", others)(registry=scratch.view(name))
        self.registry.absorb(scratch)

    def broken(self) -> Iterable[tuple[str, BaseException]]:
        """Plugins that failed, with the cause."""
        return self.registry.failures.items()


@functools.cache
def installed() -> Plugins:
    """The plugins of this interpreter, discovered once."""
    return Plugins().discover()
