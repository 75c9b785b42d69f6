"""The teacher: the policy itself, as it is now, reading the student's turns with the experience that the student did not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xplearn import AgentView, Completion, Conditioning, LocalPolicy, Selection, Trajectory
from xplearn.learning.batching import packed_length
from xplearn.learning.drawn import Drawn
from xplearn_edge.gains import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What one plain trajectory learns from its teacher."""

    weights: tuple[float, ...]
    """Of each completion of the student; 0 where the teacher is not asked."""
    teacher: Drawn
    """The completions that weigh, word for word, under conditionings with experience."""


def lessons(
    items: Sequence[Drawn], weights: Mapping[str, tuple[float, ...]], groups: Sequence[Group], agent: AgentView, policy: LocalPolicy
) -> dict[str, Lesson]:
    """By id of a student's trajectory, its lesson; steps that do not fit the context with experience are not taught.

    Nor is anything of a group whose gain is no experience's: none was shown in it.

    Args:
        items: the student's trajectories among others.
        weights: of each step, by id of the trajectory.
        groups: those of the round, where the experience is found that its teachers were shown.
        agent: selects and conditions.
        policy: its tokens.
    """
    shown = {group.id: _shown(group.experience) for group in groups if _any_shown(group.experience)}
    found: dict[str, Lesson] = {}
    for item in items:
        by_step = zip(item.trajectory.steps, weights.get(item.trajectory.id, ()), strict=False)
        drawn = [weight for step, weight in by_step if step.completion.finish != "context"]
        group = item.trajectory.group
        lesson = _lesson(item, drawn, shown[group], agent, policy) if any(drawn) and group in shown else None
        if lesson is not None:
            found[item.trajectory.id] = lesson
    return found


def _any_shown(items: Sequence[Trajectory]) -> bool:
    return any(step.selection.experiences for item in items for step in item.steps)


def _shown(items: Sequence[Trajectory]) -> Selection | None:
    """What the group's teachers were shown at first, where it was shown in words; what was shown as memory is kept only as far as read."""
    steps = [item.steps[0] for item in items]
    return next((step.selection for step in steps if step.selection.experiences and step.conditioning.memory is None), None)


def _lesson(item: Drawn, weights: Sequence[float], shown: Selection | None, agent: AgentView, policy: LocalPolicy) -> Lesson | None:
    """The experience is that of the group's teachers; where the selector chooses anew each turn, or memory is read, it is chosen now."""
    asked = [at for at, weight in enumerate(weights) if weight]
    queries = [item.steps[at].query for at in asked]
    selections, conditionings = agent.condition(queries, ["experience"] * len(asked), [shown] * len(asked))
    rows = _retold(policy, conditionings, [item.completions[at] for at in asked])
    taught = {
        at: (conditioning, row)
        for at, selection, conditioning, row in zip(asked, selections, conditionings, rows, strict=True)
        if row is not None and selection.experiences
    }
    if not taught:
        return None
    completions = tuple(row for _, row in taught.values())
    teacher = Drawn(
        trajectory=item.trajectory,
        conditionings=tuple(conditioning for conditioning, _ in taught.values()),
        completions=completions,
        choices=tuple(item.choices[at] for at in taught),
        tokens=sum(len(row.token_ids) for row in completions),
        positions=packed_length(completions),
        advantages=(0.0,) * len(completions),
    )
    return Lesson(weights=tuple(weight if at in taught else 0.0 for at, weight in enumerate(weights)), teacher=teacher)


def _retold(policy: LocalPolicy, conditionings: Sequence[Conditioning], completions: Sequence[Completion]) -> list[Completion | None]:
    """The very same tokens after other prompts; None where they do not fit the context."""
    asked = policy.transcribe(conditionings, [completion.text for completion in completions])
    rows = [replace(row, prompt_ids=new.prompt_ids, retrieved=None) for row, new in zip(completions, asked, strict=True)]
    read = policy.retrieve(conditionings, rows)
    return [None if new.finish == "context" else row for row, new in zip(read, asked, strict=True)]
