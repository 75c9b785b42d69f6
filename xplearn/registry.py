"""Parts and presets by name. Targets are lazy: nothing is imported until it is asked for."""

from __future__ import annotations

import importlib
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from xplearn.capability import Capability, offered
from xplearn.component import Component
from xplearn.errors import ConfigError, PluginError, UnknownComponentError, XplearnError, nearest

Slot = Literal["environment", "store", "selector", "conditioner", "learner", "policy", "encoder"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
"""What a part can be registered as."""

OFFICIAL = ("alfworld", "baselines", "edge", "expbench", "expweaver", "hamo", "scienceworld", "webshop")
"""Plugins of this project: only for these does an error name a package to install."""

PROVIDERS: dict[str, tuple[Slot, ...]] = {
    "policy": ("policy",),
    "env": ("environment",),
    "selector": ("selector",),
    "conditioner": ("conditioner",),
    "learner": ("learner",),
    "store": ("store", "learner"),
    "sampling": (),
}
"""Slots whose parts can provide a capability, by its head; a plugin's own capability may come from any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One registered part."""

    slot: Slot
    name: str
    """``<plugin>.<component>``."""
    target: str
    """``"module:Class"``."""
    plugin: str
    help: str
    """One line for tables."""

    def load(self) -> type[Component]:
        """Import the class. A failing import raises ``PluginError`` from its cause."""
        module, _, attribute = self.target.partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except XplearnError:
            raise
        except ModuleNotFoundError as error:
            raise PluginError(self.plugin, f"'{self.name}' needs the package '{error.name}': {_install_hint(error.name)}") from error
        except Exception as error:
            raise PluginError(self.plugin, f"'{self.name}' cannot be loaded from {self.target}: {error!r}") from error
        if not (isinstance(found, type) and issubclass(found, Component)):
            raise PluginError(self.plugin, f"'{self.name}': {self.target} is not a Component")
        return found


def _install_hint(package: str | None) -> str:
    torch_side = {"torch", "transformers", "peft", "accelerate", "safetensors", "tokenizers"}
    package = (package or "").partition(".")[0]
    if package == "xplearn":
        return "this installation is incomplete; reinstall xplearn"
    return "pip install 'xplearn[torch]'" if package in torch_side else f"pip install {package}"


class Registry:
    """All parts and presets of the installed plugins."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Slot, str], Entry] = {}
        self._presets: dict[str, tuple[str, str, str]] = {}
        self.failures: dict[str, BaseException] = {}
        """Plugins that could not be loaded, with the cause."""

    def view(self, plugin: str) -> PluginRegistry:
        """The registry as one plugin sees it."""
        return PluginRegistry(self, plugin)

    def put(self, entry: Entry) -> None:
        """Add an entry; a name that is taken in the slot raises ``PluginError`` naming both plugins."""
        if entry.slot not in SLOTS:
            raise PluginError(entry.plugin, f"'{entry.name}': no slot is called '{entry.slot}' (slots: {', '.join(SLOTS)})")
        taken = self._entries.get((entry.slot, entry.name))
        if taken is not None:
            raise PluginError(entry.plugin, f"{entry.slot} '{entry.name}' is already registered by plugin '{taken.plugin}'")
        self._entries[entry.slot, entry.name] = entry

    def put_preset(self, name: str, plugin: str, package: str, path: str) -> None:
        """Add a preset: a YAML file inside a package."""
        if name in self._presets:
            raise PluginError(plugin, f"preset '{name}' is already registered by plugin '{self._presets[name][0]}'")
        self._presets[name] = (plugin, package, path)

    def absorb(self, other: Registry) -> None:
        """Take over everything of another registry, or raise ``PluginError`` and take nothing."""
        trial = Registry()
        trial._entries, trial._presets = dict(self._entries), dict(self._presets)
        for entry in other._entries.values():
            trial.put(entry)
        for name, (plugin, package, path) in other._presets.items():
            trial.put_preset(name, plugin, package, path)
        self._entries, self._presets = trial._entries, trial._presets

    def entries(self, slot: Slot | None = None) -> list[Entry]:
        """Entries of one slot, or all, by slot and name."""
        chosen = [entry for entry in self._entries.values() if slot in (None, entry.slot)]
        return sorted(chosen, key=lambda entry: (SLOTS.index(entry.slot), entry.name))

    def get(self, slot: Slot, name: str) -> Entry:
        """The entry of this name.

        Raises:
            PluginError: the name's plugin is installed but failed to import; raised from the cause.
            UnknownComponentError: there is none; suggests the nearest.
        """
        entry = self._entries.get((slot, name))
        if entry is not None:
            return entry
        plugin = name.partition(".")[0]
        cause = self.failures.get(plugin)
        if cause is not None:
            raise PluginError(plugin, f"failed to load ({cause!r}); see: xplearn plugins") from cause
        known = [entry.name for entry in self.entries(slot)]
        if "." in name and plugin not in self._plugins() and nearest(plugin, self._plugins()) is None:
            cure = (
                f"pip install xplearn-{plugin}" if plugin in OFFICIAL else f"installed are {', '.join(sorted(self._plugins())) or 'none'}"
            )
            raise PluginError(plugin, f"is not installed, so there is no {slot} '{name}' ({cure})")
        raise UnknownComponentError(slot, name, known)

    def _plugins(self) -> set[str]:
        return {entry.plugin for entry in self.entries()}

    def make(self, slot: Slot, name: str, /, **fields: Any) -> Component:
        """Build one part from its fields, checked as in a configuration file."""
        from xplearn.fields import build

        return build(self.get(slot, name).load(), fields, path=name)

    def presets(self) -> dict[str, str]:
        """Plugin by preset name."""
        return {name: self._presets[name][0] for name in sorted(self._presets)}

    def preset_text(self, name: str) -> str:
        """The YAML text of a preset; an unknown name raises ``ConfigError`` with the nearest."""
        if name not in self._presets:
            hint = nearest(name, self._presets)
            guess = f"; did you mean '{hint}'?" if hint else ""
            raise ConfigError("preset", f"no preset is called '{name}'{guess} (see: xplearn plugins)")
        _, package, path = self._presets[name]
        return importlib.resources.files(package).joinpath(path).read_text(encoding="utf-8")

    def providing(self, capability: Capability) -> Mapping[str, list[str]]:
        """Names of the parts that provide a capability with their default configuration, by slot.

        Only slots that could are looked at: importing a policy costs seconds, and this is for an error message.
        """
        found: dict[str, list[str]] = {}
        slots = PROVIDERS.get(capability.partition(".")[0], SLOTS)
        for entry in (entry for slot in slots for entry in self.entries(slot)):
            try:
                part = entry.load()()
            except (XplearnError, TypeError):
                continue
            if capability in offered(entry.slot, part):
                found.setdefault(entry.slot, []).append(entry.name)
        return found


class PluginRegistry:
    """What ``xplearn_register`` receives: a view that prefixes names with the plugin's."""

    def __init__(self, registry: Registry, plugin: str) -> None:
        self._registry, self.plugin = registry, plugin

    def add(self, slot: Slot, component: str, target: str, *, help: str = "") -> None:
        """Register a part.

        Args:
            slot: one of ``SLOTS``.
            component: its name without prefix; registered as ``<plugin>.<component>``.
            target: ``"module:Class"``, imported when first asked for.
            help: one line for tables.
        """
        name = f"{self.plugin}.{component}"
        module, _, attribute = target.partition(":")
        if not (module and attribute and component and "." not in component):
            raise PluginError(self.plugin, f"'{name}' → '{target}': want a name without dots and a target 'module:Class'")
        self._registry.put(Entry(slot=slot, name=name, target=target, plugin=self.plugin, help=help))

    def add_presets(self, package: str, folder: str = "presets") -> None:
        """Register every ``*.yaml`` below a folder of a package; ``mini/x.yaml`` becomes the preset ``mini/x``."""
        root = importlib.resources.files(package).joinpath(folder)
        for path in _yaml_files(root):
            self._registry.put_preset(path.removesuffix(".yaml"), self.plugin, package, f"{folder}/{path}")


def _yaml_files(root: Any, prefix: str = "") -> list[str]:
    found = []
    for item in sorted(root.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            found += _yaml_files(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".yaml"):
            found.append(prefix + item.name)
    return found
