"""The action grammar: ``search[words]`` and ``click[label]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

GRAMMAR = 1
"""Grows when the same action may come to mean something else."""


@dataclass(frozen=True, slots=True)
class Request:
    """What an action asks for."""

    verb: Literal["search", "click"]
    words: str
    """What stands in the brackets, in lower case and with lone surrogates replaced."""


_SURROGATES = re.compile(r"[\ud800-\udfff]")


def read(action: str) -> Request | None:
    """The request in an action; None where it is neither a search nor a click.

    The first line counts, up to its last ``]``; the brackets are the last pair that holds anything. What stands before them must be
    ``search`` or ``click`` exactly, what stands behind them is ignored.
    """
    line = action.partition("\n")[0]
    closing = line.rfind("]")
    opening = line.rfind("[", 1, max(closing - 1, 1))
    if opening < 0:
        return None
    words = _SURROGATES.sub("\ufffd", line[opening + 1 : closing].lower())
    match line[:opening]:
        case "search":
            return Request("search", words)
        case "click":
            return Request("click", words)
        case _:
            return None


def written(request: Request) -> str | None:
    """The action that is read as this request; None where there is none, as for a label with an opening bracket."""
    action = f"{request.verb}[{request.words}]"
    return action if read(action) == request else None
