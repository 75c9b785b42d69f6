"""Phases: playing or showing a set of episodes, each recorded when it ends and skipped when it already was."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from types import TracebackType

from xplearn.errors import ConfigError, ContractError, EnvironmentDiedError
from xplearn.experiment.build import sampling
from xplearn.experiment.context import Context
from xplearn.experiment.crowded import Crowd
from xplearn.experiment.pools import Pools
from xplearn.experiment.shared.shelf import Shelf, demonstrations, rollouts
from xplearn.experiment.stream import Stage, in_turn, require_known, stages, take
from xplearn.interfaces import RolloutPlan
from xplearn.metrics.scores import episode_result, training_phase
from xplearn.rollout.collector import Assignment, assignments, collect
from xplearn.rollout.pool import EnvironmentPool
from xplearn.schema import EnvSpec, Experiment
from xplearn.seeding import Key
from xplearn.types import Sampling, Task, Trajectory

_HOPELESS = 8
"""A phase whose first episodes all die is given up after this many."""


class Recording:
    """The open record of one phase. Episodes that died are held back until one has lived: if none does, the run ends instead."""

    def __init__(self, run: Context, phase: str, total: int) -> None:
        self._run, self._phase, self._total = run, phase, total
        self._alive = bool(run.writer.done(phase))
        self._dead: list[Trajectory] = []
        self._scores: list[float] = []
        self._crowd = Crowd(run, total)

    def __enter__(self) -> Recording:
        self._run.observer.phase_start(self._phase, self._total)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run.observer.phase_end()
        self._crowd.tell(self._phase)
        if error is None and self._dead:
            self._give_up()

    def add(self, trajectory: Trajectory) -> None:
        """Record one episode.

        Raises:
            EnvironmentDiedError: nothing but dead episodes so far, and enough of them.
        """
        if trajectory.error is None:
            self._alive = True
        self._dead.append(trajectory)
        if self._alive:
            for waiting in self._dead:
                self._record(waiting)
            self._dead.clear()
        elif len(self._dead) >= _HOPELESS:
            self._give_up()

    def _record(self, trajectory: Trajectory) -> None:
        result = episode_result(trajectory, self._phase)
        self._run.writer.episode(trajectory, result)
        self._run.hooks("xplearn_episode_end", result=result)
        self._scores.append(result.score)
        self._crowd.add(result)
        figure = "expert_score" if trajectory.source == "demonstration" else "score"
        self._run.observer.advance(1, **{figure: 100.0 * sum(self._scores) / len(self._scores)})

    def _give_up(self) -> None:
        dead = self._dead[0]
        raise EnvironmentDiedError(dead.task.env, f"every episode of {self._phase} died, the first one so: {dead.error}")


def play(run: Context, spec: EnvSpec, episodes: Sequence[Assignment], how: Sampling) -> None:
    """Play the episodes of one phase that are neither recorded yet nor shared."""
    missing = _missing(run, episodes)
    if not missing:
        return
    shelf = rollouts(run, spec, missing, how)
    with Recording(run, missing[0].phase, len(missing)) as recording:
        left = _left(recording, shelf, missing)
        steps = run.experiment.run.max_steps
        for trajectory in collect(run.agent, run.pools.open(spec), left, sampling=how, max_steps=steps) if left else ():
            recording.add(trajectory)
            shelf.leave(trajectory.id, trajectory)


def _missing(run: Context, episodes: Sequence[Assignment]) -> list[Assignment]:
    done = run.writer.done(episodes[0].phase) if episodes else frozenset()
    return [episode for episode in episodes if episode.id not in done]


def _left(recording: Recording, shelf: Shelf, episodes: Sequence[Assignment]) -> list[Assignment]:
    """Record what the shelf has; the rest."""
    left = []
    for episode in episodes:
        found = shelf.take(episode)
        if found is None:
            left.append(episode)
        else:
            recording.add(found)
    return left


def gather(run: Context, stage: Stage, round: int) -> list[Trajectory]:
    """The trajectories one round learns from: the expert's bare demonstrations, shown once a stage, and rollouts with the bank so far."""
    plan = run.parts.plan_of(stage, round)
    batch = _demonstrations(run, stage, plan) if plan.shows else []
    if plan.plays(round):
        batch += _rollouts(run, stage, round, plan)
    if plan.needs_logprobs:
        _require_logprobs(run, batch, plan)
    return batch


