"""Reads the tables that lie beside this module, in ``data``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from xplearn_expbench.mini.world import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What is known of one relation."""

    wordings: tuple[str, ...]
    """Questions with ``{s}`` for the subject or ``{o}`` for the object."""
    facts: tuple[Fact, ...]
    sentences: tuple[str, ...] = ()
    """Whole sentences that say the same as the object alone."""

    def ask(self, fact: Fact, wording: int = 0) -> str:
        """The fact as a question."""
        return self.wordings[wording].format(s=fact.subject, o=fact.answer)

    def accepted(self, fact: Fact) -> list[str]:
        """Every text that answers: the object, other words for it, sentences."""
        return [*fact.answers, *(sentence.format(s=fact.subject, o=fact.answer) for sentence in self.sentences)]

    def objects(self) -> list[str]:
        """Every object, once."""
        return sorted({fact.answer for fact in self.facts})

    def answer(self, subject: str) -> str:
        """The object of a subject."""
        return next(fact.answer for fact in self.facts if fact.subject == subject)


def read(name: str) -> dict[str, Table]:
    """The tables of a file, by relation.

    Each begins with ``[relation] question | question => sentence | sentence``, then has lines of ``subject = object, other words``.
    """
    sections = [section.splitlines() for section in text(name).split("\n[")[1:]]
    return dict(_table(*section) for section in sections)


def lines(name: str) -> list[tuple[str, list[str]]]:
    """The lines of a file of the form ``question = this | that``."""
    parts = [line.split(" = ") for line in text(name).splitlines() if line and not line.startswith("#")]
    return [(question, options.split(" | ")) for question, options in parts]


def text(name: str) -> str:
    """A file of ``data``."""
    return (resources.files(__package__) / "data" / name).read_text("utf-8")


def _table(head: str, *lines: str) -> tuple[str, Table]:
    relation, _, said = head.partition("] ")
    wordings, _, sentences = said.partition(" => ")
    return relation, Table(
        wordings=tuple(wordings.split(" | ")),
        facts=tuple(_fact(relation, line) for line in lines if line),
        sentences=tuple(sentences.split(" | ")) if sentences else (),
    )


def _fact(relation: str, line: str) -> Fact:
    subject, _, answers = line.partition(" = ")
    return Fact(subject=subject, relation=relation, answers=tuple(answers.split(", ")))
