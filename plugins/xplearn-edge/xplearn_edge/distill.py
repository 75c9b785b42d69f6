"""``edge.distill``: experience guides exploration and is distilled into the weights, until it is taken away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

from xplearn import AgentView, Capability, ConfigError, LocalPolicy, RolloutPlan, Trajectory
from xplearn.learning.advantage import mean
from xplearn.learning.credit import Reward
from xplearn.learning.drawn import Drawn
from xplearn.learning.grpo import GrpoLearner
from xplearn_edge.gains import Group, gained, groups
from xplearn_edge.objective import DistillSurrogate, Divergence
from xplearn_edge.schedule import Schedule, factor
from xplearn_edge.teacher import Lesson, lessons
from xplearn_edge.weights import Gain, Weight, step_weights

State = Mapping[str, Any]


@dataclass(kw_only=True)
class DistillLearner(GrpoLearner):
    """GRPO over both arms, and the policy with experience as teacher of the policy without [P].

    Half of each group is played with experience. Where that half did better, its trajectories count in the policy gradient, and the other
    half, the students, are drawn towards what the same weights say with the experience in front of them. Where it did not, what remains is
    plain GRPO on the students, to the digit. After ``scaffold_steps`` all of a group are students.
    """

    coefficient: float = 0.1
    """Lambda: weight of the distillation [P]; the released scripts say 1.0 [C]."""
    rkl: Divergence = "sampled"
    """How the reverse KL divergence is taken: by the score function at the drawn tokens [C], over the teacher's ``top_k`` likeliest, both
    renormalised [C], or over everything that could have been drawn [OURS]."""
    top_k: int = 20
    """Tokens that ``rkl: teacher_topk`` compares [C]."""
    gain: Gain = "trajectory"
    """What opens the distillation: the group's gain [P], or a better end from the same observation [C]."""
    weight: Weight = "gate"
    """What a student's step weighs in the distillation: 1 where there is a gain [P], or the gain itself [C]."""
    gate_rl: bool = True
    """Leave trajectories with experience out of the policy gradient where the group did not gain [P]; false: always in, as in the
    released code [C]."""
    average: Literal["token", "trajectory"] = "token"
    """The divergence's mean over the tokens that are taught [C], or its sum over each trajectory's and mean over trajectories [P]."""
    scaffold_steps: int | None = 100
    """Rounds in which half of each group has experience [C: 100 of 200]; null: always."""
    schedule: Schedule = "constant"
    """How ``coefficient`` goes down meanwhile [OURS]."""

    arms: ClassVar[Literal["experience", "plain", "both"]] = "both"  # type: ignore[misc]
    lr: float = 1e-6
    """Peak learning rate [C]."""
    betas: list[float] = field(default_factory=lambda: [0.9, 0.999])
    """Decay of AdamW's two moments [L]."""
    weight_decay: float = 0.01
    """Of matrices, per unit of learning rate [L]."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm [C]."""
    beta: float = 0.0
    """Weight of the KL divergence from the policy before any training [C: off]."""
    invalid_penalty: float = 0.1
    """Taken off the return of a step that the environment did not understand [C]."""
    dual_clip: float | None = 3.0
    """A ratio has no pull beyond this times a negative advantage [C]."""

    name: ClassVar[str] = "edge.distill"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.coefficient < math.inf:
            raise ConfigError("coefficient", f"must be 0 or more, not {self.coefficient}; 0 leaves GRPO with the gate")
        if self.top_k < 2:
            raise ConfigError(
                "top_k", f"must be at least 2, not {self.top_k}: renormalised over one token, policy and teacher always agree"
            )
        if self.scaffold_steps is not None and self.scaffold_steps < 1:
            raise ConfigError("scaffold_steps", f"must be at least 1, not {self.scaffold_steps}; without any scaffold: core.grpo")
        if self.schedule != "constant" and self.scaffold_steps is None:
            raise ConfigError("schedule", f"is {self.schedule}, and scaffold_steps=null never ends; give it an end, or say constant")
        self._rounds = 0
        self._groups: list[Group] = []
        self._lessons: Mapping[str, Lesson] = {}

    @property
    def requires(self) -> frozenset[Capability]:
        wide = {"policy.distribution"} if self.rkl != "sampled" and self.coefficient else set()
        return super().requires | {"conditioner.shows", "selector.selects"} | wide

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        plain = "learner: {name: core.grpo, arms: plain}, which needs no experience"
        wide = {"policy.distribution": "learner: {name: edge.distill, rkl: sampled}"}
        return {**super().ways_out, **wide, "conditioner.shows": plain, "selector.selects": "selector: edge.retrieve"}

    def plan(self) -> RolloutPlan:
        return replace(super().plan(), plain_from=self.scaffold_steps)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Learn from the groups of the batch, as ``core.grpo`` does.

        Returns:
            Its figures, ``gained`` by the groups while the scaffold stands and the share ``gate_open``, ``taught`` (tokens that the teacher
            was asked about), ``divergence`` (nats at each of them) and ``coefficient``.

        Raises:
            ContractError: as ``core.grpo``.
        """
        self._groups, self._lessons = groups(batch), {}
        figures = dict(super().learn(batch, agent))
        share, total = figures.pop("taught", 0.0), figures.pop("divergence", 0.0)
        taught = sum(lesson.teacher.tokens for lesson in self._lessons.values())
        told = {"taught": float(taught), "divergence": total / share if share else 0.0, "coefficient": self._coefficient}
        standing = self._groups if self._scaffolded else []
        self._rounds += 1
        return {**figures, **gained(standing, self.reward), **gate(standing, self.reward), **told}

    def admitted(self, usable: Sequence[Trajectory]) -> list[Trajectory]:
        """All students, and the teachers of groups that gained."""
        if not self.gate_rl:
            return list(usable)
        gains = {group.id: group.gain(self.reward) for group in self._groups}
        return [item for item in usable if item.arm == "plain" or (gains.get(item.group) or 0.0) > 0]

    def objective(self, items: Sequence[Drawn], policy: LocalPolicy, agent: AgentView) -> DistillSurrogate:
        plain = super().objective(items, policy, agent)
        if self._coefficient:
            weights = step_weights(self._groups, gain=self.gain, weight=self.weight, reward=self.reward)
            self._lessons = lessons(items, weights, self._groups, agent, policy)
        return DistillSurrogate(
            **{item.name: getattr(plain, item.name) for item in fields(plain)},
            policy=policy,
            lessons=self._lessons,
            coefficient=self._coefficient,
            rkl=self.rkl,
            top_k=self.top_k,
            reduction=self.average,
            micro_tokens=self.micro_tokens,
        )

    def state_dict(self) -> State:
        """As ``core.grpo``, and how many rounds there were."""
        return {"rounds": self._rounds, **super().state_dict()} if self._rounds else {}

    def load_state_dict(self, state: State) -> None:
        self._rounds = int(state.get("rounds", 0))
        super().load_state_dict({name: value for name, value in state.items() if name != "rounds"})

    @property
    def _scaffolded(self) -> bool:
        return self.scaffold_steps is None or self._rounds < self.scaffold_steps

    @property
    def _coefficient(self) -> float:
        """Of the round under way."""
        return self.coefficient * factor(self.schedule, self._rounds, self.scaffold_steps)


def gate(found: Sequence[Group], reward: Reward) -> dict[str, float]:
    """``gate_open``: share of the groups with both arms that gained; nothing where there are none."""
    gains = [gain for group in found if (gain := group.gain(reward)) is not None]
    return {"gate_open": mean([float(gain > 0) for gain in gains])} if gains else {}
