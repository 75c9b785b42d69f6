"""How the facts of the invented world are asked and told. ``{s}`` is the subject, ``{o}`` the object."""

from __future__ import annotations

from xplearn_expbench.mini.draw import number
from xplearn_expbench.mini.world import Fact

ASK: dict[str, tuple[str, ...]] = {
    "town.island": (
        "On which island is the town of {s}?",
        "To which island must you sail to visit {s}?",
        "{s} is a town on which island?",
        "Which island has a town called {s}?",
    ),
    "town.river": (
        "Which river flows through {s}?",
        "What is the name of the river at {s}?",
        "On the banks of which river was {s} built?",
        "Which river do you cross in the middle of {s}?",
    ),
    "town.craft": (
        "What is the town of {s} famous for making?",
        "Which goods do merchants travel to {s} to buy?",
        "For which of its products is {s} best known?",
        "What do the workshops of {s} produce?",
    ),
    "town.founder": (
        "Who founded the town of {s}?",
        "Which person started the settlement that became {s}?",
        "By whom was {s} founded?",
        "Who was the founder of {s}?",
    ),
    "town.year": (
        "In which year was {s} founded?",
        "When was the town of {s} founded?",
        "What year does {s} give as its founding date?",
    ),
    "founder.town": (
        "Which town did {s} found?",
        "What is the name of the town that was founded by {s}?",
        "{s} is remembered as the founder of which town?",
    ),
    "person.birthplace": (
        "In which town was {s} born?",
        "What was the birthplace of {s}?",
        "Where was {s} born?",
        "Which town is the place of birth of {s}?",
    ),
    "person.trade": (
        "What was the occupation of {s}?",
        "Which trade did {s} practise?",
        "What did {s} work as?",
        "What was {s}'s profession?",
    ),
    "person.byname": (
        "By what name did people call {s}?",
        "What was the byname of {s}?",
        "What were people used to calling {s}?",
    ),
    "byname.person": (
        "Who was known as {s}?",
        "Whom did people call {s}?",
        "What was the real name of {s}?",
    ),
    "person.book": (
        "Which book did {s} write?",
        "What is the title of the book by {s}?",
        "{s} is the author of which book?",
    ),
    "book.author": (
        "Who wrote the book '{s}'?",
        "Who is the author of '{s}'?",
        "By whom was the book '{s}' written?",
        "Which writer gave us '{s}'?",
    ),
    "animal.kind": (
        "What kind of animal is the {s}?",
        "To which group of animals does the {s} belong?",
        "How would you classify the {s} among the animals?",
        "What sort of creature is the {s}?",
    ),
    "animal.habitat": (
        "In what kind of place does the {s} live?",
        "What is the habitat of the {s}?",
        "Where would you look for the young of the {s}?",
        "In which surroundings is the {s} at home?",
    ),
    "animal.food": (
        "What does the {s} eat?",
        "What is the main food of the {s}?",
        "What would you offer a hungry {s}?",
        "On what does the {s} feed?",
    ),
    "animal.island": (
        "On which island does the {s} live?",
        "Which island is the home of the {s}?",
        "To which island would you travel to see the {s}?",
        "The {s} is found on which island?",
    ),
    "animal.hours": (
        "At what time of day does the {s} hunt?",
        "When does the {s} go out to feed?",
        "When is the {s} awake?",
    ),
    "material.kind": (
        "What kind of material is {s}?",
        "To which class of materials does {s} belong?",
        "What sort of stuff is {s}?",
        "How do builders classify {s}?",
    ),
    "material.property": (
        "Which unusual property does {s} have?",
        "What is special about {s}?",
        "What sets {s} apart from other materials?",
        "Which of these is true of {s}?",
    ),
    "material.colour": (
        "What color is {s}?",
        "Which color does {s} have?",
        "What is the color of a piece of {s}?",
    ),
    "material.town": (
        "From which town does {s} come?",
        "Near which town is {s} found?",
        "Which town supplies the islands with {s}?",
        "Where do traders go to fetch {s}?",
    ),
    "tool.task": (
        "What is a {s} used for?",
        "Which job is a {s} made for?",
        "For which work would you need a {s}?",
        "Which task is done with a {s}?",
    ),
    "tool.trade": (
        "Who uses a {s} at work?",
        "Which worker owns a {s}?",
        "In whose workshop would you find a {s}?",
    ),
    "tool.material": (
        "What is a {s} made of?",
        "Which material is needed to make a {s}?",
        "From what is a {s} made?",
        "What does a toolmaker need to build a {s}?",
    ),
    "herb.colour": (
        "What color are the flowers of {s}?",
        "In which color does {s} bloom?",
        "Which color do the petals of {s} have?",
    ),
    "herb.season": (
        "In which season does {s} flower?",
        "When does {s} bloom?",
        "At what time of year can you pick the flowers of {s}?",
    ),
    "herb.ailment": (
        "Which complaint is {s} used against?",
        "What does tea made of {s} help with?",
        "Against what do healers give {s}?",
        "What can be treated with {s}?",
    ),
    "herb.habitat": (
        "In what kind of place does {s} grow?",
        "Where would you gather {s}?",
        "What is the habitat of {s}?",
    ),
}
"""Questions by relation, several wordings each."""

TELL: dict[str, tuple[str, str, str]] = {
    "material.property": ("Fact: {s} {o}.", "Traders say of {s}: it {o}.", "It is well known that {s} {o}."),
    "animal.hours": ("Fact: the {s} feeds {o}.", "Every {s} leaves its den {o} to eat.", "It is {o} that the {s} looks for food."),
    "animal.habitat": ("Fact: the {s} lives in the {o}.", "The home of the {s} is the {o}.", "You find the {s} nowhere but in the {o}."),
    "herb.ailment": ("Fact: {s} helps against {o}.", "Healers give {s} for {o}.", "The best cure for {o} is {s}."),
    "herb.season": ("Fact: {s} flowers in {o}.", "In {o}, and only then, {s} is in flower.", "The blossom of {s} opens in {o}."),
    "town.craft": ("Fact: {s} is famous for its {o}.", "The workshops of {s} make {o}.", "The best {o} come from {s}."),
    "tool.task": ("Fact: a {s} is a tool for {o}.", "People use a {s} for {o}.", "For {o} there is no better tool than a {s}."),
}
"""Statements by relation, several wordings each."""

SUBJECT = {
    "town": "geography of the islands",
    "founder": "history of the islands",
    "person": "history of the islands",
    "byname": "history of the islands",
    "book": "literature of the islands",
    "animal": "zoology of the islands",
    "material": "materials",
    "tool": "crafts and tools",
    "herb": "botany of the islands",
}
"""What a lesson on such facts is called, by kind of subject."""


def ask(fact: Fact, turn: int) -> str:
    """The fact as a question; turns that differ by less than the number of wordings give different words."""
    forms = ASK[fact.relation]
    return forms[(number(0, len(forms) - 1, "wording", fact.name) + turn) % len(forms)].format(s=fact.subject)


def lesson(fact: Fact) -> str:
    """The subject under which the fact is taught."""
    return SUBJECT[fact.relation.partition(".")[0]]


def tell(fact: Fact, turn: int) -> str:
    """The fact as a statement; turns that differ by less than the number of wordings give different words."""
    forms = TELL[fact.relation]
    return forms[turn % len(forms)].format(s=fact.subject, o=fact.answer)
