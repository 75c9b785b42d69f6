"""Dressing demonstrations: the expert's steps get the experience and tokens that acting would have had.

The act-time selector and conditioner run for each step as in a rollout, so learners see the same steps whoever acted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from xplearn.agent import Agent
from xplearn.errors import ContractError
from xplearn.interfaces import LocalPolicy
from xplearn.rollout.collector import opening_too_long
from xplearn.rollout.compact import compact
from xplearn.types import Arm, Completion, Conditioning, Selection, Step, Trajectory


def dress(demonstrations: Iterable[Trajectory], agent: Agent, arms: Sequence[Arm]) -> Iterator[Trajectory]:
    """Each demonstration in each arm, with the experience, conditioning and token ids that acting would have had.

    Args:
        demonstrations: as recorded, ids ending in ``/<arm>/<replica>``.
        agent: whose selector, conditioner and policy are used; a policy without weights here leaves the token ids empty.
        arms: wanted arms.

    A demonstration longer than the policy's context keeps the steps that fit. One that carries an error stays bare.

    Raises:
        ContractError: not even the first step fits the context.
    """
    for demonstration in demonstrations:
        for arm in arms:
            yield _dressed(demonstration, agent, arm)


def _dressed(demonstration: Trajectory, agent: Agent, arm: Arm) -> Trajectory:
    steps = list(_conditioned(demonstration.steps, agent, arm))
    if steps and "policy.score" in agent.policy.provides:
        steps = _transcribed(steps, demonstration, cast(LocalPolicy, agent.policy))
    return dataclasses.replace(demonstration, id=f"{demonstration.group}/{arm}/0", arm=arm, steps=tuple(steps))


def _conditioned(steps: Sequence[Step], agent: Agent, arm: Arm) -> Iterator[Step]:
    selection: Selection | None = None
    for step in steps:
        (selection,), (conditioning,) = agent.condition([step.query], [arm], [selection])
        yield dataclasses.replace(step, selection=selection, conditioning=conditioning)


def _transcribed(steps: Sequence[Step], demonstration: Trajectory, policy: LocalPolicy) -> list[Step]:
    conditionings: list[Conditioning] = [step.conditioning for step in steps]
    completions: list[Completion] = policy.transcribe(conditionings, [step.completion.text for step in steps])
    fitting = [index for index, completion in enumerate(completions) if completion.finish != "context"]
    if not fitting:
        raise ContractError(type(policy).__name__, opening_too_long(demonstration.task, completions[0]))
    said = [dataclasses.replace(steps[index], completion=completions[index]) for index in fitting]
    if all(step.conditioning.memory is None for step in said):
        return said
    found = policy.retrieve([step.conditioning for step in said], [step.completion for step in said])
    return [compact(dataclasses.replace(step, completion=completion)) for step, completion in zip(said, found, strict=True)]
