"""``xplearn show``."""

from __future__ import annotations

import argparse
from pathlib import Path

from xplearn.cli.arguments import Commands, add_command

EXAMPLES = """  xplearn show                       the runs below ./runs
  xplearn show runs/demo-1a2b3c4d    its table, also while it goes on
  xplearn show runs/a-* runs/b-*     several side by side, with paired differences
  xplearn show runs/mini-indomain    all runs in a folder, side by side
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "show", "print the table of a run, finished or not, or several side by side", EXAMPLES)
    parser.add_argument(
        "runs", nargs="*", metavar="run", help="run folders, or one that holds some; left out, the runs below ./runs are listed"
    )
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print one run, several side by side, or list those there are."""
    from xplearn.cli.terminal import console
    from xplearn.record.reader import load
    from xplearn.report import compare, text

    if not args.runs:
        return _list(Path("runs"))
    runs = [load(folder) for given in args.runs for folder in _folders(Path(given))]
    if len(runs) == 1:
        text.render(runs[0], console())
    else:
        compare.render(runs, console())
    return 0


def _folders(given: Path) -> list[Path]:
    """The run folder itself, or those that it holds."""
    return [given] if (given / "run.json").exists() else _runs_in(given) or [given]


def _runs_in(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/run.json"))


def _list(root: Path) -> int:
    from xplearn.errors import RecordError, XplearnError
    from xplearn.record.reader import load

    folders = sorted([*_runs_in(root), *(folder for inner in root.glob("*/") for folder in _runs_in(inner))])
    if not folders:
        raise RecordError(root, "no run here; start one with: xplearn run demo")
    for folder in folders:
        try:
            run = load(folder)
            print(f"{folder}  {run.header.status}  {sum(1 for _ in run.episodes())} episodes")
        except XplearnError as error:
            print(f"{folder}  cannot be read: {error}")
    return 0
