from __future__ import annotations

import dataclasses

import pytest
from xplearn_expbench.catalogue import TASKS
from xplearn_expbench.spec import Row

import xplearn
from xplearn import ConfigError, DataError

ROW = Row(id="a", question="Who?", answer="x", split="test")


def asked(name, rows, fakes, monkeypatch, kind):
    monkeypatch.setattr(fakes, kind, rows)
    return xplearn.make("environment", f"expbench.{name}").splits()


@pytest.mark.parametrize(
    ("name", "kind", "row", "told"),
    [
        ("gsm8k", "maths", dataclasses.replace(ROW, id=""), "has no id"),
        ("gsm8k", "maths", dataclasses.replace(ROW, question=" "), "asks nothing"),
        ("gsm8k", "maths", dataclasses.replace(ROW, answer=""), "has no answer"),
        ("gsm8k", "maths", dataclasses.replace(ROW, answer=12), "has no answer"),
        ("gsm8k", "maths", dataclasses.replace(ROW, split="validation"), "is in split 'validation'; known are train, dev, test"),
        ("nq_open", "qa", dataclasses.replace(ROW, answer=[]), "has no accepted answers"),
        ("nq_open", "qa", dataclasses.replace(ROW, answer="a text"), "has no accepted answers"),
        ("nq_open", "qa", dataclasses.replace(ROW, answer=["x", ""]), "has no accepted answers"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer=0, choices=("one",)), "has 1 options"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer=0, choices=tuple(map(str, range(27)))), "has 27 options"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer=4, choices=tuple("wxyz")), "its answer 4 is none of the 4 options"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer=-1, choices=tuple("wxyz")), "its answer -1 is none"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer="A", choices=tuple("wxyz")), "its answer 'A' is none"),
        ("mmlu", "choice", dataclasses.replace(ROW, answer=True, choices=tuple("wxyz")), "its answer True is none"),
        ("rec_movies", "ranking", dataclasses.replace(ROW, choices=("y", "z")), "its target 'x' is none of the 2 candidates"),
        ("rec_movies", "ranking", dataclasses.replace(ROW, choices=("x", "y", "y")), "lists a candidate twice"),
    ],
)
def test_a_malformed_row_is_told_by_its_id(name, kind, row, told, fakes, monkeypatch):
    with pytest.raises(DataError, match=f"row '{row.id}' of {name}: {told}"):
        asked(name, [row], fakes, monkeypatch, kind)


def test_two_rows_of_one_id_are_told(fakes, monkeypatch):
    with pytest.raises(DataError, match="has the id of another row"):
        asked("gsm8k", [ROW, dataclasses.replace(ROW, question="Why?")], fakes, monkeypatch, "maths")


def test_no_rows_at_all_are_told(fakes, monkeypatch):
    with pytest.raises(DataError, match="holds no rows of gsm8k"):
        asked("gsm8k", [], fakes, monkeypatch, "maths")


def official(name, **fields):
    return xplearn.make("environment", f"expbench.{name}", tier="official", **fields)


def test_an_absent_file_is_told_with_what_it_should_hold_and_where_it_comes_from(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: is not there; gsm8k reads train\.jsonl, test\.jsonl .*openai"):
        official("gsm8k", data=str(tmp_path / "nowhere")).splits()
    with pytest.raises(ConfigError, match=r"data: is empty; .*tier=official reads train\.jsonl"):
        official("gsm8k").splits()


def test_a_task_without_own_rows_says_how_to_read_the_published_ones():
    with pytest.raises(ConfigError, match="gpqa_diamond has no own rows; say tier=official and data="):
        xplearn.make("environment", "expbench.gpqa_diamond").splits()


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_another_number_of_rows_than_was_published_is_told_unless_a_part_is_meant(packed, fakes, tmp_path):
    path = tmp_path / f"test.jsonl{packed}"
    path.touch()
    with pytest.raises(DataError, match=rf"{path.name}: holds 60 rows, and 1319 were published; get it again, or say subset=true"):
        official("gsm8k", data=str(path)).splits()
    with pytest.raises(DataError, match="1319 were published"):
        official("gsm8k", data=str(tmp_path)).splits()
    assert official("gsm8k", data=str(path), subset=True).splits() == ("train", "dev", "test")


def test_a_file_of_the_published_number_is_taken(fakes, monkeypatch, tmp_path):
    monkeypatch.setitem(TASKS, "gsm8k", dataclasses.replace(TASKS["gsm8k"], files={"test.jsonl": 60}))
    (tmp_path / "test.jsonl").touch()
    assert official("gsm8k", data=str(tmp_path)).splits() == ("train", "dev", "test")


def test_files_of_a_folder_are_read_by_their_usual_names_alone(fakes, monkeypatch, tmp_path):
    read = []
    fakes.load_maths = lambda path: read.append(path.name) or [dataclasses.replace(ROW, id=path.name)]
    monkeypatch.setitem(TASKS, "gsm8k", dataclasses.replace(TASKS["gsm8k"], files={"train.jsonl": 1, "test.jsonl": 1}))
    for name in ("train.jsonl", "test.jsonl.gz", "notes.txt"):
        (tmp_path / name).touch()
    official("gsm8k", data=str(tmp_path)).splits()
    assert read == ["train.jsonl", "test.jsonl.gz"]


def test_a_file_that_stands_for_others_is_read_alone(fakes, monkeypatch, tmp_path):
    read = []
    fakes.load_code = lambda path: read.append(path.name) or [ROW]
    files = {"HumanEval.jsonl": 1, "HumanEvalPlus.jsonl": 1}
    monkeypatch.setitem(TASKS, "humaneval", dataclasses.replace(TASKS["humaneval"], files=files))
    (tmp_path / "HumanEvalPlus.jsonl").touch()
    official("humaneval", data=str(tmp_path)).splits()
    (tmp_path / "HumanEval.jsonl.gz").touch()
    official("humaneval", data=f"{tmp_path}/").splits()
    assert read == ["HumanEvalPlus.jsonl", "HumanEval.jsonl.gz"]


def test_a_question_of_two_files_keeps_its_id_in_the_first(fakes, tmp_path):
    fakes.load_maths = lambda path: [dataclasses.replace(ROW, id="x", split=path.name[:-6])]
    for name in ("train.jsonl", "test.jsonl"):
        (tmp_path / name).touch()
    env = official("gsm8k", data=str(tmp_path), subset=True)
    assert [task.id for task in env.tasks("test")] == ["gsm8k/x+2"]
    assert "1 repeated in a later split" in env.version


def test_a_folder_of_other_names_is_left_to_the_loader(fakes, tmp_path):
    folder = tmp_path / "mmlu"
    folder.mkdir()
    assert official("mmlu", data=str(folder)).splits() == ("train", "dev", "test")


def test_candidates_that_rows_share_are_looked_at_once(fakes, monkeypatch):
    import time

    pool = tuple(f"item {n}" for n in range(20_000))
    rows = [dataclasses.replace(ROW, id=str(n), question=f"Next after {n}?", answer=pool[n], choices=pool) for n in range(2_000)]
    began = time.process_time()
    asked("rec_movies", rows, fakes, monkeypatch, "ranking")
    assert time.process_time() - began < 25
