"""Names of files and anchors from titles, which may hold anything."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

LONGEST = 40
"""Characters of a title that are kept."""
ALL = "all"
"""That of what is across all others."""
_TAKEN = ("table", ALL)
"""What no slug is, or begins with as a word: it follows the names of figures, and those of tables end so."""


def slugs(titles: Sequence[str]) -> list[str]:
    """Lower case, digits and hyphens for each title, no two alike; a title says the same whatever stands beside it, its like aside."""
    found: list[str] = []
    for title in titles:
        slug, number = _slug(title), 2
        while slug in found:
            slug, number = f"{_slug(title)}-{number}", number + 1
        found.append(slug)
    return found


def _slug(title: str) -> str:
    """A title that loses more than marks and capitals has a hash."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    whole = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    kept = whole[:LONGEST].strip("-")
    kept = f"on-{kept}" if kept.partition("-")[0] in _TAKEN else kept
    lost = len(whole) > LONGEST or any(character.isalnum() for character in title if not character.isascii())
    digest = hashlib.sha256(title.encode(errors="replace")).hexdigest()[:6]
    return "-".join(filter(None, (kept, digest if lost or not kept else "")))
