"""What the functions that carry a run out share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property

from xplearn.agent import Agent
from xplearn.component import Component
from xplearn.errors import RecordError
from xplearn.experiment.build import Parts
from xplearn.experiment.checkpoint import Checkpoints
from xplearn.experiment.journal import BankWatch
from xplearn.experiment.observer import Hooks, Observer
from xplearn.experiment.pools import Pools
from xplearn.experiment.shared import Shared
from xplearn.experiment.shared.identity import Identity
from xplearn.experiment.shared.reading import Reading
from xplearn.experiment.stream import Domain
from xplearn.interfaces import AgentView
from xplearn.record.folder import RunFolder
from xplearn.record.formats import load_trajectory
from xplearn.record.header import Header
from xplearn.record.lines import read_lines
from xplearn.record.writer import RunWriter
from xplearn.schema import Experiment
from xplearn.types import Task, Trajectory


@dataclass(kw_only=True)
class Context:
    """One run under way."""

    experiment: Experiment
    parts: Parts
    agent: Agent
    pools: Pools
    folder: RunFolder
    writer: RunWriter
    header: Header
    checkpoints: Checkpoints
    observer: Observer
    hooks: Hooks
    panels: Mapping[str, tuple[Domain, Sequence[Task]]]
    """Domain and evaluated tasks by name."""
    shared: Shared | None = None
    """Work in common with other runs; None for a run that does all its own."""
    watch: BankWatch = field(default_factory=BankWatch)
    """What the bank held when a learner was last called."""
    changes: int = 0
    """How many changes of the agent lie behind, made in this process or restored."""
    taken: Counter[str] = field(default_factory=Counter)
    """How much shared work was taken over, by kind."""
    evaluated_at: int | None = None
    """``changes`` at the last evaluation."""
    crowded: bool = False
    """Whether it was told that more is played at once than the policy's cache holds."""
    proved: set[str] = field(default_factory=set)
    """``learner`` and ``warmup``, where training has been seen to move parameters."""

    @property
    def components(self) -> Mapping[str, Component]:
        """Every part by its path in the configuration."""
        return {path: part for path, (_, _, part) in self.parts.by_path.items()}

    @cached_property
    def identity(self) -> Identity:
        """What tells whether another run's work is this one's."""
        return Identity(self)

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        return {path: Reading(self.agent) for path, _, _ in self.parts.learners()} if self.shared is not None else {}

    def warn(self, line: str) -> None:
        """Tell what a reader of the figures must know, now and in the header."""
        self.observer.note(line)
        self.header.warnings += [line] if line not in self.header.warnings else []

    def seen_from(self, path: str) -> AgentView:
        """The agent as the part at a path sees it: what a learner reads is noted where its calls may be shared."""
        return self._readings.get(path, self.agent)

    def read_by(self, path: str) -> frozenset[str]:
        """What the learner at a path has read of the agent so far."""
        return frozenset(self._readings[path].read)

    def change(self, name: str, act: Callable[[], AbstractContextManager[None]], *, keep: bool = False) -> None:
        """Change the agent and checkpoint it, unless the restored state holds the change already.

        Args:
            name: of the change.
            act: a context that has changed the agent when it is entered; the checkpoint is written inside.
            keep: the checkpoint for good.
        """
        self.changes += 1
        last = self.checkpoints.last
        if last is not None and self.changes <= last.number:
            return
        with act():
            self.checkpoint(name, keep=keep)

    def checkpoint(self, name: str, *, keep: bool = False) -> None:
        """Write the agent as it is now; everything recorded so far is forced to disk first."""
        self.writer.sync()
        self.name_encoder()
        self.checkpoints.save(self.agent, self.components, number=self.changes, change=name, keep=keep)
        self.checkpoints.progress(name, self.observer).remove()

    def name_encoder(self) -> None:
        """Name the encoder in the header if the bank has vectors of it; where it has none, no figure depends on the encoder."""
        encoder = self.agent.encoder.id
        self.header.encoder = encoder if any(encoder == of for of, _ in self.agent.store.spaces().values()) else ""

    def recorded(self, phase: str, ids: Sequence[str]) -> list[Trajectory]:
        """The recorded trajectories of a phase with these ids, in this order.

        Raises:
            RecordError: one is missing.
        """
        path = self.folder.trajectories(phase)
        found = {trajectory.id: trajectory for trajectory in read_lines(path, load_trajectory)}
        for id in ids:
            if id not in found:
                raise RecordError(path, f"lacks trajectory '{id}', which this run learns from; remove the run folder and start anew")
        return [found[id] for id in ids]