def _demonstrations(run: Context, stage: Stage, plan: RolloutPlan) -> list[Trajectory]:
    phase = training_phase(stage.index, 0) if plan.source == "demonstration" else f"shown/{stage.index}"
    tasks = training_tasks(run.pools, stage)
    episodes = assignments(tasks, ["plain"], 1, phase=phase, scope=_opening(stage))
    _show(run, stage.config.env, episodes)
    return run.recorded(phase, [episode.id for episode in episodes])


def _rollouts(run: Context, stage: Stage, round: int, plan: RolloutPlan) -> list[Trajectory]:
    """Rollouts of their own episodes; beside demonstrations of the episodes that the expert met, with the round's own sampling noise."""
    phase = training_phase(stage.index, round)
    scope, noise = (_opening(stage), (round,)) if plan.shows else (("train", stage.index, round), ())
    tasks = in_turn(training_tasks(run.pools, stage), stage.config.per_round, round, run.agent.seed, "round", stage.index)
    episodes = assignments(tasks, plan.arms, plan.replicas, phase=phase, scope=scope, noise=noise)
    play(run, stage.config.env, episodes, sampling(run.experiment.sampling))
    return run.recorded(phase, [episode.id for episode in episodes])


def _opening(stage: Stage) -> tuple[Key, ...]:
    """Key of the environments that a stage's demonstrations meet."""
    return "train", stage.index, 0


def training_tasks(pools: Pools, stage: Stage) -> list[Task]:
    """The tasks of a stage.

    Raises:
        ConfigError: an id or kind that no task has, or nothing left.
    """
    which, path = stage.config.tasks, f"{stage.path}.tasks"
    known = pools.tasks(stage.config.env, which.split, path)
    require_known(known, which, path)
    found = take(known, which)
    if not found:
        raise ConfigError(path, f"leaves none of the {len(known)} tasks of split '{which.split}'; loosen skip, limit or part")
    return found


def require_training_tasks(experiment: Experiment, pools: Pools) -> None:
    """Refuse a slice of any stage that cannot be played, before the first one is.

    The last stage comes first: the first one's environment is then open when it is played.

    Raises:
        ConfigError: as ``training_tasks``.
    """
    for stage in reversed(stages(experiment)):
        training_tasks(pools, stage)


def _show(run: Context, spec: EnvSpec, episodes: Sequence[Assignment]) -> None:
    """Have the expert show what is neither recorded yet nor shared."""
    missing = _missing(run, episodes)
    if not missing:
        return
    shelf = demonstrations(run, spec, {episode.id: (episode.task, episode.seed(run.agent.seed)) for episode in missing})
    with Recording(run, missing[0].phase, len(missing)) as recording:
        left = _left(recording, shelf, missing)
        for trajectory in _shown(run, run.pools.open(spec), left) if left else ():
            recording.add(trajectory)
            shelf.leave(trajectory.id, trajectory)


def _shown(run: Context, pool: EnvironmentPool, episodes: Sequence[Assignment]) -> Iterator[Trajectory]:
    """The expert's trajectories; what died is asked for once more at the end."""
    again = []
    for episode, answer in _asked(run, pool, episodes):
        if answer.error is None:
            yield answer
        else:
            again.append(episode)
    for _, answer in _asked(run, pool, again):
        yield answer


def _asked(run: Context, pool: EnvironmentPool, episodes: Sequence[Assignment]) -> Iterator[tuple[Assignment, Trajectory]]:
    requests = [(episode.task, episode.seed(run.agent.seed)) for episode in episodes]
    began = time.perf_counter()
    for episode, (_, seed), answer in zip(episodes, requests, pool.demonstrate(requests) if requests else (), strict=True):
        now = time.perf_counter()
        yield episode, _named(episode, seed, answer, now - began)
        began = now


def _named(episode: Assignment, seed: int, answer: Trajectory | EnvironmentDiedError, seconds: float) -> Trajectory:
    error = str(answer) if isinstance(answer, EnvironmentDiedError) else None
    if isinstance(answer, EnvironmentDiedError):
        answer = Trajectory(id="", task=episode.task, steps=(), arm="plain", group="", seed=seed, source="demonstration", error=error)
    return dataclasses.replace(answer, id=episode.id, group=episode.group, arm=episode.arm, seed=seed, seconds=seconds)


def _require_logprobs(run: Context, batch: Sequence[Trajectory], plan: RolloutPlan) -> None:
    played = [trajectory for trajectory in batch if trajectory.source == "rollout" or plan.source == "demonstration"]
    if any(step.completion.logprobs is None for trajectory in played for step in trajectory.steps):
        raise ContractError(type(run.agent.policy).__name__, "gave no log-probabilities, and a learner needs them")
