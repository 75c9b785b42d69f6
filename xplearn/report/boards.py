"""From recorded runs to leaderboards: runs that may stand in one table, on one panel of tasks, make one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xplearn.errors import RecordError
from xplearn.metrics.board import Board, Contender, TaskScores
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.compare import harness
from xplearn.metrics.leaderboard import leaderboard
from xplearn.record.comparable import UNKNOWN, apart, bootstrap, steps, version
from xplearn.record.cross import STREAM, Cross
from xplearn.record.header import in_words
from xplearn.record.reader import Run
from xplearn.report import compare
from xplearn.report.contenders import Played, cells, contenders, labelled, played
from xplearn.report.printable import printable

EVERYWHERE = "all environments"
"""Title of the board across others."""

UNEVALUATED = {
    "running": "no stage of it is evaluated yet; let it run on, then ask again",
    "finished": "no stage of it was evaluated",
    "interrupted": "it was interrupted before a stage of it was evaluated; the same command goes on with it",
    "failed": "it failed before a stage of it was evaluated; mend what it says, then the same command goes on with it",
}
"""Why a run has no scores, by its status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A run that has no place on any board, or one of its own apart from others of its domains."""

    run: str
    """What it is called."""
    reason: str


def boards(runs: Sequence[Run], cross: Cross | None = None) -> tuple[list[Board], list[Refused]]:
    """The leaderboards of runs, finished or not, and what had no place in them.

    Each is of runs on the same domains that may stand in one table (``record.comparable``). Runs that are apart from the first of their
    domains stand on a board of their own, and are named with the reason; so is the board ``across`` others, where encoders part those.

    Args:
        runs: in any order; the first of a kind says what the others must be comparable with.
        cross: that they belong to, which names them by the labels of its axes.
    """
    found, refused = [], []
    by_folder = cells(cross)
    for run, name in zip(runs, compare.names(runs), strict=True):
        try:
            one = played(run, name, by_folder)
        except RecordError as error:
            refused.append(Refused(run=name, reason=str(error)))
            continue
        if one is None:
            refused.append(Refused(run=name, reason=_unevaluated(run)))
        else:
            found.append(one)
    groups, strangers = _groups(found)
    titled = _titled([_board(group) for group in groups], [_asked(group) for group in groups])
    return titled, refused + strangers + _parted(titled)


def across(boards: Sequence[Board]) -> Board | None:
    """One board of the contenders that stand on all of several, such as those that a cross has for each of its streams.

    Contenders are the same where they have the same labels, those aside that tell boards apart; without labels, the same name. The tasks of
    all boards are one panel, whose domains count alike. None unless there are two boards of different domains with one in common, and where
    they have banks of several encoders, which ``boards`` tells.
    """
    encoders = {board.encoder for board in boards if board.encoder}
    everywhere = _everywhere(boards) if len(encoders) < 2 else []
    if not everywhere:
        return None
    environments = {domain: version for board in boards for domain, version in board.environments.items()}
    highest = Bootstrap(confidence=max(board.confidence for board in boards))
    found = leaderboard(_renamed(everywhere), title=EVERYWHERE, environments=environments, bootstrap=highest)
    return replace(found, encoder="".join(encoders))


def _unevaluated(run: Run) -> str:
    """Why a run has no scores, with its error where it failed."""
    reason = UNEVALUATED[run.header.status]
    return printable(f"{reason}: {run.header.error}") if run.header.error else reason


def _parted(boards: Sequence[Board]) -> list[Refused]:
    """Why there is no board across others that have a contender in common."""
    titles = {board.encoder: board.title for board in boards if board.encoder}
    if len(titles) < 2 or not _everywhere(boards):
        return []
    (encoder, title), (other, there), *_ = titles.items()
    reason = (
        f"banks of {title} have vectors of encoder '{encoder}', those of {there} of '{other}': figures of the two must not stand in one"
        " table. Run all with one encoder"
    )
    return [Refused(run=EVERYWHERE, reason=reason)]


def _everywhere(boards: Sequence[Board]) -> list[Contender]:
    """The contenders that stand on all boards, pooled; none unless they are two or more of different domains."""
    domains = Counter(domain for board in boards for domain in board.panel)
    if len(boards) < 2 or max(domains.values()) > 1:
        return []
    axes = _shared_axes(boards)
    by_board = [{_identity(standing.contender, axes): standing.contender for standing in board.standings} for board in boards]
    pooled = [_pooled([by_key[key] for by_key in by_board], axes) for key in by_board[0] if all(key in by_key for by_key in by_board)]
    return [contender for contender in pooled if contender.scores]


def _groups(found: Iterable[Played]) -> tuple[list[list[Played]], list[Refused]]:
    groups: list[list[Played]] = []
    refused = []
    for one in found:
        alike = [group for group in groups if group[0].run.header.panels.keys() == one.run.header.panels.keys()]
        problems = [next(filter(None, (apart(one.run, other.run) for other in group)), None) for group in alike]
        home = next((group for group, problem in zip(alike, problems, strict=True) if problem is None), None)
        if problems and problems[0]:
            refused.append(Refused(run=one.entries[0].run, reason=str(problems[0])))
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    return groups, refused


def _board(group: Sequence[Played]) -> Board:
    header = group[0].run.header
    found = leaderboard(
        contenders(group),
        title=", ".join(sorted(header.panels)),
        environments={domain: header.environments.get(domain, "") for domain in header.panels},
        bootstrap=bootstrap([one.run for one in group]),
    )
    return replace(found, encoder=next((one.run.header.encoder for one in group if one.run.header.encoder), ""))


def _asked(group: Sequence[Played]) -> dict[str, str]:
    """What was asked of the runs of a board, which those of another of its domains may not have in common with them."""
    header = group[0].run.header
    versions = {f"version of {domain}": version(header, domain) for domain in header.panels}
    panels = {f"panel of {domain}": in_words(panel) for domain, panel in header.panels.items()}
    encoders = [{"encoder": one.run.header.encoder} for one in group if one.run.header.encoder]
    return {**versions, **panels, "limit of steps": str(steps(header)), **next(iter(encoders), {})}


def _titled(found: Sequence[Board], asked: Sequence[Mapping[str, str]]) -> list[Board]:
    """Titles that are there already are counted; boards of one title say what tells them apart."""
    alike: dict[str, list[Mapping[str, str]]] = {}
    for board, of in zip(found, asked, strict=True):
        alike.setdefault(board.title, []).append(of)
    seen: Counter[str] = Counter()
    titled = []
    for board, of in zip(found, asked, strict=True):
        seen[board.title] += 1
        number = seen[board.title]
        title = f"{board.title} ({number})" if number > 1 else board.title
        titled.append(replace(board, title=title, apart=_telling(of, alike[board.title])))
    return titled


def _telling(asked: Mapping[str, str], alike: Sequence[Mapping[str, str]]) -> str:
    """What differs among those alike; an unknown version is nobody's."""
    if len(alike) < 2:
        return ""
    differing = [what for what, value in asked.items() if value == UNKNOWN or len({other[what] for other in alike if what in other}) > 1]
    return printable("; ".join(f"{what}: {asked[what]}" for what in differing))


