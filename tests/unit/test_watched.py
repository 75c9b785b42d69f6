from __future__ import annotations

import dataclasses
import sys

import pytest

from xplearn.builtin.toys import Counting
from xplearn.errors import ContractError, EnvironmentDiedError
from xplearn.rollout.watched import WatchedEnvironment
from xplearn.types import Observation, Outcome, Task


def ask(env, verb, task):
    asked = {
        "splits": env.splits,
        "tasks": lambda: env.tasks("train"),
        "reset": lambda: env.reset(task, seed=0),
        "opening": lambda: env.opening(task, Observation(text="")),
        "parse": lambda: env.parse("1"),
        "step": lambda: env.step("1"),
        "admissible": env.admissible,
        "demonstrate": lambda: env.demonstrate(task, seed=0),
    }
    return asked[verb]()


VERBS = ["splits", "tasks", "reset", "opening", "parse", "step", "admissible", "demonstrate"]


@pytest.fixture
def task():
    return Counting().tasks("train")[0]


def watched(verb, act):
    env = Counting()
    setattr(env, verb, act)
    return WatchedEnvironment("odd.env", lambda: env)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), SystemExit(3), StopIteration(), AssertionError("\udc80")])
def test_whatever_is_raised_names_environment_verb_and_cause(verb, error, task):
    def act(*_, **__):
        raise error

    with pytest.raises(EnvironmentDiedError) as caught:
        ask(watched(verb, act), verb, task)
    assert str(caught.value).startswith(f"environment 'odd.env': {verb} raised {type(error).__name__}(")
    assert "test_watched.py:" in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("answer", [None, 5, {1: 2}, [3]])
def test_whatever_else_is_returned_is_refused(verb, answer, task):
    with pytest.raises(ContractError, match=f"odd.env: {verb} must return .*, but returned "):
        ask(watched(verb, lambda *_, **__: answer), verb, task)


GOOD = Outcome(observation=Observation(text="seen"), reward=0.0, terminated=False, truncated=False)


@pytest.mark.parametrize(
    "change",
    [
        {"observation": "seen"},
        {"observation": Observation(text=None)},
        {"observation": Observation(text="seen", actions="ab")},
        {"reward": float("nan")},
        {"reward": None},
        {"info": None},
        {"info": {"score": float("inf")}},
        {"info": {"score": "high"}},
    ],
)
def test_an_outcome_is_checked_within(change):
    assert watched("step", lambda _: GOOD).step("1") is GOOD
    with pytest.raises(ContractError, match="step must return an Outcome"):
        watched("step", lambda _: dataclasses.replace(GOOD, **change)).step("1")


def test_errors_on_purpose_and_interrupts_pass(task):
    with pytest.raises(ContractError, match="no episode is in progress"):
        WatchedEnvironment("odd.env", Counting).step("1")
    with pytest.raises(KeyboardInterrupt):
        watched("reset", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt())).reset(task, seed=0)


def test_an_error_while_closing_is_noted_and_no_more(caplog):
    watched("close", lambda: 1 / 0).close()
    assert "environment 'odd.env': close raised ZeroDivisionError" in caplog.text


def test_an_environment_that_cannot_be_made_is_named():
    with pytest.raises(EnvironmentDiedError, match=r"'odd\.env': starting raised SystemExit\(4\)"):
        WatchedEnvironment("odd.env", lambda: sys.exit(4))


def test_what_it_returns_may_be_long_or_have_no_name():
    class Mute:
        def __repr__(self):
            raise ValueError

    with pytest.raises(ContractError, match="returned 'xxx") as caught:
        watched("step", lambda _: "x" * 10**6).step("1")
    assert len(str(caught.value)) < 400
    with pytest.raises(ContractError, match="returned a Mute"):
        watched("step", lambda _: Mute()).step("1")


def test_a_task_without_a_textual_id_is_refused():
    with pytest.raises(ContractError, match="tasks must return"):
        watched("tasks", lambda _: [Task(id=5, env="e", split="train", goal="g")]).tasks("train")
