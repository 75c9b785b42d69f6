from __future__ import annotations

import hashlib
import itertools
import math
import re
import subprocess
import sys
import time
from fractions import Fraction
from importlib import metadata

import pytest
from xplearn_expbench.mini import gym, maths
from xplearn_expbench.mini.stories import STORIES, Story
from xplearn_expbench.splits import normalised

from xplearn import PluginError

pytest.importorskip("reasoning_gym")

TASKS = (maths.gsm8k, maths.gsm_symbolic, maths.math)


@pytest.mark.parametrize("task", TASKS)
def test_there_are_enough_rows_no_question_twice_and_every_level_in_both_splits(task):
    rows = task()
    train, test = ([row for row in rows if row.split == split] for split in ("train", "test"))
    assert len(train) >= 200
    assert len(test) >= 100
    assert len(train) + len(test) == len(rows)
    assert len({normalised(row.question) for row in rows}) == len({row.id for row in rows}) == len(rows)
    assert {row.meta["level"] for row in train} == {row.meta["level"] for row in test}
    assert all(row.meta["version"] == f"reasoning-gym {metadata.version('reasoning-gym')}" for row in rows)


@pytest.mark.parametrize("task", TASKS)
def test_answers_are_numbers_or_where_so_named_fractions(task):
    for row in task():
        assert re.fullmatch(r"-?\d+" if row.meta["form"] == "number" else r"\d+(/\d+)?", row.answer), row


@pytest.mark.parametrize("task", TASKS)
def test_no_question_asks_for_a_form_of_answer(task):
    assert not [
        row.question for row in task() if re.search(r"final answer|do not include|respond with|provide", row.question, re.IGNORECASE)
    ]


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_made_within_two_seconds(task):
    task()
    start = time.process_time()
    task()
    assert time.process_time() - start < 12


def test_rows_of_the_recorded_version_are_as_recorded():
    if gym.version() != "reasoning-gym 0.1.25":
        pytest.skip(f"recorded with reasoning-gym 0.1.25, and {gym.version()} is installed")
    made = {
        task.__name__: hashlib.blake2b(repr([(r.question, r.answer) for r in task()]).encode(), digest_size=6).hexdigest() for task in TASKS
    }
    assert made == {"gsm8k": "8d678b643210", "gsm_symbolic": "2304c09681f9", "math": "ac2b8285c442"}


EXPECTED = {
    "buys": 10,
    "gives": 7,
    "both": 10,
    "boxes": 21,
    "shared": 3,
    "fewer": 4,
    "missing": 4,
    "times": 14,
    "price": 21,
    "days": 6,
    "buys-gives": 8,
    "boxes-loose": 23,
    "more-together": 17,
    "times-together": 21,
    "change": 1,
    "share-lost": 2,
    "rows": 19,
    "spends": 15,
    "two-kinds": 17,
    "weeks": 42,
}
"""Worked by hand from the texts with a = 7, b = 3, c = 2."""


def test_every_word_problem_has_the_answer_worked_by_hand():
    fixed = [Story(name=s.name, steps=s.steps, text=s.text, answer=s.answer, spans=((7, 7), (3, 3), (2, 2))) for s in STORIES]
    assert {story.name: int(story.tell("x")[1]) for story in fixed} == EXPECTED


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_word_problems_of_any_draw_make_sense(story):
    told = [story.tell("draw", n) for n in range(200)]
    assert all(int(answer) >= 0 for _, answer in told)
    assert not [text for text, _ in told if "{" in text]


def test_symbolic_rows_share_skeletons_with_gsm8k_and_no_question():
    plain, symbolic = maths.gsm8k(), maths.gsm_symbolic()
    assert {row.meta["generator"] for row in symbolic} == {row.meta["generator"] for row in plain} - {"chain_sum"}
    assert not {row.question for row in plain} & {row.question for row in symbolic}


def of(generator):
    rows = [row for row in maths.math() if row.meta["generator"] == generator]
    assert rows
    return [(row, [int(number) for number in re.findall(r"-?\d+", row.question)]) for row in rows]


def test_sums_and_products_are_right():
    sums = [row for row in maths.gsm8k() if row.meta["generator"] == "chain_sum"]
    for row in [*sums, *(row for row, _ in of("products"))]:
        left, sign, right = re.fullmatch(r"What is (\d+) ([-+×]) (\d+)\?", row.question).groups()
        assert {"+": int(left) + int(right), "-": int(left) - int(right), "×": int(left) * int(right)}[sign] == int(row.answer)


def test_divisors_and_multiples_are_right():
    assert all(int(row.answer) == math.gcd(*numbers) for row, numbers in of("gcd"))
    assert all(int(row.answer) == math.lcm(*numbers) for row, numbers in of("lcm"))


def test_solutions_solve_their_equations():
    for row, _ in of("simple_equations"):
        name, left, right = re.fullmatch(r"Solve for (\w): (.+) = (.+)", row.question).groups()
        term = re.sub(rf"(\d+){name}", rf"\1*{name}", left)
        assert eval(term, {name: int(row.answer)}) == int(right), row


def test_numerators_are_those_of_lowest_terms():
    assert all(int(row.answer) == Fraction(*numbers[:2]).numerator for row, numbers in of("fraction_simplification"))


def test_primes_are_counted_with_both_ends():
    def prime(n):
        return n > 1 and all(n % d for d in range(2, n))

    assert all(int(row.answer) == sum(map(prime, range(low, high + 1))) for row, (low, high) in of("count_primes"))


def test_angles_sum_to_those_of_the_polygon():
    assert all(sum(angles) + int(row.answer) == (sides - 2) * 180 for row, (sides, *angles) in of("simple_geometry"))


def test_odds_are_those_of_all_throws():
    for row, (_, first, _, second, target) in of("dice"):
        throws = [a + b for a, b in itertools.product(range(1, first + 1), range(1, second + 1))]
        assert Fraction(row.answer) == Fraction(sum(total >= target for total in throws), len(throws)), row


def test_without_the_package_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    gym.package.cache_clear()
    with pytest.raises(PluginError, match=re.escape("pip install 'xplearn-expbench[maths]'")):
        maths.math()


def test_the_package_is_imported_when_first_needed():
    code = "import sys, xplearn_expbench.mini.maths; sys.exit('reasoning_gym' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
