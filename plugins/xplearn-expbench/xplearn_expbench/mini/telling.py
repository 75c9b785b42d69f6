"""Choosing the tests of a coding problem: those that tell its solution from a mistake and from the solutions of its family."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from xplearn_expbench.mini.draw import shuffled
from xplearn_expbench.mini.templates import KINDS, Template, Values, arguments

TESTS = 8
"""Of one problem, at least."""

_TELLING = 3
_DRAWS, _MOST_DRAWS, _EDGED = 48, 4_800, 3
_DULL = {"''", "[]", "{}", "0", "-1", "False"}

Function = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of the function that is asked for."""

    source: str
    """As it stands in a test."""
    given: list[Any]
    """Its arguments."""
    result: str
    """Source of what the reference gives."""

    def tells(self, function: Function) -> bool:
        """Whether the function gives something else than the reference."""
        return gives(function, self.given) != self.result


def chosen(template: Template, values: Values, reference: Function, wrong: Function, others: Sequence[Function]) -> list[tuple[str, str]]:
    """Source of calls with that of what they give, no two alike; dull ones last.

    Some where the mistake shows, one for each argument that is not the result, for each of the ``others`` one that it gets wrong, and
    varied ones.

    Raises:
        ValueError: nothing tells one of the others from the reference: two problems of the family are the same.
    """
    drawn = [*islice(_drawn(template, values, reference), _DRAWS)]
    tests: list[Call] = _varied([call for call in drawn if call.tells(wrong)], (), _TELLING)
    for place, _ in enumerate(arguments(template.takes)):
        tests += _varied([call for call in drawn if repr(call.given[place]) != call.result], tests, 1)
    for other in others:
        if not any(call.tells(other) for call in tests):
            tests.append(_telling(template, values, reference, other))
    tests += _varied(drawn, tests, TESTS - len(tests))
    order = shuffled([(call.source, call.result) for call in tests], "coding", "tests", template.name, _key(values))
    return sorted(order, key=lambda test: test[1] in _DULL)


def gives(function: Function, given: list[Any]) -> str:
    """Source of a result."""
    try:
        return repr(function(*copy.deepcopy(given)))
    except Exception as error:
        return f"raises {type(error).__name__}"


def _telling(template: Template, values: Values, reference: Function, other: Function) -> Call:
    for call in _drawn(template, values, reference):
        if call.tells(other):
            return call
    raise ValueError(f"{template.name}: no call tells the problem with {dict(values)} from another of its family")


def _drawn(template: Template, values: Values, reference: Function) -> Iterator[Call]:
    """Calls, no two alike, every third with one of the problem's own constants in it or the number after it."""
    constants = [value for value in values.values() if type(value) is int]
    edges = [*constants, *(value + 1 for value in constants)]
    seen = set()
    for draw in range(_MOST_DRAWS):
        given = [KINDS[kind][1]("coding", template.name, _key(values), name, draw) for name, kind in arguments(template.takes)]
        if edges and draw % _EDGED == 0:
            given = [_edged(value, edges[draw // _EDGED % len(edges)]) for value in given]
        source = f"{template.name}({', '.join(map(repr, given))})"
        if source not in seen:
            yield Call(source=source, given=given, result=gives(reference, given))
        seen.add(source)


def _key(values: Values) -> str:
    return "|".join(map(str, values.values()))


def _edged(value: Any, edge: int) -> Any:
    """With one of the problem's own constants in it, where less and less-or-equal part."""
    if isinstance(value, int):
        return edge
    if isinstance(value, dict):
        return value | dict.fromkeys([*value][:1], edge)
    return [edge, *value[1:]] if isinstance(value, list) and value and isinstance(value[0], int) else value


def _varied(calls: Sequence[Call], taken: Sequence[Call], number: int) -> list[Call]:
    """So many more of the calls, those first whose result is new."""
    more: list[Call] = []
    for _ in range(number):
        sources, seen = ({getattr(call, name) for call in (*taken, *more)} for name in ("source", "result"))
        left = [call for call in calls if call.source not in sources]
        more += sorted(left, key=lambda call: call.result in seen)[:1]
    return more
