"""Text in brackets as nested lists: the one thing that PDDL's syntax consists of."""

from __future__ import annotations

import re

from xplearn import DataError

Form = str | list["Form"]
"""A word, or a list of forms."""

DEEPEST = 50
"""Brackets within brackets; released problems have about ten."""

_COMMENT = re.compile(r";[^\n]*")
_WORD = re.compile(r"[()]|[^\s()]+")


def read(text: str, source: str) -> list[Form]:
    """The one bracketed form that ``text`` holds. Raises ``DataError`` where brackets do not match, or there is more or less."""
    top: list[Form] = []
    stack = [top]
    for word in _WORD.findall(_COMMENT.sub("", text)):
        if word == "(":
            if len(stack) > DEEPEST:
                raise DataError(source, f"is no problem of ALFWorld: its brackets are more than {DEEPEST} deep")
            inner: list[Form] = []
            stack[-1].append(inner)
            stack.append(inner)
        elif word != ")":
            stack[-1].append(word)
        elif len(stack) > 1:
            stack.pop()
        else:
            raise DataError(source, "is not PDDL: it closes a bracket that was never opened")
    if len(stack) > 1:
        raise DataError(source, f"is not PDDL: it ends with {len(stack) - 1} brackets open; is it cut off?")
    if len(top) != 1 or isinstance(top[0], str):
        raise DataError(source, "is not PDDL: it should be one form in brackets, (define …)")
    return top[0]


def written(form: Form) -> str:
    """A form as text again, on one line."""
    return form if isinstance(form, str) else f"({' '.join(map(written, form))})"
