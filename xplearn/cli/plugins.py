"""``xplearn plugins``."""

from __future__ import annotations

import argparse
from itertools import takewhile

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
        lines = [_line(entry.slot, entry.name, entry.help) for entry in registry.entries(args.slot) if entry.plugin == plugin]
        if args.slot is None:
            owned = [name for name, owner in registry.presets().items() if owner == plugin]
            lines += [_line("preset", name, _purpose(registry.preset_text(name))) for name in owned]
        if lines or args.slot is None:
            state = "  FAILED" if plugin in registry.failures else ""
            print(f"{plugin}  ({plugins.versions.get(plugin, 'not installed as a distribution')}){state}", *lines, sep="\n")
    for name, cause in plugins.broken():
        print(f"plugin '{name}' failed: {type(cause).__name__}: {printable(str(cause))}")
    return 0


def _line(slot: str, name: str, purpose: str) -> str:
    return f"  {slot:<12} {name:<30} {printable(purpose)}".rstrip()


def _purpose(preset: str) -> str:
    """The first sentence of the comment a preset begins with."""
    comment = takewhile(lambda line: line.startswith("#"), preset.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in comment).partition(". ")[0].rstrip(".:")
