"""Having principles written: in batches, resumed where a kill cut the writing short, the rules standing in for answers of no use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from xplearn import AgentView
from xplearn_edge import prompts, rules
from xplearn_edge.contrasts import Contrast
from xplearn_edge.principle import Pool, Principle
from xplearn_edge.reading import read
from xplearn_edge.writers import Writer

By = Literal["policy", "endpoint", "rules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The principles on one contrast."""

    principles: tuple[Principle, ...]
    by: By
    refused: tuple[str, ...] = ()
    """Why what the writer said was, wholly or in part, of no use."""

    @property
    def usable(self) -> bool:
        """Whether they are the asked writer's own, not the rules' in the place of an answer of no use."""
        return self.by != "rules" or not self.refused


class Writing:
    """The writing of one call of ``learn``."""

    def __init__(self, agent: AgentView, writer: Writer | None, by: By, scopes: Collection[Pool]) -> None:
        """Start from what this very call was told before it was cut short.

        Args:
            agent: whose call it is.
            writer: who is asked; None for the rules alone.
            by: who that is.
            scopes: what principles may be about.
        """
        self._writer, self._by, self._scopes, self._checkpoint = writer, by, scopes, agent.checkpoint
        saved = self._checkpoint.load() or {}
        self._said: dict[str, str] = dict(saved.get("said", {}))

    def on(self, contrasts: Sequence[Contrast], *, done: int, total: int) -> list[Written]:
        """The principles on each of some contrasts, at least one each.

        Args:
            contrasts: asked about in one batch.
            done: contrasts that were written about before, for whoever watches.
            total: those that may have to be written about in all.
        """
        if self._writer is None:
            return [Written(principles=rules.principles(contrast, contrast.scopes(self._scopes)), by="rules") for contrast in contrasts]
        names = [contrast.digest() for contrast in contrasts]
        missing = {name: contrast for name, contrast in zip(names, contrasts, strict=True) if name not in self._said}
        if missing:
            self._ask(self._writer, missing)
            self._checkpoint.report(done + len(contrasts), total)
        return [self._written(self._said[name], contrast) for name, contrast in zip(names, contrasts, strict=True)]

    def _ask(self, writer: Writer, missing: dict[str, Contrast]) -> None:
        requests = {name: prompts.conversation(contrast, contrast.scopes(self._scopes)) for name, contrast in missing.items()}
        with writer.ready():
            self._said |= writer.answer(requests)
        self._checkpoint.save({"said": dict(self._said)})

    def _written(self, answer: str, contrast: Contrast) -> Written:
        found = read(answer, contrast.scopes(self._scopes))
        if found.principles:
            return Written(principles=found.principles, by=self._by, refused=found.refused)
        return Written(principles=rules.principles(contrast, contrast.scopes(self._scopes)), by="rules", refused=found.refused)
