"""Published molecule files that can be asked as yes or no: which columns they have, and what a label means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xplearn import DataError

PUBLISHED = {"bbbp.csv": 2050, "clintox.csv": 1484, "delaney-processed.csv": 1128}
"""Rows of the files of MoleculeNet, by their usual names."""

SOLUBLE = -3.0
"""[OURS] ESOL asks whether log10 of the solubility in mol/l is at least this: 1 mmol/l. About half of its molecules are."""

_ESOL = "measured log solubility in mols per litre"
_CYP = {f"cyp{name}_veith": f"Does {{}} inhibit the enzyme CYP{name.upper()}?" for name in ("1a2", "2c9", "2c19", "2d6", "3a4")}
_SUBSTRATE = {
    f"cyp{name}_substrate_carbonmangels": f"Is {{}} a substrate of the enzyme CYP{name.upper()}?" for name in ("2c9", "2d6", "3a4")
}

QUESTIONS = {
    "bbbp": "Does the molecule {} pass the blood-brain barrier?",
    "fda_approved": "Was the drug {} approved by the FDA?",
    "ct_tox": "Did the drug {} fail in clinical trials because it is toxic?",
    "esol": "Does the molecule {} dissolve in water to at least 1 millimole per litre (log S of at least -3)?",
    "bbb_martins": "Does the molecule {} pass the blood-brain barrier?",
    "hia_hou": "Is the drug {} absorbed in the human intestine?",
    "pgp_broccatelli": "Does the molecule {} inhibit P-glycoprotein?",
    "bioavailability_ma": "Is the drug {} orally bioavailable (at least 20 %)?",
    "herg": "Does the molecule {} block the hERG channel?",
    "ames": "Is the molecule {} mutagenic in the Ames test?",
    "dili": "Can the drug {} injure the liver?",
    "skin_reaction": "Can the molecule {} cause a reaction of the skin?",
    "carcinogens_lagunin": "Is the molecule {} a carcinogen?",
    **_CYP,
    **_SUBSTRATE,
}
"""By endpoint, with ``{}`` for the SMILES [OURS]. From ``bbb_martins`` on they are binary ADMET sets of Therapeutics Data Commons."""

_SPLITS = {"train_val": "train", "train": "train", "valid": "dev", "test": "test"}

Label = Callable[[str], str]


def columns(path: str, header: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What a file with this header holds.

    Args:
        path: of the file, with slashes; its name, or its folder's, is the endpoint of a TDC file.
        header: its columns.

    Returns:
        The column with the SMILES, and the column of the label by endpoint.

    Raises:
        DataError: no known file has such a header, or no known endpoint such a name.
    """
    names = set(header)
    if {"Drug", "Y"} <= names:
        return "Drug", {_named(path): "Y"}
    known = {"BBBP": "bbbp", "p_np": "bbbp", "FDA_APPROVED": "fda_approved", "CT_TOX": "ct_tox", _ESOL: "esol"}
    found = {endpoint: column for column, endpoint in known.items() if column in names}
    if "smiles" not in names or not found:
        expected = f"smiles with BBBP (or p_np), with FDA_APPROVED and CT_TOX, or with '{_ESOL}'; or Drug and Y"
        raise DataError(f"{path}, line 1", f"has the columns {', '.join(header)[:100]}; wanted {expected}")
    return "smiles", found


def own_split(path: str) -> str:
    """Split of a file that is named after one, else empty."""
    return _SPLITS.get(_stem(path), "")


def label(endpoint: str) -> Label:
    """Reads the label of an endpoint as ``yes`` or ``no``; raises ``ValueError`` for another text."""
    return _soluble if endpoint == "esol" else _binary


def _named(path: str) -> str:
    parts = path.split("/")
    name = parts[-2].lower() if own_split(path) and len(parts) > 1 else _stem(path)
    if name not in QUESTIONS:
        raise DataError(
            path, f"holds an unknown endpoint '{name}'; name the file, or the folder of its splits, after one of: {', '.join(QUESTIONS)}"
        )
    return name


def _stem(path: str) -> str:
    return path.rpartition("/")[2].lower().partition(".")[0]


def _binary(text: str) -> str:
    value = float(text)
    if value not in (0.0, 1.0):
        raise ValueError(text)
    return "yes" if value else "no"


def _soluble(text: str) -> str:
    value = float(text)
    if not abs(value) < 100:
        raise ValueError(text)
    return "yes" if value >= SOLUBLE else "no"
