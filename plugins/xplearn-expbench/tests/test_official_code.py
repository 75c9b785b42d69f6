"""HumanEval and MBPP as published: every reference solution passes, and damaged files are refused by line."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from xplearn_expbench.checkers.code import CodeChecker, reference
from xplearn_expbench.official.code import humaneval, mbpp
from xplearn_expbench.spec import Execution

from xplearn import DataError

EVAL = {
    "task_id": "Own/0",
    "prompt": 'def twice(x):\n    """Twice x."""\n',
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
}
BASIC = {
    "task_id": 11,
    "text": "Write a function that doubles. ",
    "code": "import sys\ndef twice(x):\n    return 2 * x",
    "test_setup_code": "",
    "test_list": ["assert twice(2) == 4", "assert twice(3) == 6"],
    "challenge_test_list": [],
}


@pytest.fixture(scope="module")
def checker():
    return CodeChecker(Execution(allow=True, seconds=60))


def written(folder, *rows, name="rows.jsonl"):
    path = folder / name
    text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def failing(checker, rows):
    outcomes = checker.runner.run_all(map(reference, rows))
    return {row.id: outcome.detail for row, outcome in zip(rows, outcomes, strict=True) if outcome.ending != "passed"}


@pytest.mark.slow
def test_all_reference_solutions_of_humaneval_pass(checker, data_folder):
    rows = humaneval(data_folder / "humaneval" / "HumanEval.jsonl.gz")
    assert len(rows) == 164
    assert failing(checker, rows) == {}


@pytest.mark.slow
def test_all_reference_solutions_of_mbpp_pass(checker, data_folder):
    rows = mbpp(data_folder / "mbpp" / "mbpp.jsonl")
    assert len(rows) == 974
    assert failing(checker, rows) == {}


@pytest.mark.slow
def test_no_row_of_humaneval_passes_with_a_body_that_does_nothing(checker, data_folder):
    rows = humaneval(data_folder / "humaneval" / "HumanEval.jsonl.gz")
    verdicts = checker.check_all((row, "    return None\n") for row in rows)
    assert [row.id for row, verdict in zip(rows, verdicts, strict=True) if verdict.score] == []


def test_the_traps_of_mbpp_are_passed_by_their_references(checker, data_folder):
    """Setup after the answer (367, 927), recursion, types as arguments (533), imports that tests lean on (596), 0 for False (414)."""
    rows = [row for row in mbpp(data_folder / "mbpp" / "mbpp.jsonl") if row.id in {"367", "927", "533", "596", "414", "126"}]
    assert len(rows) == 6
    assert failing(checker, rows) == {}


def test_mbpp_is_split_by_task_id(data_folder):
    rows = mbpp(data_folder / "mbpp" / "mbpp.jsonl")
    assert Counter(row.split for row in rows) == {"test": 500, "dev": 90, "train": 384}
    assert {row.split for row in rows if 11 <= int(row.id) <= 510} == {"test"}


def test_a_row_of_mbpp_shows_one_test_and_knows_what_the_tests_take(data_folder):
    rows = {row.id: row for row in mbpp(data_folder / "mbpp" / "mbpp.jsonl")}
    assert all(row.meta["shown_test"].startswith("assert") and row.meta["entry_point"] in row.meta["shown_test"] for row in rows.values())
    assert rows["367"].meta["names"] == ["Node", "is_tree_balanced"]
    assert rows["126"].meta["entry_point"] == "sum"
    assert rows["596"].meta["preamble"] == "import sys"


def test_a_row_of_humaneval_is_completed(checker, tmp_path):
    (row,) = humaneval(written(tmp_path, EVAL))
    assert (row.id, row.split, row.question, row.answer) == ("Own/0", "test", EVAL["prompt"], EVAL["prompt"] + EVAL["canonical_solution"])
    assert checker(row, "    return x + x\n").status == "correct"
    assert checker(row, "    return x\n").status == "wrong"


def test_gzip_plus_fields_and_blank_lines_are_read(checker, tmp_path):
    plus = {
        **BASIC,
        "task_id": "Mbpp/12",
        "test_imports": ["import math"],
        "test": "for n in range(9):\n    assert twice(n) == math.prod([2, n])",
    }
    del plus["text"], plus["test_setup_code"]
    plus["prompt"] = "Double it."
    rows = mbpp(written(tmp_path, BASIC, "", plus, name="rows.jsonl.gz"))
    assert [(row.id, row.question) for row in rows] == [("11", "Write a function that doubles."), ("12", "Double it.")]
    assert failing(checker, rows) == {}
    assert checker(rows[1], "def twice(x):\n    return {2: 4, 3: 6}.get(x)").status == "wrong"


@pytest.mark.parametrize(
    ("load", "row", "reason"),
    [
        (humaneval, "{", "is not JSON"),
        (humaneval, "[]", "is not a JSON object"),
        (humaneval, {key: EVAL[key] for key in EVAL if key != "test"}, "has no field 'test'"),
        (humaneval, {**EVAL, "prompt": "def twice(x:"}, "holds what is no Python"),
        (humaneval, {**EVAL, "prompt": 3}, ""),
        (humaneval, {**EVAL, "plus_input": [[1]]}, "has 'plus_input', which are inputs without tests"),
        (humaneval, EVAL, "has the task id Own/0, which an earlier line has"),
        (mbpp, {**BASIC, "task_id": 975}, "has the task id 975, which is not among 1-974"),
        (mbpp, {**BASIC, "task_id": 12, "test_list": []}, "has an empty 'test_list'"),
        (mbpp, {**BASIC, "task_id": 12, "code": "def thrice(x): pass"}, "has tests that use nothing that 'code' defines"),
        (mbpp, {**BASIC, "task_id": 12, "code": "def twice(x) return"}, "holds what is no Python"),
        (mbpp, {**BASIC, "task_id": "twelve"}, "invalid literal"),
    ],
)
def test_a_malformed_row_is_refused_by_line(tmp_path, load, row, reason):
    with pytest.raises(DataError) as caught:
        load(written(tmp_path, EVAL if load is humaneval else BASIC, row))
    assert "rows.jsonl, line 2: " in str(caught.value)
    assert reason in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for path, reason in (
        (tmp_path / "absent.jsonl", "cannot be read.*give the file or folder"),
        (written(tmp_path, ""), "holds no rows"),
        (tmp_path / "broken.jsonl.gz", "cannot be read"),
    ):
        if "broken" in path.name:
            path.write_bytes(b"no gzip")
        with pytest.raises(DataError, match=reason):
            mbpp(path)
