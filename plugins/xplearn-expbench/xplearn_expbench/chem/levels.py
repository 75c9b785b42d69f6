"""How designs grow harder. Each level goes over molecules of one split and draws, around each, what it is the answer to."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xplearn_expbench.chem.measure import ELEMENTS, GROUPS, SIMILARITY, Constraint, measure
from xplearn_expbench.chem.molecule import similarity
from xplearn_expbench.chem.pool import Specimen
from xplearn_expbench.mini import draw

_SHORT = 9
"""Heavy atoms of molecules that are shown to choose from, or as examples."""
_FEW = 14
"""Heavy atoms of a molecule whose group is asked for within a number of atoms."""
_ALIKE = 0.35
"""[OURS] Least similarity to a start molecule."""
_STEPS = {"molecular weight": (10.0, 9), "logP": (0.5, 5), "TPSA": (5.0, 9)}
"""Bounds of a quantity lie on such steps, so many apart."""
_CHANGES = (("logP", 0.5, False), ("logP", 0.5, True), ("TPSA", 12.0, False), ("TPSA", 12.0, True))
"""Quantity, least change, and whether it goes up."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A design before it is put in words."""

    witness: Specimen
    bounds: Sequence[Constraint]
    """All met by the witness."""
    offered: Sequence[Specimen] = ()
    """To choose from: the witness, and others that don't meet them all."""
    examples: Sequence[Specimen] = ()
    """Of how molecules are written: they don't meet them all."""


def one_of_two(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 1: which of two molecules has a group."""
    yield from _chosen(mine, 2)


def one_of_four(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 2: which of four molecules has a group."""
    yield from _chosen(mine, 4)


def composition(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 3: exactly so many atoms of each element."""
    for witness in filter(_small, mine):
        counts = {f"{name} atom": measure(witness.molecule, f"{name} atom") for name in ELEMENTS}
        counts = {name: count for name, count in counts.items() if count} | {"heavy atom": sum(counts.values())}
        bounds = [Constraint(of=name, low=count, high=count) for name, count in counts.items()]
        yield Draft(witness, bounds, examples=_others(mine, witness, bounds, 2))


def group(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 4: a group, and a number of atoms."""
    for witness in mine:
        if groups(witness) and measure(witness.molecule, "heavy atom") <= _FEW:
            bounds = [_some_group(witness), _room(witness)]
            yield Draft(witness, bounds, examples=_others(mine, witness, bounds, 2))


def ranges(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 5: ranges of one or two quantities, a group to have and one to avoid."""
    for witness in mine:
        present = groups(witness)
        if present:
            avoided = draw.pick([name for name in GROUPS if name not in present], "chemistry", "avoided", witness.text)
            quantities = draw.few(
                tuple(_STEPS), draw.number(1, 2, "chemistry", "many", witness.text), "chemistry", "quantities", witness.text
            )
            yield Draft(witness, [*(_around(witness, name) for name in quantities), _some_group(witness), Constraint(of=avoided, high=0)])


def analogue(mine: Sequence[Specimen]) -> Iterator[Draft]:
    """Level 6: like a given molecule, but with another logP or polar surface; the known ones come first."""
    for start in sorted(mine, key=lambda specimen: not specimen.name):
        if start.name or start.family:
            bounds = [Constraint(of=SIMILARITY, to=start.text, low=_ALIKE), _changed(start)]
            near = (other for other in mine if other.family == start.family or start.name)
            fit = (other for other in near if bounds[1].met(other.molecule) and similarity(start.molecule, other.molecule) >= _ALIKE)
            yield from (Draft(witness, bounds) for witness in [next(fit, None)] if witness)


LEVELS = (one_of_two, one_of_four, composition, group, ranges, analogue)


@functools.cache
def groups(specimen: Specimen) -> tuple[str, ...]:
    """Names of the groups that a molecule has."""
    return tuple(name for name in GROUPS if measure(specimen.molecule, name))


def _small(specimen: Specimen) -> bool:
    return not specimen.family and not specimen.name


def _short(specimen: Specimen) -> bool:
    return _small(specimen) and measure(specimen.molecule, "heavy atom") <= _SHORT


def _chosen(mine: Sequence[Specimen], count: int) -> Iterator[Draft]:
    """The number of atoms is there so that no molecule is right for many: the group alone tells those that are offered apart."""
    for witness in filter(_short, mine):
        if groups(witness):
            bounds = [_some_group(witness), _room(witness)]
            offered = [witness, *_others(mine, witness, bounds[:1], count - 1)]
            yield Draft(witness, bounds, offered=draw.shuffled(offered, "chemistry", "offered", count, witness.text))


def _others(mine: Sequence[Specimen], witness: Specimen, bounds: Sequence[Constraint], count: int) -> list[Specimen]:
    """Short molecules that don't meet all bounds."""
    short = draw.shuffled(list(filter(_short, mine)), "chemistry", "others", count, witness.text)
    wrong = (other for other in short if not all(bound.met(other.molecule) for bound in bounds))
    return list(itertools.islice(wrong, count))


def _some_group(witness: Specimen) -> Constraint:
    return Constraint(of=draw.pick(groups(witness), "chemistry", "group", witness.text), low=1)


def _room(witness: Specimen) -> Constraint:
    atoms = measure(witness.molecule, "heavy atom")
    below, above = (draw.number(0, 1, "chemistry", "room", side, witness.text) for side in ("below", "above"))
    return Constraint(of="heavy atom", low=atoms - below, high=atoms + above * (1 - below))


def _around(witness: Specimen, quantity: str) -> Constraint:
    """A range on round numbers with the molecule's value inside, anywhere but at an edge."""
    step, width = _STEPS[quantity]
    below = draw.number(1, width - 2, "chemistry", "around", quantity, witness.text)
    low = (math.floor(measure(witness.molecule, quantity) / step) - below) * step
    idle = low <= 0 and quantity != "logP"
    return Constraint(of=quantity, low=-math.inf if idle else low, high=low + width * step)


def _changed(start: Specimen) -> Constraint:
    quantity, change, up = draw.pick(_CHANGES, "chemistry", "change", start.text)
    value = measure(start.molecule, quantity)
    if up:
        return Constraint(of=quantity, low=math.ceil(10 * (value + change)) / 10)
    return Constraint(of=quantity, high=math.floor(10 * (value - change)) / 10)
