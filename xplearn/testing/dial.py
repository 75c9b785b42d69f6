"""A plugin that learns without torch: a policy of one number, and learners that turn it. For tests of whole experiments."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xplearn.component import State
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import AgentView, Learner, LocalPolicy, RolloutPlan, TokenScores
from xplearn.interfaces.policy import AllChoices
from xplearn.plugins import Plugins
from xplearn.registry import PluginRegistry
from xplearn.seeding import derive
from xplearn.types import Completion, Conditioning, Sampling, Trajectory

EXPERIENCED = 30
"""Percent that a shown experience adds to the skill."""


@dataclass(kw_only=True)
class DialPolicy(LocalPolicy):
    """Takes the last admissible action with a probability of its skill, else any: as keyed as a model, and as trainable."""

    skill: int = 20
    """Percent, before any training."""
    milliseconds: float = 0.0
    """Time a step takes."""

    def __post_init__(self) -> None:
        self.now = self.skill

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"policy.train", "policy.keyed"})

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({"env.actions"})

    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        time.sleep(self.milliseconds / 1000.0)
        rows = choices or [None] * len(keys)
        return [self._complete(*row, sampling) for row in zip(conditionings, keys, rows, strict=True)]

    def _complete(self, conditioning: Conditioning, key: int, choices: tuple[str, ...] | None, sampling: Sampling) -> Completion:
        text = "\n".join(message["content"] for message in conditioning.messages)
        skill = self.now + EXPERIENCED * ("Related experience" in text)
        actions = choices or ("wait",)
        chosen = actions[-1] if derive(key, "skill") % 100 < skill else actions[derive(key, "any") % len(actions)]
        prompt = tuple(text.encode("utf-8", "replace"))
        return Completion(text=chosen, prompt_ids=prompt, token_ids=tuple(chosen.encode()), sampling=sampling, policy_version=self.version)

    def score(
        self,
        conditionings: Sequence[Conditioning],
        completions: Sequence[Completion],
        choices: AllChoices | None = None,
        *,
        support: Sequence[Any] | None = None,
    ) -> TokenScores:
        raise NotImplementedError

    def transcribe(self, conditionings: Sequence[Conditioning], texts: Sequence[str]) -> list[Completion]:
        raise NotImplementedError

    def rank(self, conditionings: Sequence[Conditioning], candidates: Sequence[tuple[str, ...]]) -> list[tuple[float, ...]]:
        raise NotImplementedError

    def encode(self, texts: Sequence[str], *, as_turn: bool = False) -> Any:
        raise NotImplementedError

    def attach(self, adapter: Any) -> None:
        raise NotImplementedError

    def parameters(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    @contextlib.contextmanager
    def _training(self) -> Iterator[None]:
        yield
        self.version += 1

    def training(self) -> AbstractContextManager[None]:
        return self._training()

    def reference(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def save(self, folder: Path) -> None:
        (folder / "dial.json").write_text(json.dumps(self.now))

    def load(self, folder: Path) -> None:
        self.now = json.loads((folder / "dial.json").read_text())


@dataclass(kw_only=True)
class TurnLearner(Learner):
    """Turns the dial up, a little for each trajectory, keeping its progress as a long training would."""

    source: Literal["rollout", "demonstration", "both"] = "rollout"
    """What it learns from."""
    rollouts_from: int = 0
    """Round of a stage in which rollouts join the demonstrations, with ``both``."""
    arms: list[Literal["plain", "experience"]] = field(default_factory=lambda: ["experience"])
    """Arms it asks for."""
    replicas: int = 1
    """Trajectories per task and arm."""
    milliseconds: float = 0.0
    """Time a trajectory takes."""

    def __post_init__(self) -> None:
        self._seen: list[str] = []

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({"policy.train"})

    def plan(self) -> RolloutPlan:
        return RolloutPlan(source=self.source, rollouts_from=self.rollouts_from, arms=tuple(self.arms), replicas=self.replicas)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        policy = agent.policy
        assert isinstance(policy, DialPolicy)
        progress = agent.checkpoint.load() or {"done": 0, "turned": 0}
        done, turned = progress["done"], progress["turned"]
        for number, trajectory in enumerate(batch[done:], start=done + 1):
            time.sleep(self.milliseconds / 1000.0)
            turned += 1 + derive(agent.seed, trajectory.id, len(trajectory.steps), policy.now) % 3
            agent.checkpoint.save({"done": number, "turned": turned})
            agent.checkpoint.report(number, len(batch), turned=turned)
        with policy.training():
            policy.now += turned
        self._seen += [trajectory.id for trajectory in batch]
        return {"turned": float(turned), "batch": float(len(batch)), "seen": float(len(self._seen))}

    def state_dict(self) -> State:
        return {"seen": self._seen}

    def load_state_dict(self, state: State) -> None:
        self._seen = list(state["seen"])


class DialPlugin:
    """The plugin ``dial``: ``dial.policy`` and ``dial.turn``."""

    @hookimpl
    def xplearn_register(self, registry: PluginRegistry) -> None:
        """Register both."""
        registry.add("policy", "policy", "xplearn.testing.dial:DialPolicy")
        registry.add("learner", "turn", "xplearn.testing.dial:TurnLearner")


def dial_plugins() -> Plugins:
    """The installed plugins and ``dial``."""
    plugins = Plugins().discover()
    plugins.add("dial", DialPlugin())
    return plugins
