"""``xplearn expbench averages RUN`` and ``xplearn expbench origins``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

_AVERAGES = "  xplearn expbench averages runs/expbench-1a2b3c4d    each task, and both averages, with paired differences\n"
_ORIGINS = """  xplearn expbench origins                            licence, source and number of rows of every task
  xplearn expbench origins gsm8k math                 of these two
"""


def add(commands: Any) -> None:
    """Register the command."""
    summary = "the averages of a run over the benchmark's tasks, and where the tasks come from"
    verbs = _command(commands, "expbench", summary, _AVERAGES + _ORIGINS).add_subparsers(metavar="VERB", required=True)
    averages = _command(verbs, "averages", "score by task, and averaged by questions and by tasks", _AVERAGES)
    averages.add_argument("run", help="a run folder")
    averages.set_defaults(call=print_averages)
    origins = _command(verbs, "origins", "licence, source and number of rows by task", _ORIGINS)
    origins.add_argument("tasks", nargs="*", metavar="task", help="names of tasks; left out, all")
    origins.set_defaults(call=print_origins)


def _command(commands: Any, name: str, summary: str, examples: str) -> Any:
    raw = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=summary, description=summary, epilog=f"examples:\n{examples}", formatter_class=raw)


def print_averages(args: argparse.Namespace) -> int:
    """Print what a run scored, finished or not.

    Raises:
        RecordError: there is no run in the folder, or it has evaluated no question of the benchmark.
    """
    from xplearn import Bootstrap, RecordError, load
    from xplearn_expbench.averages import averages, told

    run = load(args.run)
    how = run.header.resolved["evaluate"]
    points = averages(run.episodes(), Bootstrap(confidence=how["confidence"], resamples=how["resamples"]))
    if not points:
        raise RecordError(args.run, "has evaluated no question of expbench; see what it has: xplearn show " + args.run)
    sys.stdout.write(told(points) + "\n")
    sys.stdout.write("intervals over the questions of each task, tasks kept: closer than those of xplearn show, which mixes the tasks\n")
    return 0


def print_origins(args: argparse.Namespace) -> int:
    """Print licence, source and number of rows."""
    from xplearn_expbench.origins import origins

    sys.stdout.write(origins(args.tasks) + "\n")
    return 0
