"""What a step tells about the principles that it showed, and which of them go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xplearn_edge.bank import Principles, count
from xplearn_edge.index import pool_of
from xplearn_edge.pruning import Limits, surplus
from xplearn_edge.utility import Exposure, Window, moved, streak

if TYPE_CHECKING:
    from xplearn import AgentView


def count_uses(bank: Principles, seen: Exposure, step: int) -> None:
    """Add a step's uses."""
    for id, uses in seen.uses.items():
        if id in bank:
            bank.change(id, uses=bank[id].uses + uses, meta={"shown_at": step})


def settle(bank: Principles, window: Window, agent: AgentView, *, mu: float, policy: str) -> None:
    """Move the utilities by what a window told; a window without a gain ends an entry's row of negative ones [C]."""
    shown = dict.fromkeys(id for id in window.groups if id in bank)
    judged = [bank[id] for id in shown] + [entry for entry in bank.declining if entry.id not in shown]
    gains = np.array([window.mean(entry.id) for entry in judged])
    utilities = moved([entry.utility for entry in judged], gains, mu)
    rows = streak([count(entry, "negative") for entry in judged], gains)
    for entry, gain, utility, row in zip(judged, gains.tolist(), utilities.tolist(), rows.tolist(), strict=True):
        if entry.id not in shown:
            bank.change(entry.id, meta={"negative": row})
            continue
        bank.change(entry.id, utility=utility, meta={"negative": row, "policy": policy})
        groups = window.groups[entry.id]
        agent.journal.note("utility", entry.id, gain=gain, groups=groups, utility=utility, uses=entry.uses)


def prune(bank: Principles, limits: Limits, agent: AgentView, *, step: int) -> int:
    """Drop what has proved harmful; how many."""
    if limits.below is None:
        return 0
    entries = [entry for entry in bank if entry.utility < limits.below]
    age = step - np.array([count(entry, "made_at") for entry in entries], dtype=np.int64)
    harmful = limits.harmful(
        [entry.utility for entry in entries], [entry.uses for entry in entries], [count(entry, "negative") for entry in entries], age
    )
    found = np.flatnonzero(harmful).tolist()
    for at in found:
        _drop(bank, entries[at].id, f"its utility {entries[at].utility:.3f} is below {limits.below}", agent, step)
    return len(found)


def make_room(bank: Principles, agent: AgentView, *, capacity: int, ucb: float, step: int) -> int:
    """Drop what full pools have no room for, to the benefit of what is about to be added; how many."""
    dropped = 0
    arriving = {entry.id for entry in bank.new}
    for pool in ("task", "step"):
        if len(bank) <= capacity:
            break
        entries = [entry for entry in bank if pool_of(entry) == pool]
        held = [entry for entry in entries if entry.id not in arriving]
        worst = surplus([entry.utility for entry in held], [entry.uses for entry in held], len(entries) - capacity, ucb=ucb)
        for at in worst.tolist():
            _drop(bank, held[at].id, f"its pool holds {capacity} and others are worth more", agent, step)
        dropped += len(worst)
    return dropped


def _drop(bank: Principles, id: str, reason: str, agent: AgentView, step: int) -> None:
    entry = bank[id]
    bank.drop(id)
    agent.journal.note("pruned", id, reason=reason, utility=entry.utility, uses=entry.uses, age=step - count(entry, "made_at"))
