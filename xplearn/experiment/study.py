"""What a round is trained on: the curriculum's choice among its trajectories, and anchors of earlier stages.

The choice is written down before training begins, so a run that goes on after a kill trains on the very same trajectories.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xplearn.errors import ContractError, RecordError
from xplearn.experiment.context import Context
from xplearn.experiment.stream import Stage
from xplearn.files import replacing
from xplearn.interfaces import ExperienceStore, Selector
from xplearn.metrics.scores import training_phase
from xplearn.record.checked import checked
from xplearn.rollout.dress import dress
from xplearn.seeding import derive
from xplearn.types import Query, Trajectory

Anchor = tuple[int, int, str]
"""(stage, round, id of the trajectory that experience was written from)."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """The trajectories of one round's training."""

    phase: str
    """Where its own trajectories are recorded."""
    anchors: Mapping[str, Sequence[str]]
    """Ids of the trajectories to train on, by the id of the one that the bank knows: an expert's demonstration may be dressed twice."""
    replayed: Sequence[Anchor] = field(default_factory=tuple)
    """Anchors of earlier stages."""
    explained: Mapping[str, Any] = field(default_factory=dict)
    """What the curriculum says about its choice."""


def studied(run: Context, stage: Stage, round: int, batch: Sequence[Trajectory]) -> list[Trajectory]:
    """The trajectories to train on, dressed if they are demonstrations, chosen now or as written down."""
    path = run.folder.study(stage.index, round)
    study = _read(path)
    if study is None:
        study = _choose(run, stage, round, batch)
        _write(path, study)
    found = _load(run, study, study.anchors)
    for earlier, earlier_round, anchor in study.replayed:
        found += _load(run, _past(run, earlier, earlier_round), [anchor])
    return found


def choose(selector: Selector, store: ExperienceStore, batch: Sequence[Trajectory], *, grouped: bool = False) -> list[Trajectory]:
    """The trajectories whose experience the curriculum selects; those that left none in the bank are beyond its choice and stay.

    Args:
        selector: the curriculum.
        store: the bank.
        batch: what a round gathered.
        grouped: a group stays or goes whole: it stays where one of its trajectories is chosen, or none is in the bank.

    Raises:
        ContractError: it selects an experience that is not on offer.
    """
    ids = {trajectory.id for trajectory in batch}
    offered = {experience.id: experience.source for experience in store if experience.source in ids}
    if not offered:
        return list(batch)
    query = Query(purpose="study", task=batch[0].task, messages=(), candidates=tuple(offered))
    (selection,) = selector.select([query], store)
    for experience in selection.experiences:
        if experience.id not in offered:
            raise ContractError(
                type(selector).__name__, f"selected '{experience.id}' for study, which is not on offer: choose among query.candidates"
            )
    chosen = {experience.source for experience in selection.experiences}
    known = set(offered.values())
    if grouped:
        chosen, known = ({trajectory.group for trajectory in batch if trajectory.id in ids} for ids in (chosen, known))
        return [trajectory for trajectory in batch if trajectory.group in chosen or trajectory.group not in known]
    return [trajectory for trajectory in batch if trajectory.id in chosen or trajectory.id not in known]


def draw(earlier: Mapping[int, Sequence[Anchor]], count: int, seed: int) -> list[Anchor]:
    """``count`` anchors, each from a stage drawn uniformly among those with anchors left, then uniformly among its anchors.

    Args:
        earlier: anchors by stage.
        count: how many; all where there are fewer.
        seed: of the draw.
    """
    left = {stage: list(anchors) for stage, anchors in sorted(earlier.items()) if anchors}
    drawn: list[Anchor] = []
    while left and len(drawn) < count:
        stages = list(left)
        stage = stages[derive(seed, "stage", len(drawn)) % len(stages)]
        drawn.append(left[stage].pop(derive(seed, "anchor", len(drawn)) % len(left[stage])))
        if not left[stage]:
            del left[stage]
    return drawn


def _choose(run: Context, stage: Stage, round: int, batch: Sequence[Trajectory]) -> Study:
    plan = run.parts.plan_of(stage, round)
    if run.experiment.learns(stage.config) == "warmup":  # the starting point is the same whatever the stream's curriculum is
        chosen, explained = list(batch), {}
    else:
        chosen = choose(run.parts.curriculum, run.agent.store, batch, grouped=plan.grouped)
        explained = dict(run.parts.curriculum.explain())
    count = int(run.experiment.replay.ratio * len(chosen) + 0.5)
    replayed = draw(_earlier(run, stage), count, derive(run.agent.seed, "replay", stage.index, round)) if not stage.config.warmup else []
    if plan.source == "rollout":
        anchors = {trajectory.id: [trajectory.id] for trajectory in chosen}
        return Study(phase=training_phase(stage.index, round), anchors=anchors, replayed=replayed, explained=explained)
    phase = f"dressed/{stage.index}/{round}"
    played = [trajectory for trajectory in chosen if trajectory.source == "rollout"]
    dressed = list(dress((trajectory for trajectory in chosen if trajectory.source != "rollout"), run.agent, plan.arms))
    run.writer.trajectories(phase, [*dressed, *played])
    by_group: dict[str, list[str]] = {}
    for trajectory in dressed:
        by_group.setdefault(trajectory.group, []).append(trajectory.id)
    anchors = {trajectory.id: by_group.get(trajectory.group, [trajectory.id]) for trajectory in chosen}
    return Study(phase=phase, anchors=anchors, replayed=replayed, explained=explained)


def _earlier(run: Context, stage: Stage) -> dict[int, list[Anchor]]:
    """The anchors of the stages before this one, as last trained on; warm-up stages are not part of the stream."""
    found: dict[int, list[Anchor]] = {}
    for index, config in enumerate(run.experiment.stream[: stage.index]):
        latest: dict[str, Anchor] = {}
        for round in range(0 if config.warmup else config.rounds):
            latest |= {anchor: (index, round, anchor) for anchor in _past(run, index, round).anchors}
        found[index] = list(latest.values())
    return found


def _past(run: Context, stage: int, round: int) -> Study:
    """The study of a round that was trained on before."""
    path = run.folder.study(stage, round)
    study = _read(path)
    if study is None:
        raise RecordError(path, "is missing, and this run learned from it; remove the run folder and start anew")
    return study


def _load(run: Context, study: Study, anchors: Iterable[str]) -> list[Trajectory]:
    try:
        ids = [id for anchor in anchors for id in study.anchors[anchor]]
    except KeyError as missing:
        raise RecordError(run.folder.studies, f"nothing was studied as {missing}; remove the run folder and start anew") from None
    return run.recorded(study.phase, ids)


def _write(path: Path, study: Study) -> None:
    with replacing(path) as file:
        file.write(json.dumps(asdict(study)).encode() + b"\n")


def _read(path: Path) -> Study | None:
    if not path.exists():
        return None
    try:
        return checked(Study, json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from error
