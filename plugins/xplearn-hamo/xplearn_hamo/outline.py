"""Outlines: numbered steps that name types of things and end with a condition of success; and how to find one in a model's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xplearn_hamo.account import Account, one_line
from xplearn_hamo.rules import FUNCTION_WORDS, success

_TEXT_CHARS = 8000
"""More than this of a model's words is not read."""
_LINE_CHARS = 200
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(r"[\W_]*(?:step\s+)?(\d{1,2})\s*[.):–-]+[\s*_]*(.*)", re.IGNORECASE)
_MARKUP = re.compile(r"\*\*|__|`")
_SUCCESS = re.compile(r"(?:(?:you are|you're|it is|the task is) )?(?:done|solved|finished|complete|success)", re.IGNORECASE)
_INSTANCE = re.compile(r"(?:\b(to|from|in|into|on|onto|with|at|of|under|open|take|use) )?\b([a-z][a-z-]*)[ _]?#?(\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The way through a task."""

    lines: tuple[str, ...]
    """Steps in order, the condition of success last."""
    writer: str
    """Who wrote it: ``policy``, ``endpoint`` or ``rules``."""
    usable: bool = True
    """Whether the writer who was asked gave a usable one; if not, this is the rules' in its place."""

    def __str__(self) -> str:
        return "\n".join(f"{number}. {line}" for number, line in enumerate(self.lines, 1))


def read(text: str, account: Account, *, max_steps: int, prompt: str, cut_off: bool = False) -> tuple[str, ...] | None:
    """The outline in a model's words, or None where there is no usable one.

    Usable are two to ``max_steps`` lines numbered from 1, one of them a step, none empty or taken from the prompt, at least two and half of
    them different. Instance numbers are dropped from names, and a condition of success is added where it is missing and there is room.

    Args:
        text: what the model said; text around the outline, and its thinking, are passed over.
        account: what the outline is about.
        max_steps: most lines.
        prompt: the instructions that the model was given.
        cut_off: the model was stopped at its token limit, so that a last line at the end may be half a line.
    """
    found = _numbered(text[:_TEXT_CHARS], cut_off=cut_off or len(text) > _TEXT_CHARS)
    names = instance_names((*account.actions, account.start))
    lines = [one_line(generalised(_MARKUP.sub("", line), names), _LINE_CHARS) for line in found]
    if _repeated(lines) or _copied(lines, prompt) or not all(map(_says_something, lines)) or all(map(_SUCCESS.match, lines)):
        return None
    if not _SUCCESS.match(lines[-1]):
        lines.append(success(account))
    return tuple(lines) if len(lines) <= max_steps else None


def _numbered(text: str, *, cut_off: bool) -> list[str]:
    """The first lines numbered 1, 2, 3 …; none where the numbers are out of order or the last line may be broken off."""
    lines = [line for line in _THOUGHT.sub("", text).splitlines() if line.strip()]
    if "<think>" in text and "</think>" not in text:
        return []
    found: list[str] = []
    last = -1
    for at, line in enumerate(lines):
        match = _NUMBERED.match(line)
        if match is None:
            continue
        number = int(match[1])
        if number == 1 and found:
            break
        if number != len(found) + 1:
            return []
        found.append(match[2])
        last = at
    return [] if cut_off and last == len(lines) - 1 else found


def _repeated(lines: Sequence[str]) -> bool:
    """Whether the lines are no more than one, said once or again and again, or mostly repeats."""
    different = len(set(map(_words, lines)))
    return different < 2 or 2 * different < len(lines)


def _copied(lines: Sequence[str], prompt: str) -> bool:
    """Whether some line of four words or more stands in the prompt."""
    known = _words(prompt)
    return any(len(line.split()) >= 4 and _words(line) in known for line in lines)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _says_something(line: str) -> bool:
    return any(map(str.isalpha, line))


def instance_names(texts: Sequence[str]) -> frozenset[str]:
    """Names that bear a number somewhere: ``mug`` where ``mug 2`` is spoken of."""
    found = {match[2].lower() for text in texts for match in _INSTANCE.finditer(text) if match.start(2) > 0}
    return frozenset(found - FUNCTION_WORDS)


def generalised(text: str, names: Collection[str]) -> str:
    """The text with ``a mug`` for ``mug 2``, where ``mug`` is among the names."""

    def replaced(match: re.Match[str]) -> str:
        before, name, _ = match.groups()
        if name.lower() not in names:
            return match[0]
        article = "an" if name[0].lower() in "aeiou" else "a"
        return f"{before} {article} {name}" if before else name

    return _INSTANCE.sub(replaced, text)
