"""Text from environments, models and files is data: it never controls a screen."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` without control characters, bidirectional overrides and lone surrogates; newlines and tabs stay."""
    return _CONTROL.sub("�", text)
