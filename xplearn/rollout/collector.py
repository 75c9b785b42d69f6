"""Letting an agent act: many episodes in lock step, one policy call for all of them.

What an episode holds depends on its assignment alone: its environment seed and sampling keys are derived from the task and never from
the slot, the batch width or the neighbours. Both arms of a task and replica share them.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xplearn.agent import Agent, changes
from xplearn.errors import ContractError, EnvironmentDiedError
from xplearn.rollout.compact import compact
from xplearn.rollout.pool import EnvironmentPool, Start, Turn
from xplearn.seeding import Key, derive
from xplearn.types import (
    Answer,
    Arm,
    Completion,
    Conditioning,
    Message,
    Observation,
    Outcome,
    Query,
    Sampling,
    Selection,
    Step,
    Task,
    Trajectory,
)

_ATTEMPTS = 2
"""An episode whose environment died is played again once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One episode to play."""

    task: Task
    arm: Arm
    replica: int
    phase: str
    scope: tuple[Key, ...]
    """Key of the randomness: episodes with equal scope, task and replica meet the same environment and sampling noise."""
    noise: tuple[Key, ...] = ()
    """Sets the sampling noise apart from that of other episodes which meet the same environment."""

    @property
    def group(self) -> str:
        """Shared by all episodes of this task and phase."""
        return f"{self.phase}/{self.task.id}"

    @property
    def id(self) -> str:
        """Unique within a run."""
        return f"{self.group}/{self.arm}/{self.replica}"

    def seed(self, run_seed: int) -> int:
        """What the environment is reset with."""
        return derive(run_seed, "env", *self.scope, self.task.env, self.task.id, self.replica)

    def key(self, run_seed: int, step: int) -> int:
        """What the completion at a step is sampled with."""
        return derive(run_seed, "sample", *self.scope, *self.noise, self.task.env, self.task.id, self.replica, step)


def assignments(
    tasks: Sequence[Task], arms: Sequence[Arm], replicas: int, *, phase: str, scope: tuple[Key, ...], noise: tuple[Key, ...] = ()
) -> list[Assignment]:
    """Every task in every arm, replica by replica."""
    return [
        Assignment(task=task, arm=arm, replica=replica, phase=phase, scope=scope, noise=noise)
        for task in tasks
        for replica in range(replicas)
        for arm in arms
    ]


def collect(
    agent: Agent, pool: EnvironmentPool, episodes: Sequence[Assignment], *, sampling: Sampling, max_steps: int | None = None
) -> Iterator[Trajectory]:
    """Play episodes and yield each when it ends.

    Args:
        agent: who acts.
        pool: where; the episodes fill its slots in order.
        episodes: what is to be played.
        sampling: how completions are drawn.
        max_steps: cut an episode off after this many steps, on top of the environment's own limit.

    An episode whose environment dies is started again once; then it is yielded with its ``error`` set. A conversation that no longer
    fits the policy's context ends the episode as truncated.

    Raises:
        ContractError: the opening of an episode does not fit the context, or the policy answers short.
    """
    yield from _LockStep(agent, pool, sampling, max_steps).play(deque(episodes))


class _Move(NamedTuple):
    """What the agent decided at one step."""

    query: Query
    selection: Selection
    conditioning: Conditioning
    completion: Completion
    shown: Selection
    """What of the selection the policy was given."""


@dataclass(slots=True, kw_only=True)
class _Episode:
    """An episode in flight."""

    assignment: Assignment
    seed: int
    attempt: int = 1
    observation: Observation = field(default_factory=lambda: Observation(text=""))
    messages: tuple[Message, ...] = ()
    selection: Selection | None = None
    steps: list[Step] = field(default_factory=list)
    score: float = 0.0
    success: bool = False
    seconds: float = 0.0

    def begin(self, start: Start) -> None:
        self.observation, self.messages = start.observation, start.messages
        self.selection, self.steps, self.score, self.success = None, [], 0.0, False

    def query(self) -> Query:
        return Query(
            purpose="act",
            task=self.assignment.task,
            messages=self.messages,
            index=len(self.steps),
            candidates=self.observation.actions,
        )

    def take(self, move: _Move, turn: Turn, cut: bool) -> bool:
        """Append one step; whether the episode is over."""
        outcome = turn.outcome
        truncated = outcome.truncated or (cut and not outcome.terminated)
        self.steps.append(compact(self._step(move, turn.action, outcome, truncated)))
        self.observation, self.selection = outcome.observation, move.selection
        self.score = float(outcome.info.get("score", self.score))
        self.success = bool(outcome.info.get("success", False))
        self._say(move, outcome.observation.text)
        return outcome.terminated or truncated

    def hear(self, move: _Move, answer: Answer, cut: bool) -> bool:
        """Append a step that the bank answered; whether the episode is over."""
        nothing = Outcome(observation=self.observation, reward=0.0, terminated=False, truncated=cut)
        self.steps.append(compact(self._step(move._replace(shown=answer.selection), "", nothing, cut)))
        self.selection = move.selection
        self._say(move, answer.text)
        return cut

    def _say(self, move: _Move, answer: str) -> None:
        said: Message = {"role": "assistant", "content": move.completion.text}
        seen: Message = {"role": "user", "content": answer}
        self.messages = (*self.messages, said, seen)

    def _step(self, move: _Move, action: str, outcome: Outcome, truncated: bool) -> Step:
        return Step(
            query=move.query,
            selection=move.shown,
            conditioning=move.conditioning,
            completion=move.completion,
            action=action,
            reward=outcome.reward,
            terminated=outcome.terminated,
            truncated=truncated,
            valid=bool(outcome.info.get("valid", True)),
        )

    def cut_off(self) -> None:
        """Mark the last step as truncated: the conversation is full."""
        self.steps[-1] = dataclasses.replace(self.steps[-1], truncated=True)

    def trajectory(self, error: str | None = None) -> Trajectory:
        return Trajectory(
            id=self.assignment.id,
            task=self.assignment.task,
            steps=tuple(self.steps),
            arm=self.assignment.arm,
            group=self.assignment.group,
            seed=self.seed,
            source="rollout",
            score=0.0 if error else self.score,
            success=self.success and not error,
            final=self.observation.text,
            seconds=self.seconds,
            error=error,
        )


class _LockStep:
    """Episodes by slot; a free slot takes the next episode."""

    def __init__(self, agent: Agent, pool: EnvironmentPool, sampling: Sampling, max_steps: int | None) -> None:
        self._agent, self._pool, self._sampling, self._max_steps = agent, pool, sampling, max_steps
        self._live: dict[int, _Episode] = {}
        self._again: dict[int, _Episode] = {}

    def play(self, waiting: deque[Assignment]) -> Iterator[Trajectory]:
        while waiting or self._live or self._again:
            began = time.perf_counter()
            ended = list(self._start(waiting))
            ended += self._act()
            spent = time.perf_counter() - began
            playing = [*self._live.values(), *self._again.values(), *(episode for episode, _ in ended)]
            for episode in playing:
                episode.seconds += spent / len(playing)
            for episode, error in ended:
                yield episode.trajectory(error)

    def _start(self, waiting: deque[Assignment]) -> Iterator[tuple[_Episode, str | None]]:
        """Reset the slots that are free, or whose environment died."""
        starting, self._again = self._again, {}
        for slot in range(self._pool.slots):
            if waiting and slot not in self._live and slot not in starting:
                assignment = waiting.popleft()
                starting[slot] = _Episode(assignment=assignment, seed=assignment.seed(self._agent.seed))
        if not starting:
            return
        starts = self._pool.reset({slot: (episode.assignment.task, episode.seed) for slot, episode in starting.items()})
        for slot, episode in starting.items():
            start = starts[slot]
            if isinstance(start, EnvironmentDiedError):
                yield from self._died(slot, episode, start)
            else:
                episode.begin(start)
                self._live[slot] = episode

    def _act(self) -> list[tuple[_Episode, str | None]]:
        """One step of every live episode; those that ended, with the reason where they could not be played on."""
        slots = sorted(self._live)
        if not slots:
            return []
        episodes = [self._live[slot] for slot in slots]
        moves = self._decide(episodes)
        answers = {slot: answer for slot, move in zip(slots, moves, strict=True) if (answer := self._consult(move)) is not None}
        fitting = {
            slot: move.completion.text
            for slot, move in zip(slots, moves, strict=True)
            if move.completion.finish != "context" and slot not in answers
        }
        turns = self._pool.step(fitting) if fitting else {}
        ended: list[tuple[_Episode, str | None]] = []
        for slot, episode, move in zip(slots, episodes, moves, strict=True):
            turn = turns.get(slot)
            if slot in answers:
                if episode.hear(move, answers[slot], self._last(episode)):
                    ended.append((self._live.pop(slot), None))
            elif isinstance(turn, EnvironmentDiedError):
                del self._live[slot]
                ended += self._died(slot, episode, turn)
            elif turn is None:
                episode.cut_off()
                ended.append((self._live.pop(slot), None))
            elif episode.take(move, turn, self._last(episode)):
                ended.append((self._live.pop(slot), None))
        return ended

    def _decide(self, episodes: list[_Episode]) -> list[_Move]:
        agent = self._agent
        queries = [episode.query() for episode in episodes]
        arms = [episode.assignment.arm for episode in episodes]
        selections, conditionings = agent.condition(queries, arms, [episode.selection for episode in episodes])
        keys = [episode.assignment.key(agent.seed, len(episode.steps)) for episode in episodes]
        completions = agent.policy.generate(conditionings, self._sampling, keys, [query.candidates for query in queries])
        if len(completions) != len(queries):
            raise ContractError(type(agent.policy).__name__, f"returned {len(completions)} completions for {len(queries)} conditionings")
        for episode, completion in zip(episodes, completions, strict=True):
            if completion.finish == "context" and not episode.steps:
                raise ContractError(type(agent.policy).__name__, opening_too_long(episode.assignment.task, completion))
        shown = [
            selection if changes(query, conditioning) and not agent.conditioner.on_request else Selection()
            for query, selection, conditioning in zip(queries, selections, conditionings, strict=True)
        ]
        return [_Move(*parts) for parts in zip(queries, selections, conditionings, completions, shown, strict=True)]

    def _consult(self, move: _Move) -> Answer | None:
        if not move.selection.experiences or move.completion.finish == "context":
            return None
        return self._agent.conditioner.consult(move.query, move.selection, move.completion)

    def _last(self, episode: _Episode) -> bool:
        return self._max_steps is not None and len(episode.steps) + 1 >= self._max_steps

    def _died(self, slot: int, episode: _Episode, error: EnvironmentDiedError) -> Iterator[tuple[_Episode, str | None]]:
        if episode.attempt < _ATTEMPTS:
            episode.attempt += 1
            self._again[slot] = episode
        else:
            yield episode, str(error)


def opening_too_long(task: Task, completion: Completion) -> str:
    """What to say when not even the first prompt of a task fits."""
    size = f" takes {len(completion.prompt_ids)} tokens and" if completion.prompt_ids else ""
    return (
        f"the opening of task '{task.id}'{size} does not fit the context with {completion.sampling.max_new_tokens} new tokens; "
        "show less experience, raise policy.context_tokens, or take a policy with a longer context"
    )
