"""HumanEval and MBPP as published, and the plus sets where a row's ``test`` holds all of its tests."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xplearn import DataError
from xplearn_expbench.checkers.source import parse
from xplearn_expbench.official import reading
from xplearn_expbench.spec import Row

_SPLITS = (("train", range(1, 11)), ("test", range(11, 511)), ("dev", range(511, 601)), ("train", range(601, 975)))


def humaneval(path: Path) -> list[Row]:
    """Rows of HumanEval or HumanEval+ (``.jsonl`` or ``.jsonl.gz``): a signature with its docstring, to be completed (Chen et al. 2021).

    ``meta``: ``entry_point``, ``names``, ``prompt`` (what is completed), ``preamble``, ``tests``, ``shown_test`` (empty: the docstring
    has examples).

    Raises:
        DataError: the file is missing, or a line is not of that form; says which.
    """
    return _load(path, _humaneval)


def mbpp(path: Path) -> list[Row]:
    """Rows of MBPP or MBPP+ (``.jsonl`` or ``.jsonl.gz``): a sentence, and tests of which the first may be shown (Austin et al. 2021).

    Splits by task id: 11-510 test, 511-600 dev, 1-10 and 601-974 train. ``meta`` as ``humaneval``, without a ``prompt``.

    Raises:
        DataError: the file is missing, or a line is not of that form; says which.
    """
    return _load(path, _mbpp)


_NEEDED = ("task_id", "code", "test_list", "text", "prompt", "entry_point", "canonical_solution")


def _load(path: Path, read: Callable[[Mapping[str, Any]], Row]) -> list[Row]:
    rows: dict[str, Row] = {}
    for file in reading.found(path, (".jsonl",), "HumanEval or MBPP"):
        for entry in reading.jsonl(file):
            row = _read(entry, read)
            if row.id in rows:
                raise entry.bad(f"has the task id {row.id}, which an earlier line has")
            rows[row.id] = row
    if not rows:
        raise DataError(path, "holds no rows; give the published .jsonl or .jsonl.gz")
    return list(rows.values())


def _read(entry: reading.Entry, read: Callable[[Mapping[str, Any]], Row]) -> Row:
    if "plus_input" in entry.fields:
        raise entry.bad("has 'plus_input', which are inputs without tests; give the file whose 'test' holds them")
    empty = [name for name in _NEEDED if name in entry.fields and entry.fields[name] is None]
    if empty:
        raise entry.bad(f"has null as '{empty[0]}'; get the file again")
    try:
        return read(entry.fields)
    except KeyError as error:
        raise entry.bad(f"has no field {error}") from None
    except SyntaxError as error:
        raise entry.bad(f"holds what is no Python ({error})") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise entry.bad(str(error)) from None


def _humaneval(row: Mapping[str, Any]) -> Row:
    prompt, entry = row["prompt"], row["entry_point"]
    meta = {
        "entry_point": entry,
        "names": [entry],
        "prompt": prompt,
        "preamble": prompt,
        "tests": f"{row['test']}\n\ncheck({entry})\n",
        "shown_test": "",
    }
    parse(prompt)
    parse(meta["tests"])
    return Row(id=str(row["task_id"]), question=prompt, answer=prompt + row["canonical_solution"], split="test", meta=meta)


def _mbpp(row: Mapping[str, Any]) -> Row:
    code, asserts = row["code"], list(row["test_list"])
    if not asserts:
        raise ValueError("has an empty 'test_list'")
    tests = "\n".join([row.get("test_setup_code") or "", row.get("test") or "\n".join(asserts)]) + "\n"
    number = int(str(row["task_id"]).rpartition("/")[2])
    names = _taken(tests, code)
    meta = {
        "entry_point": next((name for name in _used(asserts[0]) if name in names), names[0]),
        "names": names,
        "preamble": "\n".join([*(row.get("test_imports") or ()), *_imports(tests, code)]),
        "tests": tests,
        "shown_test": asserts[0],
    }
    question = str(row["text"] if "text" in row else row["prompt"]).strip()
    return Row(id=str(number), question=question, answer=code, split=_split(number), meta=meta)


def _split(number: int) -> str:
    for name, ids in _SPLITS:
        if number in ids:
            return name
    raise ValueError(f"has the task id {number}, which is not among 1-974")


def _taken(tests: str, code: str) -> list[str]:
    """What the tests take from the reference, so that a program cannot put something else under another name, such as ``len``."""
    defined = set(_defined(code))
    names = [name for name in _used(tests) if name in defined]
    if not names:
        raise ValueError("has tests that use nothing that 'code' defines")
    return names


def _used(source: str) -> list[str]:
    names = (node.id for node in ast.walk(parse(source)) if isinstance(node, ast.Name))
    return list(dict.fromkeys(names))


def _imports(tests: str, code: str) -> Iterator[str]:
    """Imports of the reference on which tests lean (MBPP 596)."""
    used = set(_used(tests))
    for node in parse(code).body:
        if isinstance(node, ast.Import | ast.ImportFrom) and used & {alias.asname or alias.name for alias in node.names}:
            yield ast.unparse(node)


def _defined(source: str) -> Iterator[str]:
    for node in parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
