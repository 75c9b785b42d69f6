"""``xplearn show``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.errors import ConfigError, RecordError
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.record.reader import Run

EXAMPLES = """  xplearn show                       the runs below ./runs
  xplearn show runs/demo-1a2b3c4d    its table, also while it goes on
  xplearn show runs/demo-1a2b3c4d -f what it is doing, its curves and its table, until it is over
  xplearn show runs/a-* runs/b-*     several side by side, with paired differences
  xplearn show runs/bench            a cross: its grid and its leaderboards; -f while it goes on
  xplearn show runs/mini-indomain    all runs in a folder, side by side as far as they match
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "show", "print the table of a run, finished or not, of several side by side, or of a cross", EXAMPLES)
    parser.add_argument(
        "runs", nargs="*", metavar="run", help="run folders, or one that holds some; left out, the runs below ./runs are listed"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="look on while it goes on, until it is over; Ctrl-C leaves, it goes on")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print one run, several side by side, or list those there are."""
    from xplearn.cli.places import all_present
    from xplearn.cli.terminal import console
    from xplearn.record.cross import NAME
    from xplearn.report import text

    if args.follow:
        return _follow(args.runs)
    if not args.runs:
        return _list(Path("runs"))
    folders = all_present([Path(given) for given in args.runs], "show")
    if len(folders) == 1 and (folders[0] / NAME).exists():
        return _cross(folders[0])
    runs = [run for folder in folders for run in _runs(folder)]
    if len(runs) > 1:
        _compare(runs)
        return 0
    text.render(runs[0], console())
    if runs[0].header.status == "running":
        print(_going_on(runs[0].path))
    return 0


def _going_on(run: Path) -> str:
    """What to do about a run that says that it is running."""
    from xplearn.cli.follow import KILLED
    from xplearn.record.following import held

    return printable(f"look on while it goes on: xplearn show {run} --follow" if held(run) else KILLED)


def _cross(folder: Path) -> int:
    """Print the grid of a cross, then its finished runs on leaderboards."""
    from xplearn.cli.follow_cross import KILLED, as_it_is, finished, summary
    from xplearn.cli.terminal import console
    from xplearn.record.cross import load_cross
    from xplearn.report.ranked import render

    cross, killed = as_it_is(load_cross(folder), folder)
    summary(cross, folder, console())
    render(list(_readable(finished(cross, folder))), cross, console())
    if killed:
        print(KILLED)
    elif any(cell.state == "running" for cell in cross.cells):
        print(printable(f"look on while it goes on: xplearn show {folder} --follow"))
    return 0


def _follow(given: Sequence[str]) -> int:
    """Look on while one run goes on; one that is just being started is waited for."""
    from xplearn.cli.follow import RunView, follow
    from xplearn.cli.follow_cross import CrossView
    from xplearn.cli.places import present, wait_for
    from xplearn.cli.terminal import console
    from xplearn.record.cross import NAME

    if len(given) != 1:
        raise ConfigError("--follow", "looks on at one run, or one cross; name its folder, e.g. xplearn show runs/demo-1a2b3c4d --follow")
    folder = Path(given[0])
    try:
        wait_for(folder)
    except KeyboardInterrupt:
        return 0
    present(folder, "show")
    return follow(CrossView(folder) if (folder / NAME).exists() else RunView(folder), console())


def _compare(runs: Sequence[Run]) -> None:
    """Print the runs in one table; where they do not match, why, then those that do, then the others in short.

    Raises:
        RecordError: no two of them match.
    """
    from xplearn.cli.listed import listed
    from xplearn.cli.terminal import console
    from xplearn.record.comparable import alike
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


def _runs(given: Path) -> Iterator[Run]:
    """The run of a folder, or those that lie in it; one among several that cannot be read is told, and left out.

    Raises:
        RecordError: it is no run folder and holds no run that can be read.
    """
    from xplearn.record.reader import load

    inside = [] if (given / "run.json").exists() else _runs_in(given)
    if len(inside) <= 1:
        yield load(inside[0] if inside else given)
        return
    yield from _readable(inside)


def _readable(folders: Sequence[Path]) -> Iterator[Run]:
    """The runs of folders; one that cannot be read is told, and left out."""
    from xplearn.errors import XplearnError
    from xplearn.record.reader import load

    for folder in folders:
        try:
            yield load(folder)
        except XplearnError as error:
            print(printable(f"left out, as it cannot be read: {error}"))


def _runs_in(root: Path) -> list[Path]:
    """Run folders in a folder, or in those that it holds."""
    return sorted(path.parent for pattern in ("*/run.json", "*/*/run.json") for path in root.glob(pattern))


def _list(root: Path) -> int:
    from xplearn.cli.listed import listed

    folders = _runs_in(root)
    if not folders:
        raise RecordError(root, "no run here; start one with: xplearn run demo")
    for folder in folders:
        print(listed(folder))
    return 0
