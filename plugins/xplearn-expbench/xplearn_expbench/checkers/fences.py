"""What of a completion is said, and the blocks of code in it."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"^[ \t]*<think>.*?(?:</think>|\Z)", re.DOTALL | re.MULTILINE)
_UNOPENED = "</think>\n"
_END = re.compile(r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|end)\|>|<end_of_turn>|</s>)(?=\s|<|\Z)")
_OPENING = re.compile(r"^(?P<before>[^`~]*)(?P<fence>```+|~~~+)[^`~]*$")


def spoken(text: str) -> str:
    """The text without thoughts, finished or not, up to the first mark that ends a turn."""
    text = _THOUGHT.sub("", text)
    text = text.rpartition(_UNOPENED)[2]
    end = _END.search(text)
    return text[: end.start()] if end else text


def blocks(text: str) -> list[str]:
    """Fenced blocks in their order, without the indentation that their fence has; the last need not be closed."""
    found: list[str] = []
    fence, indentation, inside = "", "", list[str]()
    for line in text.split("\n"):
        opening = None if fence else _OPENING.match(line)
        if opening:
            fence, before = opening["fence"], opening["before"]
            indentation, inside = before if before.isspace() else "", []
        elif fence and line.rstrip().endswith(fence):
            found.append("\n".join([*inside, line.rstrip().removesuffix(fence)]))
            fence = ""
        elif fence:
            inside.append(line.removeprefix(indentation))
    return [*found, "\n".join(inside)] if fence else found
