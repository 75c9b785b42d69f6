"""``xplearn cross``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.errors import ConfigError
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.experiment.cross.order import Budget
    from xplearn.experiment.cross.preview import Ahead
    from xplearn.experiment.observer import Observer
    from xplearn.plugins import Plugins
    from xplearn.record.cross import Cell, Cross

EXAMPLES = """  xplearn cross bench.yaml --dry-run       every cell: sound or why not, episodes, within --cells and --minutes or not
  xplearn cross bench.yaml                 run what is sound; the same command goes on after a stop, and tries again what failed
  xplearn cross bench.yaml --minutes 40    begin no cell after 40 minutes
  xplearn cross bench.yaml --cells 1       the first cell alone
  xplearn cross bench.yaml --jobs 2        two cells at once, each in a process of its own

a file:
  name: bench
  base: {policy: core.random, sampling: {choices: admissible}, record: core.record, conditioner: core.prompt}
  axes:
    stream:
      errands: [{env: core.errands, tasks: {limit: 6}}]
      counting: [{env: core.counting, tasks: {limit: 6}}]
    selector: [core.none, core.nearest]
    seed: [0, 1]
"""

STATUS_FAILED = 1

SCORES = " (score before learning, without the bank → at the end, with it where it is shown)"
"""Explains the scores of a cell, once."""

FEW_SEEDS = "2 seeds: intervals over seeds are very wide; three or more tell more"


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "cross", "run every combination of parts, environments and seeds that a file names", EXAMPLES)
    parser.add_argument("file", metavar="FILE", help="a cross file")
    parser.add_argument("overrides", nargs="*", default=[], help=argparse.SUPPRESS)
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="begin no cell that would go on after so many minutes; the first begins in any case"
    )
    parser.add_argument("--cells", type=int, metavar="N", help="run at most so many cells")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="run so many cells at once, with one thread each (default: 1)")
    parser.add_argument("--dry-run", action="store_true", help="print the grid and what it would cost, and play nothing")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, only the grid and the folder")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Run the cross and print its grid, and last its folder; status 1 where a cell failed."""
    from xplearn.cli.crossed import render
    from xplearn.cli.ending import terminable
    from xplearn.cli.terminal import console
    from xplearn.experiment.cross.order import Budget
    from xplearn.experiment.cross.run import run_cross
    from xplearn.plugins import installed

    if args.overrides:
        where = f"in {args.file}, what all cells share stands under 'base', what they differ in under 'axes'"
        raise ConfigError("", f"a cross takes no overrides, nor anything else behind its file ('{args.overrides[0]}'): {where}")
    budget = Budget(minutes=args.minutes, cells=args.cells, jobs=args.jobs)
    if args.dry_run:
        return _preview(args.file, installed(), budget)
    with terminable():
        result = run_cross(args.file, plugins=installed(), budget=budget, observer=_Watching(args.quiet))
    render(result.cross, result.folder, console())
    return _ended(result.cross, result.folder)


def _ended(cross: Cross, folder: Path) -> int:
    """Print what is left to do, and last the folder where anything was written."""
    from xplearn.cli.crossed import counted

    print(counted(cross))
    _require_any(cross)
    failed = [cell for cell in cross.cells if cell.state == "failed"]
    for cell in failed:
        print(printable(f"failed: {cell.id}: {cell.reason}"))
    open = ["goes on with what waits"] if any(cell.state == "waiting" for cell in cross.cells) else []
    open += ["tries again what failed"] if failed else []
    if open:
        print(f"the same command {' and '.join(open)}")
    if folder.exists():
        print(f"see it: xplearn report {folder}")
        print(folder, flush=True)
    return STATUS_FAILED if failed else 0


def _require_any(cross: Cross) -> None:
    """Refuse a cross in which nothing can be run, its reasons being told already.

    Raises:
        ConfigError: no cell is sound.
    """
    if all(cell.state == "unsound" for cell in cross.cells):
        raise ConfigError("", "no cell is sound, for the reasons above; nothing was run or written")


def _preview(file: str, plugins: Plugins, budget: Budget) -> int:
    """Print every cell, those that the budget would run first, and the sums."""
    from xplearn.cli.crossed import counted, footnotes, standing, why
    from xplearn.experiment.cross.axes import SEED
    from xplearn.experiment.cross.preview import preview

    cross, ahead, notes = preview(file, plugins, budget)
    reasons = why(cross)
    for number, found in enumerate(ahead, start=1):
        place = f"{number:>4}. " if found.begins else " " * 6
        print(printable(f"{place}{found.cell.id}  {_ahead(found, reasons)}"))
    shown = {found.cell.id for found in ahead}
    for cell in cross.cells:
        if cell.id not in shown:
            print(printable(f"      {cell.id}  {standing(cell, reasons)}"))
    for line in footnotes(cross):
        print(line)
    print(counted(cross))
    _require_any(cross)
    for note in notes:
        print(printable(note))
    if any(axis == SEED and len(labels) == 2 for axis, labels in cross.axes.items()):
        print(FEW_SEEDS)
    print(_sums(ahead, budget))
    return 0


def _sums(ahead: Sequence[Ahead], budget: Budget) -> str:
    """What all cells that would be run cost."""
    from xplearn.cli.crossed import duration, numbered

    begun = [cell for cell in ahead if cell.begins]
    which = numbered(len(ahead)) if len(begun) == len(ahead) else f"{len(begun)} of {numbered(len(ahead))}"
    episodes = sum(cell.episodes or 0 for cell in begun)
    known = [cell.seconds for cell in begun if cell.seconds is not None]
    took = f", about {duration(sum(known))} one after the other" if known and len(known) == len(begun) else ""
    unknown = f"; no time known until a cell has run{', so fewer may begin' if budget.minutes else ''}" if begun and not known else ""
    return f"to run: {which}, at most {episodes:,} episodes (what cells share is played once){took}; nothing was played{unknown}"


def _ahead(found: Ahead, reasons: Sequence[str]) -> str:
    """What a cell would cost, and how it stands where it was begun."""
    from xplearn.cli.crossed import duration, standing

    episodes = "episodes not known" if found.episodes is None else f"{found.episodes:,} episodes"
    took = "" if found.seconds is None else f", about {duration(found.seconds)}"
    left = "" if found.begins else "; not within this budget"
    return episodes + took + left + (f"; {standing(found.cell, reasons)}" if found.cell.reason else "")


class _Watching:
    """A line for each cell that begins or ends, and inside it the progress of its run."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._explained = quiet, False

    def cell_start(self, cell: Cell) -> None:
        if not self._quiet:
            self.note(f"{cell.id} begins")

    def cell_end(self, cell: Cell, run: Path, done: int, total: int) -> None:
        from xplearn.cli.crossed import ARROW, duration, told

        if self._quiet:
            return
        became = told(cell, run)
        legend = SCORES if cell.state == "finished" and ARROW in became and not self._explained else ""
        self._explained = self._explained or bool(legend)
        self.note(f"{done}/{total} cells · {cell.id}   {became}{legend}   {duration(cell.seconds)}")

    def taken(self, cell: Cell, what: str) -> None:
        if not self._quiet:
            self.note(f"{cell.id}: {what} taken from what this cross did before")

    def note(self, text: str) -> None:
        import sys

        print(printable(text), file=sys.stderr, flush=True)

    def inside(self) -> AbstractContextManager[Observer]:
        from xplearn.cli.passing import passing

        return passing(self._quiet)
