"""What the functions that carry a run out share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xplearn.agent import Agent
from xplearn.component import Component
from xplearn.errors import RecordError
from xplearn.experiment.build import Parts
from xplearn.experiment.checkpoint import Checkpoints
from xplearn.experiment.journal import BankWatch
from xplearn.experiment.observer import Hooks, Observer
from xplearn.experiment.pools import Pools
from xplearn.experiment.shared import Shared
from xplearn.experiment.stream import Domain
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
    evaluated_at: int | None = None
    """``changes`` at the last evaluation."""
    proved: set[str] = field(default_factory=set)
    """``learner`` and ``warmup``, where training has been seen to move parameters."""

    @property
    def components(self) -> Mapping[str, Component]:
        """Every part by its path in the configuration."""
        return {path: part for path, (_, _, part) in self.parts.by_path.items()}

    def change(self, name: str, act: Callable[[], None], *, keep: bool = False) -> None:
        """Change the agent and checkpoint it, unless the restored state holds the change already."""
        self.changes += 1
        last = self.checkpoints.last
        if last is not None and self.changes <= last.number:
            return
        act()
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
