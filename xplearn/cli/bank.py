"""``xplearn bank``."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.record.reader import Run

EXAMPLES = """  xplearn bank show runs/demo-1a2b3c4d              its entries, also while the run goes on
  xplearn bank show runs/demo-1a2b3c4d@1            as the bank was after stage 1
  xplearn bank diff runs/demo-1a2b3c4d@1 runs/demo-1a2b3c4d
  xplearn bank history runs/demo-1a2b3c4d           what each learner did to it, and why
  xplearn bank why runs/demo-1a2b3c4d record/train  who wrote an entry, from what, what it proved worth
  xplearn bank export runs/demo-1a2b3c4d bank.jsonl
  xplearn bank import bank.jsonl bank.sqlite        then: xplearn run … store='{name: core.sqlite, path: bank.sqlite}'
"""

PLACE = "run folder, RUN@STAGE for the bank a stage left, or the file of a bank"


def add(commands: Commands) -> None:
    """Register the command and its verbs."""
    verbs = add_command(commands, "bank", "look into the bank of a run, compare, trace and carry it", EXAMPLES).add_subparsers(
        metavar="VERB", required=True
    )
    show = add_command(verbs, "show", "the entries of a bank", "  xplearn bank show runs/demo-1a2b3c4d --sort utility --limit 10\n")
    show.add_argument("bank", metavar="RUN|FILE", help=PLACE)
    show.add_argument("--kind", help="only entries of this kind")
    show.add_argument("--sort", choices=["created", "id", "utility", "uses"], default="created", help="default: created")
    show.add_argument("--limit", type=_count, metavar="N", help="at most this many")
    show.add_argument("--at", type=_count, metavar="STAGE", help="as the bank was after this stage: short for RUN@STAGE")
    show.set_defaults(call=call_show)
    diff = add_command(verbs, "diff", "what changed from one bank to another", "  xplearn bank diff runs/a@1 runs/a@2\n")
    for name in ("before", "after"):
        diff.add_argument(name, metavar=name.upper(), help=PLACE)
    diff.set_defaults(call=call_diff)
    history = add_command(verbs, "history", "what each learner did to the bank, and why", "  xplearn bank history runs/a --event pruned\n")
    history.add_argument("run", metavar="RUN", help="run folder")
    history.add_argument("--id", help="only of entries whose id begins so")
    history.add_argument("--event", help="only these: added, changed, removed, or a learner's own word")
    history.set_defaults(call=call_history)
    why = add_command(verbs, "why", "who wrote an entry, from what, and what became of it", "  xplearn bank why runs/a record/train/0/0\n")
    why.add_argument("words", nargs="+", metavar="[RUN] ID", help="run folder, and id of the entry or how it begins")
    why.add_argument("--run", metavar="RUN", help="the run folder, where it does not come first")
    why.set_defaults(call=call_why)
    _add_exchange(verbs)


def _add_exchange(verbs: Commands) -> None:
    export = add_command(verbs, "export", "write a bank as lines of JSON", "  xplearn bank export runs/a bank.jsonl\n")
    export.add_argument("bank", metavar="RUN|FILE", help=PLACE)
    export.add_argument("out", metavar="OUT.jsonl", type=Path)
    export.set_defaults(call=call_export)
    example = "  xplearn bank import bank.jsonl bank.sqlite\n  xplearn bank import more.jsonl bank.sqlite --into\n"
    load = add_command(verbs, "import", "make a bank file of an exported bank, whole or not at all", example)
    load.add_argument("source", metavar="IN.jsonl", type=Path)
    load.add_argument("bank", metavar="BANK.sqlite", type=Path)
    load.add_argument("--into", action="store_true", help="add to the bank that is there; no id may be in both")
    load.set_defaults(call=call_import)


def call_show(args: argparse.Namespace) -> int:
    """Print entries and totals."""
    from xplearn.cli.terminal import console
    from xplearn.record.bank import open_bank
    from xplearn.report import bank

    with open_bank(args.bank if args.at is None else f"{args.bank}@{args.at}") as store:
        entries = sorted((found for found in store if args.kind in (None, found.kind)), key=bank.SORTS[args.sort])
        if entries:
            _print([*bank.table(entries[: args.limit], bank.when_in(_run_of(args.bank)), console().width), ""])
        _print(bank.totals(store))
    return 0


def call_diff(args: argparse.Namespace) -> int:
    """Print what differs."""
    from xplearn.record.bank import open_bank
    from xplearn.report.bank import differences

    with open_bank(args.before) as before, open_bank(args.after) as after:
        _print(differences(before, after))
    return 0


def call_history(args: argparse.Namespace) -> int:
    """Print the journal."""
    from xplearn.record.reader import load
    from xplearn.report.bank import history, when_in

    run = load(args.run)
    notes = [note for note in run.history() if note.id.startswith(args.id or "") and args.event in (None, note.event)]
    if not notes:
        print("nothing of the kind was written down")
    whole = args.id is None and args.event is None
    _print(history(notes, run.calls() if whole else [], when_in(run)))
    return 0


def call_why(args: argparse.Namespace) -> int:
    """Print the life of an entry."""
    from xplearn.errors import ConfigError
    from xplearn.record.bank import open_bank
    from xplearn.record.reader import load
    from xplearn.report.why import why

    words = args.words if args.run is None else [args.run, *args.words]
    if len(words) != 2:
        raise ConfigError("", f"want a run folder and one id, got {len(words)} words; type: xplearn bank why RUN ID")
    run = load(words[0])
    with open_bank(words[0]) as store:
        _print(why(run, store, words[1]))
    return 0


def call_export(args: argparse.Namespace) -> int:
    """Write the bank and say how much it was."""
    from xplearn.record.bank import open_bank
    from xplearn.record.exchange import export_bank

    with open_bank(args.bank) as store, _writing(args.out):
        print(printable(f"{args.out}: {export_bank(store, args.out)} entries, digest {store.digest()}"))
    return 0


def call_import(args: argparse.Namespace) -> int:
    """Make or fill a bank file."""
    from xplearn.record.exchange import import_bank

    with _writing(args.bank):
        count, digest = import_bank(args.source, args.bank, into=args.into)
    print(printable(f"{args.bank}: {count} entries imported, digest {digest}"))
    return 0


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Tell in one line why a file cannot be written; a full disk is told to everybody alike.

    Raises:
        DataError: where it cannot be.
    """
    from xplearn.errors import DataError
    from xplearn.files import refusal

    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EPIPE):
            raise
        raise DataError(path, f"cannot be written ({refusal(error)}); name a file in a folder that can") from None


def _run_of(given: str) -> Run | None:
    """The run whose bank is meant; None for a file."""
    from xplearn.record.reader import load

    folder = Path(given) if Path(given).exists() else Path(given.rpartition("@")[0])
    return load(folder) if (folder / "run.json").exists() else None


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {number}; want at least 1")
    return number


def _print(lines: Iterable[str]) -> None:
    """Print lines as lines: text in them begins none of its own."""
    for line in lines:
        print(printable(" ".join(line.splitlines())))
