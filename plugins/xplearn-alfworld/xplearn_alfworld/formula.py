"""The goal of a game: one of six formulas, told apart by what they demand rather than by how they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xplearn import DataError
from xplearn_alfworld.brackets import Form, written
from xplearn_alfworld.problem import Goal, TaskType

Atom = tuple[str, ...]
"""A predicate in lower case and its arguments; ``not =`` is a predicate of its own."""

_PLACED = frozenset({("objecttype", "thing"), ("receptacletype", "target"), ("inreceptacle", "thing", "target")})
_SECOND = frozenset({("objecttype", "other"), ("inreceptacle", "other", "target"), ("not =", "other", "thing")})
_LIT = frozenset({
    ("objecttype", "lamp"),
    ("toggleable", "lamp"),
    ("istoggled", "lamp"),
    ("inreceptacle", "lamp", "place"),
    ("receptacleatlocation", "place", "here"),
    ("atlocation", "agent", "here"),
    ("objecttype", "thing"),
    ("holds", "agent", "thing"),
})  # fmt: skip
_FORMS: Mapping[frozenset[Atom], TaskType] = {
    _PLACED: "pick_and_place_simple",
    _PLACED | {("cleanable", "thing"), ("isclean", "thing")}: "pick_clean_then_place_in_recep",
    _PLACED | {("heatable", "thing"), ("ishot", "thing")}: "pick_heat_then_place_in_recep",
    _PLACED | {("coolable", "thing"), ("iscool", "thing")}: "pick_cool_then_place_in_recep",
    _PLACED | _SECOND: "pick_two_obj_and_place",
    _LIT: "look_at_obj_in_light",
}


def goal(form: Form, source: str) -> Goal:
    """The goal that a formula states. Raises ``DataError`` when it is none of the six."""
    atoms = list(_atoms(form))
    roles = _roles(atoms)
    kinds: dict[str, set[str]] = {}
    demands: set[Atom] = set()
    for predicate, *arguments in atoms:
        named = [roles.get(argument, argument) for argument in arguments]
        if predicate in ("objecttype", "receptacletype") and len(named) == 2:
            kinds.setdefault(named[0], set()).add(named.pop().removesuffix("Type"))
        demands.add((predicate, *(sorted(named) if predicate == "not =" else named)))
    type = _FORMS.get(frozenset(demands))
    things = kinds.get("thing", set()) | kinds.get("other", set())
    targets = kinds.get("target", set()) | kinds.get("lamp", set())
    if type is None or (len(things), len(targets)) != (1, 1):
        raise DataError(source, f"its goal is none of the six of ALFWorld: {written(form)[:300]}")
    return Goal(type=type, thing=things.pop(), target=targets.pop())


def _atoms(form: Form) -> Iterator[Atom]:
    """The atoms of nested conjunctions and existence statements, whose scopes do not matter in the six."""
    match form:
        case ["and", *parts]:
            for part in parts:
                yield from _atoms(part)
        case ["exists", _, body]:
            yield from _atoms(body)
        case ["not", ["=", str(one), str(other)]]:
            yield ("not =", one, other)
        case [str(predicate), *arguments] if all(isinstance(argument, str) for argument in arguments):
            yield (predicate.lower(), *map(written, arguments))
        case _:
            yield (written(form),)


def _roles(atoms: list[Atom]) -> dict[str, str]:
    """What each variable stands for."""
    lamps = {atom[1] for atom in atoms if atom[0] == "istoggled" and len(atom) == 2}
    roles = dict.fromkeys(lamps, "lamp")
    for atom in atoms:
        match atom:
            case ("inreceptacle", thing, place):
                taken = thing in lamps or "thing" in roles.values()
                roles.setdefault(thing, "other" if taken else "thing")
                roles[place] = "place" if thing in lamps else "target"
            case ("receptacleatlocation", _, here):
                roles[here] = "here"
            case ("holds", agent, thing):
                roles.update({agent: "agent", thing: "thing"})
    return roles
