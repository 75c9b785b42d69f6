from __future__ import annotations

import dataclasses

import pytest
from xplearn_expweaver.account import Account, account, shortened
from xplearn_expweaver.prompts import EXAMPLE_SUMMARY, conversation
from xplearn_expweaver.summary import by_model, by_rules, joined

from xplearn import Completion
from xplearn.testing import samples

PLAIN = Account(task="How many? 3 + 4", trace="3 + 4 = 7", success=True)
GOOD = "Problem: add two numbers\nKey step: add them\nOutcome: failure\nNext time: add again"


def said(trajectory, *texts):
    steps = [dataclasses.replace(step, completion=Completion(text=text)) for step, text in zip(trajectory.steps, texts, strict=False)]
    return dataclasses.replace(trajectory, steps=tuple(steps))


def test_a_model_s_parts_are_read_but_never_its_outcome():
    assert by_model(GOOD) == {"Problem": "add two numbers", "Key step": "add them", "Next time": "add again"}


@pytest.mark.parametrize(
    "text",
    [
        "Sure!\n**Problem**: add two numbers\n- **Key step:** add them\n1. Next time: add again\nI hope this helps.",
        "problem: add two numbers key step: add them outcome: success next time: add again",
        "<think>Problem: none</think>Problem type: add two numbers\nKey step (rule): add them\nNext time: add again\nProblem: other",
    ],
)
def test_parts_are_found_in_many_dresses(text):
    assert by_model(text) == {"Problem": "add two numbers", "Key step": "add them", "Next time": "add again"}


@pytest.mark.parametrize("text", ["", "I cannot say.", "Outcome: success", "Problem: ...", "<think>Problem: a", EXAMPLE_SUMMARY])
def test_words_without_a_part_of_their_own_give_none(text):
    assert by_model(text) == {}


def test_control_characters_and_length_are_bounded():
    (part,) = by_model("Problem: a\x00b\u2028c " + "x" * 500).values()
    assert part.startswith("a b c")
    assert len(part) == 200


def test_rules_tell_task_deed_and_outcome():
    assert joined(by_rules(PLAIN, done="7")) == ("Problem: How many? 3 + 4\nKey step: 7\nOutcome: success\nNext time: do the same again")
    assert by_rules(dataclasses.replace(PLAIN, success=False), done="8")["Next time"] == "do something else"


def test_an_account_holds_task_reasoning_and_action():
    found = account(said(samples.trajectory(0, length=2), "I think: open door 0", "x = 5"), success=False, shown_chars=200)
    assert found.task == "boil object number 0 You are in room 0. You see a door and a lamp."
    assert found.trace == "I think: open door 0; x = 5 → open door 1"
    assert found.outcome == "failure"


def test_long_accounts_lose_their_middle():
    assert shortened("abcdefghij", 7) == "ab … ij"
    assert shortened("a  b\nc", 7) == "a b c"
    found = account(samples.trajectory(0, length=30), success=True, shown_chars=60)
    assert len(found.trace) == len(found.task) == 60
    assert found.trace.startswith("open door 0;")
    assert found.trace.endswith("open door 29")


def test_the_request_shows_the_outcome_and_one_example():
    messages = conversation(PLAIN)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"] == "Task: How many? 3 + 4\n\nWhat was done: 3 + 4 = 7\n\nOutcome: success"
    assert len(by_model(messages[2]["content"].replace("in groups", "in heaps"))) == 1
