"""Where the data come from: the published files in a folder, or the catalogue that this plugin brings along."""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn import DataError
from xplearn_webshop.streaming import array, mapping

GET = (
    "WebShop's setup.sh downloads items_shuffle_1000.json, items_ins_v2_1000.json and items_human_ins.json (small), "
    "or the same names without _1000 (all 1.18 million products); give data= the folder that holds them"
)
COUNTS_OF_1000 = {"products": 1000, "synthetic goals": 6910, "human goals": 13}
"""What the published set of 1,000 products holds."""
_ENDINGS = ("", ".gz", ".xz")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Data to compile, and what tells them from others without reading them."""

    label: str
    """A path or name, for messages."""
    signature: str
    """Changes when the data change."""
    bytes: int
    """Size of what has to be read."""
    products: Callable[[], Iterable[Any]]
    """Entries in the schema of ``items_shuffle``."""
    instructions: Callable[[], Iterable[tuple[str, str]]]
    """Id and JSON text of each entry of ``items_ins_v2``."""
    human: Callable[[], Iterable[tuple[str, str]]] | None
    """Id and JSON text of each entry of ``items_human_ins``; None where the file is missing."""
    nouns: Callable[[], Iterable[tuple[str, str]]] | None
    """Id and JSON text of each entry of ``name_nouns``; None where the file is missing."""
    expected: dict[str, int] | None = None
    """How much of what there must be, where that is known."""


def files(data: str) -> Source:
    """The published files of a folder, with or without ``_1000`` in their names, plain or as .gz or .xz.

    Args:
        data: the folder, or its file of products where it holds more than one size.

    Raises:
        DataError: the folder or a file is missing, or both sizes are there.
    """
    place = located(data)
    if not place.exists():
        raise DataError(data, f"there is no such folder; {GET}")
    products = place if place.is_file() else _needed(place, "items_shuffle")
    folder, size = products.parent, "_1000" if "_1000" in products.name else ""
    instructions = _needed(folder, "items_ins_v2", size)
    human, nouns = _one(folder, "items_human_ins", size), _one(folder, "name_nouns", size)
    found = [path for path in (products, instructions, human, nouns) if path]
    return Source(
        label=str(folder),
        signature=stamp(*found),
        bytes=sum(path.stat().st_size for path in found),
        products=functools.partial(array, products),
        instructions=functools.partial(mapping, instructions),
        human=functools.partial(mapping, human) if human else None,
        nouns=functools.partial(mapping, nouns) if nouns else None,
        expected=COUNTS_OF_1000 if size else None,
    )


def own() -> Source:
    """The catalogue of invented products."""

    def texts(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
        return ((asin, json.dumps(entry)) for asin, entry in entries.items())

    def part(name: str) -> Any:
        from xplearn_webshop import own as catalogue

        return getattr(catalogue, name)()

    package = importlib.resources.files("xplearn_webshop.own")
    raw = [(file.name, file.read_bytes()) for file in sorted(package.iterdir(), key=lambda file: file.name) if file.is_file()]
    return Source(
        label="the own catalogue",
        signature=hashlib.blake2b(repr(raw).encode(), digest_size=16).hexdigest(),
        bytes=sum(len(content) for _, content in raw),
        products=lambda: part("products"),
        instructions=lambda: texts(part("attributes")),
        human=lambda: texts(part("human")),
        nouns=lambda: texts(part("nouns")),
    )


def located(given: str) -> Path:
    """The path that is meant, which need not exist; ``DataError`` where it cannot."""
    try:
        path = Path(given).expanduser()
        path.exists()
    except (OSError, RuntimeError) as error:  # too long or out of bounds, or the home of nobody known
        raise DataError(given, f"cannot be opened ({error})") from None
    return path


def stamp(*paths: Path) -> str:
    """Names, sizes and times of files: what a cache is looked up by, so that no large file is read for it."""
    parts = [_stamped(path) for path in paths]
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _stamped(path: Path) -> tuple[str, int, int]:
    try:
        found = path.resolve(strict=True)
        about = found.stat()
    except (OSError, RuntimeError) as error:  # a link to nothing, or in a circle
        raise DataError(path, f"cannot be opened ({error})") from None
    return str(found), about.st_size, about.st_mtime_ns


def _needed(folder: Path, name: str, size: str = "") -> Path:
    found = _one(folder, name, size)
    if found is None:
        raise DataError(folder, f"holds no {name}.json or {name}_1000.json; {GET}")
    return found


def _one(folder: Path, name: str, size: str = "") -> Path | None:
    """The one file of a folder whose name begins so; of several, the one for this size."""
    try:
        named = sorted(path for path in folder.iterdir() if path.name.startswith(name) and ".json" in path.name)
    except OSError as error:
        raise DataError(folder, f"cannot be read ({error.strerror}); {GET}") from None
    found = [path for path in named if path.name.partition(".json")[2] in _ENDINGS]
    sized = [path for path in found if ("_1000" in path.name) == bool(size)]
    if len(found) < 2:
        return found[0] if found else None
    if len(sized) == 1 and (size or name != "items_shuffle"):
        return sized[0]
    names = ", ".join(path.name for path in found)
    raise DataError(folder, f"holds {names}: give data= the one file of products to use, or keep each size in a folder of its own")
