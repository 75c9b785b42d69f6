from __future__ import annotations

import pytest
from xplearn_scienceworld import text

PROMPT = (
    "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
    "0:\topen door between kitchen and hallway\n1:\topen door between workshop and hallway\n"
)
OPTIONS = ("open door between kitchen and hallway", "open door between workshop and hallway")


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("  look   around ", "look around"),
        ("look\naround\r\n", "look around"),
        ("go to\tkitchen\x00", "go to kitchen"),
        ("\ud800look around\udfff", "look around"),
        ("look\u202e\u200baround", "look around"),
        ("öffne 門 🚪", "öffne 門 🚪"),
        ("\n", ""),
    ],
)
def test_cleaning_leaves_one_line_that_can_be_encoded(given, cleaned):
    assert text.clean(given) == cleaned
    cleaned.encode()


@pytest.mark.parametrize("action", ["reset task", "Reset  Task", "reset the task", "reset tas\u212a"])
def test_every_spelling_of_reset_task_is_recognised(action):
    assert text.resets(text.clean(action))


def test_other_actions_are_not_taken_for_a_reset():
    assert not text.resets("set timer")


def test_options_of_a_prompt_are_read_in_order():
    assert text.options(PROMPT) == OPTIONS
    assert text.options("0:\tnot a prompt") == ()


@pytest.mark.parametrize(
    ("action", "number"),
    [("1", "1"), ("01", "1"), ("", ""), ("Open door between workshop and hallway", "1"), ("2", None), ("look around", None), ("²", None)],
)
def test_an_option_is_chosen_by_number_or_words(action, number):
    assert text.choice(action, OPTIONS) == number


def test_refusals_are_told_from_answers():
    assert not text.understood("No known action matches that input.")
    assert not text.understood("Unknown action.  Type 'help' for a list of actions")
    assert text.understood("The door is already open.")
    assert text.understood(PROMPT)
