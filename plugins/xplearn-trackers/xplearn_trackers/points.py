"""From what a run tells to points of curves over its rounds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from xplearn import EpisodeResult


class Point(NamedTuple):
    """One point of one curve."""

    step: int
    """Rounds behind it, counted over the whole stream: the same whenever and however often the run was stopped."""
    name: str
    value: float


class Points:
    """The curves of one run: learners' figures, mean scores of training rounds, and mean scores at each evaluation point.

    A mean is told when its phase is over: at the first episode of another one, or by ``close``.

    Args:
        stream: the stages, as the configuration has them.
        shown: whether the trajectories of a training phase are the expert's, whose score is no curve of the policy.
    """

    def __init__(self, stream: Sequence[Mapping[str, Any]], shown: Callable[[str], bool]) -> None:
        self._before = list(accumulate((stage["rounds"] for stage in stream), initial=0))
        learned = [number for number, stage in enumerate(stream) if not stage["warmup"]]
        self._evaluated = [self._before[learned[0]], *(self._before[number + 1] for number in learned)]
        self._shown = shown
        self._phase = ""
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._calls: Counter[tuple[int, int, str]] = Counter()

    def episode(self, result: EpisodeResult) -> list[Point]:
        """An episode ended; the points of the phase before, where it is the first of its own."""
        closed = self.close() if result.phase != self._phase else []
        self._phase = result.phase
        if result.error is None or result.phase.startswith("eval/"):
            self._scores[result.arm].append(100.0 * result.score)
        return closed

    def learned(self, stage: int, round: int, learner: str, figures: Mapping[str, float]) -> list[Point]:
        """A learner finished; of several by one name in a round the second is ``<name>.2``."""
        call = (stage, round, learner)
        self._calls[call] += 1
        name = learner if self._calls[call] == 1 else f"{learner}.{self._calls[call]}"
        return [Point(self._before[stage] + round + 1, f"{name}/{figure}", float(value)) for figure, value in figures.items()]

    def close(self) -> list[Point]:
        """The points of the phase under way, which is over: mean score by arm, 0 to 100."""
        place = self._place(self._phase)
        means = {arm: sum(scores) / len(scores) for arm, scores in sorted(self._scores.items())}
        self._scores.clear()
        self._phase = ""
        return [Point(place[0], f"{place[1]}/{arm}", mean) for arm, mean in means.items()] if place else []

    def _place(self, phase: str) -> tuple[int, str] | None:
        """Step of a phase, and name of its curves; None for one that has none."""
        head, _, rest = phase.partition("/")
        number, _, last = rest.partition("/")
        if head == "eval":
            return self._evaluated[int(number)], f"eval/{last}"
        if head == "train" and not self._shown(phase):
            return self._before[int(number)] + int(last) + 1, "train"
        return None


def replayed(points: Points, episodes: Iterable[EpisodeResult], lines: Iterable[Mapping[str, Any]]) -> list[Point]:
    """The points of what a run has recorded so far; its last phase is left open, as it may not be over.

    Args:
        points: of the run, told nothing yet; they go on from there.
        episodes: as ``Run.episodes`` has them.
        lines: as ``Run.scalars`` has them.
    """
    found = [point for result in episodes for point in points.episode(result)]
    for line in lines:
        figures = {name: value for name, value in line.items() if name not in WHOSE}
        found += points.learned(line["stage"], line["round"], line["name"], figures)
    return found


WHOSE = frozenset({"stage", "round", "learner", "name", "policy_version"})
"""What a line of figures says beside the figures."""
