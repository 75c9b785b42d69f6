"""A problem as PDDL text, as the original engine reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xplearn_alfworld.problem import Goal, Problem, Receptacle, TaskType, Thing

NAMED_THINGS = ("ButterKnife", "Knife")
NAMED_RECEPTACLES = ("Fridge", "Microwave", "SinkBasin")
"""The rules name these kinds, so every problem declares them."""

_PROCESSED: dict[TaskType, tuple[str, str]] = {
    "pick_clean_then_place_in_recep": ("cleanable", "isClean"),
    "pick_heat_then_place_in_recep": ("heatable", "isHot"),
    "pick_cool_then_place_in_recep": ("coolable", "isCool"),
}


def problem_text(problem: Problem) -> str:
    """The whole problem: objects, facts at the start and goal; what is written first stands first in ``problem``."""
    facts = [f"atLocation agent1 {problem.start}", *_standing(problem.receptacles), *_lying(problem.things)]
    facts += [f"canContain {receptacle}Type {thing}Type" for receptacle, thing in sorted(problem.fits)]
    return "\n".join(
        [
            f"(define (problem {problem.name})",
            "  (:domain alfred)",
            "  (:objects",
            *(f"    {line}" for line in _objects(problem)),
            "  )",
            "  (:init",
            *(f"    ({fact})" for fact in facts),
            "  )",
            f"  (:goal {_goal(problem.goal)})",
            ")\n",
        ]
    )


def _objects(problem: Problem) -> Iterator[str]:
    receptacles, things = problem.receptacles, problem.things
    fitting = {receptacle for receptacle, _ in problem.fits}, {thing for _, thing in problem.fits}
    yield "agent1 - agent"
    yield from _declared({problem.start: None, **{one.location: None for one in receptacles}, **_locations(things)}, "location")
    yield from _declared((one.id for one in receptacles), "receptacle")
    yield from _declared((thing.id for thing in things), "object")
    kinds = {one.kind for one in receptacles}.union(fitting[0], NAMED_RECEPTACLES, _wanted_receptacle(problem.goal))
    yield from _declared((f"{kind}Type" for kind in sorted(kinds)), "rtype")
    kinds = {thing.kind for thing in things}.union(fitting[1], NAMED_THINGS, _wanted_things(problem.goal))
    yield from _declared((f"{kind}Type" for kind in sorted(kinds)), "otype")


def _declared(names: Iterable[str], type: str) -> Iterator[str]:
    return (f"{name} - {type}" for name in names)


def _locations(things: Iterable[Thing]) -> dict[str, None]:
    return {thing.location: None for thing in things if thing.location is not None}


def _standing(receptacles: Iterable[Receptacle]) -> Iterator[str]:
    for one in receptacles:
        yield f"receptacleType {one.id} {one.kind}Type"
        yield f"receptacleAtLocation {one.id} {one.location}"
        if one.openable:
            yield f"openable {one.id}"
        if one.opened:
            yield f"opened {one.id}"


def _lying(things: Iterable[Thing]) -> Iterator[str]:
    for thing in things:
        yield f"objectType {thing.id} {thing.kind}Type"
        yield from (f"inReceptacle {thing.id} {place}" for place in (thing.receptacle, *thing.also_in) if place is not None)
        if thing.location is not None:
            yield f"objectAtLocation {thing.id} {thing.location}"
        for ability in ("pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable"):
            if getattr(thing, ability):
                yield f"{ability} {thing.id}"
        if thing.cool:
            yield f"isCool {thing.id}"
        if thing.container:
            yield f"isReceptacleObject {thing.id}"
        yield from (f"inReceptacleObject {thing.id} {container}" for container in thing.inside)


def _goal(goal: Goal) -> str:
    if goal.type == "look_at_obj_in_light":
        return (
            "(and\n"
            "    (exists (?lamp - object ?r - receptacle ?l - location ?a - agent) (and\n"
            f"      (objectType ?lamp {goal.target}Type) (toggleable ?lamp) (isToggled ?lamp)\n"
            "      (inReceptacle ?lamp ?r) (receptacleAtLocation ?r ?l) (atLocation ?a ?l)))\n"
            f"    (exists (?o - object ?a - agent) (and (objectType ?o {goal.thing}Type) (holds ?a ?o))))"
        )
    if goal.type == "pick_two_obj_and_place":
        first, second = (f"(objectType {o} {goal.thing}Type) (inReceptacle {o} ?r)" for o in ("?o1", "?o2"))
        return (
            "(exists (?r - receptacle ?o1 - object ?o2 - object) (and\n"
            f"    (receptacleType ?r {goal.target}Type) {first}\n"
            f"    {second} (not (= ?o1 ?o2))))"
        )
    also = "".join(f" ({predicate} ?o)" for predicate in _PROCESSED.get(goal.type, ()))
    return (
        "(exists (?r - receptacle ?o - object) (and\n"
        f"    (receptacleType ?r {goal.target}Type) (objectType ?o {goal.thing}Type) (inReceptacle ?o ?r){also}))"
    )


def _wanted_receptacle(goal: Goal) -> set[str]:
    return set() if goal.type == "look_at_obj_in_light" else {goal.target}


def _wanted_things(goal: Goal) -> set[str]:
    return {goal.thing, goal.target} if goal.type == "look_at_obj_in_light" else {goal.thing}
