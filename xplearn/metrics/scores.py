"""The scalars of a trajectory, and the names of the phases they belong to."""

from __future__ import annotations

import math

from xplearn.errors import ContractError
from xplearn.metrics.cost import tokens
from xplearn.types import EpisodeResult, Trajectory


def episode_result(trajectory: Trajectory, phase: str) -> EpisodeResult:
    """One line of ``episodes.jsonl``. An episode that could not be played to its end scores 0.

    Raises:
        ContractError: the environment gave a score that is no finite number.
    """
    if not math.isfinite(trajectory.score):
        raise ContractError(trajectory.task.env, f"gave score {trajectory.score} in task '{trajectory.task.id}'; a score must be finite")
    task, last = trajectory.task, trajectory.steps[-1] if trajectory.steps else None
    read, written = tokens(trajectory)
    return EpisodeResult(
        id=trajectory.id,
        phase=phase,
        env=task.env,
        task=task.id,
        kind=task.kind,
        split=task.split,
        arm=trajectory.arm,
        seed=trajectory.seed,
        score=0.0 if trajectory.error else trajectory.score,
        success=trajectory.success and not trajectory.error,
        terminated=bool(last and last.terminated),
        truncated=bool(last and last.truncated),
        length=len(trajectory.steps),
        tokens_in=read,
        tokens_out=written,
        seconds=trajectory.seconds,
        error=trajectory.error,
    )


def evaluation_phase(point: int, domain: str) -> str:
    """Name of one evaluation: point 0 is before any learning, k after the k-th stage."""
    return f"eval/{point}/{domain}"


def evaluated(phase: str) -> tuple[int, str] | None:
    """Point and domain of an evaluation phase; None for any other phase."""
    head, _, rest = phase.partition("/")
    point, _, domain = rest.partition("/")
    return (int(point), domain) if head == "eval" and point.isascii() and point.isdecimal() else None


def training_phase(stage: int, round: int) -> str:
    """Name of the trajectories one round learns from."""
    return f"train/{stage}/{round}"
