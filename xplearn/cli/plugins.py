"""``xplearn plugins``."""

from __future__ import annotations

import argparse

from xplearn.cli.arguments import Commands, add_command
from xplearn.cli.terminal import printable

EXAMPLES = """  xplearn plugins
  xplearn plugins --slot selector
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "plugins", "list the installed plugins, their parts and presets", EXAMPLES)
    parser.add_argument("--slot", help="only parts of this slot, e.g. selector")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print plugins, parts, presets, and what failed with its cause."""
    from xplearn.errors import ConfigError
    from xplearn.plugins import installed
    from xplearn.registry import SLOTS

    if args.slot is not None and args.slot not in SLOTS:
        raise ConfigError("--slot", f"'{args.slot}' is no slot; want one of {', '.join(SLOTS)}")
    plugins = installed()
    registry = plugins.registry
    for plugin in sorted({*plugins.versions, *(entry.plugin for entry in registry.entries())}, key=lambda name: (name != "core", name)):
        state = "  FAILED" if plugin in registry.failures else ""
        print(f"{plugin}  ({plugins.versions.get(plugin, 'not installed as a distribution')}){state}")
        for entry in registry.entries(args.slot):
            if entry.plugin == plugin:
                print(f"  {entry.slot:<12} {entry.name:<24} {printable(entry.help)}".rstrip())
        presets = [name for name, owner in registry.presets().items() if owner == plugin]
        if presets and args.slot is None:
            print(f"  presets      {', '.join(presets)}")
    for name, cause in plugins.broken():
        print(f"plugin '{name}' failed: {type(cause).__name__}: {printable(str(cause))}")
    return 0
