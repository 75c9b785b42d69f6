"""Tasks behind text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from xplearn.component import Component
from xplearn.types import (
    Completion,
    Conditioning,
    Message,
    Observation,
    Outcome,
    Query,
    Selection,
    Source,
    Step,
    Task,
    Trajectory,
)


class Environment(Component):
    """A family of tasks behind text. One instance, one episode at a time. Same task and seed: same episode.

    Provides ``env.replay`` (deterministic), and as they apply ``env.actions``, ``env.demos``, ``env.ranking``, ``env.pages``.
    """

    listing: bool = True
    """Whether ``reset`` and ``step`` fill ``Observation.actions``. Set by whoever plays: listing can cost more than the step."""

    def admissible(self) -> tuple[str, ...]:
        """The admissible actions now, on demand (capability ``env.actions``)."""
        raise NotImplementedError(f"{type(self).__name__} does not list its actions")

    def page(self) -> str:
        """The current observation as a whole HTML document (capability ``env.pages``).

        All text in it is escaped and nothing is fetched. Its forms post to ``/act``: ``action``, or ``text`` with a ``template`` that
        has one ``%s`` in the text's place.
        """
        raise NotImplementedError(f"{type(self).__name__} has no pages")

    @property
    @abstractmethod
    def version(self) -> str:
        """Environment version + action grammar + data digest: stamped on every result."""

    @property
    @abstractmethod
    def instructions(self) -> str:
        """What the policy is told once, as the system message: how to act here."""

    @abstractmethod
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, training first."""

    @abstractmethod
    def tasks(self, split: str) -> Sequence[Task]:
        """All tasks of a split, in the official order. An unknown split raises ``ConfigError`` naming the known ones."""

    @abstractmethod
    def reset(self, task: Task, *, seed: int) -> Observation:
        """Start an episode. A task that does not exist here raises ``DataError``."""

    @abstractmethod
    def step(self, action: str) -> Outcome:
        """Take one action: any string, never an exception for a bad one (``info["valid"]`` is then False).

        After the end, and before ``reset``, raises ``ContractError``. ``info["score"]`` is the score so far in [0, 1] and
        ``info["success"]`` says whether the task is solved.

        Raises:
            EnvironmentDiedError: the machinery underneath is gone or hangs; ``reset`` starts anew.
        """

    def parse(self, completion: str) -> str:
        """The action in a completion: its first non-empty line, stripped."""
        for line in completion.splitlines():
            if line.strip():
                return line.strip()
        return ""

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """How an expert solves the task (capability ``env.demos``). An episode in progress is over afterwards."""
        raise NotImplementedError(f"{type(self).__name__} has no demonstrations")

    def opening(self, task: Task, observation: Observation) -> tuple[Message, ...]:
        """The conversation before the first action: instructions, then task and first observation."""
        return (
            {"role": "system", "content": self.instructions},
            {"role": "user", "content": f"Task: {task.goal}\n\n{observation.text}"},
        )

    def replay(self, task: Task, actions: Iterable[str], *, seed: int, source: Source = "demonstration") -> Trajectory:
        """Play given actions until the episode ends, as a trajectory without tokens or experience."""
        observation = self.reset(task, seed=seed)
        messages = self.opening(task, observation)
        steps: list[Step] = []
        outcome: Outcome | None = None
        for index, action in enumerate(actions):
            outcome = self.step(action)
            query = Query(purpose="act", task=task, messages=messages, index=index, candidates=observation.actions)
            steps.append(_bare_step(query, action, outcome))
            observation = outcome.observation
            messages = (*messages, {"role": "assistant", "content": action}, {"role": "user", "content": observation.text})
            if outcome.terminated or outcome.truncated:
                break
        return Trajectory(
            id=f"{source}/{task.id}",
            task=task,
            steps=tuple(steps),
            arm="plain",
            group=task.id,
            seed=seed,
            source=source,
            score=float(outcome.info.get("score", 0.0)) if outcome else 0.0,
            success=bool(outcome.info.get("success", False)) if outcome else False,
            final=observation.text,
        )


def _bare_step(query: Query, action: str, outcome: Outcome) -> Step:
    return Step(
        query=query,
        selection=Selection(),
        conditioning=Conditioning(messages=query.messages),
        completion=Completion(text=action),
        action=action,
        reward=outcome.reward,
        terminated=outcome.terminated,
        truncated=outcome.truncated,
        valid=bool(outcome.info.get("valid", True)),
    )
