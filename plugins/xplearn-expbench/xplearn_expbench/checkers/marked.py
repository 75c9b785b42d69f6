r"""Where a completion marks its answer: ``####``, ``Answer:``, ``the answer is``, ``\boxed{…}``. The last marker counts."""

from __future__ import annotations

import re

from xplearn_expbench.checkers import boxed

_MARKER = re.compile(r"####(?!#)(?![ \t*]*[A-Za-z]{2})|\banswer\b[\"'`*_ \t]{0,6}(?:is\b|[:=：])", re.IGNORECASE)
_LEADING = " \t:：=*_`\"'"
_BLANK = " \t:："
_BULLET = re.compile(r"\s+(?:[-*•][ \t]+)?")
_JSON_END = re.compile(r"[\"']\s*}+$")


def marked(text: str) -> str | None:
    """What the last marker points at: a box's content, else the rest of its line, else the next line that holds something.

    ``####`` before a word is a heading, not a marker.

    Returns:
        None where there is no marker, empty where nothing follows it.
    """
    marker = None
    for marker in _MARKER.finditer(text):  # noqa: B007 - the last one is meant
        pass
    box = boxed.last(text)
    if box is not None and (marker is None or box.start > marker.start()):
        return box.content
    if marker is None:
        return None
    rest = text[marker.end() :]
    if rest.lstrip(_LEADING).startswith("\n"):
        line = _BULLET.sub("", rest.lstrip(_LEADING), count=1).partition("\n")[0]
    else:
        line = rest.partition("\n")[0]
    return _JSON_END.sub("", line.lstrip(_LEADING).strip()) or line.strip(_BLANK)
