"""Published files: the real ones where they are at hand, and small ones in every form that they come in."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import pytest
from xplearn_expbench.checkers import choice, qa
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
    reading,
    sequences,
    trivia,
)


def written(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return path


def labelled(labels, **more):
    return {"id": "q1", "question": "Why?", "choices": {"text": [f"for {n}" for n in labels], "label": list(labels)}, **more}


@pytest.mark.parametrize(
    ("module", "folder", "counts"),
    [
        (arc, "arc_challenge", {"train": 1056, "test": 1172}),
        (commonsense_qa, "commonsense_qa", {"train": 9741, "dev": 1221}),
        (mmlu, "mmlu", {"train": 285, "test": 14042}),
        (gsm8k, "gsm8k", {"train": 7473, "test": 1319}),
        (math, "math500", {"test": 500}),
        (nq, "nq_open", {"dev": 3610}),
        (nq, "nq_open/NQ-open.efficientqa.dev.1.1.jsonl", {"dev": 1800}),
        (trivia, "triviaqa_sub", {"test": 1000}),
        (popqa, "popqa_sub/test.jsonl", {"test": 1000}),
        (hotpot, "hotpotqa", {"dev": 7405}),
    ],
)
def test_published_files_hold_what_was_published(data_folder, module, folder, counts):
    rows = module.load(data_folder / folder)
    assert Counter(row.split for row in rows) == counts
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert row.question == row.question.strip() != ""
        json.dumps([row.answer, row.choices, dict(row.meta)])
        if row.choices:
            assert choice.check(row, f"Answer: {'ABCDE'[row.answer]}").status == "correct"
        elif isinstance(row.answer, list):
            assert qa.check(row, f"Answer: {row.answer[-1]}").score == 1.0, row


def test_ids_stay_the_same(data_folder):
    assert gsm8k.load(data_folder / "gsm8k" / "test.jsonl")[0].id == "test-ed2536346fbb"
    assert nq.load(data_folder / "nq_open")[0].id == "dev-712668a42938"
    assert arc.load(data_folder / "arc_challenge")[0].id == "Mercury_7175875"


def test_mmlu_has_57_subjects_and_a_question_asked_twice_twice(data_folder):
    rows = mmlu.load(data_folder / "mmlu")
    assert len({row.meta["subject"] for row in rows}) == 57
    assert any(row.id.endswith("-2") for row in rows)
    astronomy = mmlu.load(data_folder / "mmlu" / "test" / "astronomy_test.csv")
    assert {(row.meta["subject"], row.split) for row in astronomy} == {("astronomy", "test")}


def test_beauty_has_three_rows_for_each_user_and_one_universe(data_folder):
    rows = sequences.load(data_folder / "seqrec_amazon")
    assert Counter(row.split for row in rows) == {"train": 22363, "dev": 22363, "test": 22363}
    pool = rows[0].choices
    assert len(set(pool)) == 12101
    assert all(row.choices is pool for row in rows)
    one = {row.split: row for row in rows if row.meta["user"] == "1"}
    assert [one[split].answer.split()[1] for split in ("train", "dev", "test")] == ["3", "4", "5"]
    assert one["test"].meta["history"][:3] == (*one["train"].meta["history"], one["train"].answer)
    assert sequences.universe(data_folder / "seqrec_amazon" / "Beauty.txt") == pool


@pytest.mark.parametrize("labels", ["ABC", "ABCD", "ABCDE", "123", "1234", "12345"])
def test_arc_reads_three_to_five_options_by_letter_or_number(tmp_path, labels):
    (row,) = arc.load(written(tmp_path / "test.jsonl", labelled(labels, answerKey=labels[-1])))
    assert (row.id, row.answer, row.choices[-1], row.split) == ("q1", len(labels) - 1, f"for {labels[-1]}", "test")


def test_arc_reads_the_original_form_from_a_folder_and_leaves_the_easy_set(tmp_path):
    original = {"id": "q1", "question": {"stem": " Why? ", "choices": [{"text": t, "label": n} for t, n in zip("xyz", "ABC", strict=True)]}}
    for name in ("ARC-Challenge-Train", "ARC-Challenge-Dev", "ARC-Easy-Test"):
        written(tmp_path / f"{name}.jsonl", original | {"id": name, "answerKey": "B"})
    rows = arc.load(tmp_path)
    assert [(row.id, row.split) for row in rows] == [("ARC-Challenge-Dev", "dev"), ("ARC-Challenge-Train", "train")]
    assert (rows[0].question, rows[0].choices, rows[0].answer) == ("Why?", ("x", "y", "z"), 1)


def test_commonsense_qa_keeps_the_concept_of_either_form(tmp_path):
    original = {"stem": "Where?", "question_concept": "door", "choices": [{"label": n, "text": n * 2} for n in "ABCDE"]}
    first = commonsense_qa.load(written(tmp_path / "dev_rand_split.jsonl", {"id": "a", "answerKey": "E", "question": original}))
    copied = labelled("ABCDE", answerKey="E", question_concept="door")
    second = commonsense_qa.load(written(tmp_path / "validation.jsonl", copied))
    assert [(row.answer, row.split, row.meta["concept"]) for row in first + second] == [(4, "dev", "door")] * 2


def test_openbook_qa_reads_both_forms_and_not_the_file_with_facts(tmp_path):
    copied = labelled("ABCD", answerKey="C")
    copied["question_stem"] = copied.pop("question")
    written(tmp_path / "test.jsonl", copied)
    written(tmp_path / "test_complete.jsonl", copied)
    (row,) = openbook_qa.load(tmp_path)
    assert (row.question, row.answer, row.split) == ("Why?", 2, "test")


def test_gpqa_draws_an_order_that_is_not_the_sources(tmp_path):
    columns = ["Record ID", "Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Subdomain"]
    with (tmp_path / "gpqa_diamond.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows([f"rec{n}", f'Is "{n}",\n\nor not?', "yes", "no", "maybe", "never", "physics"] for n in range(40))
    rows = gpqa.load(tmp_path)
    assert {row.choices[row.answer] for row in rows} == {"yes"}
    assert {row.answer for row in rows} == {0, 1, 2, 3}
    assert (rows[3].id, rows[3].question, rows[3].meta["subdomain"]) == ("rec3", 'Is "3",\n\nor not?', "physics")
    assert gpqa.load(tmp_path / "gpqa_diamond.csv") == rows


def test_mmlu_reads_the_original_form_without_a_header(tmp_path):
    for split in ("dev", "val", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"high_school_physics_{split}.csv").write_text(f'"What, {split}?",1,2,3,4,C\n"And\nthen?",a,b,c,d,A\n')
    rows = mmlu.load(tmp_path)
    assert Counter(row.split for row in rows) == {"train": 2, "dev": 2, "test": 2}
    assert (rows[0].question, rows[0].choices, rows[0].answer) == ("What, dev?", ("1", "2", "3", "4"), 2)
    assert (rows[1].question, {row.meta["subject"] for row in rows}) == ("And\nthen?", {"high_school_physics"})


def test_gsm8k_takes_the_number_and_keeps_the_solution(tmp_path):
    (row,) = gsm8k.load(written(tmp_path / "train.jsonl", {"question": "How many?", "answer": "2 * 540\n#### 1,080"}))
    assert (row.answer, row.split, row.meta) == ("1,080", "train", {"form": "number", "solution": "2 * 540\n#### 1,080"})


def test_gsm_symbolic_tells_templates_apart_and_has_no_split(tmp_path):
    records = [{"id": t, "instance": i, "question": f"{t} {i}?", "answer": f"#### {i}"} for t in (0, 1) for i in (0, 1)]
    for name in ("GSM_symbolic", "GSM_p1"):
        written(tmp_path / f"{name}.jsonl", *records)
    rows = gsm_symbolic.load(tmp_path)
    assert [row.id for row in rows] == ["symbolic-0-0", "symbolic-0-1", "symbolic-1-0", "symbolic-1-1"]
    assert [row.meta["group"] for row in rows] == ["template 0", "template 0", "template 1", "template 1"]
    assert {row.split for row in rows} == {""}
    assert gsm_symbolic.load(tmp_path / "GSM_p1.jsonl")[0].id == "p1-0-0"


def test_math_reads_the_original_folders_and_files_of_lines(tmp_path):
    problem = {"problem": "Half of $x$?", "level": "Level 3", "type": "Algebra", "solution": r"It is $\boxed{\frac{x}{2}}$."}
    written(tmp_path / "whole" / "train" / "algebra" / "1.json", problem)
    written(tmp_path / "whole" / "test" / "algebra" / "7.json", problem)
    rows = math.load(tmp_path / "whole")
    assert [(row.split, row.answer) for row in rows] == [("train", r"\frac{x}{2}"), ("test", r"\frac{x}{2}")]
    assert (rows[0].meta["level"], rows[0].meta["subject"], rows[0].meta["form"]) == (3, "Algebra", "expression")
    line = {"problem": "Half?", "answer": "1/2", "subject": "Algebra", "level": 1, "unique_id": "test/algebra/2.json"}
    (row,) = math.load(written(tmp_path / "MATH-500.jsonl", line))
    assert (row.id, row.answer, row.split, row.meta["level"]) == ("test/algebra/2.json", "1/2", "test", 1)


def test_math_500_rows_ask_without_the_form_of_the_answer(data_folder):
    assert not any("boxed" in row.question for row in math.load(data_folder / "math500"))


def test_trivia_qa_reads_every_form_with_the_primary_answer_first(tmp_path):
    old = {"Data": [{"QuestionId": "q", "Question": "Who?", "Answer": {"Value": "Bo", "Aliases": ["Al", "Bo"]}}]}
    written(tmp_path / "unfiltered-web-dev.json", old)
    copied = {"question_id": "q", "question": "Who?", "answer": {"value": "Bo", "aliases": ["Al", "Bo"]}}
    written(tmp_path / "train.jsonl", copied)
    listed = {"id": "q", "question": '"Who is ""Bo""?"', "golden_answers": ["Bo", "Al"]}
    written(tmp_path / "test.jsonl", listed)
    rows = [trivia.load(tmp_path / name)[0] for name in ("unfiltered-web-dev.json", "train.jsonl", "test.jsonl")]
    assert [(row.answer, row.split) for row in rows] == [(["Bo", "Al"], "dev"), (["Bo", "Al"], "train"), (["Bo", "Al"], "test")]
    assert rows[2].question == 'Who is "Bo"?'


def test_popqa_reads_the_original_table(tmp_path):
    with (tmp_path / "popQA.tsv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["id", "prop", "s_pop", "question", "possible_answers"])
        table.writerow([4222442, "occupation", 142, "What is Bo's occupation?", '["politician", "political leader"]'])
    (row,) = popqa.load(tmp_path)
    assert (row.id, row.answer) == ("4222442", ["politician", "political leader"])
    assert row.meta == {"relation": "occupation", "popularity": 142}


def test_hotpot_qa_reads_the_original_records(tmp_path):
    record = {"_id": "5a8b", "question": "Same?", "answer": "yes", "type": "comparison", "level": "hard", "context": [["Bo", ["…"]]]}
    written(tmp_path / "hotpot_train_v1.1.json", [record])
    (row,) = hotpot.load(tmp_path)
    assert (row.id, row.answer, row.split, row.meta) == ("5a8b", ["yes"], "train", {"type": "comparison", "level": "hard"})


LOG = [
    ("7", "a", 3),
    ("7", "b", 1),
    ("7", "c", 2),
    ("7", "d", 2),
    ("9", "a", 5),
    ("9", "b", 5),
    ("9", "d", 6),
    ("8", "a", 1),
    ("8", "b", 2),
]
"""Users 7 (b c d a), 9 (a b d) and 8, who had too few; times out of order and equal."""
FORMS = {
    "u.data": "\n".join(f"{u}\t{i}\t5\t{t}" for u, i, t in LOG),
    "ratings.dat": "\n".join(f"{u}::{i}::5::{t}" for u, i, t in LOG),
    "ratings.csv": "userId,movieId,rating,timestamp\r\n" + "\r\n".join(f"{u},{i},5.0,{t}" for u, i, t in LOG),
    "set.inter": "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + "\n".join(f"{u}\t{i}\t5\t{t}.0" for u, i, t in LOG),
    "reviews_Toys_5.json": "\n".join(json.dumps({"reviewerID": u, "asin": i, "unixReviewTime": t}) for u, i, t in LOG),
    "pairs.txt": "7 b\n9 a\n7 c\n9 b\n7 d\n9 d\n7 a\n8 a\n8 b\n",
    "Toys.txt": "7 b c d a\n9 a b d\n8 a b\n",
}
SHOWN = {"a": "item a", "b": "item b", "c": "item c", "d": "item d"}
TITLED = {"a": "Alien", "b": "Heat [b]", "c": "heat [c]", "d": "item d"}
BESIDE = {
    "u.data": ("u.item", "a|Alien|1979\nb|Heat|1995\nc|heat|1995\n"),
    "ratings.dat": ("movies.dat", "a::Alien::Horror\nb::Heat::Crime\nc::heat::Crime\n"),
    "ratings.csv": ("movies.csv", 'movieId,title,genres\na,"Alien",x\nb,Heat,x\nc,heat,x\n'),
    "set.inter": ("set.item", "item_id:token\tmovie_title:token_seq\na\tAlien\nb\tHeat\nc\theat\n"),
    "reviews_Toys_5.json": (
        "meta_Toys.json",
        "{'asin': 'a', 'title': 'Alien'}\n" + '{"asin": "b", "title": "Heat"}\n{"asin": "c", "title": "heat"}\n',
    ),
}


@pytest.mark.parametrize("titled", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_interactions_gives_the_same_rows(tmp_path, name, titled):
    (tmp_path / name).write_text(FORMS[name], encoding="utf-8")
    if titled and name in BESIDE:
        beside, text = BESIDE[name]
        (tmp_path / beside).write_text(text, encoding="latin-1")
    called = TITLED if titled and name in BESIDE else SHOWN
    rows = {row.id: row for row in sequences.load(tmp_path)}
    assert set(rows) == {"7-train", "7-dev", "7-test", "9-dev", "9-test"}
    assert rows["7-train"].meta["history"] == (called["b"],)
    assert rows["7-test"].meta["history"] == (called["b"], called["c"], called["d"])
    assert {id: row.answer for id, row in rows.items()} == {
        "7-train": called["c"],
        "7-dev": called["d"],
        "7-test": called["a"],
        "9-dev": called["b"],
        "9-test": called["d"],
    }
    assert set(rows["7-test"].choices) == set(called.values()) == set(sequences.universe(tmp_path / name))


def test_a_question_names_the_latest_items_only(tmp_path):
    (tmp_path / "Long.txt").write_text("1 " + " ".join(f"i{n}" for n in range(60)))
    test = sequences.load(tmp_path)[-1]
    assert test.question.split("\n")[2:] == [f"item i{n}" for n in range(59 - sequences.SHOWN, 59)]
    assert len(test.meta["history"]) == 59


def test_attributes_stand_for_titles(tmp_path):
    (tmp_path / "Toys.txt").write_text(FORMS["Toys.txt"])
    (tmp_path / "Toys_item2attributes.json").write_text('{"a": [3, 1], "b": []}')
    assert sequences.universe(tmp_path) == ("item b", "item c", "item d", "item a with attributes 3, 1")


def test_packed_files_are_read_as_the_others(tmp_path):
    plain = written(tmp_path / "test.jsonl", {"question": "Zürich?", "answer": ["ja"]})
    packed = tmp_path / "packed" / "test.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes()))
    assert nq.load(packed) == nq.load(packed.parent) == nq.load(plain)


def test_generated_ids_do_not_depend_on_case_spacing_or_other_rows(tmp_path):
    assert reading.identity("test", "Who  IS it?") == reading.identity("test", "who is it?") != reading.identity("train", "who is it?")
    records = [{"question": text, "answer": ["x"]} for text in ("Who?", "When?", "who?")]
    ids = [row.id for row in nq.load(written(tmp_path / "dev.jsonl", *records))]
    assert ids[2] == f"{ids[0]}-2"
    assert [row.id for row in nq.load(written(tmp_path / "dev.jsonl", records[1]))] == ids[1:2]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"),
        ("dev_rand_split.jsonl", "dev"),
        ("NQ-open.dev.jsonl", "dev"),
        ("ARC-Challenge-Test.jsonl", "test"),
        ("validation-00000-of-00001.jsonl.gz", "dev"),
        ("latest.jsonl", ""),
        ("devices.csv", ""),
    ],
)
def test_splits_are_named_by_whole_words(tmp_path, name, split):
    assert reading.split(tmp_path / name) == split
