"""The rows of a run's table: each evaluation point, domain and arm, with intervals and paired differences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from xplearn.metrics.bootstrap import Bootstrap, Interval
from xplearn.metrics.paired import paired_difference, scores_by_pairing, strata, task_means
from xplearn.metrics.retention import paired_retention
from xplearn.metrics.scores import evaluated
from xplearn.types import Arm, EpisodeResult

POOLED = "all"
"""Domain of the rows that pool every domain."""

Ending = Literal["solved", "failed", "out of steps", "died"]
"""``failed``: the task's own rules ended it; ``out of steps``: cut off from outside; ``died``: it could not be played to its end."""

Group = tuple[int, str, Arm]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    label: str
    """``Base`` and ``Base+Harness`` before learning; then ``Model-only`` and ``Model+Harness``, or the stage where there are several."""
    point: int
    """0 before any learning, k after the k-th stage."""
    domain: str
    arm: Arm
    n: int
    """Episodes."""
    errors: int
    """Episodes that could not be played to their end; they score 0."""
    score: Interval
    """0 to 100, mean over tasks."""
    success: float
    """Percent of episodes."""
    failed: float
    """Percent of episodes that the task itself ended, unsolved."""
    out_of_steps: float
    """Percent of episodes that were cut off unsolved: by the limit of steps, or by a conversation that no longer fitted the context."""
    tokens_in: float
    """Prompt tokens per episode."""
    tokens_out: float
    """Written tokens per episode."""
    seconds: float
    """Per episode."""
    versus_base: Interval | None
    """Score minus Base's on the same (task, replica)."""
    versus_plain: Interval | None
    """Experience arm minus plain arm at the same point on the same (task, replica)."""
    retention: Interval | None
    """Of the experience arm's score, what the plain arm keeps at the same point, in percent. See ``metrics.retention``."""
    kinds: Mapping[str, float]
    """Mean score, 0 to 100, by kind of task."""
    kind_tokens: Mapping[str, float]
    """Tokens per episode, read and written, by kind of task: what experience costs where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a run found."""

    rows: tuple[Row, ...]
    confidence: float

    def __str__(self) -> str:
        """One line per row: label, domain, episodes, score, the differences to Base and to the plain arm, and the retention in percent."""
        lines = [f"{'':<16} {'domain':<24} {'n':>5}  {'score':<22} {'vs Base':<24} {'vs plain':<24} retention %"]
        for row in self.rows:
            base, plain = (value.text(signed=True) if value else "–" for value in (row.versus_base, row.versus_plain))
            kept = row.retention.text() if row.retention else "–"
            lines.append(f"{row.label:<16} {row.domain:<24} {row.n:>5}  {row.score.text():<22} {base:<24} {plain:<24} {kept}")
        return "\n".join(lines)


def build_table(
    results: Iterable[EpisodeResult], *, points: int, learned: bool, bootstrap: Bootstrap, domains: Sequence[str] = ()
) -> Table:
    """The table of a run, finished or not.

    Args:
        results: its episodes in any order; those outside evaluation are left out.
        points: stages of the stream, warm-up aside: the last one's rows are the final model's.
        learned: whether any learner changed the policy between the points.
        bootstrap: how the intervals are drawn.
        domains: their order; others follow by name.
    """
    groups = _grouped(results)
    ranks = {domain: rank for rank, domain in enumerate(reversed(domains), start=1)}
    order = sorted(groups, key=lambda group: (group[0], group[1] == POOLED, -ranks.get(group[1], 0), group[1], group[2] == "experience"))
    return Table(
        rows=tuple(_row(group, groups, _label(group[0], group[2], points, learned), bootstrap) for group in order),
        confidence=bootstrap.confidence,
    )


def _row(group: Group, groups: Mapping[Group, Sequence[EpisodeResult]], label: str, bootstrap: Bootstrap) -> Row:
    point, domain, arm = group
    members = groups[group]
    base: Group = (0, domain, "plain")
    plain: Group = (point, domain, "plain")
    scores = scores_by_pairing(members)
    return Row(
        label=label,
        point=point,
        domain=domain,
        arm=arm,
        n=len(members),
        errors=sum(result.error is not None for result in members),
        score=bootstrap.mean(task_means(scores), within=(0.0, 1.0), strata=strata(scores)).scaled(100.0),
        success=_mean(100.0 * (ending(result) == "solved") for result in members),
        failed=_mean(100.0 * (ending(result) == "failed") for result in members),
        out_of_steps=_mean(100.0 * (ending(result) == "out of steps") for result in members),
        tokens_in=_mean(result.tokens_in for result in members),
        tokens_out=_mean(result.tokens_out for result in members),
        seconds=_mean(result.seconds for result in members),
        versus_base=_difference(members, groups.get(base, ()), bootstrap) if group != base else None,
        versus_plain=_difference(members, groups.get(plain, ()), bootstrap) if group != plain else None,
        retention=paired_retention(groups.get(plain, ()), members, bootstrap) if group != plain else None,
        kinds=_by_kind(members, lambda result: 100.0 * result.score),
        kind_tokens=_by_kind(members, lambda result: result.tokens_in + result.tokens_out),
    )


def ending(result: EpisodeResult) -> Ending:
    """How an episode ended."""
    if result.error is not None:
        return "died"
    if result.success:
        return "solved"
    return "out of steps" if result.truncated else "failed"


def _by_kind(members: Sequence[EpisodeResult], figure: Callable[[EpisodeResult], float]) -> dict[str, float]:
    names = sorted({result.kind for result in members if result.kind})
    return {name: _mean(figure(result) for result in members if result.kind == name) for name in names}


def _grouped(results: Iterable[EpisodeResult]) -> dict[Group, list[EpisodeResult]]:
    groups: dict[Group, list[EpisodeResult]] = defaultdict(list)
    for result in results:
        place = evaluated(result.phase)
        if place is not None:
            groups[place[0], place[1], result.arm].append(result)
    if len({domain for _, domain, _ in groups}) > 1:
        for (point, _, arm), members in list(groups.items()):
            groups[point, POOLED, arm].extend(members)
    return dict(groups)


def _label(point: int, arm: Arm, points: int, learned: bool) -> str:
    if point == 0:
        return "Base+Harness" if arm == "experience" else "Base"
    if learned and point == points == 1:
        return "Model+Harness" if arm == "experience" else "Model-only"
    return f"stage {point}" + ("+Harness" if arm == "experience" else "")


def _difference(ours: Sequence[EpisodeResult], theirs: Sequence[EpisodeResult], bootstrap: Bootstrap) -> Interval | None:
    found = paired_difference(ours, theirs, bootstrap)
    return None if found is None else found.scaled(100.0)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
