"""An invented archipelago: its towns, people, animals, materials, tools and herbs, and every fact about them.

Nothing outside tells these facts, so a right answer was read, remembered or reasoned, never known beforehand.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xplearn_expbench.mini import names
from xplearn_expbench.mini.draw import number, shuffled, words

CRAFTS = words("bells ropes glass paper honey cheese lace clocks saddles kites drums candles knives carpets flutes barrels")
TRADES = {
    "shipwright": ("boat builder", "shipbuilder"),
    "healer": ("physician", "doctor"),
    "mason": ("stonemason", "bricklayer"),
    "tailor": ("dressmaker",),
    "fisher": ("fisherman", "fisherwoman"),
    "baker": (),
    "judge": ("magistrate",),
    "painter": (),
    "miller": (),
    "teacher": ("schoolteacher",),
    "gardener": (),
    "mapmaker": ("cartographer", "map maker"),
}
"""Trades, with other words for each."""

LAND = ("salt marsh", "pine forest", "high cliffs", "dry desert", "deep caves", "snowfields", "grassland")
WATER = ("salt marsh", "river mouth", "coral reef")
LAND_FOOD = ("beetles", "pine seeds", "mushrooms", "wild berries", "ants", "tree bark", "roots", "mice")
WATER_FOOD = ("shrimp", "seaweed", "snails", "frogs")
COLOURS = ("red", "blue", "yellow", "white", "purple", "orange", "pink", "green")
SEASONS = ("spring", "summer", "autumn", "winter")
AILMENTS = ("fever", "toothache", "cough", "headache", "burns", "hiccups", "sore eyes", "stomach pain")
PROPERTIES = (
    "glows in the dark",
    "floats on water",
    "sticks to magnets",
    "shatters when dropped",
    "melts in warm water",
    "never burns",
    "stretches like rubber",
    "smells like smoke",
    "turns black in sunlight",
)
TASKS = {
    "cutting rope": "cut rope",
    "digging wells": "dig wells",
    "measuring rain": "measure rain",
    "polishing glass": "polish glass",
    "stirring soup": "stir soup",
    "catching eels": "catch eels",
    "sharpening knives": "sharpen knives",
    "carrying water": "carry water",
    "shearing sheep": "shear sheep",
    "pressing cheese": "press cheese",
    "mending nets": "mend nets",
    "splitting logs": "split logs",
}
"""What tools are for, and the same as an order."""
HOURS = ("at night", "at dawn", "at noon", "at dusk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """That a subject stands in a relation to an object."""

    subject: str
    relation: str
    """``town.river``: the kind of subject and what is said of it."""
    answers: tuple[str, ...]
    """The object, then other words for it."""

    @property
    def answer(self) -> str:
        """The object in its first words."""
        return self.answers[0]

    @property
    def name(self) -> str:
        """Unique among facts."""
        return f"{self.relation}:{self.subject}"


@functools.cache
def facts() -> Mapping[str, tuple[Fact, ...]]:
    """Every fact by its relation, subjects in a fixed mixed order."""
    made: dict[str, list[Fact]] = {}
    for fact in (*_towns(), *_people(), *_animals(), *_materials(), *_tools(), *_herbs()):
        made.setdefault(fact.relation, []).append(fact)
    return {relation: tuple(shuffled(group, "facts", relation)) for relation, group in made.items()}


@functools.cache
def fact(relation: str, subject: str) -> Fact:
    """The one fact of this relation about this subject."""
    return next(found for found in facts()[relation] if found.subject == subject)


def objects(relation: str) -> list[str]:
    """Everything that some subject of the relation is related to, each once, sorted."""
    return sorted({found.answer for found in facts()[relation]})


def _fact(relation: str, subject: str, *answers: str) -> Fact:
    return Fact(subject=subject, relation=relation, answers=answers)


def _dealt(relation: str, subjects: Sequence[str], pool: Sequence[str]) -> Iterable[Fact]:
    """One object of the pool for each subject, all objects about equally often."""
    deck = shuffled([pool[place % len(pool)] for place in range(len(subjects))], "deal", relation)
    return [_fact(relation, subject, found, *TRADES.get(found, ())) for subject, found in zip(subjects, deck, strict=True)]


def _suffixed(relation: str, subjects: Sequence[str], meanings: Mapping[str, str]) -> Iterable[Fact]:
    return [_fact(relation, subject, next(meanings[end] for end in meanings if subject.endswith(end))) for subject in subjects]


def _towns() -> Iterable[Fact]:
    towns = names.towns()
    yield from _suffixed("town.island", towns, names.ISLANDS)
    yield from _dealt("town.river", towns, names.rivers())
    yield from _dealt("town.craft", towns, CRAFTS)
    for town, founder in zip(towns, shuffled(names.people(), "founders"), strict=False):
        yield _person("town.founder", town, founder)
        yield _fact("founder.town", founder, town)
    yield from (_fact("town.year", town, str(number(1102, 1790, "year", town))) for town in towns)


def _people() -> Iterable[Fact]:
    people = names.people()
    yield from _dealt("person.birthplace", people, names.towns())
    yield from (
        _fact("person.trade", one.subject, one.answer, *TRADES[one.answer]) for one in _dealt("person.trade", people, tuple(TRADES))
    )
    for byname, person in zip(names.bynames(), shuffled(people, "bynames"), strict=True):
        yield _fact("person.byname", person, byname)
        yield _person("byname.person", byname, person)
    for book, person in zip(names.books(), shuffled(people, "books"), strict=True):
        yield _fact("person.book", person, book)
        yield _person("book.author", book, person)


def _person(relation: str, subject: str, person: str) -> Fact:
    return _fact(relation, subject, person, person.rsplit(maxsplit=1)[-1])


def _animals() -> Iterable[Fact]:
    animals = names.animals()
    yield from _suffixed("animal.kind", animals, names.KINDS)
    for swims, habitats, foods in ((False, LAND, LAND_FOOD), (True, WATER, WATER_FOOD)):
        group = [animal for animal in animals if animal.endswith("fin") is swims]
        yield from _dealt("animal.habitat", group, habitats)
        yield from _dealt("animal.food", group, foods)
    yield from _dealt("animal.island", animals, tuple(names.ISLANDS.values()))
    yield from _dealt("animal.hours", animals, HOURS)


def _materials() -> Iterable[Fact]:
    materials = names.materials()
    yield from _suffixed("material.kind", materials, names.STUFFS)
    yield from _dealt("material.property", materials, PROPERTIES)
    yield from _dealt("material.colour", materials, COLOURS)
    yield from _dealt("material.town", materials, names.towns()[: len(materials)])


def _tools() -> Iterable[Fact]:
    tools = names.tools()
    yield from (_fact("tool.task", one.subject, one.answer, TASKS[one.answer]) for one in _dealt("tool.task", tools, tuple(TASKS)))
    yield from _dealt("tool.trade", tools, tuple(TRADES))
    yield from _dealt("tool.material", tools, names.materials())


def _herbs() -> Iterable[Fact]:
    herbs = names.herbs()
    yield from _dealt("herb.colour", herbs, COLOURS)
    yield from _dealt("herb.season", herbs, SEASONS)
    yield from _dealt("herb.ailment", herbs, AILMENTS)
    yield from _dealt("herb.habitat", herbs, LAND)
