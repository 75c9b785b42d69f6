"""Mini rows: yes-or-no questions about molecules, answered by RDKit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xplearn_expbench.chem.measure import Constraint
from xplearn_expbench.chem.molecule import Molecule, scaffold
from xplearn_expbench.chem.pool import Specimen, pool
from xplearn_expbench.mini import draw
from xplearn_expbench.spec import Row

EACH = {"train": 8, "test": 4}
"""Rows with "yes" of every endpoint, and as many with "no"."""

_MARGINS = {"molecular weight": 5.0, "logP": 0.3, "TPSA": 5.0}
"""[OURS] So close to a bound nothing is asked: another program's value may lie on its other side."""


@dataclass(frozen=True)
class Endpoint:
    """A property that a molecule has or has not."""

    name: str
    question: str
    """With ``{}`` for the SMILES."""
    rule: tuple[Constraint, ...]
    """Yes where all are met."""
    level: int
    """1: to be seen in the SMILES. 2: to be counted. 3: to be estimated. 4: several at once."""
    margins: dict[str, float] = field(default_factory=lambda: _MARGINS)

    def answer(self, molecule: Molecule) -> str | None:
        """``yes`` or ``no``, or None where a value is too close to its bound."""
        met = True
        for bound in self.rule:
            value, margin = bound.value(molecule), self.margins.get(bound.of, 0.0)
            if min(abs(value - bound.low), abs(value - bound.high)) < margin:
                return None
            met = met and bound.met(molecule)
        return "yes" if met else "no"


def _has(level: int, what: str, least: int = 1) -> Endpoint:
    article = "an" if what[0] in "ae" else "a"
    asked = f"{article} {what}" if least == 1 else f"at least {least} {what}s"
    return Endpoint(what.replace(" ", "-"), f"Does the molecule {{}} contain {asked}?", (Constraint(of=what, low=least),), level)


ENDPOINTS = (
    _has(1, "halogen atom"),
    _has(1, "benzene ring"),
    _has(1, "carboxylic acid group"),
    _has(1, "nitrile group"),
    _has(2, "amide group"),
    _has(2, "hydroxyl group"),
    _has(2, "ring", 2),
    _has(2, "hydrogen-bond donor", 2),
    _has(3, "rotatable bond", 4),
    Endpoint("weight", "Is the molecular weight of {} above 250 g/mol?", (Constraint(of="molecular weight", low=250),), 3),
    Endpoint("logp", "Is the logP (Crippen) of {} above 2.5?", (Constraint(of="logP", low=2.5),), 3),
    Endpoint("tpsa", "Is the topological polar surface area of {} above 60 square angstroms?", (Constraint(of="TPSA", low=60),), 3),
    Endpoint(
        "soluble",
        "Is it true of {} that its logP (Crippen) is below 2 and its topological polar surface area above 40 square angstroms?",
        (Constraint(of="logP", high=2), Constraint(of="TPSA", low=40)),
        4,
    ),
    Endpoint(
        "aromatic-amine",
        "Does the molecule {} contain both an aromatic ring and a primary amine group?",
        (Constraint(of="aromatic ring", low=1), Constraint(of="primary amine group", low=1)),
        4,
    ),
    Endpoint(
        "lipinski",
        "Does the molecule {} obey all four of Lipinski's rules (at most 5 N-H and O-H bonds, at most 10 nitrogen and oxygen atoms, "
        "a molecular weight of at most 500 g/mol, a logP of at most 5)?",
        (
            Constraint(of="N-H or O-H bond", high=5),
            Constraint(of="nitrogen or oxygen atom", high=10),
            Constraint(of="molecular weight", high=500),
            Constraint(of="logP", high=5),
        ),
        4,
    ),
)


def endpoints() -> list[Row]:
    """Rows of both splits; every molecule is asked about once."""
    used: set[str] = set()
    return [row for split in EACH for endpoint in reversed(ENDPOINTS) for row in _rows(endpoint, split, used)]


def _rows(endpoint: Endpoint, split: str, used: set[str]) -> Iterator[Row]:
    left = {"yes": EACH[split], "no": EACH[split]}
    for specimen in _order(endpoint, split):
        if specimen.text in used:
            continue
        answer = endpoint.answer(specimen.molecule)
        if answer and left[answer]:
            left[answer] -= 1
            used.add(specimen.text)
            yield _row(endpoint, specimen, answer)
        if not any(left.values()):
            return


def _order(endpoint: Endpoint, split: str) -> Sequence[Specimen]:
    mine = [specimen for specimen in pool() if specimen.split == split and specimen.family]
    return draw.shuffled(mine, "chemistry", endpoint.name)


def _row(endpoint: Endpoint, specimen: Specimen, answer: str) -> Row:
    meta = {
        "form": "endpoint",
        "endpoint": endpoint.name,
        "level": endpoint.level,
        "smiles": specimen.text,
        "scaffold": scaffold(specimen.molecule),
        "rule": [bound.json() for bound in endpoint.rule],
    }
    return Row(id="", question=endpoint.question.format(specimen.text), answer=answer, split=specimen.split, meta=meta)
