"""Own coding problems: from families of problems, each with a reference solution and tests that a plausible mistake fails.

A family's problems differ in their constants, and no problem is in two splits or in both tasks; so what training teaches about a family
helps with its test problems, while no test problem has been seen.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

from xplearn_expbench.mini.draw import named, shuffled
from xplearn_expbench.mini.templates import KINDS, Template, Values, arguments, filled
from xplearn_expbench.mini.templates_lists import LISTS
from xplearn_expbench.mini.templates_numbers import NUMBERS
from xplearn_expbench.mini.templates_records import RECORDS
from xplearn_expbench.mini.templates_text import TEXTS
from xplearn_expbench.spec import Row

TEMPLATES: tuple[Template, ...] = (*NUMBERS, *LISTS, *TEXTS, *RECORDS)

_TESTS, _TELLING, _SHOWN = 8, 3, 2
_DRAWS, _EDGED = 48, 3
_DULL = {"''", "[]", "{}", "0", "-1", "False"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A template with its constants, solved and tested."""

    template: Template
    text: str
    """What to do, without a full stop."""
    reference: str
    """Source of the solution."""
    wrong: str
    """Source of a plausible mistake."""
    calls: tuple[tuple[str, str], ...]
    """Source of calls, with that of what they give."""


def humaneval() -> list[Row]:
    """Signatures with a docstring and two examples, to be completed."""
    return named("humaneval", [_completion(problem, split) for problem, split in _dealt(0)])


def mbpp() -> list[Row]:
    """Sentences that ask for a function, the first of its tests shown."""
    return named("mbpp", [_sentence(problem, split) for problem, split in _dealt(1)])


@cache
def problems() -> tuple[Problem, ...]:
    """Every problem, family by family."""
    return tuple(_problem(template, values) for template in TEMPLATES for values in template.values)


def _dealt(task: int) -> Iterator[tuple[Problem, str]]:
    """Every other problem in a drawn order within each family; of those, every third is for testing."""
    for template in TEMPLATES:
        family = [problem for problem in problems() if problem.template is template]
        for place, problem in enumerate(shuffled(family, "coding", template.name)[task::2]):
            yield problem, "test" if place % 3 == 1 else "train"


def _problem(template: Template, values: Values) -> Problem:
    signature = _signature(template)
    reference, wrong = (f"{signature}\n{indent(filled(body, values), '    ')}\n" for body in (template.body, template.wrong))
    calls = _calls(template, values, _function(reference, template.name), _function(wrong, template.name))
    return Problem(template=template, text=filled(template.text, values), reference=reference, wrong=wrong, calls=calls)


def _signature(template: Template) -> str:
    annotated = ", ".join(f"{name}: {KINDS[kind][0]}" for name, kind in arguments(template.takes))
    return f"def {template.name}({annotated}) -> {template.gives}:"


def _function(source: str, name: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(source, scope)  # noqa: S102 - our own templates
    function: Callable[..., Any] = scope[name]
    return function


def _calls(template: Template, values: Values, reference: Callable[..., Any], wrong: Callable[..., Any]) -> tuple[tuple[str, str], ...]:
    """Calls for the tests, no two alike: where the mistake shows, where no argument is the result, and varied ones; dull ones last."""
    key, edges = "|".join(map(str, values.values())), [value for value in values.values() if type(value) is int]
    results: dict[str, str] = {}
    mistakes: dict[str, list[str]] = {}
    for draw in range(_DRAWS):
        given = [KINDS[kind][1]("coding", template.name, key, name, draw) for name, kind in arguments(template.takes)]
        if edges and draw % _EDGED == 0:
            given = [_edged(value, edges[draw // _EDGED % len(edges)]) for value in given]
        call = f"{template.name}({', '.join(map(repr, given))})"
        results[call] = _gives(reference, given)
        mistakes[call] = [_gives(wrong, given), *map(repr, given)]
    chosen: list[str] = []
    for mistake, count in enumerate((_TELLING, *(1 for _ in arguments(template.takes)))):
        telling = [call for call in results if mistakes[call][mistake] != results[call]]
        chosen += _varied(telling, results, chosen, count)
    chosen += _varied([*results], results, chosen, _TESTS - len(chosen))
    order = shuffled([(call, results[call]) for call in chosen], "coding", "tests", template.name, key)
    return tuple(sorted(order, key=lambda call: call[1] in _DULL))


def _edged(value: Any, edge: int) -> Any:
    """With one of the problem's own constants in it, where less and less-or-equal part."""
    if isinstance(value, int):
        return edge
    if isinstance(value, dict):
        return value | dict.fromkeys([*value][:1], edge)
    return [edge, *value[1:]] if isinstance(value, list) and value and isinstance(value[0], int) else value


def _varied(calls: Sequence[str], results: Mapping[str, str], taken: Sequence[str], count: int) -> list[str]:
    """So many more of the calls, those first whose result is new."""
    chosen: list[str] = []
    for _ in range(count):
        left = [call for call in calls if call not in chosen and call not in taken]
        seen = {results[call] for call in (*taken, *chosen)}
        chosen += sorted(left, key=lambda call: results[call] in seen)[:1]
    return chosen


def _gives(function: Callable[..., Any], given: list[Any]) -> str:
    try:
        return repr(function(*copy.deepcopy(given)))
    except Exception as error:
        return f"raises {type(error).__name__}"


def _meta(problem: Problem) -> dict[str, Any]:
    name = problem.template.name
    tests = [f"assert {call} == {expected}" for call, expected in problem.calls]
    return {
        "entry_point": name,
        "names": [name],
        "preamble": "",
        "tests": "\n".join(tests) + "\n",
        "shown_test": tests[0],
        "level": problem.template.level,
        "family": name,
    }


def _completion(problem: Problem, split: str) -> Row:
    examples = "".join(f"\n    >>> {call}\n    {expected}" for call, expected in problem.calls[:_SHOWN])
    summary = problem.text[0].upper() + problem.text[1:]
    prompt = f'{_signature(problem.template)}\n    """{summary}.\n{examples}\n    """\n'
    body = problem.reference.partition("\n")[2]
    meta = {**_meta(problem), "prompt": prompt, "shown_test": ""}
    return Row(id="", question=prompt, answer=prompt + body, split=split, meta=meta)


def _sentence(problem: Problem, split: str) -> Row:
    return Row(id="", question=f"Write a function to {problem.text}.", answer=problem.reference, split=split, meta=_meta(problem))
