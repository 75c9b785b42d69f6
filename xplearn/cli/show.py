"""``xplearn show``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.record.reader import Run

EXAMPLES = """  xplearn show                       the runs below ./runs
  xplearn show runs/demo-1a2b3c4d    its table, also while it goes on
  xplearn show runs/a-* runs/b-*     several side by side, with paired differences
  xplearn show runs/mini-indomain    all runs in a folder, side by side as far as they match
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
    from xplearn.report import text

    if not args.runs:
        return _list(Path("runs"))
    runs = [load(folder) for given in args.runs for folder in _folders(Path(given))]
    if len(runs) == 1:
        text.render(runs[0], console())
    else:
        _compare(runs)
    return 0


def _compare(runs: Sequence[Run]) -> None:
    """Print the runs in one table; where they do not match, why, then those that do, then the others in short.

    Raises:
        RecordError: no two of them match.
    """
    from xplearn.cli.listed import alike, listed
    from xplearn.cli.terminal import console
    from xplearn.report import compare

    groups, reason = alike(runs)
    several = [group for group in groups if len(group) > 1]
    if reason is not None and several:
        print(printable(f"not all of these runs can stand in one table: {reason}"))
    for group in several:
        if reason is not None:
            print(printable(f"\n{len(group)} runs on {_panels(group)}"))
        compare.render(group, console())
    alone = [group[0] for group in groups if len(group) == 1]
    if alone:
        print("\nwithout a match:" if several else "no two of these runs match:")
        print(*(listed(run.path) for run in alone), sep="\n")
    if reason is not None and not several:
        raise reason


def _panels(runs: Sequence[Run]) -> str:
    """The domains that runs were evaluated on, with the number of tasks."""
    panels = {name: panel["tasks"] for run in runs for name, panel in run.header.panels.items()}
    return ", ".join(f"{name} ({tasks} tasks)" for name, tasks in panels.items())


def _folders(given: Path) -> list[Path]:
    """The run folder itself, or those that it holds."""
    return [given] if (given / "run.json").exists() else _runs_in(given) or [given]


def _runs_in(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/run.json"))


def _list(root: Path) -> int:
    from xplearn.cli.listed import listed
    from xplearn.errors import RecordError

    folders = sorted([*_runs_in(root), *(folder for inner in root.glob("*/") for folder in _runs_in(inner))])
    if not folders:
        raise RecordError(root, "no run here; start one with: xplearn run demo")
    for folder in folders:
        print(listed(folder))
    return 0
