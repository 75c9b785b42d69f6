"""What a log says of its evaluation beside the episodes."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalPlanStep,
    EvalResults,
    EvalRevision,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    HeadlineMetric,
)
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import CORRECT

from xplearn import Arm
from xplearn_inspect.texts import sound

if TYPE_CHECKING:
    from xplearn.metrics.table import Row
    from xplearn.record.header import Header
    from xplearn.record.reader import Run

HEADLINE = HeadlineMetric(score="score", metric="mean")
"""What a list of logs shows first."""

_STATUS: dict[str, Literal["started", "success", "cancelled", "error"]] = {
    "running": "started",
    "finished": "success",
    "interrupted": "cancelled",
    "failed": "error",
}


class Place(NamedTuple):
    """What one log holds."""

    point: int
    """Evaluation point: 0 before any learning, k after the k-th stage."""
    domain: str
    arm: Arm


def log(run: Run, place: Place, row: Row, samples: Sequence[EvalSample]) -> EvalLog:
    """The log of one evaluation point, domain and arm; ``row`` is what the run's table says of it."""
    return EvalLog(
        eval=spec(run, place, row.label, [item.id for item in samples if item.epoch == 1]),
        plan=_plan(run.header, place.arm),
        results=results(run.header, place, row, samples),
        stats=_stats(run.header.started, samples),
        samples=list(samples),
        **_status(run.header, place.point),
    )


def spec(run: Run, place: Place, label: str, ids: Sequence[str | int]) -> EvalSpec:
    """Task, data, policy and configuration.

    The ids are hashes of what is evaluated, so the same run always gives the same. Each log is a task of its own: of several logs of one
    task the viewer takes all but the last for failed attempts, and hides them.
    """
    header, whose = run.header, (run.path.resolve().name, run.header.started)
    part = header.parts.get("policy", {})
    return EvalSpec(
        eval_id=_id(*whose, *place),
        run_id=_id(*whose),
        task_id=_id("task", *whose, *place),
        created=header.started,
        task=sound(place.domain),
        task_display_name=sound(f"{place.domain}: {label}"),
        task_version=sound(header.environments.get(place.domain, "")),
        task_args={"point": place.point, "arm": place.arm},
        tags=sound([whose[0], label, f"point {place.point}", place.arm]),
        dataset=EvalDataset(name=sound(place.domain), samples=len(ids), sample_ids=list(map(str, ids))),
        model=policy(header),
        model_args=_fields(part),
        model_generate_config=_sampling(header.resolved["evaluate"].get("sampling", {})),
        config=EvalConfig(epochs=header.resolved["evaluate"].get("replicas", 1)),
        revision=_revision(header),
        packages=header.packages,
        metadata=sound({**facts(header, place), "label": label, "run": whose[0], "config": header.resolved}),
        headline_metric=HEADLINE,
    )


def facts(header: Header, place: Place) -> dict[str, Any]:
    """What all episodes of a log share."""
    return {
        "point": place.point,
        "environment": header.environments.get(place.domain, ""),
        "panel": header.panels.get(place.domain, {}).get("hash", ""),
        "bank": header.bank.get(str(place.point), {}).get("before", ""),
        "encoder": header.encoder,
        "run_seed": header.seed,
    }


def policy(header: Header) -> str:
    """The policy as a model's name: the registered part, and the model it runs where it names one."""
    part = header.parts.get("policy", {})
    model = part.get("model")
    return str(sound("/".join(filter(None, [str(part.get("name", "unknown")), model if isinstance(model, str) else ""]))))


def results(header: Header, place: Place, row: Row, samples: Sequence[EvalSample]) -> EvalResults:
    """Mean score with its interval, and share of successes, as the run's table has them: an episode that died scores 0."""
    score = {"mean": row.score.mean, "low": row.score.low, "high": row.score.high}
    right = sum(item.scores is not None and item.scores["success"].value == CORRECT for item in samples)
    episodes = header.panels.get(place.domain, {}).get("tasks", 0) * header.resolved["evaluate"].get("replicas", 1)
    return EvalResults(
        total_samples=max(episodes, len(samples)),
        completed_samples=sum(item.error is None for item in samples),
        scores=[
            _score("score", len(samples), {name: value / 100.0 for name, value in score.items() if value is not None}),
            _score("success", len(samples), {"accuracy": right / len(samples)}),
        ],
        headline=HEADLINE,
    )


def _score(name: str, count: int, metrics: dict[str, float]) -> EvalScore:
    found = {metric: EvalMetric(name=metric, value=value) for metric, value in metrics.items()}
    return EvalScore(name=name, scorer=name, scored_samples=count, unscored_samples=0, metrics=found)


def _plan(header: Header, arm: Arm) -> EvalPlan:
    """What stood between the environment and the policy: in the plain arm nothing."""
    paths = ("selector", "conditioner") if arm == "experience" else ()
    parts = [header.parts[path] for path in paths if path in header.parts]
    return EvalPlan(name=arm, steps=[EvalPlanStep(solver=part["name"], params=_fields(part)) for part in parts])


def _fields(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: sound(value) for name, value in part.items() if name != "name"}


def _status(header: Header, point: int) -> dict[str, Any]:
    """An evaluation that is complete is a success, whatever became of the run afterwards."""
    status = "success" if str(point) in header.bank else _STATUS[header.status]
    error = EvalError(message=sound(header.error or ""), traceback="", traceback_ansi="") if status == "error" else None
    return {"status": status, "error": error}


def _sampling(given: dict[str, Any]) -> GenerateConfig:
    return GenerateConfig(max_tokens=given.get("max_new_tokens"), temperature=given.get("temperature"), top_p=given.get("top_p"))


def _revision(header: Header) -> EvalRevision | None:
    git = header.git or {}
    return EvalRevision(type="git", origin="", commit=git["commit"], dirty=git.get("dirty")) if isinstance(git.get("commit"), str) else None


def _stats(started: str, samples: Sequence[EvalSample]) -> EvalStats:
    """When the run began, and that much later as its episodes took together: when each was played is not recorded."""
    took = datetime.timedelta(seconds=sum(item.total_time or 0.0 for item in samples))
    ended = datetime.datetime.fromisoformat(started) + took
    return EvalStats(started_at=started, completed_at=ended.isoformat(), model_usage=_usage(samples))


def _usage(samples: Sequence[EvalSample]) -> dict[str, ModelUsage]:
    found: dict[str, ModelUsage] = {}
    for name, used in (pair for item in samples for pair in item.model_usage.items()):
        found[name] = found[name] + used if name in found else used
    return found


def _id(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:22]
