"""Text on its way to the simulator and back."""

from __future__ import annotations

import re
import unicodedata

_OPTION = re.compile(r"^(\d+):\t(.*)$", re.MULTILINE)
_REFUSALS = ("No known action matches", "Unknown action")
_PROMPT = "Ambiguous request"


def clean(action: str) -> str:
    """One line that can be encoded: lone surrogates, control and format characters out, blanks collapsed."""
    kept = "".join(" " if unicodedata.category(character) in _UNSPEAKABLE else character for character in action)
    return " ".join(kept.split())


_UNSPEAKABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def resets(action: str) -> bool:
    """Whether an action would clear the progress made, and with it a failure: no other action holds this word."""
    return "reset" in action.lower()


def understood(observation: str) -> bool:
    """Whether the simulator knew what to do with the action that led here."""
    return not observation.startswith(_REFUSALS)


def options(observation: str) -> tuple[str, ...]:
    """The readings that an ambiguous command leaves open, in the order of their numbers; empty for any other answer."""
    return tuple(text for _, text in _OPTION.findall(observation)) if observation.startswith(_PROMPT) else ()


def choice(action: str, open_options: tuple[str, ...]) -> str | None:
    """The number that an action picks: the number itself, a blank to cancel, or an option's own words. None if it picks nothing."""
    if action == "":
        return action
    if action.isascii() and action.isdigit() and int(action) < len(open_options):
        return str(int(action))
    words = [" ".join(option.lower().split()) for option in open_options]
    return str(words.index(action.lower())) if action.lower() in words else None