def _shared_axes(boards: Sequence[Board]) -> set[str]:
    """All axes but the one that tells the boards apart: it has a single label on each, never the same; where several do, the stream's."""
    by_board = [[standing.contender.axes for standing in board.standings if standing.contender.axes] for board in boards]
    axes = {axis for contenders in by_board for labels in contenders for axis in labels}
    apart = {axis for axis in axes if _tells_apart([{labels.get(axis) for labels in contenders} for contenders in by_board])}
    aside = apart & {STREAM} or apart
    return axes - aside if len(aside) == 1 else axes


def _tells_apart(labels: Sequence[set[str | None]]) -> bool:
    return all(len(found) == 1 for found in labels) and len(set.union(*labels)) == len(labels)


def _identity(contender: Contender, axes: set[str]) -> tuple[object, ...]:
    labels = tuple((axis, label) for axis, label in sorted(contender.axes.items()) if axis in axes)
    return (contender.arm, labels) if contender.axes else (contender.arm, contender.name)


def _pooled(same: Sequence[Contender], axes: set[str]) -> Contender:
    """Over the seeds that it has on every board."""
    first = same[0]
    return replace(
        first,
        scores=_joined([one.scores for one in same]),
        base=_joined([one.base for one in same]),
        plain=_joined([one.plain for one in same]),
        axes={axis: label for axis, label in first.axes.items() if axis in axes},
        runs=[run for one in same for run in one.runs],
    )


def _joined(sides: Sequence[Mapping[int, TaskScores]]) -> dict[int, TaskScores]:
    seeds = [seed for seed in sides[0] if all(seed in side for side in sides)]
    return {seed: {task: score for side in sides for task, score in side[seed].items()} for seed in seeds}


def _renamed(found: Sequence[Contender]) -> list[Contender]:
    """By the labels that tell them apart here."""
    shown = harness("experience")
    names = labelled([contender.axes for contender in found])
    return [
        replace(contender, name=name + (shown if contender.name.endswith(shown) else "")) if name else contender
        for contender, name in zip(found, names, strict=True)
    ]
