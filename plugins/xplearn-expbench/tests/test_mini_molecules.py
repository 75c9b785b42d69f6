"""The own chemistry rows: enough, balanced, apart, and answered rightly."""

import subprocess
import sys
from collections import Counter

import pytest

pytest.importorskip("rdkit")

from xplearn_expbench.checkers.chemistry import check
from xplearn_expbench.chem.measure import Constraint, constraint
from xplearn_expbench.chem.molecule import faults, parse, scaffold
from xplearn_expbench.chem.pool import pool
from xplearn_expbench.chem.scaffolds import CORES, KNOWN, SUBSTITUENTS
from xplearn_expbench.chem.wording import words
from xplearn_expbench.mini.molecules import chemistry
from xplearn_expbench.splits import normalised

ROWS = chemistry()


def form(name):
    return [row for row in ROWS if row.meta["form"] == name]


def molecules(row):
    """Every molecule of a row."""
    if row.meta["form"] == "endpoint":
        return [parse(row.meta["smiles"])]
    starts = [bound["to"] for bound in row.meta["constraints"] if "to" in bound]
    return [parse(text) for text in (row.answer, *starts, *row.meta["shown"])]


@pytest.mark.parametrize("name", ["endpoint", "design"])
def test_there_are_enough_rows_of_both_forms_at_every_level(name):
    assert Counter(row.split for row in form(name)) == {"train": 240, "test": 120}
    assert min(Counter((row.split, row.meta["level"]) for row in form(name)).values()) >= 20
    assert {row.meta["level"] for row in form(name)} == ({1, 2, 3, 4} if name == "endpoint" else {1, 2, 3, 4, 5, 6})


def test_yes_and_no_are_balanced_in_every_endpoint_and_split():
    counts = Counter((row.meta["endpoint"], row.split, row.answer) for row in form("endpoint"))
    assert len(counts) == 60
    assert all(count == (8 if split == "train" else 4) for (_, split, _), count in counts.items())


def test_ids_and_questions_are_unique_even_without_case():
    assert len({row.id for row in ROWS}) == len({normalised(row.question) for row in ROWS}) == len(ROWS)


def test_no_molecule_and_no_scaffold_is_in_both_splits():
    sides = {split: [molecule for row in ROWS if row.split == split for molecule in molecules(row)] for split in ("train", "test")}
    assert not set(sides["train"]) & set(sides["test"])
    assert not set(map(scaffold, sides["train"])) & set(map(scaffold, sides["test"]))


def test_every_molecule_is_asked_about_once():
    asked = [parse(row.meta["smiles"]) for row in form("endpoint")]
    assert len(set(asked)) == len(asked)


def test_rows_have_what_their_question_says():
    for row in form("endpoint"):
        assert row.meta["smiles"] in row.question
        assert row.question.endswith("?")
        assert all(constraint(entry).met(parse(row.meta["smiles"])) for entry in row.meta["rule"]) == (row.answer == "yes")
        assert check(row, f"Answer: {row.answer}").status == "correct"
        assert check(row, f"Answer: {'no' if row.answer == 'yes' else 'yes'}").status == "wrong"


def test_every_design_is_met_by_its_answer_and_not_by_what_it_starts_from():
    for row in form("design"):
        assert check(row, f"Answer: {row.answer}").score == 1.0, row.question
        starts = [bound["to"] for bound in row.meta["constraints"] if "to" in bound]
        assert bool(starts) == (row.meta["level"] == 6)
        assert all(start in row.question and check(row, start).status == "wrong" for start in starts)
        assert all(words(constraint(entry)) in row.question for entry in row.meta["constraints"])


def test_of_the_molecules_that_are_shown_only_the_answer_is_right():
    for row in form("design"):
        right = [text for text in row.meta["shown"] if check(row, f"Answer: {text}").score]
        assert right == ([row.answer] if row.meta["level"] < 3 else []), row.question
        assert len(row.meta["shown"]) == (2, 4, 2, 2, 0, 0)[row.meta["level"] - 1]
        assert all(text in row.question for text in row.meta["shown"])


def test_the_right_one_of_those_shown_may_be_in_any_place():
    places = Counter(row.meta["shown"].index(row.answer) for row in form("design") if row.meta["level"] == 2)
    assert len(places) == 4
    assert max(places.values()) <= 0.45 * sum(places.values())


def test_no_single_molecule_meets_many_designs():
    test = [[constraint(entry) for entry in row.meta["constraints"]] for row in form("design") if row.split == "test"]
    guesses = ["C", "CO", "CCO", "c1ccccc1", "C(F)OCCOCCN", "OC(F)C=CC#N", *(specimen.text for specimen in pool()[::8])]
    for guess in map(parse, guesses):
        assert sum(all(bound.met(guess) for bound in bounds) for bounds in test) <= 0.1 * len(test), guess


def test_every_building_block_is_a_whole_molecule():
    blocks = [core.format(*[""] * core.count("{}")) for core in CORES] + [f"C{text}" for text in SUBSTITUENTS] + list(KNOWN.values())
    assert [block for block in blocks if parse(block) is None or faults(parse(block))] == []
    assert not any(faults(specimen.molecule) for specimen in pool())


def test_known_molecules_are_where_designs_start():
    assert sum(text in row.question for row in form("design") for text in KNOWN.values()) >= 3


def test_the_rows_are_the_same_in_another_process():
    code = "from xplearn_expbench.mini.molecules import chemistry; rows = chemistry(); print(sum(map(len, map(repr, rows))), rows[-1].id)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert told == [str(sum(map(len, map(repr, ROWS)))), ROWS[-1].id]


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (Constraint(of="ring", low=2), "at least 2 rings"),
        (Constraint(of="ring", high=1), "at most 1 ring"),
        (Constraint(of="ring", low=1, high=3), "between 1 and 3 rings"),
        (Constraint(of="carbon atom", low=2, high=2), "exactly 2 carbon atoms"),
        (Constraint(of="heavy atom", low=3, high=3), "exactly 3 non-hydrogen atoms"),
        (Constraint(of="nitro group", high=0), "no nitro group"),
        (Constraint(of="molecular weight", low=100, high=200), "a molecular weight between 100 and 200 g/mol"),
        (Constraint(of="logP", high=2.5), "a logP (Crippen) of at most 2.5"),
        (Constraint(of="QED", low=0.5), "a QED of at least 0.5"),
        (
            Constraint(of="similarity", to="CCO", low=0.35),
            "a Tanimoto similarity of at least 0.35 to CCO (Morgan fingerprints of radius 2)",
        ),
    ],
)
def test_constraints_are_said_in_words(bound, said):
    assert words(bound) == said
