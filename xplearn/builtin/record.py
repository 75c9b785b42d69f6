"""``core.record``: the bank of what happened, written without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from xplearn.capability import Capability
from xplearn.errors import ConfigError
from xplearn.interfaces import AgentView, Learner
from xplearn.keys import trajectory_key
from xplearn.seeding import derive
from xplearn.types import Experience, Trajectory


@dataclass(kw_only=True)
class RecordLearner(Learner):
    """Writes one experience per trajectory: found by goal and first observation, shown as goal, outcome and actions.

    The id derives from the trajectory and how it was played, so a batch that is met again writes nothing, and another run that
    continues the bank adds its own.
    """

    space: str = "key"
    """Vector space that receives the encoded keys."""
    max_actions: int = 40
    """Actions shown at most; the rest is counted. A run of the same action counts as one."""
    only_success: bool = False
    """Write solved trajectories only."""
    min_score: float = 0.0
    """Leave out trajectories that score less, in [0, 1]."""

    def __post_init__(self) -> None:
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. key")
        if self.max_actions < 1:
            raise ConfigError("max_actions", f"must be at least 1, got {self.max_actions}")
        if not 0.0 <= self.min_score <= 1.0:
            raise ConfigError("min_score", f"must be in [0, 1], got {self.min_score}")

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"store.filled", f"store.space:{self.space}"})

    def setup(self, agent: AgentView) -> None:
        if self.space in agent.store.spaces():
            agent.store.open_space(self.space, encoder=agent.encoder.id, dim=agent.encoder.dim)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        store, encoder = agent.store, agent.encoder
        store.open_space(self.space, encoder=encoder.id, dim=encoder.dim)
        fitting = {experience_id(trajectory): trajectory for trajectory in batch if self._wanted(trajectory)}
        fresh = [(id, trajectory) for id, trajectory in fitting.items() if id not in store]
        created = (*agent.position, agent.policy.version)
        experiences = [self._experience(id, trajectory, created) for id, trajectory in fresh]
        if experiences:
            store.add(experiences, {self.space: encoder.encode([experience.key for experience in experiences])})
        return {"written": float(len(experiences)), "left_out": float(len(batch) - len(experiences)), "bank": float(len(store))}

    def _wanted(self, trajectory: Trajectory) -> bool:
        return trajectory.error is None and trajectory.score >= self.min_score and (trajectory.success or not self.only_success)

    def _experience(self, id: str, trajectory: Trajectory, created: tuple[int, int, int]) -> Experience:
        return Experience(
            id=id,
            kind="record",
            key=trajectory_key(trajectory),
            content=self._content(trajectory),
            source=trajectory.id,
            task=trajectory.task.id,
            task_kind=trajectory.task.kind,
            outcome=trajectory.score,
            created=created,
        )

    def _content(self, trajectory: Trajectory) -> str:
        verdict = "solved" if trajectory.success else "not solved"
        outline = list(_merged(step.action for step in trajectory.steps if step.action))
        shown, rest = outline[: self.max_actions], len(outline) - self.max_actions
        more = [f"… {rest} more"] if rest > 0 else []
        return (
            f"Task: {trajectory.task.goal}\n"
            f"Outcome: {verdict}, score {trajectory.score:.2f} after {len(trajectory.steps)} steps\n"
            f"Actions: {'; '.join([*shown, *more]) or 'none'}"
        )


def experience_id(trajectory: Trajectory) -> str:
    """Id of the experience that this learner writes for a trajectory."""
    played = derive(trajectory.seed, repr(trajectory.score), *(step.action for step in trajectory.steps))
    return f"record/{trajectory.id}/{played:016x}"


def _merged(actions: Iterable[str]) -> Iterable[str]:
    for action, same in groupby(actions):
        count = sum(1 for _ in same)
        yield action if count == 1 else f"{action} (x{count})"
