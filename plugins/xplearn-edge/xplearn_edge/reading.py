"""Finding principles in a model's words. What is not as asked is refused with the reason, and never raises."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from xplearn_edge.principle import Pool, Principle
from xplearn_edge.prompts import EXAMPLE_ANSWER, EXAMPLE_REQUEST, INSTRUCTIONS, MOST

_TEXT_CHARS = 8000
"""Longest answer that is read."""
_LIMITS = {"title": 80, "when": 160, "do": 200, "avoid": 120}
"""Longest text of each field, in characters: all together no more than a conditioner shows of one experience."""
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(
    r"<\|[^<>\s]{1,40}\|>|<｜[^<>\s]{1,40}｜>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|</?(?:think|tool_call|tool_response)>|<(?:bos|eos|pad|unk)>",
    re.IGNORECASE,
)
"""Tokens by which chat templates of common models tell turns apart. As text they are harmless here, but no advice."""
_COPIED_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an answer holds."""

    principles: tuple[Principle, ...] = ()
    """Usable, in the answer's order."""
    refused: tuple[str, ...] = ()
    """Why others, or the answer as a whole, are of no use."""


def read(answer: str, scopes: Collection[Pool]) -> Found:
    """The principles in an answer; text around its JSON, and a model's thinking, are passed over.

    Args:
        answer: what the model said; data from outside.
        scopes: those asked for. Where ``step`` is not, a principle on a step is one on the task.
    """
    try:
        listed = _listed(answer)
    except _RefusedError as refusal:
        return Found(refused=(str(refusal),))
    principles: list[Principle] = []
    refused: list[str] = []
    for item in listed[:MOST]:
        try:
            principles.append(_principle(item, scopes))
        except _RefusedError as refusal:
            refused.append(str(refusal))
    refused += [f"the answer has more than {MOST} principles"] * max(len(listed) - MOST, 0)
    return Found(principles=tuple(principles), refused=tuple(refused))


class _RefusedError(Exception):
    """Why something is of no use."""


def _listed(answer: str) -> list[Any]:
    """The items under ``principles``."""
    if len(answer) > _TEXT_CHARS:
        raise _RefusedError(f"the answer is longer than {_TEXT_CHARS} characters")
    text = _THOUGHT.sub("", answer)
    start = text.find("{")
    if not text.strip():
        raise _RefusedError("no answer")
    if start < 0:
        raise _RefusedError("no JSON in the answer")
    try:
        said, _ = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _RefusedError(f"broken JSON ({type(error).__name__})") from error
    listed = said.get("principles")  # what begins with a brace is an object
    if not isinstance(listed, list):
        raise _RefusedError("principles is no list")
    if not listed:
        raise _RefusedError("the list of principles is empty")
    return listed


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _principle(item: Any, scopes: Collection[Pool]) -> Principle:
    if not isinstance(item, dict):
        raise _RefusedError("a principle is no object")
    fields = {name: _field(name, item.get(name)) for name in _LIMITS}
    scope = item.get("scope")
    if scope not in ("task", "step"):
        raise _RefusedError("scope is neither task nor step")
    return Principle(**fields, scope=scope if scope in scopes else "task")


def _field(name: str, text: Any) -> str:
    """A field's text on one line."""
    if not isinstance(text, str):
        raise _RefusedError(f"{name} is no text")
    line = " ".join(text.split())
    if not line.isprintable():
        raise _RefusedError(f"{name} holds control characters")
    if _CONTROL.search(line):
        raise _RefusedError(f"{name} holds control tokens of a chat template")
    if len(line) > _LIMITS[name]:
        raise _RefusedError(f"{name} is longer than {_LIMITS[name]} characters")
    if name != "avoid" and not any(map(str.isalpha, line)):
        raise _RefusedError(f"{name} says nothing")
    if _copied(line):
        raise _RefusedError(f"{name} is copied from the prompt")
    return line.removeprefix("When ").removeprefix("when ") if name == "when" else line


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


_PROMPT = f" {_words(INSTRUCTIONS)} {_words(EXAMPLE_REQUEST)} {_words(EXAMPLE_ANSWER)} "


def _copied(line: str) -> bool:
    words = _words(line)
    return len(words.split()) >= _COPIED_WORDS and f" {words} " in _PROMPT
