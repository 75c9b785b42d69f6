"""Who had what, in order of time, in the forms that sets for recommendation are published in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from xplearn import DataError
from xplearn_expbench.official import reading

Histories = Mapping[str, list[str]]
"""Items of each user, oldest first; users in the order of the file."""


class Event(NamedTuple):
    """One line of a log."""

    line: int
    user: str
    item: str
    time: float


def located(path: Path) -> Path:
    """The file of interactions that is given, or the only one in a folder.

    Raises:
        DataError: there is none, or more than one.
    """
    what = "interactions (u.data, ratings.dat, ratings.csv, a .inter, reviews as JSON lines, or a .txt of users and items)"
    files = reading.found(path, tuple(_FORMATS), what, named=_NOT_ITEMS)
    if len(files) > 1:
        raise DataError(path, f"holds {len(files)} files of interactions, {', '.join(file.name for file in files)}; give one of them")
    return files[0]


def read(file: Path) -> Histories:
    """The users' items in order of time; where times are equal, in the order of the file.

    Raises:
        DataError: the form is not known, or a line is malformed.
    """
    plain = file.name.removesuffix(".gz")
    form = next((form for ending, form in _FORMATS.items() if plain.endswith(ending)), None)
    if form is None:
        raise DataError(file, f"is of no known form; its name should end in {', '.join(_FORMATS)}")
    histories = form(file)
    if not histories:
        raise DataError(file, "holds no interactions; get the file again")
    return histories


def _logged(events: Iterable[Event]) -> Histories:
    users: dict[str, list[Event]] = {}
    for event in events:
        users.setdefault(event.user, []).append(event)
    return {user: [event.item for event in sorted(events, key=lambda event: (event.time, event.line))] for user, events in users.items()}


def _event(file: Path, line: int, fields: Iterable[object]) -> Event:
    user, item, told = (str(field).strip() for field in fields)
    try:
        time = float(told)
    except ValueError:
        time = math.nan
    if not (user and item and math.isfinite(time)):
        raise reading.bad(
            file,
            line,
            f"should tell a user, an item and a time, and tells {reading.quoted(user)}, {reading.quoted(item)} and {reading.quoted(told)}",
        )
    return Event(line, user, item, time)


def _separated(sign: str) -> Callable[[Path], Histories]:
    """User, item, rating, time between signs (MovieLens)."""

    def form(file: Path) -> Histories:
        return _logged(events(file))

    def events(file: Path) -> Iterator[Event]:
        for number, line in reading.lines(file):
            fields = line.split(sign)
            if len(fields) != 4:
                raise reading.bad(file, number, f"has {len(fields)} fields, not the four user, item, rating and time")
            yield _event(file, number, (fields[0], fields[1], fields[3]))

    return form


def _headed(delimiter: str, *columns: str) -> Callable[[Path], Histories]:
    """A table with a header."""

    def form(file: Path) -> Histories:
        return _logged(events(file))

    def events(file: Path) -> Iterator[Event]:
        for entry in reading.table(file, delimiter=delimiter, quoted=delimiter == ","):
            yield _event(file, entry.line, [entry.text(column) for column in columns])

    return form


def _reviews(file: Path) -> Histories:
    """One JSON object a line (Amazon)."""
    entries = reading.jsonl(file)
    return _logged(_event(file, e.line, (e.text("reviewerID"), e.text("asin"), e.get("unixReviewTime"))) for e in entries)


def _listed(file: Path) -> Histories:
    """Lines of a user and one item (SASRec), or of a user and all items (S3-Rec), each in order of time."""
    split = [(number, line.split()) for number, line in reading.lines(file)]
    if split and split[0][1][0].startswith(("{", "[")):
        raise reading.bad(file, split[0][0], "is JSON, and a .txt lists users and items; give reviews the ending .json")
    pairs = all(len(words) == 2 for _, words in split)
    histories: dict[str, list[str]] = {}
    for number, (user, *items) in split:
        if not items:
            raise reading.bad(file, number, f"names user {user} and no item")
        if not pairs and user in histories:
            raise reading.bad(file, number, f"names user {user} a second time; a line lists all items of a user, or each line one")
        histories.setdefault(user, []).extend(items)
    return histories


_FORMATS: Mapping[str, Callable[[Path], Histories]] = {
    "u.data": _separated("\t"),
    "ratings.dat": _separated("::"),
    "ratings.csv": _headed(",", "userId", "movieId", "timestamp"),
    ".inter": _headed("\t", "user_id:token", "item_id:token", "timestamp:float"),
    ".json": _reviews,
    ".jsonl": _reviews,
    ".txt": _listed,
}
_NOT_ITEMS = r"^(?!meta_|.*attributes|readme)"
