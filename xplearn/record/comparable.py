"""Which runs may stand in one table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xplearn.errors import RecordError
from xplearn.record.header import require_comparable

if TYPE_CHECKING:
    from xplearn.record.header import Header
    from xplearn.record.reader import Run


def apart(run: Run, other: Run) -> RecordError | None:
    """Why two runs must not stand in one table; None where they may.

    Domains that both were evaluated on must be of one environment version and one panel. Where both keep a bank of vectors, one encoder
    must have made them: what is found in a bank depends on it. A run whose header names no encoder has no such bank, so it may stand
    beside any.
    """
    try:
        _require_one_table(run, other)
    except RecordError as error:
        return error
    return None


def alike(runs: Iterable[Run]) -> tuple[list[list[Run]], RecordError | None]:
    """Runs in groups that may stand in one table, in order, and why they are not one group."""
    found: list[list[Run]] = []
    reason = None
    for run in runs:
        for group in found:
            problem = next(filter(None, (apart(run, other) for other in group)), None)
            if problem is None:
                group.append(run)
                break
            reason = reason or problem
        else:
            found.append([run])
    return found, reason


def _require_one_table(run: Run, other: Run) -> None:
    ours, theirs = run.header, other.header
    require_comparable(run.path, _versions(ours), _versions(theirs), "environment version", other=other.path)
    require_comparable(run.path, ours.panels, theirs.panels, "panel", other=other.path)
    if ours.encoder and theirs.encoder and ours.encoder != theirs.encoder:
        raise RecordError(
            run.path,
            f"its bank has vectors of encoder '{ours.encoder}', that in {other.path} of '{theirs.encoder}': figures of the two must not"
            " stand in one table. Show each by itself, or run both with one encoder",
        )


def _versions(header: Header) -> dict[str, str]:
    """By domain; what is not known is a version of its own."""
    return {**dict.fromkeys(header.panels, "unknown"), **header.environments}
