"""Reading a run folder, finished or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xplearn.errors import RecordError, XplearnError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.continual import Matrix, build_matrix
from xplearn.metrics.scores import evaluated
from xplearn.metrics.table import POOLED, Table, build_table
from xplearn.record.folder import RunFolder
from xplearn.record.formats import as_json, load_result, load_trajectory
from xplearn.record.header import Header, read_header
from xplearn.record.history import Call, Note, load_call, load_note
from xplearn.record.kept import last_checkpoint
from xplearn.record.lines import read_lines
from xplearn.types import Arm, EpisodeResult, Trajectory


class Run:
    """A recorded run."""

    def __init__(self, folder: RunFolder, header: Header) -> None:
        self._folder = folder
        self.path = folder.path
        self.header = header

    def episodes(self) -> Iterator[EpisodeResult]:
        """The scalars of every finished episode, in the order they finished; expert's demonstrations among them."""
        return read_lines(self._folder.episodes, load_result)

    def trajectories(self, phase: str) -> Iterator[Trajectory]:
        """The trajectories of a phase, e.g. ``eval/0/core.errands`` or ``train/0/0``, in the order they finished."""
        return read_lines(self._folder.trajectories(phase), load_trajectory)

    def phases(self) -> list[str]:
        """Names of the phases that have episodes, in the order they began."""
        return list(dict.fromkeys(result.phase for result in self.episodes()))

    def scalars(self) -> list[dict[str, Any]]:
        """The learners' figures, one mapping for each stage, round and learner."""
        return list(dict(read_lines(self._folder.metrics, load_figures)).values())

    def calls(self) -> list[Call]:
        """What each call of a learner cost, in order, and how large a bank it left; none of a run recorded before costs were."""
        return [call for call in read_lines(self._folder.metrics, load_call) if call is not None]

    def history(self) -> list[Note]:
        """What happened to the bank, in order, up to the last checkpoint: a change under way may still be undone."""
        last = last_checkpoint(self._folder.checkpoints)
        notes = list(read_lines(self._folder.history, load_note))
        return notes if last is None else [note for note in notes if note.number <= last.number]

    def explained(self) -> list[tuple[int, int, dict[str, Any]]]:
        """What the curriculum said about its choice, as ``(stage, round, mapping)``, in order.

        Raises:
            RecordError: a file of the studies is damaged.
        """
        return sorted(map(_study, self._folder.studies.glob("*-*.json")), key=lambda told: told[:2])

    def table(self) -> Table:
        """The table so far."""
        resolved = self.header.resolved
        points = sum(not stage["warmup"] for stage in resolved["stream"])
        learned = any(line.get("policy_version", 1) for line in self.scalars() if line["learner"].startswith("learner."))
        domains = list(self.header.panels)
        return build_table(self.episodes(), points=points, learned=learned, bootstrap=self._bootstrap(), domains=domains)

    def missing(self) -> int:
        """Evaluated episodes that the finished run counted and its record no longer has."""
        counted = sum(row.get("n", 0) for row in self.header.results if row.get("domain") != POOLED)
        return max(0, counted - sum(evaluated(result.phase) is not None for result in self.episodes())) if counted else 0

    def stream(self) -> list[str]:
        """Domain of each stage, warm-up aside.

        Raises:
            RecordError: the header names other domains than the stream has.
        """
        envs = [stage["env"] for stage in self.header.resolved["stream"] if not stage["warmup"]]
        distinct = [env for number, env in enumerate(envs) if env not in envs[:number]]
        names = list(self.header.panels)
        if len(names) != len(distinct):
            raise RecordError(self._folder.header, f"damaged (a stream of {len(distinct)} domains, {len(names)} evaluated)")
        return [names[distinct.index(env)] for env in envs]

    def matrix(self, arm: Arm) -> Matrix:
        """R[stage, domain] of an arm so far: final and average score, forgetting, backward and forward transfer.

        Raises:
            ConfigError: there is no such arm.
            RecordError: as ``stream``.
        """
        replicas = self.header.resolved["evaluate"]["replicas"]
        return build_matrix(
            self.episodes(),
            arm=arm,
            stream=self.stream(),
            episodes={domain: panel["tasks"] * replicas for domain, panel in self.header.panels.items()},
            finished=self.header.status == "finished",
            bootstrap=self._bootstrap(),
        )

    def _bootstrap(self) -> Bootstrap:
        evaluate = self.header.resolved["evaluate"]
        return Bootstrap(confidence=evaluate["confidence"], resamples=evaluate["resamples"])  # not the run's seed: of several none is first

    def frame(self) -> Any:
        """The episodes as a pandas data frame, one row each."""
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise XplearnError("a data frame needs pandas: pip install pandas (without it: list(run.episodes()))") from None
        return pd.DataFrame([as_json(result) for result in self.episodes()])


def load_figures(line: str) -> tuple[tuple[int, int, str], dict[str, Any]]:
    """One learner's figures, after what they belong to."""
    raw = json.loads(line)
    figures = {name: value for name, value in raw.items() if name not in ("number", "call")}
    return (raw["stage"], raw["round"], raw["learner"]), figures


def _study(path: Path) -> tuple[int, int, dict[str, Any]]:
    try:
        stage, round = map(int, path.stem.split("-"))
        return stage, round, dict(json.loads(path.read_text(encoding="utf-8")).get("explained", {}))
    except (AttributeError, TypeError, ValueError) as error:
        raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from None


def load(folder: str | Path) -> Run:
    """Read a run folder.

    Raises:
        RecordError: it is not a run folder, is damaged, or a newer xplearn wrote it.
    """
    place = RunFolder(Path(folder))
    return Run(place, read_header(place.header))
