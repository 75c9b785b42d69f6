"""Commands in words, such as ``take mug 1 from countertop 2``: what they do, to which type of thing, and how to tell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_LONGEST = 20
"""Words; anything longer is no command."""
_PLAIN = re.compile(r"[\w\s'’,.()/-]+")
_VERB = re.compile(r"((?:go|walk|teleport|move) to|pick up|put down|focus on|(?:turn|switch) (?:on|off)|\S+)(?:\s+(.*))?", re.IGNORECASE)
_PHRASES = re.compile(r"\s*\b(to|from|in|into|on|onto|with|using|inside|containing)\s+", re.IGNORECASE)
_INSTANCE = re.compile(r"(.*\S) (\d{1,3})")
_COUNTED = re.compile(r"([a-z]+)\d+", re.IGNORECASE)

_IDLE = frozenset(["look", "examine", "inspect", "inventory", "check", "think", "think:", "help", "task", "close"])
_MOVES = frozenset(["go", "walk", "enter", "go to", "walk to", "teleport to", "move to"])
_INSIDE = frozenset(["in", "on", "inside"])
_BARE = frozenset(["outside", "north", "south", "east", "west", "up", "down", "left", "right", "in", "out", "back", "forward", "home"])
_DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "some",
        "any",
        "my",
        "your",
        "his",
        "her",
        "its",
        "their",
        "this",
        "that",
        "these",
        "those",
        "another",
        "all",
        "both",
        "each",
        "every",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command. Equal where verb and types of things are, whichever of them it was."""

    verb: str
    """``go to``, ``take``; an action that is no command stands here whole."""
    things: tuple[tuple[str, str], ...] = ()
    """Preposition (empty for the direct object) and type of thing."""
    instances: tuple[str, ...] = field(default=(), compare=False)
    """The same things as they were called."""

    @property
    def idle(self) -> bool:
        """Looks, waits for an answer or puts away: no part of the way."""
        return self.verb.partition(" ")[0] in _IDLE or self.verb.isdigit()

    @property
    def moves(self) -> bool:
        """Only goes somewhere."""
        return self.verb in _MOVES

    @property
    def opens(self) -> bool:
        """Only opens something."""
        return self.verb == "open"


def command(action: str) -> Command:
    """The command in an action."""
    words = action.split()
    match = _VERB.fullmatch(" ".join(words))
    if match is None or len(words) > _LONGEST or not _PLAIN.fullmatch(action):
        return Command(verb=action)
    verb, rest = match[1].lower(), match[2] or ""
    if not rest:
        counted = _COUNTED.fullmatch(verb)
        return Command(verb=counted[1] if counted else verb)
    said = [(before, name) for before, name in _phrases(rest) if name != "inventory"]
    return Command(verb=verb, things=tuple((before, _type(name)) for before, name in said), instances=tuple(name for _, name in said))


def _phrases(text: str) -> list[tuple[str, str]]:
    first, *rest = _PHRASES.split(text)
    pairs = [("", first), *((before.lower(), name) for before, name in zip(rest[::2], rest[1::2], strict=True))]
    return [(before, name) for before, name in pairs if name]


def _type(name: str) -> str:
    match = _INSTANCE.fullmatch(name)
    return match[1] if match else name


def told(steps: Sequence[Command]) -> list[str]:
    """The steps in words, a move together with what was done there; a single thing is ``a mug`` at first and ``the mug`` from then on."""
    lines: list[str] = []
    known: set[str] = set()
    place = ""
    for step in steps:
        text = _words(step, known, place)
        if place:
            lines[-1] += f" and {text}"
        else:
            lines.append(text)
        place = step.instances[-1] if step.moves and step.instances else ""
    return lines


def _words(step: Command, known: set[str], place: str) -> str:
    words = [step.verb]
    for (before, name), instance in zip(step.things, step.instances, strict=True):
        if instance == place:
            words += [] if before in _INSIDE else [before, "it"]
        else:
            words += [before, _named(name, instance, known)]
        known.add(instance)
    return " ".join(filter(None, words))


def _named(name: str, instance: str, known: set[str]) -> str:
    first = name.partition(" ")[0].lower()
    if first in _DETERMINERS or name.lower() in _BARE:
        return name
    if name == instance or instance in known:
        return f"the {name}"
    return f"an {name}" if first[0] in "aeiou" else f"a {name}"
