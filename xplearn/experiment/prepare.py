"""Bringing a policy that builds its own vocabulary to life: the texts of the run's training episodes."""

from __future__ import annotations

from collections.abc import Iterator

from xplearn.errors import EnvironmentDiedError
from xplearn.experiment.context import Context
from xplearn.experiment.phases import training_tasks
from xplearn.experiment.shared.shelf import demonstrations
from xplearn.experiment.stream import spread, stages
from xplearn.schema import EnvSpec
from xplearn.seeding import derive
from xplearn.types import Message, Task

_EPISODES_PER_STAGE = 60
"""A vocabulary needs no more text than this, and every episode costs a solution."""


def corpus(run: Context) -> Iterator[str]:
    """Texts of the training episodes of all stages: the expert's whole episodes where there is one, else how each task opens."""
    for stage in stages(run.experiment):
        tasks = spread(training_tasks(run.pools, stage), _EPISODES_PER_STAGE)
        requests = [(task, derive(run.agent.seed, "corpus", task.env, task.id)) for task in tasks]
        shows = "env.demos" in run.pools.about(stage.config.env).provides
        yield from (_shown if shows else _openings)(run, stage.config.env, requests)


def _shown(run: Context, spec: EnvSpec, requests: list[tuple[Task, int]]) -> Iterator[str]:
    shelf = demonstrations(run, spec, {str(place): request for place, request in enumerate(requests)})
    found = [shelf.find(str(place)) for place in range(len(requests))]
    left = [request for request, known in zip(requests, found, strict=True) if known is None]
    fresh = run.pools.open(spec).demonstrate(left) if left else iter(())
    for place, known in enumerate(found):
        answer = known or next(fresh)
        if isinstance(answer, EnvironmentDiedError):
            continue
        if known is None:
            shelf.leave(str(place), answer)
        yield from _texts(answer.steps[-1].query.messages if answer.steps else ())
        yield from (answer.steps[-1].action,) if answer.steps else ()
        yield answer.final


def _openings(run: Context, spec: EnvSpec, requests: list[tuple[Task, int]]) -> Iterator[str]:
    pool = run.pools.open(spec)
    for request in requests:
        start = pool.reset({0: request})[0]
        if not isinstance(start, EnvironmentDiedError):
            yield from _texts(start.messages)


def _texts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        yield message["content"]
