"""The published files, where they are at hand, asked as a run asks them."""

from __future__ import annotations

import importlib.util

import pytest

import xplearn
from xplearn import DataError

FILES = {
    "commonsense_qa": ("commonsense_qa", {"train": 9741, "test": 1221}),
    "mmlu": ("mmlu", {"train": 280, "test": 14042}),
    "gsm8k": ("gsm8k", {"train": 7473, "test": 1319}),
    "math": ("math500", {"test": 500}),
    "humaneval": ("humaneval", {"test": 164}),
    "mbpp": ("mbpp", {"train": 381, "dev": 90, "test": 500}),
    "nq_open": ("nq_open", {"test": 3610}),
    "trivia_qa": ("triviaqa_sub", {"test": 1000}),
    "popqa": ("popqa_sub", {"test": 1000}),
    "hotpot_qa": ("hotpotqa", {"test": 7405}),
    "rec_beauty": ("seqrec_amazon", {"train": 22338, "dev": 22342, "test": 22363}),
}
"""Folder, and rows by split when questions of two splits are left out of the earlier: 5 of MMLU's examples, 3 of MBPP, 46 of Beauty."""


def make(name, path, **fields):
    return xplearn.make("environment", f"expbench.{name}", tier="official", data=str(path), execution={"allow": True}, **fields)


@pytest.mark.parametrize("name", FILES)
def test_rows_and_splits_are_the_published_and_the_gold_answer_is_right(name, data_folder):
    if name == "math":
        pytest.importorskip("math_verify")
    folder, counts = FILES[name]
    env = make(name, data_folder / folder)
    assert {split: len(env.tasks(split)) for split in env.splits()} == counts
    tasks = env.tasks("test")
    for task in tasks[:: max(1, len(tasks) // 5)]:
        assert env.demonstrate(task, seed=0).success, task.id
    env.close()


def test_chemistry_asks_of_each_molecule_once(data_folder):
    if importlib.util.find_spec("rdkit") is None:
        pytest.skip("needs rdkit")
    env = make("chemistry", data_folder / "chem_moleculenet" / "BBBP.csv")
    assert sum(len(env.tasks(split)) for split in env.splits()) == 1965
    assert env.demonstrate(env.tasks("test")[0], seed=0).success


def test_a_file_that_lacks_rows_is_found_out(data_folder):
    with pytest.raises(DataError, match=r"train\.jsonl: holds 1056 rows, and 1119 were published"):
        make("arc_challenge", data_folder / "arc_challenge").splits()
    env = make("arc_challenge", data_folder / "arc_challenge", subset=True)
    assert {split: len(env.tasks(split)) for split in env.splits()} == {"train": 1055, "test": 1172}


def test_the_groups_convention_is_a_sample_of_1500_of_which_30_percent_test(data_folder):
    env = make("gsm8k", data_folder / "gsm8k", rows=1500, splits_by="hash", dev_share=0.0)
    sizes = {split: len(env.tasks(split)) for split in env.splits()}
    assert sum(sizes.values()) == 1500
    assert sizes["test"] == pytest.approx(450, abs=15)


def test_a_file_given_as_both_splits_leaves_nothing_to_train_on(data_folder, tmp_path):
    text = (data_folder / "gsm8k" / "test.jsonl").read_text(encoding="utf-8")
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text(text, encoding="utf-8")
    env = make("gsm8k", tmp_path, subset=True)
    assert {split: len(env.tasks(split)) for split in env.splits()} == {"test": 1319}
    assert "1319 repeated in a later split left out" in env.version
