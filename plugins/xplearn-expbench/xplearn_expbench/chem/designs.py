"""Mini rows: molecules to be given, under constraints that are drawn around one that meets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from xplearn_expbench.chem.measure import ELEMENTS, GROUPS, SIMILARITY, Constraint, measure
from xplearn_expbench.chem.molecule import similarity
from xplearn_expbench.chem.pool import Specimen, pool
from xplearn_expbench.chem.wording import words
from xplearn_expbench.mini import draw
from xplearn_expbench.spec import Row

EACH = {"train": 48, "test": 24}
"""Rows of every level."""

_ALIKE = 0.35
"""[OURS] Least similarity to a start molecule."""
_STEPS = {"molecular weight": 10.0, "logP": 0.5, "TPSA": 5.0}
_WIDTHS = {"molecular weight": 4, "logP": 2, "TPSA": 4}
"""Bounds lie on these steps, twice as many and one apart."""
_FEW = 14
"""Heavy atoms of a molecule whose group is asked for at level 2."""
_CHANGES = (("logP", 0.5, False), ("logP", 0.5, True), ("TPSA", 12.0, False), ("TPSA", 12.0, True))
"""Quantity, least change, and whether it goes up."""

Drawn = tuple[Specimen, list[Constraint]]


def composition(mine: Sequence[Specimen]) -> Iterator[Drawn]:
    """Level 1: exactly so many atoms of each element."""
    for witness in mine:
        counts = {element: measure(witness.molecule, f"{element} atom") for element in ELEMENTS}
        if not witness.family and not witness.name:
            yield (
                witness,
                [
                    *(_exactly(f"{name} atom", count) for name, count in counts.items() if count),
                    _exactly("heavy atom", sum(counts.values())),
                ],
            )


def group(mine: Sequence[Specimen]) -> Iterator[Drawn]:
    """Level 2: a group, in few atoms."""
    for witness in mine:
        atoms = measure(witness.molecule, "heavy atom")
        if _present(witness) and atoms <= _FEW:
            wanted = draw.pick(_present(witness), "chemistry", "group", witness.text)
            yield (
                witness,
                [
                    Constraint(of=wanted, low=1),
                    Constraint(of="heavy atom", high=atoms + draw.number(0, 4, "chemistry", "room", witness.text)),
                ],
            )


def window(mine: Sequence[Specimen]) -> Iterator[Drawn]:
    """Level 3: a range of one quantity, and a group or a number of rings."""
    for witness in mine:
        wanted = draw.pick([*_present(witness), "ring"], "chemistry", "window", witness.text)
        bound = _exactly("ring", measure(witness.molecule, "ring")) if wanted == "ring" else Constraint(of=wanted, low=1)
        yield witness, [_around(witness, draw.pick(tuple(_STEPS), "chemistry", "quantity", witness.text)), bound]


def several(mine: Sequence[Specimen]) -> Iterator[Drawn]:
    """Level 4: ranges of two quantities, a group to have and a group to avoid."""
    for witness in mine:
        present = _present(witness)
        if present:
            wanted = draw.pick(present, "chemistry", "wanted", witness.text)
            avoided = draw.pick([name for name in GROUPS if name not in present], "chemistry", "avoided", witness.text)
            quantities = draw.few(tuple(_STEPS), 2, "chemistry", "quantities", witness.text)
            yield witness, [*(_around(witness, name) for name in quantities), Constraint(of=wanted, low=1), Constraint(of=avoided, high=0)]


def analogue(mine: Sequence[Specimen]) -> Iterator[Drawn]:
    """Level 5: like a given molecule, but with another logP or polar surface; a known one where there is an analogue of it."""
    for start in sorted(mine, key=lambda specimen: not specimen.name):
        if not start.name and not start.family:
            continue
        quantity, change, up = draw.pick(_CHANGES, "chemistry", "change", start.text)
        value = measure(start.molecule, quantity)
        wanted = (
            Constraint(of=quantity, low=math.ceil(10 * (value + change)) / 10)
            if up
            else Constraint(of=quantity, high=math.floor(10 * (value - change)) / 10)
        )
        near = (other for other in mine if other.family == start.family or start.name)
        fit = (other for other in near if wanted.met(other.molecule) and similarity(start.molecule, other.molecule) >= _ALIKE)
        witness = next(fit, None)
        if witness:
            yield witness, [Constraint(of=SIMILARITY, to=start.text, low=_ALIKE), wanted]


_LEVELS = (composition, group, window, several, analogue)


def designs() -> list[Row]:
    """Rows of both splits and five levels, no question twice."""
    asked: set[str] = set()
    return [row for split in EACH for level, drawn in enumerate(_LEVELS, 1) for row in _rows(level, drawn, split, asked)]


def _rows(level: int, drawn: Callable[[Sequence[Specimen]], Iterator[Drawn]], split: str, asked: set[str]) -> list[Row]:
    mine = draw.shuffled([specimen for specimen in pool() if specimen.split == split], "chemistry", "design", level)
    rows: list[Row] = []
    for witness, bounds in drawn(mine):
        row = _row(level, witness, bounds)
        if row.question not in asked:
            asked.add(row.question)
            rows.append(row)
        if len(rows) == EACH[split]:
            break
    return rows


def _row(level: int, witness: Specimen, bounds: Sequence[Constraint]) -> Row:
    listed = "; ".join(map(words, bounds))
    question = (
        f"Give the SMILES of a molecule with {listed}."
        if len(bounds) == 1
        else f"Give the SMILES of one molecule that has all of these: {listed}."
    )
    meta = {"form": "design", "level": level, "constraints": [bound.json() for bound in bounds]}
    return Row(id="", question=question, answer=witness.text, split=witness.split, meta=meta)


def _exactly(name: str, count: float) -> Constraint:
    return Constraint(of=name, low=count, high=count)


def _present(witness: Specimen) -> list[str]:
    return [name for name in GROUPS if measure(witness.molecule, name)]


def _around(witness: Specimen, quantity: str) -> Constraint:
    """A range on round numbers with the molecule's value inside, anywhere but at an edge."""
    step, width = _STEPS[quantity], _WIDTHS[quantity]
    below = draw.number(1, 2 * width - 1, "chemistry", "around", quantity, witness.text)
    low = (math.floor(measure(witness.molecule, quantity) / step) - below) * step
    high = low + (2 * width + 1) * step
    open_below = low <= 0 and quantity != "logP"
    return Constraint(of=quantity, low=-math.inf if open_below else low, high=high)
