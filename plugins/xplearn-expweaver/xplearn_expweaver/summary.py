"""Summaries: four labelled parts, by rules or out of a model's words."""

from __future__ import annotations

import re

from xplearn_expweaver.account import Account, shortened
from xplearn_expweaver.prompts import ADVICE, EXAMPLE_SUMMARY, LABELS, OUTCOME, PROBLEM, STEP

_PART_CHARS = 200
"""Longest part."""
_TEXT_CHARS = 4000
"""More than this of a model's words is not read."""
_LABEL = rf"({'|'.join(LABELS)})\b[^:\n]{{0,24}}:"
_PART = re.compile(rf"{_LABEL}[ \t*_]*(.*?)(?={_LABEL}|\n|\Z)", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)


def by_rules(account: Account, *, done: str) -> dict[str, str]:
    """A summary without a model: the task, what was done, the outcome."""
    return {
        PROBLEM: shortened(account.task, _PART_CHARS),
        STEP: shortened(done, _PART_CHARS),
        OUTCOME: account.outcome,
        ADVICE: "do the same again" if account.success else "do something else",
    }


def by_model(text: str) -> dict[str, str]:
    """The parts that a model's words hold, the outcome aside, which is known; the example's own words do not count."""
    found: dict[str, str] = {}
    for label, words, _ in _PART.findall(_THOUGHT.sub("", text)[:_TEXT_CHARS]):
        name = next(name for name in LABELS if name.lower() == label.lower())
        part = shortened(words.strip(" \t*_`"), _PART_CHARS)
        if name != OUTCOME and any(map(str.isalnum, part)) and part not in EXAMPLE_SUMMARY:
            found.setdefault(name, part)
    return found


def joined(parts: dict[str, str]) -> str:
    """The summary as text, its parts in order."""
    return "\n".join(f"{label}: {parts[label]}" for label in LABELS)
