"""Golden traces: one line per thing that happened, compared with a stored file, so that a silent change becomes a diff.

A line reads ``stage key hash``. A difference fails with both sides; if it is meant, run the test again with ``XPLEARN_ACCEPT=1``
and commit the file.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

ACCEPT = "XPLEARN_ACCEPT"
"""Environment variable that makes ``Trace.check`` write the file instead of comparing."""


class Trace:
    """The lines of one run."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, stage: str, key: str, value: Any) -> None:
        """Append a line for ``value``: data classes, numbers, texts, arrays and containers of them."""
        self.lines.append(f"{_word(stage)} {_word(key)} {fingerprint(value)}")

    def check(self, golden: Path) -> None:
        """Compare with the file ``golden``.

        Raises:
            AssertionError: it differs or does not exist; says how to accept.
        """
        text = "".join(f"{line}\n" for line in self.lines)
        if os.environ.get(ACCEPT) == "1":
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_text(text, encoding="utf-8")
            return
        if not golden.exists():
            raise AssertionError(f"there is no golden trace {golden}\n{_how_to_accept()}")
        stored = golden.read_text(encoding="utf-8")
        if stored != text:
            raise AssertionError(f"the trace differs from {golden}\n{_difference(stored, text)}\n{_how_to_accept()}")


def fingerprint(value: Any, *, digits: int = 6) -> str:
    """Twelve hexadecimal digits for a value; floats count to ``digits`` significant digits, so that machines agree."""
    text = json.dumps(_plain(value, digits), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=6).hexdigest()


def _plain(value: Any, digits: int) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name), digits) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item, digits) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item, digits) for item in value), key=json.dumps)
    if isinstance(value, (list, tuple)):
        return [_plain(item, digits) for item in value]
    if isinstance(value, float):
        return f"{value + 0.0:.{digits}g}" if value else "0"
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), digits)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a trace cannot hold {type(value).__name__}")


def _word(text: str) -> str:
    return "_".join(text.split()) or "-"


def _difference(stored: str, found: str) -> str:
    lines = difflib.unified_diff(stored.splitlines(), found.splitlines(), "stored", "now", lineterm="", n=1)
    shown = list(lines)
    more = [f"… {len(shown) - 40} more lines"] if len(shown) > 40 else []
    return "\n".join(shown[:40] + more)


def _how_to_accept() -> str:
    return f"if this is meant, run the test again with {ACCEPT}=1 and commit the file"
