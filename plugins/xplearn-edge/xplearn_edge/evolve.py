"""``edge.evolve``: a bank that grows by contrasts and keeps what has proved worth showing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from xplearn import AgentView, ConfigError, Learner, RolloutPlan, Trajectory
from xplearn.endpoint import EndpointConfig
from xplearn.learning.credit import Reward
from xplearn_edge.bank import Principles
from xplearn_edge.contrasts import contrasts, shown
from xplearn_edge.expansion import Expansion
from xplearn_edge.gains import Group, gained, groups
from xplearn_edge.index import SPACES
from xplearn_edge.judging import count_uses, make_room, prune, settle
from xplearn_edge.owners import adopt, identity, latest_step, note_unsourced, require_own, seeds
from xplearn_edge.principle import Pool
from xplearn_edge.progress import Progress
from xplearn_edge.pruning import Limits
from xplearn_edge.reading import read
from xplearn_edge.utility import Window, exposure
from xplearn_edge.writers import EndpointWriter, PolicyWriter, Writer
from xplearn_edge.writing import Writing

if TYPE_CHECKING:
    from xplearn import Capability
    from xplearn.component import State


@dataclass(kw_only=True)
class EvolveLearner(Learner):
    """Writes principles from contrasts, credits each with the gain of the groups that were shown it, and drops those that hurt.

    Defaults are the paper's form [P]; fields give that of the released code [C]. A step is a call with rollouts. Only experience of the
    kind ``principle`` is managed; whatever else is in the bank stays as it is. Demonstrations teach seeds and touch no utility.
    """

    reward: Reward = "score"
    """What a trajectory is worth: final score, 1 for success, or the sum of its rewards."""
    mu: float = 0.5
    """How much of a window's mean gain replaces the utility, in (0, 1] ([P]; [C] 0.1)."""
    window: int = 5
    """Steps whose gains are averaged before the utility moves ([OURS], as in [C]); 1 with one group a step is the paper's literal form."""
    prune_below: float | None = -0.1
    """A utility strictly below this is harmful, in units of reward ([P]; [C] -0.25); empty to drop nothing."""
    min_uses: int = 0
    """Drop nothing that was shown in fewer trajectories ([P] no such rule; [C] 5)."""
    negative_windows: int = 0
    """Drop nothing whose last so many windows did not all have a negative mean gain ([P] no such rule; [C] 2)."""
    min_age: int = 0
    """Drop nothing that was made so many steps ago or less ([P] no such rule; [C] 20)."""
    capacity: int = 200
    """Principles a pool holds; beyond it those of the lowest worth go, see ``ucb`` [C]."""
    ucb: float = 0.5
    """Worth of an entry is ``U + ucb * sqrt(log(1 + N) / (1 + n))``: n its uses, N those of its pool [C]."""
    expand_below: float = 0.4
    """Principles are written for kinds of task of whose trajectories a smaller share was solved in this step ([P]; [C] 0.3)."""
    contrasts: Literal["any", "hurt"] = "any"
    """Written from a success and a failure of one group [P], or from one with experience that failed and one without that did not [C]."""
    contrasts_per_step: int = 10
    """Contrasts given to the writer at most [C]; it is asked no further once there are ``new_per_step`` principles."""
    new_per_step: int = 3
    """New principles a step at most [P]; 0 for a bank that does not grow."""
    pools: Literal["task", "both"] = "task"
    """``both``: principles on a moment within a task as well, found by goal and observation [C]."""
    writer: Literal["policy", "endpoint", "rules"] = "policy"
    """Who writes: the run's own policy as it was before training [OURS], a model behind ``endpoint`` [P], or rules without a model [OURS].
    A policy that is no language model cannot; then say ``writer: rules``. In the place of an answer of no use stands what rules write."""
    endpoint: EndpointConfig | None = None
    """The model to ask; for ``writer: endpoint``, and only then."""
    max_new_tokens: int = 512
    """Longest answer of a model on one contrast, in tokens ([OURS]; [C] 2,048 on ten together)."""
    seeds_per_kind: int = 0
    """Principles written from an expert's successful demonstrations, where a stage shows some, for each kind of task at most [OURS]."""
    other_policy: Literal["refuse", "adopt"] = "refuse"
    """What to do with principles whose utilities are gains of another policy: refuse the bank, or keep the words and let utilities and uses
    start anew [OURS]."""

    def __post_init__(self) -> None:
        if (self.endpoint is not None) != (self.writer == "endpoint"):
            given = "is given" if self.endpoint else "is missing"
            raise ConfigError("endpoint", f"{given} and writer is {self.writer}; want both, endpoint with url and model, or neither")
        least = {"window": 1, "capacity": max(1, self.new_per_step), "contrasts_per_step": 1, "max_new_tokens": 1}
        least |= dict.fromkeys(("min_uses", "negative_windows", "min_age", "new_per_step", "seeds_per_kind"), 0)
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ConfigError(name, f"must be at least {smallest}, got {getattr(self, name)}")
        if not 0.0 < self.mu <= 1.0:
            raise ConfigError("mu", f"must lie above 0 and be at most 1, got {self.mu}")
        if not 0.0 <= self.expand_below <= 1.0:
            raise ConfigError("expand_below", f"is a share in [0, 1], got {self.expand_below}")
        if self.prune_below is not None and not math.isfinite(self.prune_below):
            raise ConfigError("prune_below", f"must be finite, got {self.prune_below}; to drop nothing leave it empty")
        if not 0.0 <= self.ucb < math.inf:
            raise ConfigError("ucb", f"must be 0 or more, got {self.ucb}")
        self._bank = Principles()
        self._progress = Progress()

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"store.filled", *(f"store.space:{SPACES[pool]}" for pool in self._scopes)}) if self._grows else frozenset()

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.reference"}) if self.writer == "policy" and self._grows else frozenset()

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        return dict.fromkeys(self.requires, "record: {name: edge.evolve, writer: rules}")

    def plan(self) -> RolloutPlan:
        return RolloutPlan(arms=("experience", "plain"), source="rollout")

    def setup(self, agent: AgentView) -> None:
        """Make sure, before the first episode, that the bank fits encoder and policy, and that the endpoint's key is there.

        Raises:
            ContractError: the bank was filled with another encoder, or with the gains of another policy.
            ConfigError: the variable that should hold the key does not.
        """
        for pool in self._scopes:
            if SPACES[pool] in agent.store.spaces():
                self._open(agent, pool)
        self._asked(agent)
        if self.other_policy == "refuse" and len(agent.store) and not agent.policy.needs_corpus:
            self._bank.follow(agent.store)
            require_own(self._bank, identity(agent.policy))

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Credit what was shown, drop what hurts, write what is missing; nothing is written before all of it is known.

        Returns:
            ``gain_mean``: mean gain of the groups with both arms, in units of reward; only where there are some.
            ``groups``, ``groups_one_armed``: groups with both arms, and those left out for want of one.
            ``written``, ``merged``, ``pruned``, ``bank``, ``unsourced``, ``adopted``: principles.
            ``refused``, ``left_out``: principles, or answers as a whole, that were of no use, and usable ones beyond ``new_per_step``.
            ``unusable``: contrasts for which the rules stood in.
            ``utility_mean``, ``uses_mean``: over the bank's principles; only where there are some.

        Raises:
            ContractError: the principles' utilities are gains of another policy.
        """
        adopted, alone = self._follow(agent)
        before, found, counts = self._progress, groups(batch), Counter(adopted=adopted)
        step = (before.step or latest_step(self._bank)) + bool(found)
        window = self._judge(found, agent, step, counts) if found else before.window
        seeded = self._grow(found, batch, agent, step, counts)
        counts["pruned"] += make_room(self._bank, agent, capacity=self.capacity, ucb=self.ucb, step=step)
        self._bank.write(agent.store, agent.encoder)
        self._progress = Progress(step=step, window=window, seeded=seeded, unsourced=alone)
        named = ("written", "merged", "refused", "unusable", "left_out", "pruned", "adopted")
        return {**gained(found, self.reward), **{name: float(counts[name]) for name in named}, **self._size(alone)}

    def state_dict(self) -> State:
        return self._progress.state()

    def load_state_dict(self, state: State) -> None:
        self._progress = Progress.of(state)

    def close(self) -> None:
        self._bank = Principles()

    # One step

    @property
    def _grows(self) -> bool:
        return bool(self.new_per_step or self.seeds_per_kind)

    @property
    def _scopes(self) -> tuple[Pool, ...]:
        return ("task", "step") if self.pools == "both" else ("task",)

    @property
    def _limits(self) -> Limits:
        return Limits(below=self.prune_below, min_uses=self.min_uses, negative_windows=self.negative_windows, min_age=self.min_age)

    def _open(self, agent: AgentView, pool: Pool) -> None:
        agent.store.open_space(SPACES[pool], encoder=agent.encoder.id, dim=agent.encoder.dim)

    def _follow(self, agent: AgentView) -> tuple[int, tuple[str, ...]]:
        """See the bank as it is; how many principles were adopted from another policy, and those that nobody knows the origin of."""
        for pool in self._scopes:
            self._open(agent, pool)
        if not self._bank.follow(agent.store):
            return 0, self._progress.unsourced
        if self.other_policy == "refuse":
            require_own(self._bank, identity(agent.policy))
        adopted = adopt(self._bank, agent)
        return adopted, note_unsourced(self._bank, self._progress.unsourced, agent)

    def _judge(self, found: Sequence[Group], agent: AgentView, step: int, counts: Counter[str]) -> Window:
        """Credit what was shown; at the end of a window move utilities and drop what is harmful. The window from here on."""
        seen = exposure(found, self.reward)
        count_uses(self._bank, seen, step)
        window = self._progress.window.with_step(seen.gains)
        if window.steps < self.window:
            return window
        settle(self._bank, window, agent, mu=self.mu, policy=identity(agent.policy))
        counts["pruned"] += prune(self._bank, self._limits, agent, step=step)
        return Window()

    def _grow(
        self, found: Sequence[Group], batch: Sequence[Trajectory], agent: AgentView, step: int, counts: Counter[str]
    ) -> dict[str, int]:
        """Have written what is missing; how many seeds each kind of task has from here on."""
        grows = self.new_per_step and any(group.experience for group in found)  # once the scaffold is gone, nobody is shown more
        told = contrasts(found, below=self.expand_below, which=self.contrasts, limit=self.contrasts_per_step) if grows else []
        shows = shown(batch) if self.seeds_per_kind else {}
        seeded = dict(self._progress.seeded)
        if not told and not shows:
            return seeded
        writing = Writing(agent, self._asked(agent), self.writer, self._scopes)
        expansion = Expansion(self._bank, writing, agent, step=step, policy=identity(agent.policy))
        for kind, ways in shows.items():
            known = max(seeded.get(kind, 0), seeds(self._bank, kind))
            grown = expansion.grow(ways[: self.contrasts_per_step], self.seeds_per_kind - known, seed=True)
            seeded[kind] = known + grown
        expansion.grow(told, self.new_per_step)
        expansion.tell()
        counts.update(expansion.counts)
        return seeded

    def _asked(self, agent: AgentView) -> Writer | None:
        """Who is asked; None where the rules write."""
        if self.endpoint is not None:
            usable = lambda answer: bool(read(answer, self._scopes).principles)  # noqa: E731 - one line, one use
            return EndpointWriter(self.endpoint, max_new_tokens=self.max_new_tokens, usable=usable)
        return PolicyWriter(agent, max_new_tokens=self.max_new_tokens) if self.writer == "policy" else None

    def _size(self, alone: Sequence[str]) -> dict[str, float]:
        held = len(self._bank)
        figures = {"bank": float(held), "unsourced": float(sum(id in self._bank for id in alone))}
        if not held:
            return figures
        return figures | {
            "utility_mean": math.fsum(entry.utility for entry in self._bank) / held,
            "uses_mean": sum(entry.uses for entry in self._bank) / held,
        }
