from __future__ import annotations

import pytest
from xplearn_hamo import prompts
from xplearn_hamo.account import Account, account, one_line
from xplearn_hamo.outline import Outline, generalised, instance_names, read

from xplearn.testing import samples

ACCOUNT = Account(
    goal="put a mug in cabinet", start="You see a mug 2 and a cabinet 11.", actions=("take mug 2 from desk 1", "open cabinet 11")
)
PROMPT = prompts.not_to_be_copied(8)
SUCCESS = "Done when the goal holds: put a mug in cabinet"


def outline(text, max_steps=8, cut_off=False):
    return read(text, ACCOUNT, max_steps=max_steps, prompt=PROMPT, cut_off=cut_off)


def test_a_numbered_outline_is_taken_as_it_is():
    text = "1. Take the mug\n2. Open a cabinet\n3. Done when the mug is in it"
    assert outline(text) == ("Take the mug", "Open a cabinet", "Done when the mug is in it")


@pytest.mark.parametrize(
    "text",
    [
        "Here is the outline:\n\n**1.** Take the mug\n\n**2.** Open `a cabinet`\n\nI hope this helps!",
        "Step 1: Take the mug\nStep 2: Open a cabinet",
        "1) Take the mug\r\n2) Open a cabinet",
        "<think>1. What? 2. Hm.\n1. Well</think>\n1. Take the mug\n2. Open a cabinet",
        "1. Take the mug\n   which is there\n2. Open a cabinet\n\n1. Take the mug\n2. Open a cabinet",
        "  1 - Take the mug\n  2 - Open a cabinet",
    ],
)
def test_what_stands_around_and_how_it_is_dressed_is_passed_over(text):
    assert outline(text) == ("Take the mug", "Open a cabinet", SUCCESS)


def test_single_objects_become_types():
    text = "1. Take mug 2 from desk 1\n2. Go to the cabinet 11 with mug2\n3. Wait for 10 minutes\n4. Done when mug 2 is in cabinet #11"
    assert outline(text) == (
        "Take a mug from a desk",
        "Go to the cabinet with a mug",
        "Wait for 10 minutes",
        "Done when mug is in a cabinet",
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "take the mug, then open the cabinet",
        "2. Open a cabinet\n3. Take the mug",
        "1. Take the mug\n3. Open a cabinet",
        "1. \n2. Open a cabinet",
        "1. ...\n2. ---",
        "1. Take the mug",
        "1. Take the mug\n" * 100_000,
        "1. Take the mug 1. Take the mug",
        "1. Take the mug\n2. Take the mug",
        "1. Take the mug\n2. take the **mug**.",
        "1. Take mug 1\n2. Take mug 2",
        "1. Take the mug\n2. Take the mug\n3. Take the mug",
        "1. Take the mug\n2. Open it\n3. Take the mug\n4. Open it\n5. Take the mug",
        "1. Done when the mug is there",
        "1. Done\n2. Success is a mug in a cabinet",
        "1. One short step on each\n2. Open a cabinet",
        "1. Name types of objects, not single ones\n2. Open a cabinet",
        "1. Take a can from the place where tools are kept\n2. Open a cabinet",
        "<think>1. Take the mug\n2. Open a cabinet",
        "\n".join(f"{number}. Open door {'abcdefghi'[number - 1]}" for number in range(1, 10)),
    ],
)
def test_nonsense_is_not_usable(text):
    assert outline(text) is None


def test_a_success_line_is_added_only_where_there_is_room():
    assert outline("1. Take the mug\n2. Open a cabinet", max_steps=3) == ("Take the mug", "Open a cabinet", SUCCESS)
    assert outline("1. Take the mug\n2. Open a cabinet", max_steps=2) is None
    assert outline("1. Take the mug\n2. Done when it is there", max_steps=2) is not None


def test_a_step_and_the_condition_of_success_are_enough():
    assert outline("1. Take the mug\n2. Done when it is there") == ("Take the mug", "Done when it is there")
    assert outline("1. Take the mug\n2. Take the mug\n3. Done when it is there") is not None


def test_a_last_line_that_may_be_broken_off_is_not_believed():
    broken = "1. Take the mug\n2. Open a cab"
    assert outline(broken, cut_off=True) is None
    assert outline(broken + "inet\nNote that th", cut_off=True) == ("Take the mug", "Open a cabinet", SUCCESS)


def test_a_models_words_are_cut_and_cleaned():
    lines = outline("1. Take\x00 the\x1b[31m \u202emug\ud800\n2. Open " + "x" * 1000 + "\n3. Done when it is there")
    assert lines[0] == "Take the[31m mug"
    assert len(lines[1]) == 200
    assert outline("1. Take the mug\n2. " + "x" * 100_000) is None


def test_an_outline_is_shown_numbered():
    assert str(Outline(lines=("a", "b"), writer="rules")) == "1. a\n2. b"


def test_names_are_those_that_bear_a_number_and_no_verb():
    assert instance_names(["take mug 2 from desk 1", "wait 5", "heat to 100 degrees"]) == {"mug", "desk"}
    assert generalised("move Mug 2 to apple 3, not to 4", {"mug", "apple"}) == "move Mug to an apple, not to 4"


def test_an_account_is_one_line_each_and_cut():
    found = account(samples.trajectory(0), start_chars=20)
    assert found.goal == "boil object number 0"
    assert found.start == "You are in room 0.…"
    assert found.actions == ("open door 0", "open door 1", "open door 2")
    assert account(samples.trajectory(0), start_chars=0).start == ""


def test_one_line_removes_what_cannot_be_printed():
    assert one_line("a\n\n b\t\x00 c\ud800 \u200b d", 100) == "a b c d"
    assert one_line("abcdef", 4) == "abc…"


def test_accounts_differ_in_what_an_outline_depends_on():
    assert ACCOUNT.digest("x", 8) == ACCOUNT.digest("x", 8)
    assert (
        len(
            {
                ACCOUNT.digest("x", 8),
                ACCOUNT.digest("x", 7),
                ACCOUNT.digest("y", 8),
                account(samples.trajectory(0), start_chars=9).digest("x", 8),
            }
        )
        == 4
    )


def test_the_prompt_tells_task_start_and_merged_actions():
    told = Account(goal="g", start="s", actions=("a", "a", "b"))
    system, *_, user = prompts.conversation(told, 5)
    assert "at most 5 lines" in system["content"]
    assert user == {"role": "user", "content": "Task: g\nStart: s\nActions:\n- a (2 times)\n- b\nNumbered outline:"}


def test_the_example_keeps_the_rules_that_it_stands_for():
    _, _, answer, _ = prompts.conversation(ACCOUNT, 8)
    lines = read(answer["content"], prompts.EXAMPLE, max_steps=8, prompt=prompts.INSTRUCTIONS)
    assert lines == tuple(line[3:] for line in answer["content"].splitlines())
    assert not any(character.isdigit() for line in lines for character in line)
    assert lines[-1].startswith("Done when")


def test_a_prompt_of_countless_actions_keeps_both_ends():
    actions = tuple(f"use tool {number} on wall" for number in range(100_000))
    content = prompts.conversation(Account(goal="g", start="s", actions=actions), 8)[-1]["content"]
    assert len(content) < 5000
    assert content.splitlines()[3] == "- use tool 0 on wall"
    assert content.splitlines()[-2] == "- use tool 99999 on wall"
    assert "- …" in content
