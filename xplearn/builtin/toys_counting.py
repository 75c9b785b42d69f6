"""The toy environment ``core.counting``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.errors import ConfigError, ContractError, DataError
from xplearn.interfaces import Environment
from xplearn.types import Observation, Outcome, Task, Trajectory

NAME = "core.counting"
_SPLITS = ("train", "dev", "test")
_STEP = {"up": 1, "down": -1}


@dataclass(kw_only=True)
class Counting(Environment):
    """Say the next number. An episode lasts ``length`` turns; its score is the share of right answers.

    Tasks of the kind ``up`` and ``down`` alternate; every task starts at a number of its own, so the splits are disjoint.
    """

    size: int = 20
    """Tasks in each split."""
    length: int = 5
    """Turns of an episode."""

    def __post_init__(self) -> None:
        for name in ("size", "length"):
            if getattr(self, name) < 1:
                raise ConfigError(name, f"is {getattr(self, name)}, want at least 1")
        self._turn = self.length
        self._right = 0
        self._number, self._by = 0, 1

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"env.replay", "env.actions", "env.demos"})

    @property
    def version(self) -> str:
        return f"counting 1, {self.length} turns"

    @property
    def instructions(self) -> str:
        return "You see a number. Answer with the number that comes next, and nothing else."

    def splits(self) -> tuple[str, ...]:
        return _SPLITS

    def tasks(self, split: str) -> Sequence[Task]:
        if split not in _SPLITS:
            raise ConfigError("split", f"no split is called '{split}' (known: {', '.join(_SPLITS)})")
        return [self._task(split, index) for index in range(self.size)]

    def reset(self, task: Task, *, seed: int) -> Observation:
        start = task.meta.get("start")
        if task.env != NAME or task.kind not in _STEP or not isinstance(start, int):
            raise DataError(task.id, f"is not a task of {NAME}")
        self._number, self._by = start, _STEP[task.kind]
        self._turn = self._right = 0
        return self._observed()

    def step(self, action: str) -> Outcome:
        if self._turn == self.length:
            raise ContractError(NAME, "no episode is in progress; call reset")
        right = action.strip() == str(self._number + self._by)
        self._turn, self._right = self._turn + 1, self._right + right
        self._number += self._by
        done = self._turn == self.length
        valid = action.strip().removeprefix("-").isdigit()
        info = {"valid": valid, "score": self._right / self.length, "success": done and self._right == self.length}
        return Outcome(observation=self._observed(), reward=right / self.length, terminated=done, truncated=False, info=info)

    def admissible(self) -> tuple[str, ...]:
        return tuple(str(self._number + difference) for difference in (-1, 0, 1))

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        start, by = task.meta["start"], _STEP[task.kind]
        return self.replay(task, [str(start + by * turn) for turn in range(1, self.length + 1)], seed=seed)

    def _observed(self) -> Observation:
        return Observation(text=str(self._number), actions=self.admissible() if self.listing else None)

    def _task(self, split: str, index: int) -> Task:
        kind = "down" if index % 2 else "up"
        start = 10 * (_SPLITS.index(split) * self.size + index + 1)
        return Task(id=f"{split}/{index}", env=NAME, split=split, goal=f"Count {kind} from {start}.", kind=kind, meta={"start": start})
