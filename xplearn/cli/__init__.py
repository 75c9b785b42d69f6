"""The command line. Each command lives in a module of its own and imports what it needs only when called."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence

COMMANDS = ("run", "cross", "check", "show", "report", "bank", "play", "plugins", "models")
"""Modules of this package, in the order of the help; each has ``add(commands)``."""

DESCRIPTION = "How should a language-model agent learn from its experience? Run it, and see."

EXAMPLES = """examples:
  xplearn run demo                               a real agent acts, learns and is compared, with and without experience
  xplearn run my.yaml run.seed=1 selector.k=3    a file with two overrides; the same command goes on after a stop
  xplearn cross bench.yaml --minutes 40          every combination of parts, environments and seeds that a file names
  xplearn check my.yaml                          is this mix sound? nothing heavy is loaded
  xplearn show runs/demo-1a2b3c4d                the table of a run, finished or not
  xplearn report runs/demo-1a2b3c4d              a page with figures, tables and every episode, step by step
  xplearn bank why RUN ID                        who wrote an entry of the bank, from what, and what it proved worth
  xplearn play core.errands                      play a task yourself
"""

STATUS_INTERRUPTED = 130
STATUS_TERMINATED = 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        Exit status: 0, 2 for an error the user can mend, 130 after Ctrl-C, 143 after SIGTERM.
    """
    # A decoder that spins beside a JVM or an environment worker loses most of its speed; torch reads this when first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    args = list(sys.argv[1:] if argv is None else argv)
    from xplearn.cli.terminal import tolerant
    from xplearn.errors import XplearnError
    from xplearn.report.printable import printable

    tolerant(sys.stdout, sys.stderr)
    try:
        return _call(_parse(args))
    except XplearnError as error:
        sys.stdout.flush()
        print(printable(f"{type(error).__name__}: {error}"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output left (e.g. `| head`): nothing is wrong, and nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC and not isinstance(error.filename, str):
            raise  # no path that a person could mend
        print(printable(_refused(error)), file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        from xplearn.cli.ending import Terminated

        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return STATUS_TERMINATED if isinstance(stop, Terminated) else STATUS_INTERRUPTED


def _refused(error: OSError) -> str:
    """What the system would not do, in one line."""
    from xplearn.files import refusal

    if error.errno == errno.ENOSPC:
        return "the disk is full; make room and repeat the command, it goes on from here"
    return f"{error.filename}: {refusal(error)}; nothing was changed there"


def _call(namespace: argparse.Namespace) -> int:
    from xplearn.errors import XplearnError

    try:
        return int(namespace.call(namespace) or 0)
    except SystemExit as stop:
        raise XplearnError(f"a plugin's code ended the interpreter (SystemExit {stop.code}); see which: xplearn plugins") from stop


def _parse(args: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments, none of them meaning ``--help``; ``key=value`` may also stand behind an option."""
    parser = _parser(args)
    if not args:
        parser.print_help()
        parser.exit()
    namespace, rest = parser.parse_known_args(args)
    for word in rest:
        if word.startswith("-") or "=" not in word or not hasattr(namespace, "overrides"):
            namespace.parser.unrecognized(word)
        namespace.overrides.append(word)
    return namespace


def _parser(args: Sequence[str]) -> argparse.ArgumentParser:
    from xplearn import __version__
    from xplearn.cli.arguments import Parser

    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="xplearn", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"xplearn {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"xplearn.cli.{name}").add(commands)
    if not args or args[0] not in COMMANDS:
        from xplearn.plugins import installed

        installed().add_commands(commands)
    return parser
