"""The trackers that a run names: found among the plugins, and built before anything begins."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping

from xplearn.errors import ConfigError, PluginError, XplearnError, nearest
from xplearn.hookspecs import Tracker
from xplearn.plugins import Plugins


def trackers(names: Iterable[str], plugins: Plugins) -> dict[str, Tracker]:
    """A tracker of each name, none begun yet.

    Raises:
        ConfigError: no plugin offers one of this name; the message suggests the nearest.
        PluginError: its plugin cannot be loaded, or lacks a package.
    """
    wanted = list(names)
    known = offered(plugins) if wanted else {}
    return {name: _built(name, f"run.track.{number}", known, plugins) for number, name in enumerate(wanted)}


def require_offered(names: Iterable[str], plugins: Plugins) -> None:
    """Refuse names of trackers that no plugin offers, without loading the others.

    Raises:
        ConfigError: with the nearest name.
        PluginError: its plugin cannot be loaded.
    """
    wanted = list(names)
    known = offered(plugins) if wanted else {}
    for number, name in enumerate(wanted):
        _require_known(name, f"run.track.{number}", known, plugins)


def offered(plugins: Plugins) -> dict[str, str]:
    """``"module:Class"`` by tracker name; a plugin whose hook fails is remembered and does not disturb the others."""
    found: dict[str, str] = {}
    for implementation in plugins.hooks.xplearn_trackers.get_hookimpls():
        try:
            targets = dict(implementation.function())
        except (Exception, SystemExit) as error:
            plugins.registry.failures[implementation.plugin_name] = error
            continue
        found |= {f"{implementation.plugin_name}.{name}": target for name, target in targets.items()}
    return dict(sorted(found.items()))


def _built(name: str, path: str, known: Mapping[str, str], plugins: Plugins) -> Tracker:
    _require_known(name, path, known, plugins)
    module, _, attribute = known[name].partition(":")
    try:
        tracker: Tracker = getattr(importlib.import_module(module), attribute)()
    except XplearnError:
        raise
    except Exception as error:
        raise PluginError(name.partition(".")[0], f"tracker '{name}' cannot be loaded from {known[name]}: {error!r}") from error
    return tracker


def _require_known(name: str, path: str, known: Mapping[str, str], plugins: Plugins) -> None:
    if name in known:
        return
    plugin = name.partition(".")[0]
    cause = plugins.registry.failures.get(plugin)
    if cause is not None:
        raise PluginError(plugin, f"failed to load ({cause!r}); see: xplearn plugins") from cause
    raise ConfigError(path, _unknown(name, known))


def _unknown(name: str, known: Mapping[str, str]) -> str:
    if not known:
        return f"no tracker is called '{name}', and no plugin offers any: pip install xplearn-trackers"
    hint = nearest(name, known)
    return f"no tracker is called '{name}'" + (f"; did you mean '{hint}'?" if hint else "") + f" (known: {', '.join(known)})"
