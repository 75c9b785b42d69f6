"""New principles: written from contrasts, merged where the bank says the same already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from xplearn import AgentView, Experience
from xplearn.keys import trajectory_key
from xplearn_edge.bank import KIND, Principles
from xplearn_edge.contrasts import Contrast
from xplearn_edge.index import step_text
from xplearn_edge.principle import Pool, Principle, fingerprint
from xplearn_edge.writing import Writing, Written


class Expansion:
    """The growth of a bank in one step. ``counts``: ``written``, ``merged``, ``refused``, ``unusable`` and ``left_out``."""

    def __init__(self, bank: Principles, writing: Writing, agent: AgentView, *, step: int, policy: str) -> None:
        """Nothing is written yet.

        Args:
            bank: what is known; new principles are drafted there.
            writing: who writes.
            agent: whose bank it is.
            step: number of this step.
            policy: identity of the policy whose gains the new entries will hold.
        """
        self._bank, self._writing, self._agent, self._step, self._policy = bank, writing, agent, step, policy
        self.counts: Counter[str] = Counter()
        self._notes: list[tuple[str, str, dict[str, Any]]] = []

    def grow(self, contrasts: Sequence[Contrast], limit: int, *, seed: bool = False) -> int:
        """Have contrasts written about, as many at once as there is room for, until ``limit`` new principles are found; how many were.

        Args:
            contrasts: in order of preference.
            limit: most new principles.
            seed: whether they are of an expert.
        """
        found, at = 0, 0
        while found < limit and at < len(contrasts):
            part = contrasts[at : at + limit - found]
            for contrast, written in zip(part, self._writing.on(part, done=at, total=len(contrasts)), strict=True):
                found += self._keep(contrast, written, limit - found, seed)
            at += len(part)
        return found

    def tell(self) -> None:
        """Note in the journal what became of what was written, once nobody is asked any more.

        What is noted before progress is saved counts as noted when a call goes on from there, and it would be noted again: such a call
        drafts anew what it was told.
        """
        for event, id, facts in self._notes:
            self._agent.journal.note(event, id, **facts)

    def _keep(self, contrast: Contrast, written: Written, room: int, seed: bool) -> int:
        """Draft what is new in what was written about one contrast; how much that is."""
        for reason in written.refused:
            self._note("refused", "", reason=reason, source=contrast.success.id)
        self.counts.update(refused=len(written.refused), unusable=int(not written.usable))
        new = 0
        for principle in written.principles:
            known = self._bank.named(fingerprint(principle.content, principle.scope))
            if known is not None:
                self._merge(known, contrast)
            elif new < room:
                self._add(principle, contrast, written, seed)
                new += 1
            else:
                self.counts["left_out"] += 1
        self.counts["written"] += new
        return new

    def _merge(self, id: str, contrast: Contrast) -> None:
        """Remember that more trajectories say the same; utility and uses stay.

        The leak guard goes by the entry's first task alone. That is enough: these words were known before the other task was seen.
        """
        sources = self._bank[id].meta.get("sources")
        known = list(sources) if isinstance(sources, list | tuple) else []
        more = [source for source in contrast.sources if source not in known]
        if more:
            self._bank.change(id, meta={"sources": [*known, *more]})
            self._note("merged", id, sources=more)
            self.counts["merged"] += 1

    def _add(self, principle: Principle, contrast: Contrast, written: Written, seed: bool) -> None:
        success, pool = contrast.success, principle.scope
        print = fingerprint(principle.content, pool)
        entry = Experience(
            id=f"{KIND}/{success.id}/{print}",
            kind=KIND,
            key=_key(contrast, pool),
            content=principle.content,
            source=success.id,
            task=success.task.id,
            task_kind=success.task.kind,
            outcome=success.score,
            created=(*self._agent.position, self._agent.policy.version),
            meta={
                "pool": pool,
                "title": principle.title,
                "writer": written.by,
                "usable": written.usable,
                "sources": contrast.sources,
                "policy": self._policy,
                "fingerprint": print,
                "negative": 0,
                "shown_at": 0,
                "made_at": self._step,
                **({"seed": True} if seed else {}),
            },
        )
        self._bank.add(entry)
        failure = contrast.failure.id if contrast.failure is not None else ""
        self._note("expanded", entry.id, success=success.id, failure=failure, writer=written.by)

    def _note(self, event: str, id: str, **facts: Any) -> None:
        self._notes.append((event, id, facts))


def _key(contrast: Contrast, pool: Pool) -> str:
    """What it is found by: the task as it begins, or the moment at which the trajectories part."""
    if pool == "step" and contrast.parting is not None:
        return step_text(contrast.success.task, contrast.success.steps[contrast.parting].query.messages)
    return trajectory_key(contrast.success)
