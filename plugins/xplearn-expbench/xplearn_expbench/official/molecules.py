"""Published molecules as yes-or-no questions: MoleculeNet's BBBP, ClinTox and ESOL, and the binary sets of Therapeutics Data Commons (TDC).

Of each endpoint, molecules are compared by RDKit's canonical SMILES, salts and stereo included: a repeated one is asked about once, one
that is labelled both ways not at all, and one that RDKit can't read is left out. `report` says how many. That comes before any split, so no
molecule is in two. The SMILES is shown as the file has it.

Splits are by Bemis–Murcko scaffold, 80 % train, 10 % dev, 10 % test [OURS: by a hash of the scaffold, so that it is on the same side in
every file and whatever else a file holds; MoleculeNet fills train with the commonest scaffolds first]. A TDC file that is named after a
split keeps it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from xplearn import DataError, derive
from xplearn_expbench.chem.molecule import Molecule, parse, scaffold
from xplearn_expbench.official import reading
from xplearn_expbench.official.assays import PUBLISHED, QUESTIONS, columns, label, own_split
from xplearn_expbench.spec import Row

_ENDINGS = (".csv", ".csv.gz", ".tab")
_SPLITS = ("train",) * 8 + ("dev", "test")


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the lines of one endpoint: ``lines == unparsable + duplicates + contradictory + kept``."""

    endpoint: str
    lines: int
    unparsable: int
    """RDKit can't read the SMILES."""
    duplicates: int
    """Repeat a molecule, with the same label."""
    contradictory: int
    """Of molecules that are labelled yes and no; all of their lines."""
    kept: int
    yes: int
    """Of those kept."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of a file, for one endpoint."""

    place: str
    """``file:line``."""
    smiles: str
    answer: str
    split: str
    molecule: Molecule | None


def load(path: Path, *, scaffold_split: bool = True) -> list[Row]:
    """Rows of a file, or of all ``.csv`` and ``.tab`` files of a folder and those below.

    Args:
        path: the file or folder.
        scaffold_split: without it rows have no split, but for TDC files that are named after one.

    Raises:
        PluginError: RDKit is not installed.
        DataError: nothing is there; a file has unknown columns; or a line is malformed, with its number.
    """
    kept = {endpoint: _sifted(entries)[0] for endpoint, entries in _entries(path).items()}
    return [_row(endpoint, entry, molecule, scaffold_split) for endpoint, found in kept.items() for entry, molecule in found]


def require_whole(path: Path) -> None:
    """Refuse a file of MoleculeNet, known by its name, that has not as many lines as were published.

    Raises:
        DataError: it has more or fewer, or its last line has no end; says what to do.
    """
    for file in _files(path):
        expected = PUBLISHED.get(file.name.lower().removesuffix(".gz"))
        held = sum(1 for _ in reading.table(file)) if expected else None
        if held != expected:
            raise DataError(file, f"holds {held} rows, and {expected} were published; get it again, or say subset=true if a part is meant")
        if expected and not reading.ends(file):
            raise DataError(file, "is cut off in its last line; get it again, or say subset=true if a part is meant")


def report(path: Path) -> list[Report]:
    """For each endpoint what `load` left out, and why.

    Raises:
        PluginError, DataError: as `load`.
    """
    return [_report(endpoint, entries) for endpoint, entries in _entries(path).items()]


def _report(endpoint: str, entries: list[_Entry]) -> Report:
    kept, duplicates, contradictory = _sifted(entries)
    unparsable = sum(entry.molecule is None for entry in entries)
    return Report(endpoint, len(entries), unparsable, duplicates, contradictory, len(kept), sum(entry.answer == "yes" for entry, _ in kept))


def _sifted(entries: Iterable[_Entry]) -> tuple[list[tuple[_Entry, Molecule]], int, int]:
    """The first line of each molecule; how many lines repeat one; how many are of contradictory molecules."""
    groups: defaultdict[Molecule, list[_Entry]] = defaultdict(list)
    for entry in entries:
        if entry.molecule is not None:
            groups[entry.molecule].append(entry)
    agreed = {molecule: group for molecule, group in groups.items() if len({entry.answer for entry in group}) == 1}
    duplicates = sum(len(group) - 1 for group in agreed.values())
    contradictory = sum(len(group) for molecule, group in groups.items() if molecule not in agreed)
    return [(group[0], molecule) for molecule, group in agreed.items()], duplicates, contradictory


def _row(endpoint: str, entry: _Entry, molecule: Molecule, scaffold_split: bool) -> Row:
    core = scaffold(molecule)
    split = entry.split or (_SPLITS[derive(0, "scaffold", core) % len(_SPLITS)] if scaffold_split else "")
    meta = {"form": "endpoint", "endpoint": endpoint, "smiles": entry.smiles, "scaffold": core}
    question = QUESTIONS[endpoint].format(entry.smiles)
    return Row(id=f"{endpoint}/{entry.place}", question=question, answer=entry.answer, split=split, meta=meta)


def _entries(path: Path) -> dict[str, list[_Entry]]:
    """Lines by endpoint; those of a test file before those of its training file."""
    found: defaultdict[str, list[_Entry]] = defaultdict(list)
    for file in _files(path):
        for endpoint, entry in _lines(file):
            found[endpoint].append(entry)
    if not found:
        raise DataError(path, "holds no molecules; get it again")
    return dict(found)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.name.lower().endswith(_ENDINGS))
    if not files:
        raise DataError(path, f"holds no {', '.join(_ENDINGS)} file; wanted BBBP.csv, clintox.csv, delaney-processed.csv or files of TDC")
    return files


def _lines(file: Path) -> Iterator[tuple[str, _Entry]]:
    """Every line of a file, once for each of its endpoints."""
    split = own_split(file.as_posix())
    for record in reading.table(file, delimiter="\t" if ".tab" in file.suffixes else ","):
        column, labels = columns(file.as_posix(), tuple(record.fields))
        smiles = record.fields[column].strip()
        molecule = parse(smiles)
        for endpoint, label_column in labels.items():
            yield endpoint, _Entry(f"{file.name}:{record.line}", smiles, _answer(record, endpoint, label_column), split, molecule)


def _answer(record: reading.Entry, endpoint: str, column: str) -> str:
    text = record.fields[column].strip()
    try:
        return label(endpoint)(text)
    except ValueError:
        raise record.bad(f"{reading.quoted(text)} is no label of {endpoint} ({column}); get the file again") from None
