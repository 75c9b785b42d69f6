"""``baselines.eto``: clone the expert, then learn from where one's own trajectories fall short of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from xplearn import AgentView, Capability, ContractError, LocalPolicy, PluginError, RolloutPlan, Trajectory
from xplearn.learning import optim
from xplearn.learning.clone import CloneLearner
from xplearn_baselines.dpo_config import DpoConfig
from xplearn_baselines.pairs import NAME, Line, Pair, line, pairs


@dataclass(kw_only=True)
class EtoLearner(CloneLearner):
    """ETO (Song et al. 2024): behaviour cloning in the first round of a stage, DPO on failure and success in every later one.

    In a later round the policy's own rollouts stand beside the expert's demonstration of the same episode. The better trajectory wins,
    usually the expert's, and TRL's ``DPOTrainer`` moves the log-probability of all its action tokens away from the loser's. The
    reference is the policy that played. Fields but ``dpo`` are those of cloning; ``max_grad_norm``, ``weight_decay`` and
    ``checkpoint_seconds`` hold in both phases. Where TRL is not installed there is no such learner: a ``PluginError`` says what to type.
    """

    arms: Literal["experience", "plain", "both"] = "plain"
    """Arms that are cloned, played and compared, each within itself; the paper has no experience."""
    batch: int = 64
    """Demonstrations per optimiser step of cloning [C]."""
    lr: float = 2e-5
    """Peak learning rate of cloning [C]; for every weight, see ``dpo``."""
    schedule: Literal["linear", "cosine", "constant"] = "cosine"
    """How the learning rate of cloning falls after the warm-up [C]."""
    dpo: DpoConfig = field(default_factory=DpoConfig)
    """Learning from pairs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if importlib.util.find_spec("trl") is None:
            raise PluginError("baselines", f"'{NAME}' needs the package 'trl': pip install 'xplearn-baselines[torch]'")

    @property
    def provides(self) -> frozenset[Capability]:
        """Nothing that latent memory could be trained by: DPO reads tokens alone."""
        return frozenset()

    @property
    def requires(self) -> frozenset[Capability]:
        return super().requires | {"policy.pretrained"}

    def plan(self) -> RolloutPlan:
        return replace(super().plan(), source="both", rollouts_from=1)

    def forward_tokens(self, trajectory: int) -> int:
        """As cloning, or a pair of trajectories, which DPO reads together however long they are."""
        return max(super().forward_tokens(trajectory), 2 * trajectory)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Clone the demonstrations of the batch in round 0 of a stage, learn from its pairs in every other.

        Returns:
            In round 0 what cloning returns. Else ``pairs``, ``own_wins`` (pairs that the expert loses), ``left_out`` (pairs that are no
            sequence of tokens) and ``steps``; with steps also ``loss_first``, ``loss_last``, ``reward_margin`` and ``reward_accuracy``
            of the last step (TRL's: β times the difference of log-ratios, and the share of pairs where it is above 0).

        Raises:
            ContractError: the loss is not finite (the weights are then what they were before), the policy has nothing to train, or a
                trajectory cannot be read.
        """
        if agent.position[1] == 0:
            return super().learn([item for item in batch if item.source == "demonstration"], agent)
        found = pairs(batch, margin=self.dpo.margin)
        policy = cast(LocalPolicy, agent.policy)
        read = _lines(found, policy)
        own_wins = sum(pair.winner.source == "rollout" for pair in found)
        figures = {"pairs": float(len(found)), "own_wins": float(own_wins), "left_out": float(len(found) - len(read)), "steps": 0.0}
        return figures | (self._prefer(read, policy, agent) if read else {})

    def _prefer(self, read: Sequence[tuple[Line, Line]], policy: LocalPolicy, agent: AgentView) -> dict[str, float]:
        from xplearn_baselines.preferring import Preferring

        parameters = dict(policy.parameters())
        if not parameters:
            raise ContractError(NAME, "the policy has nothing to train; give it an adapter, e.g. policy.lora.rank=16")
        with optim.all_or_nothing(parameters), policy.training():
            return Preferring(settings=self, dpo=self.dpo, agent=agent, policy=policy, parameters=parameters, pairs=read).run()


def _lines(found: Sequence[Pair], policy: LocalPolicy) -> list[tuple[Line, Line]]:
    """Winner and loser of each pair as token sequences; pairs without are left out."""
    read = [(line(pair.winner, policy), line(pair.loser, policy)) for pair in found]
    return [(winner, loser) for winner, loser in read if winner is not None and loser is not None]
