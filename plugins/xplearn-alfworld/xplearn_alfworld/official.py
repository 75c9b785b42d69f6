"""Games as ALFWorld's own download lays them out: ``<split>/<task>/<trial>/game.tw-pddl`` with ``traj_data.json`` beside it."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xplearn import DataError
from xplearn_alfworld import pddl
from xplearn_alfworld.games import TYPES, Entry, Games, ordered, plain
from xplearn_alfworld.problem import Problem

GAME, TRAJECTORY = "game.tw-pddl", "traj_data.json"
GET = "get the games with: pip install alfworld && alfworld-download"

_SENTENCE = '"Your task is to: '
_LEFT_OUT = {"movable": "movable receptacle", "Sliced": "sliced object"}
"""Games that upstream leaves out, by what their folder's name holds."""


class OfficialFolder(Games):
    """A folder of the official layout: all splits or one, at any depth.

    ``skipped`` counts what is left out, as upstream does: games with a movable receptacle, sliced objects, no game file, or not known
    to be solvable. Listing a split reads all its game files, about a millisecond each.
    """

    kind = "official folder"

    def __init__(self, folder: Path, *, human: bool) -> None:
        """``human``: read the sentences of people as well; they lie in large files."""
        self.folder = folder
        self.human = human
        self._skipped: Counter[str] = Counter()
        self._trials: dict[str, Path] | None = None
        self._listed: dict[str, list[Entry]] = {}

    @property
    def digest(self) -> str:
        content = hashlib.sha256()
        for split in self.splits():
            for entry in self.entries(split):
                parts = (entry.id, entry.goal, *entry.human, str(_game(self._found()[entry.id])["pddl_problem"]))
                content.update("\0".join(parts).encode("utf-8", "replace"))
        return content.hexdigest()[:12]

    @property
    def skipped(self) -> Mapping[str, int]:
        return dict(self._skipped)

    def splits(self) -> tuple[str, ...]:
        names = dict.fromkeys(id.partition("/")[0] for id in self._found())
        splits = ordered(split for split in names if self.entries(split))
        if not splits:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self._skipped.items())
            raise DataError(self.folder, f"holds no game that can be played ({reasons or f'no {GAME} below it'}); {GET}")
        return splits

    def entries(self, split: str) -> Sequence[Entry]:
        if split not in self._listed:
            trials = [(id, trial) for id, trial in self._found().items() if id.startswith(f"{split}/")]
            read = [_entry(id, trial, human=self.human) for id, trial in trials]
            self._listed[split] = [entry for entry in read if entry]
            self._skipped.update({"not known to be solvable": read.count(None)} if None in read else {})
        return self._listed[split]

    def find(self, id: str) -> Entry | None:
        trial = self._found().get(id)
        return _entry(id, trial, human=self.human) if trial else None

    def problem(self, id: str) -> Problem:
        trial = self._found()[id]
        return pddl.parse(str(_game(trial)["pddl_problem"]), source=str(trial / GAME))

    def _found(self) -> Mapping[str, Path]:
        """Folders of the games that may be played, by id."""
        if self._trials is None:
            self._skipped.clear()
            trials: dict[str, Path] = {}
            for trial in _walk(self.folder):
                id = "/".join(trial.parts[-3:])
                reasons = [reason for word, reason in _LEFT_OUT.items() if word in trial.parent.name]
                if not reasons and not (trial / GAME).exists():
                    reasons = [f"without {GAME}"]
                if reasons:
                    self._skipped[reasons[0]] += 1
                elif trials.setdefault(id, trial) != trial:
                    raise DataError(self.folder, f"holds {id} twice: in {trials[id]} and {trial}; name one of the folders above them")
            self._trials = trials
        return self._trials


def _walk(folder: Path) -> Iterator[Path]:
    """The folders that hold a game, by name. Links are followed, after their neighbours, to where the walk has not been."""

    def refuse(error: OSError) -> None:
        raise DataError(error.filename, f"cannot be read ({error.strerror}); {GET}") from error

    been: set[str] = set()
    for name, folders, files in os.walk(folder.absolute(), followlinks=True, onerror=refuse):
        place = os.path.realpath(name)
        if place in been:
            folders.clear()
            continue
        been.add(place)
        folders.sort(key=lambda inner: (os.path.islink(os.path.join(name, inner)), inner))
        if GAME in files or TRAJECTORY in files:
            yield Path(name)


def _entry(id: str, trial: Path, *, human: bool) -> Entry | None:
    """The entry of a game, or None where it is not known to be solvable."""
    game = _game(trial)
    if not game.get("solvable"):
        return None
    task = trial.parent.name
    type = next((type for type in TYPES if task.startswith(f"{type}-")), None) or str(_json(trial / TRAJECTORY).get("task_type"))
    if type not in TYPES:
        raise DataError(trial, f"is of the type '{type[:100]}', which is none of {', '.join(TYPES)}")
    sentences = _sentences(trial / TRAJECTORY) if human else ()
    return Entry(id=id, type=type, goal=_goal(str(game["grammar"]), trial / GAME), human=sentences)


def _goal(grammar: str, path: Path) -> str:
    """The sentence after ``Your task is to:``, without the full stop that the grammar adds."""
    start = grammar.find(_SENTENCE)
    try:
        sentence, _ = json.JSONDecoder().raw_decode(grammar, start) if start >= 0 else ("", 0)
    except ValueError as error:
        raise DataError(path, f"its goal sentence cannot be read ({error}); {GET}") from error
    goal = sentence.removeprefix(_SENTENCE[1:]).removesuffix(".").strip()
    if goal == "UNKNOWN GOAL" or not plain(goal):
        raise DataError(path, f"its grammar states no goal; {GET}")
    return goal


def _sentences(path: Path) -> tuple[str, ...]:
    try:
        sentences = tuple(annotation["task_desc"] for annotation in _json(path)["turk_annotations"]["anns"])
    except (KeyError, TypeError) as error:
        raise DataError(path, f"has no turk_annotations.anns[].task_desc; {GET}") from error
    if not all(map(plain, sentences)):
        raise DataError(path, f"its turk_annotations.anns[].task_desc are not all sentences; {GET}")
    return sentences


def _game(trial: Path) -> Mapping[str, Any]:
    game = _json(trial / GAME)
    missing = [key for key in ("pddl_problem", "grammar") if not plain(game.get(key))]
    if missing:
        raise DataError(trial / GAME, f"has no {' and no '.join(missing)}; {GET}")
    return game


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); {GET}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"is not JSON, or cut off ({error}); {GET}") from error
    if not isinstance(value, dict):
        raise DataError(path, f"is not a JSON object; {GET}")
    return value
