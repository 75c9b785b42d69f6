"""A released game's PDDL problem as a ``Problem``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xplearn import DataError
from xplearn_alfworld import formula
from xplearn_alfworld.brackets import Form, read, written
from xplearn_alfworld.problem import Problem, Receptacle, Thing

DOMAIN = "alfred"
TYPES = ("agent", "location", "object", "receptacle", "otype", "rtype")

_ABILITIES = ("pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable")
_PREDICATES: Mapping[str, tuple[str, ...]] = {
    "atlocation": ("agent", "location"),
    "receptacleatlocation": ("receptacle", "location"),
    "objectatlocation": ("object", "location"),
    "inreceptacle": ("object", "receptacle"),
    "inreceptacleobject": ("object", "object"),
    "receptacletype": ("receptacle", "rtype"),
    "objecttype": ("object", "otype"),
    "cancontain": ("rtype", "otype"),
    "wasinreceptacle": ("object", "receptacle"),
    "examined": ("location",),
    **dict.fromkeys(("openable", "opened", "checked", "full"), ("receptacle",)),
    **dict.fromkeys(_ABILITIES, ("object",)),
    **dict.fromkeys(("iscool", "isreceptacleobject", "isreceptacleobjectfull", "ison", "moveable"), ("object",)),
}
"""What may hold at the start, with the types of its arguments."""

_LATER = ("isclean", "ishot", "istoggled", "issliced", "holds", "holdsany", "holdsanyreceptacleobject")
"""What only comes about by acting."""


def parse(text: str, *, source: str = "problem") -> Problem:
    """The start of a game from the text of its PDDL problem.

    Raises ``DataError`` with ``source`` as its path for anything that is not a problem of ALFWorld's domain: brackets that do not
    match, missing sections, unknown types, predicates and names, a goal that is none of the six.
    """
    sections = _sections(read(text, source), source)
    facts = _Facts(source=source, names=_declared(sections[":objects"], source))
    for fact in sections[":init"]:
        facts.add(fact)
    return Problem(
        name=" ".join(map(written, sections["problem"])),
        start=facts.one("atlocation", facts.agent()),
        receptacles=tuple(_receptacle(id, facts) for id in facts.of_type("receptacle")),
        things=tuple(_thing(id, facts) for id in facts.of_type("object") if id in facts.used),
        fits=frozenset((_kind(place), _kind(thing)) for place, things in facts.by["cancontain"].items() for thing in things),
        goal=formula.goal(["and", *sections[":goal"]], source),
    )


def _receptacle(id: str, facts: _Facts) -> Receptacle:
    return Receptacle(
        id=id,
        kind=_kind(facts.one("receptacletype", id)),
        location=facts.one("receptacleatlocation", id),
        openable=facts.holds("openable", id),
        opened=facts.holds("opened", id),
    )


def _thing(id: str, facts: _Facts) -> Thing:
    places = facts.all("inreceptacle", id)
    return Thing(
        id=id,
        kind=_kind(facts.any("objecttype", id) or ""),
        receptacle=places[0] if places else None,
        also_in=places[1:],
        location=facts.any("objectatlocation", id),
        container=facts.holds("isreceptacleobject", id),
        inside=facts.all("inreceptacleobject", id),
        cool=facts.holds("iscool", id),
        **{flag: facts.holds(flag, id) for flag in _ABILITIES},
    )


def _kind(type: str) -> str:
    return type.removesuffix("Type")


def _sections(form: list[Form], source: str) -> dict[str, list[Form]]:
    found: dict[str, list[Form]] = {}
    for section in form[1:]:
        if isinstance(section, str) or not section or not isinstance(section[0], str):
            raise DataError(source, f"has '{written(section)[:80]}' where a section is expected")
        found[section[0].lower()] = section[1:]
    missing = [name for name in ("problem", ":domain", ":objects", ":init", ":goal") if name not in found]
    if form[:1] != ["define"] or missing:
        raise DataError(source, f"is not a PDDL problem: it has no {' and no '.join(missing or ['define'])}")
    if found[":domain"] != [DOMAIN]:
        raise DataError(source, f"is of the domain '{' '.join(map(written, found[':domain']))}', want '{DOMAIN}'")
    return found


def _declared(words: Iterable[Form], source: str) -> dict[str, tuple[str, str]]:
    """Name and type of everything declared, by its name in lower case: PDDL does not tell cases apart."""
    names: dict[str, tuple[str, str]] = {}
    waiting: list[str] = []
    typed = False
    for form in words:
        word = written(form)
        if typed:
            if word.lower() not in TYPES:
                raise DataError(source, f"declares {waiting[-1]} as '{word}', which is no type (known: {', '.join(TYPES)})")
            names.update((name.lower(), (name, word.lower())) for name in waiting)
            waiting, typed = [], False
        elif word == "-" and waiting:
            typed = True
        else:
            waiting.append(word)
    if waiting:
        raise DataError(source, f"declares {waiting[0]} without a type")
    return names


@dataclass(kw_only=True)
class _Facts:
    """What holds at the start: by predicate and first argument, the second arguments."""

    source: str
    names: Mapping[str, tuple[str, str]]
    by: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    used: set[str] = field(default_factory=set)

    def add(self, fact: Form) -> None:
        predicate = written(fact[0]).lower() if fact and not isinstance(fact, str) else ""
        if predicate == "=":
            return  # what an action costs a planner
        types = _PREDICATES.get(predicate)
        if types is None:
            reason = "only comes about by acting" if predicate in _LATER else "is not of ALFWorld's domain"
            raise DataError(self.source, f"{written(fact)} {reason}, so it cannot hold at the start")
        found = [self.names.get(written(word).lower(), ("", "")) for word in fact[1:]]
        if tuple(type for _, type in found) != types:
            raise DataError(self.source, f"{written(fact)} should name one declared {', one '.join(types)}")
        first, *second = [name for name, _ in found]
        self.by[predicate][first] += second
        self.used.update((first, *second))

    def of_type(self, type: str) -> list[str]:
        return [name for name, given in self.names.values() if given == type]

    def agent(self) -> str:
        agents = self.of_type("agent")
        if len(agents) != 1:
            raise DataError(self.source, f"declares {len(agents)} agents, want 1")
        return agents[0]

    def holds(self, predicate: str, id: str) -> bool:
        return id in self.by[predicate]

    def all(self, predicate: str, id: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.by[predicate].get(id, ())))

    def any(self, predicate: str, id: str) -> str | None:
        values = self.all(predicate, id)
        if len(values) > 1:
            raise DataError(self.source, f"({predicate} {id} …) holds for {' and '.join(values)}, want one")
        return values[0] if values else None

    def one(self, predicate: str, id: str) -> str:
        value = self.any(predicate, id)
        if value is None:
            raise DataError(self.source, f"has no ({predicate} {id} …)")
        return value
