"""What columns mean, in words below a table: only of those that it has."""

from __future__ import annotations

from collections.abc import Collection

WORDS = {
    "out of steps": "out of steps: cut off by a limit of steps or by the context",
    "failed": "failed: ended by the task",
    "retention %": "retention: score without the bank over score with it, no interval where the latter may be 0",
    "forgetting": "forgetting: final minus best so far",
    "BWT": "BWT: final minus just after its stage",
    "FWT": "FWT: just before its stage minus before learning",
    "deviation": "deviation: of final scores from seed to seed",
    "gain": "gain: training score of the experience arm minus the plain arm's, mean over rounds",
    "bank": "bank: experiences at the end",
}
"""By the name of a column."""


def explained(shown: Collection[str], *first: str) -> str:
    """What must be known of the columns that are shown, after what is said ``first``; what is empty is left out."""
    return "; ".join([*filter(None, first), *(words for name, words in WORDS.items() if name in shown)])
