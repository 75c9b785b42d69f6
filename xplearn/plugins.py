"""Finding plugins: entry points of group ``xplearn``. The core's own parts come through the same door, as ``core``."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Collection, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from xplearn import hookspecs
from xplearn.errors import PluginError
from xplearn.registry import Registry

if TYPE_CHECKING:
    from xplearn.reported import Reported

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
        for point in sorted(importlib.metadata.entry_points(group=GROUP), key=_order):
            source = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown distribution"
            if point.name in self.versions:
                known = self.versions[point.name]
                reason = f"the name '{point.name}' is taken by {known}; uninstall one of them"
                self.registry.failures[f"{point.name} of {source}"] = PluginError(point.name, reason)
                continue
            self.versions[point.name] = source
            try:
                module = point.load()
            except (Exception, SystemExit) as error:
                self.registry.failures[point.name] = error
                continue
            self.add(point.name, module)
        return self

    def add_commands(self, commands: Any) -> None:
        """Let every plugin add its commands; one that fails is remembered and does not disturb the others."""
        for implementation in self._manager.hook.xplearn_cli.get_hookimpls():
            try:
                implementation.function(commands)
            except (Exception, SystemExit) as error:
                self.registry.failures[implementation.plugin_name] = error

    def reported(self, only: Collection[str] | None = None) -> list[Reported]:
        """What papers report, plugin by plugin, of all or of those named; one that fails is remembered and does not disturb the others."""
        from xplearn.reported import Reported

        found: list[Reported] = []
        for implementation in self._manager.hook.xplearn_reported.get_hookimpls():
            if only is not None and implementation.plugin_name not in only:
                continue
            try:
                rows: Any = implementation.function()
                if not all(isinstance(row, Reported) for row in rows):
                    raise PluginError(implementation.plugin_name, "xplearn_reported must return a list of xplearn.Reported")
                found += rows
            except (Exception, SystemExit) as error:
                self.registry.failures[implementation.plugin_name] = error
        return found

    def add(self, name: str, module: ModuleType | object) -> None:
        """Register one plugin object; what it raises is remembered as its failure, and nothing of it stays."""
        try:
            self._manager.register(module, name=name)
            self._manager.check_pending()
            self._register_parts(name, module)
        except (Exception, SystemExit) as error:
            self.registry.failures[name] = error
            if self._manager.is_registered(module):
                self._manager.unregister(module)

    def _register_parts(self, name: str, module: ModuleType | object) -> None:
        scratch = Registry()
        others = [plugin for plugin in self._manager.get_plugins() if plugin is not module]
        self._manager.subset_hook_caller("xplearn_register", others)(registry=scratch.view(name))
        self.registry.absorb(scratch)

    def broken(self) -> Iterable[tuple[str, BaseException]]:
        """Plugins that failed, with the cause."""
        return self.registry.failures.items()


def _order(point: importlib.metadata.EntryPoint) -> tuple[bool, str, bool]:
    """The core first, and of two plugins of one name the core's own distribution."""
    return point.name != "core", point.name, point.dist is None or point.dist.name != "xplearn"


@functools.cache
def installed() -> Plugins:
    """The plugins of this interpreter, discovered once."""
    return Plugins().discover()
