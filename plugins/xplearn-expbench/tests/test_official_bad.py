"""Damaged, foreign and half files: refused with the file and the line, never read in part."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from xplearn_expbench.official import (
    arc,
    commonsense_qa,
    gpqa,
    gsm8k,
    gsm_symbolic,
    hotpot,
    math,
    mmlu,
    nq,
    openbook_qa,
    popqa,
    sequences,
    trivia,
)

from xplearn import DataError

ALL = (arc, commonsense_qa, gpqa, gsm8k, gsm_symbolic, hotpot, math, mmlu, nq, openbook_qa, popqa, sequences, trivia)
GOOD = {"question": "Who?", "answer": ["Bo"]}
OPTIONS = {"text": ["x", "y", "z", "w"], "label": ["A", "B", "C", "D"]}
ASKED = {"id": "1", "question": "Why?", "choices": OPTIONS, "answerKey": "A"}


def lines(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)


@pytest.mark.parametrize("module", ALL)
def test_an_absent_path_is_told(module, tmp_path):
    with pytest.raises(DataError, match="nowhere: cannot be read"):
        module.load(tmp_path / "nowhere")


@pytest.mark.parametrize("module", ALL)
def test_a_folder_without_its_files_is_told(module, tmp_path):
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(DataError, match=f"{re.escape(str(tmp_path))}: holds no"):
        module.load(tmp_path)


@pytest.mark.parametrize("module", [module for module in ALL if module is not sequences])
def test_an_empty_file_is_told(module, tmp_path):
    file = tmp_path / ("x_test.csv" if module in (gpqa, mmlu) else "test.json" if module is hotpot else "test.jsonl")
    file.write_text("\n\n")
    with pytest.raises(DataError, match=re.escape(str(file))):
        module.load(file)


@pytest.mark.parametrize(
    ("module", "name", "text", "line", "reason"),
    [
        (nq, "dev.jsonl", lines(GOOD, '{"question": "Wh'), 2, "is not JSON"),
        (nq, "dev.jsonl", lines(GOOD, "", "[1]"), 3, "not a JSON object"),
        (nq, "dev.jsonl", "[" * 100_000, 1, "is not JSON"),
        (nq, "dev.jsonl", lines(GOOD, {"question": "Who?"}), 2, "'answer' should be a list of texts .* missing"),
        (nq, "dev.jsonl", lines(GOOD, {"question": " ", "answer": ["Bo"]}), 2, "'question' should be text"),
        (nq, "dev.jsonl", lines({"question": "Who?", "answer": []}), 1, "'answer' should be a list"),
        (nq, "dev.jsonl", lines({"question": "Who?", "answer": ["Bo", ""]}), 1, "'answer' should be a list"),
        (nq, "dev.jsonl", lines({"question": "Who?", "answer": "Bo"}), 1, "'answer' should be a list .* is \"Bo\""),
        (gsm8k, "test.jsonl", lines({"question": "Q", "answer": "18"}), 1, "doesn't end in '#### <number>'"),
        (gsm8k, "test.jsonl", lines({"question": "Q", "answer": "18 ####"}), 1, "doesn't end in '#### <number>'"),
        (gsm_symbolic, "test.jsonl", lines({"question": "Q", "answer": "#### 1"}), 1, "'id' and 'instance'"),
        (math, "test.jsonl", lines({"problem": "Q", "solution": "It is 2."}), 1, "neither an 'answer' nor"),
        (math, "test.jsonl", lines({"prompt": "Q", "answer": ""}), 1, "'answer' should be text"),
        (arc, "test.jsonl", lines(ASKED, ASKED | {"id": "2", "answerKey": "E"}), 2, "has the answer 'E', which is none of its labels"),
        (arc, "test.jsonl", lines(ASKED | {"answerKey": "AB"}), 1, "has the answer 'AB'"),
        (arc, "test.jsonl", lines(ASKED | {"answerKey": ""}), 1, "has no answerKey"),
        (arc, "test.jsonl", lines(ASKED | {"choices": {"text": ["x"], "label": ["A"]}}), 1, "has 1 options where the set has 3 to 5"),
        (arc, "test.jsonl", lines(ASKED | {"choices": OPTIONS | {"label": ["A", "C", "B", "D"]}}), 1, "labels its 4 options A, C, B, D"),
        (arc, "test.jsonl", lines(ASKED | {"choices": OPTIONS | {"text": ["x", "y"]}}), 1, "labels its 2 options"),
        (arc, "test.jsonl", lines(ASKED | {"choices": [{"text": "x"}, 3]}), 1, "should be a list of texts"),
        (arc, "test.jsonl", lines(ASKED | {"choices": None}), 1, "missing"),
        (openbook_qa, "test.jsonl", lines(ASKED | {"choices": {"text": ["x", "y", "z"], "label": ["A", "B", "C"]}}), 1, "has 3 options"),
        (hotpot, "dev.json", '[{"question": "Q", "answer": "yes"}, {"question": "Q2"}]', 2, "has no answer: .* not public"),
        (hotpot, "dev.json", '[{"question": "Q", "answer": "yes"}, 7]', 2, "the record is not a JSON object"),
        (hotpot, "dev.json", '[{"question": "Q",\n "answer": ', 2, "is not JSON"),
        (trivia, "dev.json", '{"Data": [{"QuestionId": "1", "Question": "Q"}]}', 1, "has no answer: .* not public"),
        (trivia, "dev.jsonl", lines({"id": "1", "question": "Q", "golden_answers": []}), 1, "'golden_answers'"),
        (popqa, "popQA.tsv", "id\tquestion\tpossible_answers\n1\tQ\t[Bo]\n", 2, "not a JSON list"),
        (popqa, "popQA.tsv", "id\tquestion\tpossible_answers\n1\tQ\n", 2, "has 2 cells where the header has 3"),
        (gpqa, "gpqa_diamond.csv", "Record ID,Question\n1,Q\n", 2, "'Correct Answer' should be text .* missing"),
        (mmlu, "x_test.csv", "Q,1,2,3,4,A\nQ,1,2,3,A\n", 2, "not a question, four options, and an answer"),
        (mmlu, "x_test.csv", "Q,1,2,3,4,E\n", 1, "not a question, four options, and an answer"),
        (mmlu, "x_test.csv", "Q,1,,3,4,A\n", 1, "not a question, four options, and an answer"),
        (mmlu, "x_test.csv", 'Q,1,2,3,4,A\n"Q,1,2,3,4,A\n', 2, "no row of a table"),
        (sequences, "u.data", "1\t2\t3\t4\n1\t2\t3\n", 2, "has 3 fields"),
        (sequences, "u.data", "1\t2\t3\tnow\n", 1, "and tells '1', '2' and 'now'"),
        (sequences, "u.data", "1\t2\t3\tnan\n", 1, "should tell a user, an item and a time"),
        (sequences, "ratings.dat", "1:: ::3::4\n", 1, "should tell a user, an item and a time"),
        (sequences, "ratings.csv", "userId,movieId,rating\n1,2,3\n", 2, "'timestamp' should be text"),
        (sequences, "x.inter", "user_id\titem_id\n1\t2\n", 2, "'user_id:token' should be text"),
        (sequences, "x.json", lines({"reviewerID": "1", "asin": "2"}), 1, "should tell a user, an item and a time"),
        (sequences, "x.txt", "1 2 3\n4\n", 2, "names user 4 and no item"),
        (sequences, "x.txt", "1 2 3\n2 4 5\n1 7 8\n", 3, "names user 1 a second time"),
    ],
)
def test_a_malformed_line_is_told_with_its_number(tmp_path, module, name, text, line, reason):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=f"{re.escape(str(tmp_path / name))}, line {line}: .*{reason}"):
        module.load(tmp_path / name)


def test_rows_without_answers_are_refused_with_the_reason(tmp_path):
    five = {"text": list("vwxyz"), "label": list("ABCDE")}
    for name, key in (("dev_rand_split", {"answerKey": "A"}), ("test_rand_split_no_answers", {})):
        (tmp_path / f"{name}.jsonl").write_text(lines({"id": name, "question": "Q", "choices": five, **key}))
    with pytest.raises(DataError, match=r"test_rand_split_no_answers\.jsonl, line 1: .*not public; give the train and dev files"):
        commonsense_qa.load(tmp_path)
    assert len(commonsense_qa.load(tmp_path / "dev_rand_split.jsonl")) == 1


def test_a_file_of_another_encoding_is_told_with_the_line(tmp_path):
    (tmp_path / "dev.jsonl").write_bytes(lines(GOOD).encode() + b'\n{"question": "Z\xfcrich?", "answer": ["ja"]}')
    with pytest.raises(DataError, match="line 2: is not UTF-8"):
        nq.load(tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-12], lambda packed: packed[:20] + b"\xff\xff\xff" + packed[23:], lambda _: b"not packed"]
)
def test_a_damaged_archive_is_told(tmp_path, damage):
    (tmp_path / "dev.jsonl.gz").write_bytes(damage(gzip.compress(lines(*[GOOD] * 50).encode())))
    with pytest.raises(DataError, match=r"dev\.jsonl\.gz(, line \d+)?: (cannot be read|is not)"):
        nq.load(tmp_path)


def test_an_id_that_comes_twice_is_told(tmp_path):
    (tmp_path / "test.jsonl").write_text(lines(ASKED, ASKED))
    with pytest.raises(DataError, match="two rows have the id '1'"):
        arc.load(tmp_path)


def test_several_files_of_interactions_are_listed(tmp_path):
    for name in ("Beauty.txt", "Toys.txt"):
        (tmp_path / name).write_text("1 2 3 4\n")
    with pytest.raises(DataError, match=r"holds 2 files of interactions, Beauty\.txt, Toys\.txt; give one"):
        sequences.load(tmp_path)


def test_interactions_of_no_known_form_are_told(tmp_path):
    (tmp_path / "clicks.log").write_text("1 2 3")
    with pytest.raises(DataError, match="is of no known form; its name should end in"):
        sequences.load(tmp_path / "clicks.log")


@pytest.mark.parametrize("text", ["", "1 2\n3 4\n"])
def test_interactions_that_make_no_row_are_told(tmp_path, text):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(DataError, match=r"holds no interactions|no user with three interactions"):
        sequences.load(tmp_path)


@pytest.mark.parametrize(
    ("log", "beside", "text", "reason"),
    [
        ("u.data", "u.item", "1|Alien|x\n2\n", "line 2: has 1 fields"),
        ("ratings.csv", "movies.csv", "movieId,name\n1,Alien\n", "line 2: has no column of titles"),
        ("x.json", "meta_x.json", "{'asin': 1 +\n", "line 1: is no record with an 'asin'"),
        ("x.json", "meta_x.json", "{'title': 'y'}\n", "line 1: is no record with an 'asin'"),
        ("x.txt", "x_item2attributes.json", "[1]", "is not a JSON object"),
        ("x.txt", "x_item2attributes.json", '{"1": 2}', "gives item 1 no list"),
    ],
)
def test_a_damaged_file_of_titles_is_told(tmp_path, log, beside, text, reason):
    forms = {
        "u.data": "1\t2\t3\t4",
        "ratings.csv": "userId,movieId,timestamp\n1,2,3",
        "x.json": '{"reviewerID": "1", "asin": "2", "unixReviewTime": 3}',
        "x.txt": "1 2 3 4",
    }
    (tmp_path / log).write_text(forms[log])
    (tmp_path / beside).write_text(text)
    with pytest.raises(DataError, match=f"{re.escape(beside)}.*{reason}"):
        sequences.load(tmp_path / log)


def test_mmlu_of_no_split_is_told(tmp_path):
    (tmp_path / "questions.csv").write_text("Q,1,2,3,4,A\n")
    with pytest.raises(DataError, match=r"questions\.csv: tells no split; name the file"):
        mmlu.load(tmp_path)
