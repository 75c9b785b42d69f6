"""``xplearn report``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.record.reader import Run
    from xplearn.report.page import Source

EXAMPLES = """  xplearn report runs/demo-1a2b3c4d            a page of one run, finished or not: its report/report.html
  xplearn report runs/bench                    the folder of a cross: its grid, boards and episodes
  xplearn report runs/a-* runs/b-* --to out    several runs, side by side where they match
  xplearn report runs/a-* --png                figures also as PNG; needs xplearn[report]
  xplearn report runs/a-* --megabytes 40       more of many episodes; 0 leaves them out
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "report", "write a page with figures, tables and every episode, step by step", EXAMPLES)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders, a folder that holds some, or the folder of a cross")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="left out, report/ inside the one folder that is given, else ./report")
    parser.add_argument("--megabytes", type=_size, default=12.0, metavar="M", help="of compressed episodes in the page (default 12)")
    parser.add_argument("--episodes", type=_count, metavar="N", help="at most so many of them")
    parser.add_argument("--png", action="store_true", help="figures also as PNG files")
    parser.add_argument("--no-figures", action="store_true", help="no files of figures; the page has them all the same")
    parser.add_argument("--no-tables", action="store_true", help="no files of tables; the page has them all the same")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, only the path of the page")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Write the report and print where it is."""
    from xplearn.cli.progress import observer
    from xplearn.report.page import Limits, write

    source = _source(args.runs)
    folder = args.to or (args.runs[0] / "report" if len(args.runs) == 1 else Path("report"))
    figures = () if args.no_figures else ("svg", "png") if args.png else ("svg",)
    with observer(args.quiet) as watch:
        path = write(
            source,
            folder,
            limits=Limits(episodes=args.episodes, megabytes=args.megabytes),
            figures=figures,
            tables=() if args.no_tables else ("md", "csv", "tex"),
            observer=watch,
        )
    print(printable(str(path)))
    return 0


def _source(given: list[Path]) -> Source:
    """The runs of folders, each once, and the cross where one is given alone.

    Raises:
        RecordError: none of them can be read.
    """
    from xplearn.cli.places import all_present
    from xplearn.errors import RecordError, XplearnError
    from xplearn.plugins import installed
    from xplearn.record.cross import NAME, load_cross
    from xplearn.record.reader import load
    from xplearn.report.page import Source

    given = all_present(given, "report")
    place = given[0] if len(given) == 1 and (given[0] / NAME).exists() else None
    cross = load_cross(place) if place is not None else None
    runs: list[Run] = []
    unread: list[tuple[str, str]] = []
    for folder in dict.fromkeys(found for path in given for found in _folders(path)):
        try:
            runs.append(load(folder))
        except XplearnError as error:
            unread.append((str(folder), str(error)))
    if not runs and cross is None:
        reason = unread[0][1] if unread else "no run here; give the folder that 'xplearn run' or 'xplearn cross' made"
        raise RecordError(given[0], reason)
    return Source(runs=runs, cross=cross, place=place, reported=installed().reported(_plugins(runs)), unread=unread)


def _plugins(runs: list[Run]) -> set[str]:
    """Those of which a run has a part."""
    return {str(part.get("name", "")).partition(".")[0] for run in runs for part in run.header.parts.values()}


def _folders(path: Path) -> list[Path]:
    """The run folders that a path stands for: itself, those of its cross, or those that it holds."""
    from xplearn.record.cross import NAME, load_cross

    if (path / NAME).exists():
        runs = dict.fromkeys(path / cell.run for cell in load_cross(path).cells if cell.run)
        return [run for run in runs if (run / "run.json").exists()]
    if (path / "run.json").exists():
        return [path]
    return sorted(found.parent for pattern in ("*/run.json", "*/*/run.json") for found in path.glob(pattern))


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {number}; want at least 1")
    return number


def _size(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 500:
        raise argparse.ArgumentTypeError(f"is {number:g}; want 0 to 500")
    return number
