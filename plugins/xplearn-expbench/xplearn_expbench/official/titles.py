"""What items are called: their titles or attributes, where a file beside the interactions has them."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from xplearn_expbench.checkers.normal import light
from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry

_TITLE_COLUMNS = ("movie_title:token_seq", "title:token_seq", "name:token_seq", "title:token", "name:token")


def texts(interactions: Path, items: Iterable[str]) -> dict[str, str]:
    """A text for each item, no two of which differ in case and spacing only.

    From ``u.item``, ``movies.dat``, ``movies.csv``, the ``.item`` of a ``.inter``, the ``meta_`` file of reviews, or
    ``…_item2attributes.json``, beside the interactions. Without one, or of an item that it doesn't name: ``item <id>``. Titles of several
    items get the id after them.

    Raises:
        DataError: the file is there and malformed.
    """
    known = dict(_known(interactions))
    named = {item: " ".join(known.get(item, "").split()) or f"item {item}" for item in items}
    count = Counter(map(light, named.values()))
    return {item: text if count[light(text)] == 1 else f"{text} [{item}]" for item, text in named.items()}


def _known(file: Path) -> Iterator[tuple[str, str]]:
    plain = file.name.removesuffix(".gz")
    stem, _, ending = plain.rpartition(".")
    if plain in _BESIDE:
        name, sign = _BESIDE[plain]
        return _separated(file.with_name(name), sign)
    if plain == "ratings.csv":
        return _headed(_present(file, "movies.csv"), ",", "movieId", ("title",))
    if ending == "inter":
        return _headed(_present(file, f"{stem}.item"), "\t", "item_id:token", _TITLE_COLUMNS)
    if ending in ("json", "jsonl"):
        category = stem.removeprefix("reviews_").removesuffix("_5")
        return _described(_present(file, f"meta_{category}.{ending}"))
    return _attributed(_present(file, f"{stem}_item2attributes.json"))


_BESIDE: Mapping[str, tuple[str, str]] = {"u.data": ("u.item", "|"), "ratings.dat": ("movies.dat", "::")}


def _present(beside: Path, name: str) -> Path | None:
    return next((file for file in (beside.with_name(name), beside.with_name(f"{name}.gz")) if file.exists()), None)


def _separated(file: Path, sign: str) -> Iterator[tuple[str, str]]:
    """MovieLens keeps its titles in Latin-1."""
    if not file.exists():
        return
    for number, line in reading.lines(file, encoding="latin-1"):
        fields = line.split(sign)
        if len(fields) < 3:
            raise reading.bad(file, number, f"has {len(fields)} fields between '{sign}', not an id, a title and more")
        yield fields[0].strip(), fields[1]


def _headed(file: Path | None, delimiter: str, id: str, titles: Iterable[str]) -> Iterator[tuple[str, str]]:
    for entry in reading.table(file, delimiter=delimiter, quoted=delimiter == ",") if file else ():
        column = next((title for title in titles if title in entry.fields), None)
        if column is None:
            raise entry.bad(f"has no column of titles ({', '.join(titles)}); columns are {', '.join(entry.fields)}")
        yield entry.text(id), str(entry.get(column))


def _described(file: Path | None) -> Iterator[tuple[str, str]]:
    """Amazon's older files write records as Python does, not as JSON."""
    for number, line in reading.lines(file) if file else ():
        try:
            record = json.loads(line) if line.startswith('{"') else ast.literal_eval(line)
            yield str(record["asin"]), str(record.get("title") or "")
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, KeyError, AttributeError):
            raise reading.bad(Path(str(file)), number, "is no record with an 'asin'; get the file again") from None


def _attributed(file: Path | None) -> Iterator[tuple[str, str]]:
    known = Entry(file, 1, {"items": reading.document(file)}).get("items") if file else {}
    if file and not isinstance(known, dict):
        raise reading.bad(file, 1, "is not a JSON object of items and lists of attributes")
    for item, attributes in known.items():
        if not isinstance(attributes, list):
            raise reading.bad(Path(str(file)), 1, f"gives item {item} no list of attributes")
        yield item, f"item {item} with attributes {', '.join(map(str, attributes))}" if attributes else ""
