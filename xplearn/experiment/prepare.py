"""Bringing a policy that builds its own vocabulary to life: the texts of the run's training episodes."""

from __future__ import annotations

from collections.abc import Iterator

from xplearn.errors import EnvironmentDiedError
from xplearn.experiment.context import Context
from xplearn.experiment.phases import training_tasks
from xplearn.experiment.stream import spread, stages
from xplearn.rollout.pool import EnvironmentPool
from xplearn.seeding import derive
from xplearn.types import Message, Task

_EPISODES_PER_STAGE = 60
"""A vocabulary needs no more text than this, and every episode costs a solution."""


def corpus(run: Context) -> Iterator[str]:
    """Texts of the training episodes of all stages: the expert's whole episodes where there is one, else how each task opens."""
    for stage in stages(run.experiment):
        tasks = spread(training_tasks(run.pools, stage), _EPISODES_PER_STAGE)
        pool = run.pools.open(stage.config.env)
        requests = [(task, derive(run.agent.seed, "corpus", task.env, task.id)) for task in tasks]
        yield from _shown(pool, requests) if "env.demos" in pool.provides else _openings(pool, requests)


def _shown(pool: EnvironmentPool, requests: list[tuple[Task, int]]) -> Iterator[str]:
    for answer in pool.demonstrate(requests):
        if isinstance(answer, EnvironmentDiedError):
            continue
        yield from _texts(answer.steps[-1].query.messages if answer.steps else ())
        yield from (answer.steps[-1].action,) if answer.steps else ()
        yield answer.final


def _openings(pool: EnvironmentPool, requests: list[tuple[Task, int]]) -> Iterator[str]:
    for request in requests:
        start = pool.reset({0: request})[0]
        if not isinstance(start, EnvironmentDiedError):
            yield from _texts(start.messages)


def _texts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        yield message["content"]
