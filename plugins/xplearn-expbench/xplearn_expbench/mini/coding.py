"""Own coding problems: from families of problems, each with a reference solution and tests that tell it from others.

A family's problems differ in their constants, and no problem is in two splits or in both tasks; so what training teaches about a family
helps with its test problems, while no test problem has been seen. Tests fail a plausible mistake, and whatever solves another problem of
the family: a copied neighbour never passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

from xplearn_expbench.mini import telling
from xplearn_expbench.mini.draw import named, shuffled
from xplearn_expbench.mini.templates import KINDS, Template, Values, arguments, filled
from xplearn_expbench.mini.templates_lists import LISTS
from xplearn_expbench.mini.templates_numbers import NUMBERS
from xplearn_expbench.mini.templates_records import RECORDS
from xplearn_expbench.mini.templates_text import TEXTS
from xplearn_expbench.spec import Row

TEMPLATES: tuple[Template, ...] = (*NUMBERS, *LISTS, *TEXTS, *RECORDS)

_SHOWN = 2


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
    return tuple(problem for template in TEMPLATES for problem in _family(template))


def _dealt(task: int) -> Iterator[tuple[Problem, str]]:
    """Every other problem in a drawn order within each family; of those, every third is for testing."""
    for template in TEMPLATES:
        family = [problem for problem in problems() if problem.template is template]
        for place, problem in enumerate(shuffled(family, "coding", template.name)[task::2]):
            yield problem, "test" if place % 3 == 1 else "train"


def _family(template: Template) -> Iterator[Problem]:
    references = [_solution(template, template.body, values) for values in template.values]
    functions = [_function(reference, template.name) for reference in references]
    for place, (values, reference) in enumerate(zip(template.values, references, strict=True)):
        wrong = _solution(template, template.wrong, values)
        others = [*functions[:place], *functions[place + 1 :]]
        calls = telling.chosen(template, values, functions[place], _function(wrong, template.name), others)
        yield Problem(template=template, text=filled(template.text, values), reference=reference, wrong=wrong, calls=tuple(calls))


def _solution(template: Template, body: str, values: Values) -> str:
    return f"{_signature(template)}\n{indent(filled(body, values), '    ')}\n"


def _signature(template: Template) -> str:
    annotated = ", ".join(f"{name}: {KINDS[kind][0]}" for name, kind in arguments(template.takes))
    return f"def {template.name}({annotated}) -> {template.gives}:"


def _function(source: str, name: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(source, scope)  # noqa: S102 - our own templates
    function: Callable[..., Any] = scope[name]
    return function


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
