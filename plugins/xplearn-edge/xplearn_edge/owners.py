"""Whose principles a bank holds: the policy whose gains their utilities are, and those that nobody knows the origin of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from xplearn import AgentView, ContractError, Policy
from xplearn_edge.bank import Principles, count


def identity(policy: Policy) -> str:
    """Names a policy as it was before any training; its type where it has no weights here."""
    return str(getattr(policy, "identity", type(policy).__name__))


def require_own(bank: Principles, policy: str) -> None:
    """Refuse principles whose utilities are gains of another policy. One that names none is taken for unproved.

    Raises:
        ContractError: names both, and the field that takes them over.
    """
    others = Counter(owner for entry in bank if isinstance(owner := entry.meta.get("policy"), str) and owner != policy)
    if others:
        owner, held = others.most_common(1)[0]
        raise ContractError(
            "EvolveLearner",
            f"{held} of the bank's {len(bank)} principles hold gains of the policy '{owner}', the run's is '{policy}'; start from another "
            "bank, or say other_policy: adopt to keep their words and let utilities and uses start anew",
        )


def adopt(bank: Principles, agent: AgentView) -> int:
    """Let the utilities and uses of another policy's principles start anew; how many."""
    own = identity(agent.policy)
    others = [entry for entry in bank if isinstance(entry.meta.get("policy"), str) and entry.meta["policy"] != own]
    for entry in others:
        bank.change(entry.id, utility=0.0, uses=0, meta={"policy": own, "negative": 0})
        agent.journal.note("adopted", entry.id, policy=entry.meta["policy"], utility=entry.utility, uses=entry.uses)
    return len(others)


def note_unsourced(bank: Principles, noted: Collection[str], agent: AgentView) -> tuple[str, ...]:
    """Note once each entry that names no trajectory or no task: it is kept, but the leak guard cannot see it. All such in the bank."""
    alone = [entry.id for entry in bank if not entry.source or not entry.task]
    for id in alone:
        if id not in noted:
            agent.journal.note(
                "unsourced", id, reason="it names no trajectory or no task, so it may be shown on the very task it came from"
            )
    return tuple(alone)


def latest_step(bank: Principles) -> int:
    """The last step that the bank tells of: a further run goes on counting from there."""
    return max((max(count(entry, "made_at"), count(entry, "shown_at")) for entry in bank), default=0)


def seeds(bank: Principles, kind: str) -> int:
    """How many principles on a kind of task came from an expert."""
    return sum(entry.task_kind == kind and bool(entry.meta.get("seed")) for entry in bank)
