"""``xplearn show``."""

from __future__ import annotations

import argparse
from pathlib import Path

from xplearn.cli.arguments import Commands, add_command

EXAMPLES = """  xplearn show                       the runs below ./runs
  xplearn show runs/demo-1a2b3c4d    its table, also while it goes on
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "show", "print the table of a run, finished or not", EXAMPLES)
    parser.add_argument("run", nargs="?", help="a run folder; left out, the runs below ./runs are listed")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print one run, or list those there are."""
    from xplearn.cli.terminal import console
    from xplearn.record.reader import load
    from xplearn.report.text import render

    if args.run is None:
        return _list(Path("runs"))
    render(load(Path(args.run)), console())
    return 0


def _list(root: Path) -> int:
    from xplearn.errors import RecordError, XplearnError
    from xplearn.record.reader import load

    folders = sorted(path.parent for path in root.glob("*/run.json"))
    if not folders:
        raise RecordError(root, "no run here; start one with: xplearn run demo")
    for folder in folders:
        try:
            run = load(folder)
            print(f"{folder}  {run.header.status}  {sum(1 for _ in run.episodes())} episodes")
        except XplearnError as error:
            print(f"{folder}  cannot be read: {error}")
    return 0
