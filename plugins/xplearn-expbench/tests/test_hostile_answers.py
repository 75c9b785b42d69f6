"""Answers of 100 kB: every checker is quick with them, whatever its patterns."""

from __future__ import annotations

import time

import pytest
from xplearn_expbench.checkers import choice, maths, qa, ranking
from xplearn_expbench.spec import Row

SIZE = 100_000
PIECES = [
    "a,",
    r"\boxed{",
    "{",
    "}",
    "Answer: ",
    "1",
    "1,",
    "- ",
    "\n",
    " ",
    "####",
    "(A) ",
    r"\frac",
    "Question:\n",
    "x ",
    "=1",
    "$",
    "-1",
    "1/2 ",
]
PIECES += [
    "<think>",
    "```",
    "```\n",
    "[ ",
    "the a ",
    "1 ",
    r"\text{",
    "answer is 1 ",
    "1\n",
    "B or ",
    "\u200f",
    "\x00",
    "*",
    "1 a a ",
    "minus ",
    "😀",
    "e1",
]

CHECKS = {
    "qa": (qa.check, Row(id="r", question="?", answer=["Paris"] * 20)),
    "choice": (choice.check, Row(id="r", question="?", answer=0, choices=("Paris", "Rome"))),
    "number": (maths.check, Row(id="r", question="?", answer="999", meta={"form": "number"})),
    "expression": (maths.check, Row(id="r", question="?", answer="999", meta={"form": "expression"})),
    "ranking": (ranking.check, Row(id="r", question="?", answer="Paris", choices=("Paris", "Rome, the city", *map(str, range(2, 20))))),
}


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("frame", ["{}", "Answer: {}", r"\boxed{{{}}}", "{}\nAnswer: 7"])
def test_long_answers_are_judged_quickly(kind, frame):
    check, row = CHECKS[kind]
    for piece in PIECES:
        text = piece * (SIZE // len(piece))
        started = time.process_time()
        assert 0 <= check(row, frame.format(text)).score <= 1, piece
        assert time.process_time() - started < 15, piece


@pytest.mark.parametrize("kind", CHECKS)
def test_any_bytes_are_judged(kind):
    check, row = CHECKS[kind]
    for text in (bytes(range(256)).decode("latin-1"), "".join(map(chr, range(0x2000, 0x2100))), "\ud800\udfff", "\U0010ffff", "\x00" * 10):
        assert check(row, text).status in ("wrong", "unparsed")
