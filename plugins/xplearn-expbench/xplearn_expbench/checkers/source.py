"""Finding the program in what a policy said."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from textwrap import dedent

from xplearn_expbench.checkers.fences import blocks, spoken

_BEGINNING = re.compile(r"(?:from|import|def|async def|class)\s|@\w|[A-Za-z_]\w*\s*(?::[^=\n]+)?=[^=]")
_LONGEST = 100_000
_ALLOWANCE = 5 * _LONGEST
_TRIES = 40
_INDENT = "    "


def program(completion: str, *, entry: str, prompt: str = "") -> str | None:
    """Source text in which ``entry`` is defined, or None: the first of these that is Python.

    1. the last fenced block that defines it (an unclosed fence counts), ``prompt`` before it, so that imports and helpers are there,
       and those earlier blocks that define what it uses;
    2. without such a block, the part of the text from its first line of code to the last line that still is Python, likewise;
    3. with a ``prompt`` (a signature with its docstring), its continuation: the last fenced block, else the text up to the first line
       that is not indented. A body without indentation is indented. A text that begins with an indented body is read so before 2.

    Thoughts, between ``<think>`` and ``</think>`` or the end, and what follows a mark such as ``<|im_end|>`` are no part of the answer.
    Text beyond 100,000 characters is not read, and time is linear in what is.
    """
    text = spoken(completion[:_LONGEST].replace("\r\n", "\n"))
    fenced = blocks(text)
    parts = (*fenced[: -_TRIES - 1 : -1], text) if prompt else ()
    continued = (source for part in parts for source in _continued(prompt, part))
    bare = filter(None, (_whole(part, prompt, entry) for part in [_code_in(text, entry)]))
    in_order = (continued, bare) if prompt and not fenced and _is_body(text, entry) else (bare, continued)
    return _whole(_joined(fenced, entry), prompt, entry) or next(chain(*in_order), None)


def parse(source: str) -> ast.Module:
    """The syntax tree, without the warnings that Python gives about escapes and the like.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source is no Python, or nested too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _tree(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _error_line(source: str) -> int | None:
    """Line at which the source stops being Python; None where it does not."""
    try:
        parse(source)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None


def _bound(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Names that statements of a module define, also within ``if``, ``try`` and ``with``."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in statement.names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _bound(ast.iter_child_nodes(statement))


def _whole(parts: Iterable[str], prompt: str, entry: str) -> str | None:
    for part in parts:
        tree = _tree(part) if entry in part else None
        if tree is not None and entry in _bound(tree.body):
            both = f"{prompt}\n\n{part}"
            return both if prompt and "__future__" not in part and _error_line(both) is None else part
    return None


def _joined(fenced: list[str], entry: str) -> Iterator[str]:
    """Blocks, the last first, each after those before it that define what it needs."""
    for place in reversed(range(len(fenced))):
        if entry not in fenced[place]:
            continue
        part = dedent(fenced[place])
        tree = _tree(part)
        if tree is not None and entry in _bound(tree.body):
            yield from (_with_helpers(fenced[:place], part, tree), part)


def _with_helpers(earlier: list[str], part: str, tree: ast.Module) -> str:
    needed = _free(part) - set(_bound(tree.body))
    for block in map(dedent, earlier[: -_TRIES - 1 : -1]):
        helper = _tree(block) if needed else None
        if helper is not None and needed & (defined := set(_bound(helper.body))):
            part, needed = f"{block}\n\n{part}", (needed | _free(block)) - defined
    return part


def _free(source: str) -> set[str]:
    """Names that the source takes from its module or from built-ins, and does not assign there."""
    try:
        waiting = [symtable.symtable(source, "", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    free = set()
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        module = scope.get_type() == "module"
        free |= {name.get_name() for name in scope.get_symbols() if (not name.is_assigned() if module else name.is_global())}
    return free - set(dir(builtins))


def _code_in(text: str, entry: str) -> Iterator[str]:
    if entry not in text:
        return
    lines, allowance = text.split("\n"), _ALLOWANCE
    starts = (index for index, line in enumerate(lines) if _BEGINNING.match(line))
    for start, _ in zip(starts, range(_TRIES), strict=False):
        part = lines[start:]
        for _ in range(_TRIES):
            source = "\n".join(part)
            allowance -= len(source)
            if allowance < 0 or entry not in source:
                break
            bad = _error_line(source)
            if bad is None:
                yield source
                break
            part = part[: min(bad, len(part)) - 1]


def _is_body(text: str, entry: str) -> bool:
    """Whether the text goes on with the body of a function."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return first[:1].isspace() and not re.match(rf"\s*(?:async )?(?:def|class) {re.escape(entry)}\b", first)


def _continued(prompt: str, part: str) -> Iterator[str]:
    lines = part.strip("\n").split("\n")
    body = [lines[0]]
    for line in lines[1:]:
        if line and not line[0].isspace():
            break
        body.append(line)
    if not "".join(body).strip():
        return
    first, rest = body[0], body[1:]
    if not first[:1].isspace():
        forms = [[_INDENT + line for line in lines], [_INDENT + first, *rest], [_INDENT + line for line in body]]
    else:
        forms = [body]
    for form in forms:
        source = prompt.rstrip("\n") + "\n" + "\n".join(form) + "\n"
        if _error_line(source) is None:
            yield source
