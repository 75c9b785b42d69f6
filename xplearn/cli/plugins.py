"""``xplearn plugins``."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.errors import ConfigError, nearest
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.plugins import Plugins
    from xplearn.registry import Entry, Slot

EXAMPLES = """  xplearn plugins
  xplearn plugins --slot selector
  xplearn plugins hamo.coverage     what that part is, and every field a configuration may set
  xplearn plugins demo              what that preset says
  xplearn plugins --reported        what papers report of their own runs; nothing of it was measured here
"""

WIDEST = 120
"""Characters of a line of prose, on however wide a terminal."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "plugins", "list the installed plugins, their parts and presets, or show one of these", EXAMPLES)
    parser.add_argument("name", nargs="?", help="a part, preset or plugin; left out, all are listed")
    parser.add_argument("--slot", help="only parts of this slot, e.g. selector")
    parser.add_argument("--reported", action="store_true", help="list the figures of papers instead, as their plugins quote them")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print what has the name, or plugins, parts, presets, and what failed with its cause."""
    from xplearn.plugins import installed
    from xplearn.registry import SLOTS

    if args.slot is not None and args.slot not in SLOTS:
        raise ConfigError("--slot", f"'{args.slot}' is no slot; want one of {', '.join(SLOTS)}")
    plugins = installed()
    if args.reported:
        return _reported(plugins, args.name)
    entries = [entry for entry in plugins.registry.entries(args.slot) if entry.name == args.name]
    if entries:
        print(*map(_described, entries), sep="\n\n")
    elif args.name in plugins.registry.presets():
        print(printable(plugins.registry.preset_text(args.name)).rstrip())
    else:
        _list(plugins, args.slot, args.name)
    return 0


def _list(plugins: Plugins, slot: Slot | None, name: str | None) -> None:
    """Every plugin, or the one of this name."""
    registry = plugins.registry
    known = sorted({*plugins.versions, *(entry.plugin for entry in registry.entries())}, key=lambda name: (name != "core", name))
    if name is not None and name not in known:
        raise _unknown(name, [*known, *(entry.name for entry in registry.entries(slot)), *registry.presets()])
    for plugin in known if name is None else [name]:
        lines = [_line(entry.slot, entry.name, entry.help) for entry in registry.entries(slot) if entry.plugin == plugin]
        if slot is None:
            owned = [preset for preset, owner in registry.presets().items() if owner == plugin]
            lines += [_line("preset", preset, _purpose(registry.preset_text(preset))) for preset in owned]
        if lines or slot is None:
            state = "  FAILED" if plugin in registry.failures else ""
            print(f"{plugin}  ({plugins.versions.get(plugin, 'not installed as a distribution')}){state}", *lines, sep="\n")
    for broken, cause in plugins.broken():
        if name in (None, broken):
            print(f"plugin '{broken}' failed: {type(cause).__name__}: {printable(str(cause))}")


def _reported(plugins: Plugins, name: str | None) -> int:
    """The figures of papers."""
    from xplearn.cli.terminal import console
    from xplearn.report.reported import render

    if name is not None:
        raise ConfigError("--reported", "lists the figures of every paper; leave the name out")
    render(plugins.reported(), console())
    for broken, cause in plugins.broken():
        print(printable(f"plugin '{broken}' failed: {type(cause).__name__}: {cause}"))
    return 0


def _unknown(name: str, known: Sequence[str]) -> ConfigError:
    hint = nearest(name, known)
    guess = f"; did you mean '{hint}'?" if hint else ""
    return ConfigError("", f"no part, preset or plugin is called '{name}'{guess} (list them: xplearn plugins)")


def _described(entry: Entry) -> str:
    """A part: what it is for, what it needs, and each field with its type, default and meaning."""
    from xplearn.cli.described import capabilities, described, summary

    cls = entry.load()
    lines = [f"{entry.name}  ({entry.slot})", *_wrapped(summary(cls), 2)]
    lines += [f"  {word} {', '.join(names)}" for word, names in capabilities(cls).items()]
    for field in described(cls):
        value = field.default if field.default in ("required", "as below") else f"default {field.default}"
        lines += [f"\n  {field.path}: {field.type}, {value}", *_wrapped(field.meaning, 6)]
    return printable("\n".join(lines))


def _wrapped(text: str, indent: int) -> list[str]:
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return textwrap.wrap(text, width, initial_indent=" " * indent, subsequent_indent=" " * indent, break_on_hyphens=False)


def _line(slot: str, name: str, purpose: str) -> str:
    return f"  {slot:<12} {name:<30} {printable(purpose)}".rstrip()


def _purpose(preset: str) -> str:
    """The first sentence of the comment a preset begins with."""
    comment = takewhile(lambda line: line.startswith("#"), preset.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in comment).partition(". ")[0].rstrip(".:")
