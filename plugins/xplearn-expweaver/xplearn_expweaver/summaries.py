"""``expweaver.summaries``: the bank of summaries, written and encoded by the policy itself, the oldest making way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from xplearn import AgentView, Capability, ConfigError, Experience, ExperienceStore, Learner, LocalPolicy, Trajectory, derive
from xplearn.keys import trajectory_key
from xplearn_expweaver.account import account, actions
from xplearn_expweaver.states import encoder_id, require_own, states
from xplearn_expweaver.summary import by_model, by_rules, joined
from xplearn_expweaver.writing import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

KIND = "summary"
ENCODED = "encoded"
"""Where a summary's ``meta`` keeps the version of the policy that encoded it."""


@dataclass(kw_only=True)
class SummaryWriter(Learner):
    """Writes one summary per task, round and outcome; each is kept with the policy's own state of it, first in, first out [P].

    A summary's vector is that of the policy which wrote it: the bank is not encoded anew while the policy learns, so that recent entries
    lie nearest to its states [P]. The id derives from the trajectory and how it was played, so a batch that is met again writes nothing.
    """

    capacity: int = 2000
    """Summaries kept; beyond it the oldest is dropped [OURS]."""
    writer: Literal["policy", "rules"] = "policy"
    """Who words them: the policy as it is, greedily, without injection [OURS]; or rules, without asking it. In the place of parts that the
    policy does not give stand those of the rules."""
    max_tokens: int = 64
    """Longest answer of the policy, in tokens [OURS]."""
    keep: Literal["both", "success", "failure"] = "both"
    """Which outcomes are written, at most one of each per task and round: of several the one with the highest score [OURS]."""
    success_score: float | None = None
    """Score from which on a trajectory is a success, in [0, 1], for graded rewards; empty for what the environment calls solved."""
    as_turn: bool = True
    """A summary's vector is the state in which the policy would answer it as a user turn [OURS], that is of the kind in which it decodes;
    or the state at the end of the plain text."""
    refresh_every: int = 0
    """All summaries are encoded anew when the policy has been trained so many times since the oldest was; 0 for never [P]."""
    shown_chars: int = 1500
    """Longest task, and longest trace, that the policy is shown, in characters; the middle is left out [OURS]."""
    batch: int = 64
    """Summaries written at once; progress is saved after each batch."""
    space: str = "state"
    """Vector space of the states."""
    key_space: str = "key"
    """Vector space of the encoded keys, for selectors that search by the agent's encoder; empty for none."""

    def __post_init__(self) -> None:
        for name, least in {"capacity": 1, "max_tokens": 1, "batch": 1, "refresh_every": 0, "shown_chars": 40}.items():
            if getattr(self, name) < least:
                raise ConfigError(name, f"must be at least {least}, got {getattr(self, name)}")
        if self.success_score is not None and not 0.0 <= self.success_score <= 1.0:
            raise ConfigError("success_score", f"must lie in [0, 1], got {self.success_score}")
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. state")
        if self.space == self.key_space:
            raise ConfigError("key_space", f"is '{self.space}', which holds the states; take another, or leave it empty")

    @property
    def provides(self) -> frozenset[Capability]:
        spaces = [self.space, self.key_space] if self.key_space else [self.space]
        return frozenset({"store.filled", *(f"store.space:{space}" for space in spaces)})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.encode"})

    def setup(self, agent: AgentView) -> None:
        """Make sure, before the first episode, that the bank fits policy and encoder."""
        self._open(agent, [space for space in (self.space, self.key_space) if space in agent.store.spaces()])

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Write what the batch teaches, and drop what is too old.

        Returns:
            ``written``, ``left_out``, ``evicted``, ``refreshed`` and ``bank``: summaries, trajectories, summaries, summaries, experiences.
            ``unusable``: summaries for which the policy gave no part, so that all are the rules'.

        Raises:
            ContractError: the bank's vectors are not states of this policy's model.
        """
        store = agent.store
        self._open(agent, filter(None, (self.space, self.key_space)))
        refreshed = self._refresh(agent)
        fresh = {id: trajectory for id, trajectory in self._chosen(batch).items() if id not in store}
        written = self._summaries(fresh, agent)
        if written:
            store.add(written, self._vectors(written, agent))
        evicted = [summary.id for summary in _summaries(store)][: -self.capacity]
        if evicted:
            store.remove(evicted)
        return {
            "written": float(len(written)),
            "left_out": float(len(batch) - len(written)),
            "evicted": float(len(evicted)),
            "refreshed": float(refreshed),
            "unusable": float(sum(not summary.meta["usable"] for summary in written)),
            "bank": float(len(store)),
        }

    def _open(self, agent: AgentView, spaces: Iterable[str]) -> None:
        """Open these spaces of the bank, each with what its vectors come from."""
        policy = cast(LocalPolicy, agent.policy)
        require_own(agent.store, self.space, policy)
        for space in spaces:
            if space == self.space:
                agent.store.open_space(space, encoder=encoder_id(policy, as_turn=self.as_turn), dim=policy.width)
            else:
                agent.store.open_space(space, encoder=agent.encoder.id, dim=agent.encoder.dim)

    def _chosen(self, batch: Sequence[Trajectory]) -> dict[str, Trajectory]:
        """By the id of its summary, what is written about: no more than the bank can hold, in an order of its own."""
        usable = [trajectory for trajectory in batch if trajectory.error is None and trajectory.steps and self._wanted(trajectory)]
        best: dict[tuple[str, str, bool], Trajectory] = {}
        for trajectory in sorted(usable, key=lambda trajectory: (-trajectory.score, trajectory.id)):
            best.setdefault((trajectory.task.env, trajectory.task.id, self._solved(trajectory)), trajectory)
        last = sorted(best.values(), key=lambda trajectory: trajectory.id)[-self.capacity :]
        return {summary_id(trajectory): trajectory for trajectory in last}

    def _solved(self, trajectory: Trajectory) -> bool:
        return trajectory.success if self.success_score is None else trajectory.score >= self.success_score

    def _wanted(self, trajectory: Trajectory) -> bool:
        return self.keep == "both" or self._solved(trajectory) == (self.keep == "success")

    def _summaries(self, fresh: Mapping[str, Trajectory], agent: AgentView) -> list[Experience]:
        accounts = {
            id: account(trajectory, success=self._solved(trajectory), shown_chars=self.shown_chars) for id, trajectory in fresh.items()
        }
        said = Words(agent, max_tokens=self.max_tokens, batch=self.batch).on(accounts) if self.writer == "policy" else {}
        created = (*agent.position, agent.policy.version)
        summaries = []
        for id, trajectory in fresh.items():
            own = by_model(said[id]) if id in said else {}
            parts = by_rules(accounts[id], done=actions(trajectory.steps)) | own
            meta = {"writer": "policy" if own else "rules", "usable": bool(own) or self.writer == "rules", ENCODED: agent.policy.version}
            summaries.append(_summary(id, trajectory, joined(parts), created=created, meta=meta))
        return summaries

    def _vectors(self, summaries: Sequence[Experience], agent: AgentView) -> Vectors:
        vectors = {self.space: states(cast(LocalPolicy, agent.policy), [summary.content for summary in summaries], as_turn=self.as_turn)}
        if self.key_space:
            vectors[self.key_space] = agent.encoder.encode([summary.key for summary in summaries])
        return vectors

    def _refresh(self, agent: AgentView) -> int:
        """Encode all summaries anew where it is time; how many."""
        store, version = agent.store, agent.policy.version
        held = _summaries(store) if self.refresh_every else []
        ages = [version - int(summary.meta.get(ENCODED, 0)) for summary in held]
        if not any(age >= self.refresh_every or age < 0 for age in ages):  # below 0: a policy of another run encoded it
            return 0
        anew = [dataclasses.replace(summary, meta={**summary.meta, ENCODED: version}) for summary in held]
        vectors = self._vectors(anew, agent)
        store.remove([summary.id for summary in held])
        store.add(anew, vectors)
        return len(anew)


def summary_id(trajectory: Trajectory) -> str:
    """Id of the summary of a trajectory: its own, and how it was played."""
    played = derive(
        trajectory.seed, repr(trajectory.score), *(words for step in trajectory.steps for words in (step.completion.text, step.action))
    )
    return f"{KIND}/{trajectory.id}/{played:016x}"


def _summaries(store: ExperienceStore) -> list[Experience]:
    """The summaries of a bank, the oldest first."""
    return [experience for experience in store if experience.kind == KIND]


def _summary(id: str, trajectory: Trajectory, content: str, *, created: tuple[int, int, int], meta: Mapping[str, object]) -> Experience:
    return Experience(
        id=id,
        kind=KIND,
        key=trajectory_key(trajectory),
        content=content,
        source=trajectory.id,
        task=trajectory.task.id,
        task_kind=trajectory.task.kind,
        outcome=trajectory.score,
        created=created,
        meta=meta,
    )
