"""The own rows of every task, asked as a run asks them."""

from __future__ import annotations

import dataclasses
import importlib.util
import json

import pytest
from xplearn_expbench import prompts
from xplearn_expbench.catalogue import TASKS, resolve
from xplearn_expbench.overlap import identity
from xplearn_expbench.splits import normalised

import xplearn

NEEDED = {"chemistry": "rdkit", "gsm8k": "reasoning_gym", "gsm_symbolic": "reasoning_gym", "math": "reasoning_gym"}
OWN = [name for name, spec in TASKS.items() if spec.mini]
SOME = {"code": 6, "chemistry": 60, "maths": 60}
"""Rows demonstrated of kinds that take their time to judge; of the others, all."""


@pytest.fixture(params=OWN)
def env(request):
    if request.param in NEEDED and importlib.util.find_spec(NEEDED[request.param]) is None:
        pytest.skip(f"needs {NEEDED[request.param]}")
    part = xplearn.make("environment", f"expbench.{request.param}", execution={"allow": True})
    yield part
    part.close()


def rows(env, split):
    return env.questions(env.specs()[0]).by_split[split]


def test_there_are_enough_to_learn_from_and_to_test(env):
    spec = env.specs()[0]
    train, test = (len(env.tasks(split)) for split in ("train", "test"))
    if spec.kind == "code":
        assert train + test >= 60
    else:
        assert train >= 200
        assert test >= 100


def test_no_question_stands_in_two_splits_or_twice(env):
    questions = env.questions(env.specs()[0])
    assert questions.dropped == 0
    found = [identity(env.specs()[0].kind, row) for row in questions.by_id.values()]
    assert len(set(found)) == len(found)


def test_what_is_shown_does_not_hold_the_answer(env):
    spec = env.specs()[0]
    for task, row in zip(env.tasks("test"), rows(env, "test"), strict=True):
        seen = normalised(f"{task.goal} {json.dumps(dict(task.meta))}")
        if spec.kind == "code":
            assert normalised(row.answer) not in seen
        elif spec.kind == "qa" and normalised(row.answer[0]) not in ("yes", "no"):
            other = dataclasses.replace(row, answer=["somebody else"])
            assert resolve(spec.prompt)(row) == resolve(spec.prompt)(other)


def test_where_the_right_option_stands_says_nothing(env):
    spec = env.specs()[0]
    if spec.kind not in ("choice", "ranking"):
        pytest.skip("has no options")
    places = []
    for task, row in zip(env.tasks("train"), rows(env, "train"), strict=True):
        options = env.reset(task, seed=0).actions or [line[3:] for line in env.reset(task, seed=0).text.splitlines()[: len(row.choices)]]
        right = row.answer if spec.kind == "ranking" else row.choices[row.answer]
        places.append(list(options).index(right) / (len(options) - 1))
    assert sum(places) / len(places) == pytest.approx(0.5, abs=0.08)


def test_chance_is_what_the_catalogue_says(env):
    spec = env.specs()[0]
    if spec.kind == "choice":
        found = [1 / len(row.choices) for row in rows(env, "test")]
        assert sum(found) / len(found) == pytest.approx(spec.chance, abs=0.02)
    if spec.kind == "chemistry":
        yes = [row.answer == "yes" for row in rows(env, "test") if row.meta["form"] == "endpoint"]
        share = max(sum(yes), len(yes) - sum(yes)) / len(rows(env, "test"))
        assert share == pytest.approx(spec.chance, abs=0.03)


def test_the_demonstrated_answers_are_right(env):
    spec = env.specs()[0]
    for split in env.splits():
        for task in env.tasks(split)[: SOME.get(spec.kind)]:
            shown = env.demonstrate(task, seed=0)
            assert (shown.score, shown.success) == (1.0, True), task.id


def test_an_empty_or_strange_answer_is_judged_and_never_right(env):
    for task in env.tasks("test")[:3]:
        for action in ("", " ", "\x00", "\ud800", "a" * 5_000, "[](){}*?\\", prompts.INSTRUCTIONS):
            env.reset(task, seed=0)
            outcome = env.step(action)
            assert outcome.info["success"] is False
            assert outcome.terminated
