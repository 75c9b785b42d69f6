"""Any string is answered, quickly, and with text that can be written to a file."""

from __future__ import annotations

import random
import time

import pytest
from xplearn_alfworld.environment import AlfWorld

from xplearn import ContractError

STRINGS = 2000
PIECES = [
    "go to",
    "take",
    "move",
    "put",
    "from",
    "in/on",
    "mug 1",
    "shelf 1",
    "drawer 99999999999999999999",
    "the",
    ">",
    ".",
    "!",
    "\n",
    "\0",
]
PIECES += [
    "\ud800",
    "\udfff",
    "\u202e",
    "\u200b",
    "\x1b[2J",
    "ı",
    "İ",
    "ß",
    "１",
    "٣",
    "🚪",
    "<|im_start|>",
    "(",
    "[",
    "{",
    "\\",
    "%s",
    "{0}",
    "\u2028",
]


def strings(rng):
    yield from ("", " ", "\t\n", "\ud800", "\0" * 1000, "a" * 100_000, "go to " * 20_000, "> " * 50_000, "." * 100_000, "put in " * 20_000)
    yield from ("go to " + "9" * 100_000, "1 " * 50_000, "the " * 25_000, "\ud800" * 100_000, "\u202ego to shelf 1", "take mug 1 from " * 5)
    for _ in range(STRINGS - 16):
        joint = rng.choice([" ", "", "  "])
        words = [rng.choice(PIECES) if rng.random() < 0.8 else chr(rng.randrange(0x110000)) for _ in range(rng.randrange(1, 12))]
        yield joint.join(words)


@pytest.mark.parametrize("faithful", [True, False])
def test_two_thousand_odd_strings_are_answered(packed, faithful):
    env = AlfWorld(data=str(packed), faithful=faithful, max_steps=STRINGS)
    env.listing = False
    env.reset(env.tasks("train")[0], seed=0)
    slowest = 0.0
    for number, action in enumerate(strings(random.Random(7)), 1):
        began = time.process_time()
        outcome = env.step(action)
        slowest = max(slowest, time.process_time() - began)
        outcome.observation.text.encode()
        assert outcome.truncated == (number == STRINGS)
        assert not outcome.terminated
    assert number == STRINGS
    print("SLOW", slowest)
    assert slowest < 0.1


def test_parsing_a_completion_never_fails_either(packed):
    env = AlfWorld(data=str(packed))
    assert all(isinstance(env.parse(text), str) for text in strings(random.Random(8)))


@pytest.mark.parametrize("action", [None, 3, b"look", ["look"]])
def test_what_is_no_string_breaks_the_contract_by_name(packed, action):
    env = AlfWorld(data=str(packed))
    env.reset(env.tasks("train")[0], seed=0)
    with pytest.raises(ContractError, match="an action is text, not"):
        env.step(action)
    assert env.step("look").info["valid"]
