"""``xplearn inspect RUN… [--to FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

_EXAMPLES = """examples:
  xplearn inspect runs/demo-1a2b3c4d             into ./logs, where 'inspect view' looks
  xplearn inspect runs/demo-* --to demo-logs     several runs into one folder: inspect view --log-dir demo-logs
"""


def add(commands: Any) -> None:
    """Register the command."""
    summary = "write the evaluated episodes of runs as inspect_ai logs, for 'inspect view'"
    raw = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser("inspect", help=summary, description=summary, epilog=_EXAMPLES, formatter_class=raw)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder, finished or not, or a folder that holds some")
    parser.add_argument("--to", default="logs", metavar="FOLDER", help="where the logs go (default: logs)")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Write a log for each evaluation point, domain and arm of each run, and say how to look at them.

    Raises:
        PluginError: inspect_ai is not installed.
        RecordError: a folder is no run, or none of the runs has evaluated anything yet.
    """
    from xplearn import PluginError, RecordError

    try:
        from xplearn_inspect.export import export
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "inspect_ai":
            raise
        raise PluginError("inspect", "needs the package 'inspect_ai': pip install xplearn-inspect") from error
    target, count = Path(args.to), 0
    for folder in (folder for given in args.runs for folder in _runs(Path(given))):
        for path, samples in export(folder, target):
            sys.stdout.write(f"{path}  {samples} episode{'' if samples == 1 else 's'}\n")
            count += 1
    if not count:
        raise RecordError(", ".join(args.runs), "nothing was evaluated yet; see how far it is: xplearn show " + args.runs[0])
    sys.stdout.write("look at them: inspect view" + ("" if args.to == "logs" else f" --log-dir {args.to}") + "\n")
    return 0


def _runs(given: Path) -> list[Path]:
    """The folder, or the run folders in it."""
    inside = [] if (given / "run.json").exists() else sorted(path.parent for path in given.glob("*/run.json"))
    return inside or [given]
