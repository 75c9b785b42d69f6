"""The molecules that the mini chemistry rows are about: every core with drawn substituents, small ones, and known ones."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from xplearn_expbench.chem.molecule import Molecule, parse, scaffold
from xplearn_expbench.chem.scaffolds import CHAINS, CORES, HEADS, KNOWN, SUBSTITUENTS
from xplearn_expbench.mini import draw

_A_CORE = 20
"""Draws of substituents for each core."""
_TEST = 3
"""One scaffold in so many is for test."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """A molecule of the pool."""

    text: str
    """Its SMILES as written here, the same with every version of RDKit."""
    molecule: Molecule
    split: str
    """``train`` or ``test``."""
    family: str
    """Core it was made of; empty for small and known ones."""
    name: str = ""
    """Of a known one."""


@functools.cache
def pool() -> tuple[Specimen, ...]:
    """All molecules, no two alike.

    Split by Bemis–Murcko scaffold: molecules that share one are on one side, whichever core or list they come from. One without a ring is
    its own scaffold. Which side is drawn from texts written here, so that another RDKit changes nothing.

    Raises:
        PluginError: RDKit is not installed.
    """
    texts = [(text, "", name) for name, text in KNOWN.items()]
    texts += [(chain + head, "", "") for chain in CHAINS for head in HEADS]
    texts += [(_dressed(core, turn), core, "") for core in CORES for turn in range(_A_CORE)]
    first: dict[str, str] = {}
    found: dict[str, Specimen] = {}
    for text, family, name in texts:
        molecule = _certain(text)
        if molecule.canonical not in found:
            key = first.setdefault(scaffold(molecule), text)
            found[molecule.canonical] = Specimen(text, molecule, _split(key), family, name)
    return tuple(found.values())


def _split(key: str) -> str:
    return "test" if draw.number(1, _TEST, "chemistry", "split", key) == 1 else "train"


def _certain(text: str) -> Molecule:
    molecule = parse(text)
    if molecule is None:
        raise AssertionError(f"a building block of the mini molecules is wrong: {text}")
    return molecule


def _dressed(core: str, turn: int) -> str:
    """A branch is in brackets but at the end of a SMILES."""
    texts = [draw.pick(SUBSTITUENTS, "chemistry", core, turn, place) for place in range(core.count("{}"))]
    branches = [f"({text})" if text else "" for text in texts]
    return core.format(*branches[:-1], texts[-1] if core.endswith("{}") else branches[-1])
