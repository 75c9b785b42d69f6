"""Published files that are cut, doubled or of another kind are told before they are played."""

from __future__ import annotations

import importlib.util
import json

import pytest
from xplearn_expbench import catalogue, sources
from xplearn_expbench.official import code, interactions, reading
from xplearn_expbench.spec import Row

import xplearn
from xplearn import DataError, PluginError

MATH = {"problem": "What is it?", "answer": r"2\pi", "unique_id": "test/1", "subject": "Algebra", "level": 1, "solution": ""}


def read(task, path, **options):
    return sources.read(catalogue.TASKS[task], "official", str(path), **options)


@pytest.mark.parametrize("cut", [lambda text: text[: len(text) // 2], lambda text: text[:-2], lambda text: text[:-1]])
def test_molecules_that_are_cut_off_are_refused_but_as_a_part(tmp_path, cut):
    pytest.importorskip("rdkit")
    file = tmp_path / "BBBP.csv"
    whole = "num,name,p_np,smiles\n" + "".join(f"{n},n,{n % 2},{'C' * (n % 40 + 1)}O\n" for n in range(2050))
    file.write_text(whole)
    assert read("chemistry", file, subset=True)
    assert read("chemistry", file)
    file.write_text(cut(whole))
    with pytest.raises(DataError, match=r"BBBP.csv.*(were published|cut off|has . cells)"):
        read("chemistry", tmp_path)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("arc_challenge", ("ARC-Challenge-Test.jsonl", "test.jsonl")),
        ("math", ("math500.jsonl", "test.jsonl.gz")),
        ("rec_movies", ("u.data", "ml-100k.inter")),
    ],
)
def test_two_names_of_one_file_are_refused_by_both(tmp_path, task, names):
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=f"{names[0]} and {names[1]}"):
        read(task, tmp_path, subset=True)


def test_paths_that_cannot_be_opened_are_told_in_short(tmp_path):
    loop = tmp_path / "test.jsonl"
    loop.symlink_to(loop)
    for path in (loop, "x" * 5000, "a\x00b"):
        with pytest.raises(DataError, match="can't be opened") as told:
            read("gsm8k", path)
        assert len(str(told.value)) < 300


def test_long_values_are_cut_in_messages():
    assert len(reading.quoted("x" * 5000)) == 100


def test_half_a_character_is_refused_with_its_line(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": "\\ud83d\\ude00"}\n{"a": "\\ud800"}\n')
    with pytest.raises(DataError, match="line 2: holds half a character"):
        list(reading.jsonl(file))


def test_a_null_in_mbpp_is_named(tmp_path):
    file = tmp_path / "mbpp.jsonl"
    file.write_text(json.dumps({"task_id": 11, "text": "t", "code": None, "test_list": ["assert f() == 1"]}))
    with pytest.raises(DataError, match="null as 'code'"):
        code.mbpp(file)


def test_reviews_that_are_called_txt_are_refused(tmp_path):
    file = tmp_path / "Beauty.txt"
    file.write_text('{"reviewerID": "A", "asin": "B"}\n')
    with pytest.raises(DataError, match="is JSON"):
        interactions.read(file)


def test_published_expressions_without_math_verify_are_told_before_they_are_asked(tmp_path, monkeypatch):
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(MATH))
    env = xplearn.make("environment", "expbench.math", tier="official", data=str(file))
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "math_verify" else find(name, *rest))
    with pytest.raises(PluginError, match=r"xplearn-expbench\[maths\]"):
        env.tasks("test")
    catalogue.require_comparing(catalogue.TASKS["gsm8k"], [Row(id="r", question="?", answer="1", meta={"form": "number"})])
