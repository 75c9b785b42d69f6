"""Reading a molecule. The only door to RDKit: absent, everything that needs it says what to type."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass, field
from typing import Any

from xplearn import PluginError

INSTALL = "pip install 'xplearn-expbench[chemistry]'"
LONGEST = 1000
"""Characters of a SMILES that is read at all, five times the longest molecule of a usual drug. RDKit can't be interrupted: this bounds the
time of any text to tens of milliseconds."""

_BONDS = frozenset({"SINGLE", "DOUBLE", "TRIPLE", "AROMATIC"})


def rdkit(module: str) -> Any:
    """A module of RDKit, e.g. ``Chem.QED``; the first call takes about 0.2 s.

    Raises:
        PluginError: RDKit is not installed.
    """
    try:
        importlib.import_module("rdkit")
        return importlib.import_module(f"rdkit.{module}")
    except ImportError as error:
        raise PluginError("expbench", f"chemistry needs the package 'rdkit' ({error}): {INSTALL}") from error


@dataclass(frozen=True, slots=True)
class Molecule:
    """A molecule that RDKit could read and sanitise. Equal where the canonical SMILES is."""

    canonical: str
    """RDKit's canonical SMILES, with stereo. Differs between versions of RDKit: compare, never store as a key."""
    graph: Any = field(compare=False, repr=False)
    """``rdkit.Chem.Mol``."""


def parse(smiles: str) -> Molecule | None:
    """The molecule, or None: not one SMILES, against the rules of valence, empty, or over ``LONGEST`` characters.

    RDKit's own complaints are kept quiet meanwhile, and only meanwhile.

    Raises:
        PluginError: RDKit is not installed.
    """
    chem = rdkit("Chem")
    if not smiles or len(smiles) > LONGEST or not smiles.isascii() or len(smiles.split()) != 1:
        return None
    with rdkit("rdBase").BlockLogs():
        graph = chem.MolFromSmiles(smiles.strip())
        if graph is None or not graph.GetNumAtoms():
            return None
        return Molecule(chem.MolToSmiles(graph), graph)


def faults(molecule: Molecule) -> list[str]:
    """Why this is no answer to "give a molecule", in words; empty where it is one [OURS].

    One fragment, no net charge, no unpaired electrons, no placeholder atoms, ordinary bonds. Otherwise "[C].[C].[O]" would have exactly two
    carbon atoms and one oxygen atom, and any list of groups could be met by a fragment for each.
    """
    atoms = molecule.graph.GetAtoms()
    found = {
        "several fragments": "." in molecule.canonical,
        "a net charge": bool(rdkit("Chem").GetFormalCharge(molecule.graph)),
        "unpaired electrons": any(atom.GetNumRadicalElectrons() for atom in atoms),
        "placeholder atoms": any(not atom.GetAtomicNum() for atom in atoms),
        "unusual bonds": any(bond.GetBondType().name not in _BONDS for bond in molecule.graph.GetBonds()),
    }
    return [name for name, present in found.items() if present]


def scaffold(molecule: Molecule) -> str:
    """SMILES of the Bemis–Murcko scaffold, without stereo; the molecule's own where it has no ring [OURS].

    (Commonly all molecules without rings share the empty scaffold, a quarter of some sets.)
    """
    graph = rdkit("Chem.Scaffolds.MurckoScaffold").GetScaffoldForMol(molecule.graph)
    return str(rdkit("Chem").MolToSmiles(graph, isomericSmiles=False)) or molecule.canonical


@functools.cache
def _fingerprints() -> Any:
    return rdkit("Chem.rdFingerprintGenerator").GetMorganGenerator(radius=2, fpSize=2048)


def similarity(one: Molecule, other: Molecule) -> float:
    """Tanimoto similarity in [0, 1] of Morgan fingerprints, radius 2, 2,048 bits [OURS]."""
    prints = _fingerprints()
    return float(rdkit("DataStructs").TanimotoSimilarity(prints.GetFingerprint(one.graph), prints.GetFingerprint(other.graph)))
