"""``hamo.release``: what the policy can do by heart needs no card."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import torch

from xplearn import AgentView, Capability, ConfigError, Experience, Learner, LocalPolicy, Trajectory
from xplearn.learning.batching import Sample, micro_batches, sample, undressed
from xplearn_hamo.cards import CARD, played

NAME = "hamo.release"
_SLACK = 1e-9
"""A share of a whole number may come out this much too small."""


@dataclass(kw_only=True)
class ReleaseLearner(Learner):
    """Removes the cards of trajectories that the policy has learned to reproduce without experience.

    To be listed after the learner that trains. The paper describes such a feedback [P] and leaves it off in the runs it reports; when a
    card may go is [OURS]. Looks only at the trajectories that were just studied. A card is known by its task and by how the trajectory
    was played, so it does not matter who dressed it or in which arm; a demonstration that was cut to fit the context frees nothing.
    Replay is untouched: it goes by trajectories. A card comes back where its trajectory is recorded again, as in a stage's next round.
    """

    min_logprob: float = -0.1
    """[OURS] Reproduced: the mean log-probability of an action token in the plain arm is at least this, in nats."""
    max_share: float = 0.25
    """[OURS] At most this share of the bank's cards goes in one call, those of the surest trajectories first."""
    micro_tokens: int = 2048
    """Positions of one forward pass, padding included: bounds memory and changes no result beyond rounding."""
    checkpoint_seconds: float = 30.0
    """Scores found so far are saved this often."""

    def __post_init__(self) -> None:
        if not -math.inf < self.min_logprob <= 0.0:
            raise ConfigError("min_logprob", f"is a log-probability, finite and at most 0, not {self.min_logprob}")
        if not 0.0 < self.max_share <= 1.0:
            raise ConfigError("max_share", f"must be above 0 and at most 1, not {self.max_share}; to release nothing leave {NAME} out")
        if self.micro_tokens < 1:
            raise ConfigError("micro_tokens", f"must be at least 1, not {self.micro_tokens}")
        if not 0.0 <= self.checkpoint_seconds < math.inf:
            raise ConfigError("checkpoint_seconds", f"must be 0 or more, not {self.checkpoint_seconds}")

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.score", f"store.space:{CARD}"})

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        return {f"store.space:{CARD}": f"leave {NAME} out: without cards there is nothing to release"}

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Release cards of the batch's trajectories.

        Returns:
            ``released`` and ``kept``: cards of the batch that went and that stayed; ``bank``: experiences left. ``mean_logprob``: over the
            batch's trajectories that have a card, each the mean of its action tokens, in nats; absent where there is none.

        Raises:
            ContractError: a trajectory carries no tokens.
        """
        cards = _by_play(agent.store)
        learned = {_play(item.task.id, played(item)): item for item in batch if item.error is None and item.steps}
        logprobs = self._logprobs({play: learned[play] for play in sorted(learned.keys() & cards.keys())}, agent)
        surest = sorted((-logprob, id) for play, logprob in logprobs.items() if logprob >= self.min_logprob for id in cards[play])
        most = math.floor(self.max_share * sum(map(len, cards.values())) + _SLACK)
        released = [id for _, id in surest[:most]]
        if released:
            agent.store.remove(released)
        kept = sum(len(cards[play]) for play in logprobs) - len(released)
        figures = {"released": float(len(released)), "kept": float(kept), "bank": float(len(agent.store))}
        return figures | ({"mean_logprob": sum(logprobs.values()) / len(logprobs)} if logprobs else {})

    def _logprobs(self, trajectories: Mapping[str, Trajectory], agent: AgentView) -> dict[str, float]:
        """Mean log-probability of an action token without experience, by play; those found before the call was cut short are not lost."""
        policy = cast(LocalPolicy, agent.policy)
        samples = {play: sample(undressed(trajectory, policy), learner=NAME) for play, trajectory in trajectories.items()}
        plays = {id(item): play for play, item in samples.items()}
        found: dict[str, float] = dict((agent.checkpoint.load() or {}).get("logprobs", {}))
        saved = time.monotonic()
        for group in micro_batches((item for item in samples.values() if item.targets), self.micro_tokens):
            names = [plays[id(item)] for item in group]
            if not found.keys() >= set(names):
                found |= zip(names, _means(group, policy), strict=True)
                agent.checkpoint.report(len(found), len(samples))
            if time.monotonic() - saved >= self.checkpoint_seconds:
                agent.checkpoint.save({"logprobs": dict(found)})
                saved = time.monotonic()
        return found


def _means(group: Sequence[Sample], policy: LocalPolicy) -> list[float]:
    """Mean log-probability of each sample's action tokens, in nats, from one forward pass."""
    with torch.no_grad():
        scores = policy.score([row for item in group for row in item.conditionings], [row for item in group for row in item.completions])
    sums = iter(scores.logprobs.double().masked_fill(~scores.mask, 0.0).sum(-1).tolist())
    return [math.fsum(islice(sums, len(item.completions))) / item.targets for item in group]


def _by_play(bank: Iterable[Experience]) -> dict[str, list[str]]:
    """Ids of the cards of each play."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for experience in bank:
        if experience.kind == "card":
            found[_play(experience.task, experience.id.rpartition("/")[2])].append(experience.id)
    return found


def _play(task: str, how: str) -> str:
    """Names a way through a task."""
    return f"{how}/{task}"
