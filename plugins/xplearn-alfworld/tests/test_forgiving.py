"""Near misses are understood, and where nothing happens a reason is given from what the player may know."""

from __future__ import annotations

import pytest
from xplearn_alfworld.environment import AlfWorld
from xplearn_alfworld.forgiving import understood
from xplearn_alfworld.reasons import USAGE


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("go to shelf 1", "go to shelf 1"),
        ("  Go  To\tShelf 1 \n", "go to shelf 1"),
        ("GO TO THE SHELF 1!", "go to shelf 1"),
        ("> go to shelf 1.", "go to shelf 1"),
        (">look", "look"),
        ("look . ", "look"),
        ("put mug 1 in shelf 1", "move mug 1 to shelf 1"),
        ("put mug 1 on shelf 1", "move mug 1 to shelf 1"),
        ("put the mug 1 in/on the shelf 1.", "move mug 1 to shelf 1"),
        ("Put a mug 1 into shelf 1", "move mug 1 to shelf 1"),
        ("put mug 1 onto shelf 1", "move mug 1 to shelf 1"),
        ("move mug 1 in shelf 1", "move mug 1 to shelf 1"),
        ("move mug 1 to shelf 1", "move mug 1 to shelf 1"),
        ("take the mug 1 from a countertop 1", "take mug 1 from countertop 1"),
        ("dance", "dance"),
        ("look" + " " * 300, ""),
    ],
)
def test_what_a_text_is_understood_as(text, command):
    assert understood(text) == command


@pytest.fixture
def play(packed):
    """Reset, take actions that must all do something, then try one: its outcome."""

    def tried(action, *before, faithful=False):
        env = AlfWorld(data=str(packed), faithful=faithful)
        env.reset(env.tasks("train")[1], seed=0)
        assert all(env.step(done).info["valid"] for done in before)
        return env.step(action)

    return tried


@pytest.mark.parametrize("action", ["Go to the shelf 1", "go to shelf 1.", "> go to shelf 1", "go  to shelf 1"])
def test_near_misses_do_what_the_command_does_with_its_very_text(play, action):
    assert play(action).observation == play("go to shelf 1").observation
    refused = play(action, faithful=True)
    assert (refused.observation.text, refused.info["valid"]) == ("Nothing happens.", False)
    assert "reason" not in refused.info


def test_the_old_spelling_of_moving_is_the_new_one(play):
    before = ("go to countertop 1", "take mug 1 from countertop 1", "go to shelf 1")
    assert play("put mug 1 in/on shelf 1", *before).observation.text == "You move the mug 1 to the shelf 1."
    assert play("put mug 1 in/on shelf 1", *before, faithful=True).observation.text == "Nothing happens."


TAKE = ("go to countertop 1", "take apple 1 from countertop 1")
KNIFE = ("go to countertop 1", "take knife 1 from countertop 1")


@pytest.mark.parametrize(
    ("before", "action", "reason"),
    [
        ((), "dance", f"Unknown action; there are: {', '.join(USAGE.values())}."),
        ((), "", f"Unknown action; there are: {', '.join(USAGE.values())}."),
        ((), "take mug 1", "Say 'take X from Y', with names as they are shown, such as mug 1."),
        ((), "go to mugs", "Say 'go to X', with names as they are shown, such as mug 1."),
        ((), "look at mug 1", "Say 'look'."),
        ((), "help mug 1", "Say 'help'."),
        ((), "go shelf 1", "Say 'go to X', with names as they are shown, such as mug 1."),
        ((), "take mug 1 with knife 1", "Say 'take X from Y', with names as they are shown, such as mug 1."),
        ((), "put mug 1", "Say 'move X to Y', with names as they are shown, such as mug 1."),
        ((), "open shelf 1 with knife 1", "Say 'open X', with names as they are shown, such as mug 1."),
        (("go to drawer 1",), "go to drawer 1", "The drawer 1 is within reach from where you stand."),
        (("go to drawer 1",), "go to drawer 2", "The drawer 2 is within reach from where you stand."),
        ((), "go to drawer 3", "There is no drawer 3 to go to; the room's furniture is listed at the start."),
        ((), "open fridge 1", "You are not at fridge 1: go to fridge 1 first."),
        (("go to shelf 1",), "open shelf 1", "The shelf 1 cannot be opened."),
        (("go to fridge 1", "open fridge 1"), "open fridge 1", "The fridge 1 is open already."),
        (("go to fridge 1",), "close fridge 1", "The fridge 1 is closed already."),
        ((), "take mug 1 from countertop 1", "You are not at countertop 1: go to countertop 1 first."),
        (("go to fridge 1",), "take apple 2 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (("go to fridge 1",), "take unicorn 2 from fridge 1", "The fridge 1 is closed: open fridge 1 first."),
        (("go to shelf 1",), "take mug 1 from shelf 1", "There is no mug 1 in or on shelf 1."),
        (("go to sidetable 1",), "take desklamp 1 from sidetable 1", "The desklamp 1 cannot be taken."),
        (TAKE, "take mug 1 from countertop 1", "You are holding apple 1, and hands hold one thing: move it somewhere first."),
        ((), "move mug 1 to shelf 1", "You are not holding mug 1."),
        (TAKE, "move mug 1 to countertop 1", "You are not holding mug 1 but apple 1."),
        (TAKE, "put apple 1 in drawer 1", "You are not at drawer 1: go to drawer 1 first."),
        ((*TAKE, "go to drawer 1"), "put apple 1 in drawer 1", "The drawer 1 is closed: open drawer 1 first."),
        ((*TAKE, "go to stoveburner 1"), "put apple 1 on stoveburner 1", "The apple 1 cannot be put in or on stoveburner 1."),
        (TAKE, "heat apple 1 with countertop 1", "Things are heated with a microwave, not with countertop 1."),
        (TAKE, "clean apple 1 with sinkbasin 1", "You are not at sinkbasin 1: go to sinkbasin 1 first."),
        ((*KNIFE, "go to fridge 1"), "cool knife 1 with fridge 1", "The knife 1 cannot be cooled."),
        (("go to fridge 1",), "cool apple 2 with fridge 1", "You are not holding apple 2."),
        ((), "use desklamp 1", "There is no desklamp 1 within reach that can be switched on."),
        (TAKE, "use apple 1", "The apple 1 has no switch."),
        (TAKE, "use mug 1", "The mug 1 has no switch."),
        (("go to fridge 1",), "use apple 2", "There is no apple 2 within reach that can be switched on."),
        (TAKE, "slice apple 1 with apple 1", "The apple 1 is not sharp."),
        (KNIFE, "slice mug 1 with knife 1", "There is no mug 1 within reach that can be sliced."),
        (("go to countertop 1",), "slice apple 1 with knife 1", "You are not holding knife 1."),
        (("go to countertop 1",), "examine apple 1", "One can examine what one holds and the furniture within reach."),
        ((), "examine fridge 1", "You are not at fridge 1: go to fridge 1 first."),
    ],
)
def test_a_reason_is_given(play, before, action, reason):
    outcome = play(action, *before)
    assert outcome.observation.text == f"Nothing happens. ({reason})"
    assert (outcome.info["reason"], outcome.info["valid"]) == (reason, False)


def test_what_works_has_no_reason(play):
    assert play("look").info["reason"] == ""
