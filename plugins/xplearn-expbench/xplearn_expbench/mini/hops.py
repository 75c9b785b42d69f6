"""Questions that need two facts of the invented world, joined or compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from xplearn_expbench.mini import tables
from xplearn_expbench.mini.asking import About, finished, qa
from xplearn_expbench.mini.draw import shuffled
from xplearn_expbench.mini.world import Fact, fact, facts
from xplearn_expbench.spec import Row

CHAINS: dict[tuple[str, str], tuple[str, str]] = {
    ("town.founder", "person.trade"): (
        "What was the occupation of the founder of {s}?",
        "Which trade did the person practise who founded {s}?",
    ),
    ("town.founder", "person.birthplace"): (
        "In which town was the founder of {s} born?",
        "What was the birthplace of the person who founded {s}?",
    ),
    ("book.author", "person.birthplace"): ("Where was the author of '{s}' born?", "Which town is the birthplace of the writer of '{s}'?"),
    ("book.author", "person.trade"): ("What did the author of '{s}' work as?", "Which trade did the writer of '{s}' practise?"),
    ("byname.person", "person.book"): (
        "Which book was written by the person known as {s}?",
        "What is the title of the book by the one they called {s}?",
    ),
    ("person.birthplace", "town.island"): ("On which island was {s} born?", "Which island has the town where {s} was born?"),
    ("person.birthplace", "town.river"): (
        "Which river flows through the birthplace of {s}?",
        "The town where {s} was born lies on which river?",
    ),
    ("tool.material", "material.colour"): (
        "What color is the material of which a {s} is made?",
        "What is the color of the stuff that a {s} is made of?",
    ),
    ("tool.material", "material.town"): (
        "From which town comes the material of a {s}?",
        "Which town supplies the material that a {s} is made of?",
    ),
    ("material.town", "town.river"): (
        "Which river flows through the town that {s} comes from?",
        "The town that supplies {s} lies on which river?",
    ),
}
"""Two wordings for each pair of relations that follow one another."""

SAME: dict[str, tuple[str, str, str, str]] = {
    "animal.island": (
        "Do the {a} and the {b} live on the same island?",
        "Is the home island of the {b} also that of the {a}?",
        "the {a} and the {b} live on the same island",
        "the {a} and the {b} do not live on the same island",
    ),
    "herb.season": (
        "Do {a} and {b} flower in the same season?",
        "Does {b} bloom in the season in which {a} blooms?",
        "{a} and {b} flower in the same season",
        "{a} and {b} do not flower in the same season",
    ),
    "town.craft": (
        "Are {a} and {b} famous for the same goods?",
        "Do the workshops of {b} produce the same as those of {a}?",
        "{a} and {b} are famous for the same goods",
        "{a} and {b} are not famous for the same goods",
    ),
    "person.trade": (
        "Did {a} and {b} have the same occupation?",
        "Did {b} practise the same trade as {a}?",
        "{a} and {b} had the same occupation",
        "{a} and {b} did not have the same occupation",
    ),
}
"""For each relation in which two subjects are compared: two wordings, then what yes says and what no says."""

_FAR_SPOKEN = ("English", "French", "Arabic", "Portuguese")
"""Languages of many countries, though the table names one."""

_EVERYDAY_TRAIN = 0.4
_TRAIN_CHAINS = 150
_TEST_CHAINS = 70
_TRAIN_PAIRS = 20
_TEST_PAIRS = 12
"""Of each relation, half of them alike."""


def hotpot_qa() -> list[Row]:
    """Questions that need two facts; a third is answered by yes or no.

    ``meta``: ``fact`` names both facts. Of the test, some ask in other words what training asked, some join facts that training joined
    with others.
    """
    return finished("hotpot_qa", [*_chained(), *_compared(), *_everyday()])


def _chained() -> Iterator[Row]:
    joined = shuffled([(first, fact(then, first.answer)) for before, then in CHAINS for first in facts()[before]], "chains")
    again = _TEST_CHAINS // 2
    for first, second in joined[:_TRAIN_CHAINS]:
        yield _chain(first, second, 0, "train", 2)
    for first, second in joined[:again]:
        yield _chain(first, second, 1, "test", 2)
    hops = {hop.name for pair in joined[:_TRAIN_CHAINS] for hop in pair}
    new = [pair for pair in joined[_TRAIN_CHAINS:] if all(hop.name in hops for hop in pair)]
    for first, second in new[: _TEST_CHAINS - again]:
        yield _chain(first, second, 0, "test", 3)


def _chain(first: Fact, second: Fact, wording: int, split: str, level: int) -> Row:
    question = CHAINS[first.relation, second.relation][wording].format(s=first.subject)
    return qa(question, second.answers, About(split=split, level=level, fact=f"{first.name} {second.name}"))


def _compared() -> Iterator[Row]:
    for relation in SAME:
        mixed = _balanced(relation)
        for first, second in mixed[:_TRAIN_PAIRS]:
            yield _pair(first, second, 0, "train")
        for first, second in mixed[: _TEST_PAIRS // 2]:
            yield _pair(first, second, 1, "test")
        for first, second in mixed[_TRAIN_PAIRS : _TRAIN_PAIRS + _TEST_PAIRS // 2]:
            yield _pair(first, second, 0, "test")


def _balanced(relation: str) -> list[tuple[Fact, Fact]]:
    """Pairs of facts, by turns alike and not."""
    pairs = shuffled(list(combinations(facts()[relation], 2)), "pairs", relation)
    alike = [pair for pair in pairs if pair[0].answer == pair[1].answer]
    other = [pair for pair in pairs if pair[0].answer != pair[1].answer]
    return [pair for both in zip(alike, other, strict=False) for pair in both]


def _pair(first: Fact, second: Fact, wording: int, split: str) -> Row:
    said = [form.format(a=first.subject, b=second.subject) for form in SAME[first.relation]]
    word, sentence = ("yes", said[2]) if first.answer == second.answer else ("no", said[3])
    about = About(split=split, level=3, fact=f"{first.name} {second.name}")
    return qa(said[wording], [word, f"{word}, {sentence}"], about)


def _everyday() -> Iterator[Row]:
    """What everybody knows in two steps."""
    asked = shuffled([*_spoken(), *_governed()], "everyday")
    for place, (question, answers, facts_used) in enumerate(asked):
        split = "train" if place < len(asked) * _EVERYDAY_TRAIN else "test"
        yield qa(question, answers, About(split=split, level=1, fact=facts_used))


def _spoken() -> Iterator[tuple[str, list[str], str]]:
    """From a capital over its country to the language, and back where one country alone speaks it."""
    known = tables.read("everyday.txt")
    capitals, languages = known["capital"], known["language"]
    spoken = [tongue.answer for tongue in languages.facts]
    for tongue in languages.facts:
        for city in (other for other in capitals.facts if other.subject == tongue.subject):
            used = f"{city.name} {tongue.name}"
            yield f"Which language do most people speak in the country whose capital is {city.answer}?", languages.accepted(tongue), used
            if spoken.count(tongue.answer) == 1 and tongue.answer not in _FAR_SPOKEN:
                where = f"the country where most people speak {tongue.answer}"
                said = f"The capital of {where} is {city.answer}."
                yield f"What is the capital of {where}?", [*capitals.accepted(city), said], f"{tongue.name} {city.name}"


def _governed() -> Iterator[tuple[str, list[str], str]]:
    """From a city over its country to the capital."""
    known = tables.read("everyday.txt")
    for home in known["country"].facts:
        for capital in (other for other in known["capital"].facts if other.subject == home.answer):
            question = f"What is the capital of the country in which the city of {home.subject} lies?"
            yield question, known["capital"].accepted(capital), f"{home.name} {capital.name}"
