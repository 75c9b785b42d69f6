"""``baselines.agent_tuning``: behaviour cloning that keeps talking about other things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from xplearn import AgentView, ConfigError, LocalPolicy, Trajectory, derive
from xplearn.learning.clone import CloneLearner
from xplearn_baselines.general import EXAMPLE, Conversation, demonstration, draw, read

NAME = "baselines.agent_tuning"


@dataclass(kw_only=True)
class AgentTuningLearner(CloneLearner):
    """AgentTuning (Zeng et al. 2023): cloning of demonstrations mixed with general conversations, loss on the assistant's tokens alone.

    The share counts conversations, a trajectory being one. General ones are drawn anew for each round, each once before any a second
    time. The other fields are those of cloning: the paper trains every weight of larger models, its rates are not ours.
    """

    arms: Literal["experience", "plain", "both"] = "plain"
    """Arms of the demonstrations; the paper has no experience, and general conversations never have any."""
    general_share: float = 0.8
    """Share of general conversations among all, in [0, 1) [P]: the paper's 1 - η, with η = 0.2."""
    general: str = ""
    """Path of a JSONL file of ``{"messages": [{"role": …, "content": …}, …]}``; empty for 60 short conversations of our own [OURS]: the
    paper's come from ShareGPT."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.general_share < 1:
            raise ConfigError("general_share", f"must lie in [0, 1), not {self.general_share}")
        if self.general and not Path(self.general).expanduser().is_file():
            raise ConfigError("general", f"there is no file '{self.general}'; give a JSONL file of {EXAMPLE}, or leave 'general' out")
        self._conversations: list[Conversation] = []

    def setup(self, agent: AgentView) -> None:
        """Read the general conversations.

        Raises:
            DataError: they cannot be read; with the line.
        """
        self._known()

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Clone what ``core.clone`` would of the batch, and general conversations beside it.

        Returns:
            The figures of cloning over both, and ``general``: how many of the trajectories were general conversations.

        Raises:
            ContractError: as ``core.clone``.
        """
        arms = self.plan().arms
        usable = [item for item in batch if item.error is None and item.arm in arms and item.score >= self.min_score and item.steps]
        count = round(len(usable) * self.general_share / (1 - self.general_share))
        numbers = draw(len(self._known()), count, derive(agent.seed, NAME, *agent.position))
        return {**super().learn([*usable, *self._demonstrations(numbers, agent)], agent), "general": float(count)}

    def _demonstrations(self, numbers: Sequence[int], agent: AgentView) -> list[Trajectory]:
        policy, arm, known = cast(LocalPolicy, agent.policy), self.plan().arms[-1], self._known()
        made = {number: demonstration(known[number], policy, arm=arm, name=f"general/{number}") for number in dict.fromkeys(numbers)}
        return [made[number] for number in numbers]

    def _known(self) -> list[Conversation]:
        if not self._conversations:
            self._conversations = read(self.general)
        return self._conversations
