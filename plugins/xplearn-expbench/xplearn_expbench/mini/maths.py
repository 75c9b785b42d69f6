"""Own maths rows, graded from one-digit sums upwards: our word problems, and problems of reasoning-gym.

``gsm8k`` and ``gsm_symbolic`` share their skeletons and differ in names and numbers, as the published sets do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from xplearn_expbench.mini import draw, gym
from xplearn_expbench.mini.gym import Generator, Problem
from xplearn_expbench.mini.stories import STORIES
from xplearn_expbench.spec import Row

Form = Literal["number", "expression"]

_TRAIN_SHARE = 2 / 3
_TRIES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """Part of a task: problems of one difficulty."""

    level: int
    count: int
    generator: str
    problems: Iterable[Problem]
    form: Form = "number"


def gsm8k() -> list[Row]:
    """Sums and word problems: bare sums, then stories of one and two steps, then the long stories of reasoning-gym.

    ``meta``: ``level`` (1 to 4), ``form`` (``number``), ``generator`` (with the skeleton's name), ``version`` of reasoning-gym.

    Raises:
        DataError: reasoning-gym is not installed.
    """
    return _rows(
        "gsm8k", [_sums("gsm8k", 90), *_stories("gsm8k", steps=1, each=10), *_stories("gsm8k", steps=2, each=6), *_long("gsm8k", each=6)]
    )


def gsm_symbolic() -> list[Row]:
    """The word problems of ``gsm8k`` with other names and numbers; ``meta`` as there.

    Raises:
        DataError: reasoning-gym is not installed.
    """
    name = "gsm_symbolic"
    return _rows(name, [*_stories(name, steps=1, each=15), *_stories(name, steps=2, each=9), *_long(name, each=6)])


def math() -> list[Row]:
    """Products, equations, divisors, multiples, primes, angles, sequences and odds.

    ``meta``: ``level`` (1 to 4), ``form`` (``number`` or, for odds, ``expression``), ``generator``, ``version`` of reasoning-gym.

    Raises:
        DataError: reasoning-gym is not installed.
    """
    return _rows(
        "math",
        [
            _Level(level=level, count=count, form=form, generator=made.name, problems=made.problems("math", level))
            for level, count, form, made in _MATH
        ],
    )


def _rows(task: str, levels: Iterable[_Level]) -> list[Row]:
    made, asked = gym.version(), set[str]()
    rows: list[Row] = []
    for part in levels:
        fresh = list(islice(_unasked(part.problems, asked), part.count))
        meta = {"level": part.level, "form": part.form, "generator": part.generator, "version": made}
        rows += [_row(task, problem, _split(place, len(fresh)), meta) for place, problem in enumerate(fresh)]
    return draw.named(task, rows)


def _unasked(problems: Iterable[Problem], asked: set[str]) -> Iterable[Problem]:
    for question, answer in islice(problems, _TRIES):
        if question not in asked:
            asked.add(question)
            yield question, answer


def _split(place: int, count: int) -> str:
    return "train" if place < round(count * _TRAIN_SHARE) else "test"


def _row(task: str, problem: Problem, split: str, meta: Mapping[str, Any]) -> Row:
    question, answer = problem
    return Row(id=task, question=question, answer=answer, split=split, meta=meta)


def _sums(task: str, count: int) -> _Level:
    return _Level(level=1, count=count, generator="chain_sum", problems=_SUMS.problems(task, 1))


def _stories(task: str, *, steps: int, each: int) -> list[_Level]:
    return [
        _Level(
            level=1 + steps,
            count=each,
            generator=f"stories.{story.name}",
            problems=[story.tell(task, story.name, n) for n in range(4 * each)],
        )
        for story in STORIES
        if story.steps == steps
    ]


def _long(task: str, *, each: int) -> list[_Level]:
    return [
        _Level(level=4, count=each, generator=f"gsm_symbolic.{skeleton}", problems=[gym.told(skeleton, task, n) for n in range(4 * each)])
        for skeleton in gym.SOUND
    ]


def _given(entry: Mapping[str, Any]) -> str:
    return str(entry["answer"])


def _sum(about: Mapping[str, Any]) -> str:
    return f"What is {_signs(about['expression'])}?"


def _equation(about: Mapping[str, Any]) -> str:
    return f"Solve for {about['variable']}: {_signs(about['equation'].replace('*', ''))}"


def _signs(expression: str) -> str:
    return expression.replace("*", "×")


def _divisor(about: Mapping[str, Any]) -> str:
    return "What is the greatest common divisor of {} and {}?".format(*about["numbers"])


def _multiple(about: Mapping[str, Any]) -> str:
    return "What is the least common multiple of {} and {}?".format(*about["numbers"])


def _numerator(about: Mapping[str, Any]) -> str:
    return f"Write {about['numerator']}/{about['denominator']} in lowest terms. What is its numerator?"


def _primes(about: Mapping[str, Any]) -> str:
    return f"How many prime numbers are there from {about['start']} to {about['end']}, both included?"


def _angles(about: Mapping[str, Any]) -> str:
    known = ", ".join(f"{angle:g}" for angle in about["known_angles"])
    sides = about["n_sides"]
    return (
        f"The interior angles of a convex polygon with {sides} sides are, in degrees, {known} and one more. How many degrees has that one?"
    )


def _dice(about: Mapping[str, Any]) -> str:
    first, second = (die.removeprefix("1d") for die in about["puzzle"]["dice_str"].split(", "))
    target = about["puzzle"]["target"]
    return (
        f"One die has faces 1 to {first}, another 1 to {second}. Both are rolled. How likely is a sum of {target} or more, as a fraction?"
    )


_SUMS = Generator(name="chain_sum", ask=_sum, answer=_given, options={"max_terms": 2, "max_digits": 1})

_MATH: tuple[tuple[int, int, Form, Generator], ...] = (
    (1, 45, "number", Generator(name="products", ask=_sum, answer=_given, options={"max_digits": 1})),
    (1, 45, "number", Generator(name="simple_equations", ask=_equation, answer=_given, options={"max_terms": 2, "max_value": 9})),
    (2, 45, "number", Generator(name="gcd", ask=_divisor, answer=_given, options={"min_value": 2, "max_value": 40})),
    (2, 45, "number", Generator(name="lcm", ask=_multiple, answer=_given, options={"min_value": 2, "max_value": 15})),
    (
        3,
        45,
        "number",
        Generator(
            name="fraction_simplification",
            ask=_numerator,
            answer=lambda entry: str(entry["metadata"]["simplified_numerator"]),
            options={"min_value": 2, "max_value": 12, "min_factor": 2, "max_factor": 9},
        ),
    ),
    (3, 45, "number", Generator(name="simple_equations", ask=_equation, answer=_given, options={"min_terms": 3, "max_value": 30})),
    (3, 30, "number", Generator(name="simple_geometry", ask=_angles, answer=_given, options={"max_sides": 4})),
    (4, 30, "number", Generator(name="count_primes", ask=_primes, answer=_given, options={"max_n": 60})),
    (4, 30, "expression", Generator(name="dice", ask=_dice, answer=_given, options={"num_dice": 2, "max_dice_size": 10})),
)
"""Level, rows, form of the answer, generator."""
