"""What can be asked of a molecule: named numbers, and bounds on them."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xplearn import DataError
from xplearn_expbench.chem.molecule import Molecule, parse, rdkit, similarity

GROUPS = {
    "hydroxyl group": "[OX2H][#6;!$(C=[O,N,S])]",
    "carboxylic acid group": "[CX3](=O)[OX2H]",
    "ester group": "[CX3;$([CX3][#6]),$([CX3H])](=O)[OX2][#6;!$(C=O)]",
    "amide group": "[CX3;$([CX3][#6]),$([CX3H])](=O)[NX3]",
    "aldehyde group": "[CX3H](=O)[#6]",
    "ketone group": "[#6][CX3](=O)[#6]",
    "ether group": "[OX2]([#6;!$(C=[O,N,S])])[#6;!$(C=[O,N,S])]",
    "primary amine group": "[NX3;H2;!$(NC=[O,N,S]);!$(N[!#6])][#6]",
    "nitrile group": "[CX2]#[NX1]",
    "nitro group": "[NX3+](=O)[O-]",
    "thiol group": "[SX2H][#6]",
    "sulfonamide group": "[SX4](=O)(=O)[NX3]",
    "carbon-carbon double bond": "[CX3]=[CX3]",
    "carbon-carbon triple bond": "[CX2]#[CX2]",
    "benzene ring": "c1ccccc1",
    "halogen atom": "[F,Cl,Br,I]",
}
"""SMARTS by name [OURS]; the number of matches is a measure. A phenol's is a hydroxyl group, a carboxylic acid's is not; an acid is no
ester; double bonds inside aromatic rings don't count."""

ELEMENTS = {
    "carbon": "C",
    "nitrogen": "N",
    "oxygen": "O",
    "sulfur": "S",
    "fluorine": "F",
    "chlorine": "Cl",
    "bromine": "Br",
    "iodine": "I",
    "phosphorus": "P",
}

_DESCRIPTORS = {
    "molecular weight": ("Chem.Descriptors", "MolWt"),
    "logP": ("Chem.Crippen", "MolLogP"),
    "TPSA": ("Chem.rdMolDescriptors", "CalcTPSA"),
    "QED": ("Chem.QED", "qed"),
    "heavy atom": ("Chem.rdMolDescriptors", "CalcNumHeavyAtoms"),
    "ring": ("Chem.rdMolDescriptors", "CalcNumRings"),
    "aromatic ring": ("Chem.rdMolDescriptors", "CalcNumAromaticRings"),
    "hydrogen-bond donor": ("Chem.rdMolDescriptors", "CalcNumHBD"),
    "hydrogen-bond acceptor": ("Chem.rdMolDescriptors", "CalcNumHBA"),
    "N-H or O-H bond": ("Chem.rdMolDescriptors", "CalcNumLipinskiHBD"),
    "rotatable bond": ("Chem.rdMolDescriptors", "CalcNumRotatableBonds"),
}
"""Molecular weight in g/mol, averaged over isotopes; logP after Wildman and Crippen; TPSA after Ertl in square ångström."""

_ATOMS = {"nitrogen or oxygen atom": ("N", "O"), **{f"{name} atom": (symbol,) for name, symbol in ELEMENTS.items()}}
SIMILARITY = "similarity"
MEASURES = (*_DESCRIPTORS, *_ATOMS, *GROUPS, SIMILARITY)
"""Names of all measures; ``similarity`` is to another molecule."""
_SLACK = 1e-6


@functools.cache
def _pattern(group: str) -> Any:
    return rdkit("Chem").MolFromSmarts(GROUPS[group])


def measure(molecule: Molecule, name: str) -> float:
    """The number of that name, other than ``similarity``.

    Raises:
        PluginError: RDKit is not installed.
        KeyError: there is no such measure.
    """
    if name in GROUPS:
        return float(len(molecule.graph.GetSubstructMatches(_pattern(name))))
    if name in _ATOMS:
        return float(sum(atom.GetSymbol() in _ATOMS[name] for atom in molecule.graph.GetAtoms()))
    module, function = _DESCRIPTORS[name]
    with rdkit("rdBase").BlockLogs():
        return float(getattr(rdkit(module), function)(molecule.graph))


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """Bounds on one measure, both included."""

    of: str
    """One of ``MEASURES``."""
    low: float = -math.inf
    high: float = math.inf
    to: str = ""
    """``similarity``: the SMILES of the other molecule."""

    def value(self, molecule: Molecule) -> float:
        """What is bounded."""
        if self.of != SIMILARITY:
            return measure(molecule, self.of)
        other = parse(self.to)
        if other is None:
            raise DataError("constraints", f"similarity is to a molecule, and '{self.to}' is none")
        return similarity(molecule, other)

    def met(self, molecule: Molecule) -> bool:
        """Whether the molecule is within the bounds."""
        return self.low - _SLACK <= self.value(molecule) <= self.high + _SLACK

    def json(self) -> dict[str, Any]:
        """As kept in ``Row.meta``: ``of``, and ``min``, ``max`` and ``to`` where there are such."""
        bounds = {name: bound for name, bound in (("min", self.low), ("max", self.high)) if math.isfinite(bound)}
        return {"of": self.of, **bounds} | ({"to": self.to} if self.to else {})


def constraint(entry: Mapping[str, Any]) -> Constraint:
    """A constraint as `Constraint.json` gives it.

    Raises:
        DataError: it names no measure, has no bound, or bounds that are no numbers.
    """
    of, extra = entry.get("of"), entry.keys() - {"of", "min", "max", "to"}
    if of not in MEASURES or extra:
        raise DataError(
            "constraints", f"{dict(entry)} is none: 'of' is one of {', '.join(MEASURES)}; then 'min', 'max', and 'to' for similarity"
        )
    bounds = [entry[name] for name in ("min", "max") if name in entry]
    if not bounds or any(isinstance(bound, bool) or not isinstance(bound, int | float) for bound in bounds):
        raise DataError("constraints", f"{dict(entry)} needs 'min' or 'max', a number")
    return Constraint(of=of, low=entry.get("min", -math.inf), high=entry.get("max", math.inf), to=entry.get("to", ""))
