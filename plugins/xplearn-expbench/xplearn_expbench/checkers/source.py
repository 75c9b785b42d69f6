"""Finding the program in what a policy said."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BEGINNING = re.compile(r"(?:from|import|def|async def|class)\s|@\w|[A-Za-z_]\w*\s*(?::[^=\n]+)?=[^=]")
_LONGEST = 100_000
_TRIES = 40
_INDENT = "    "


def program(completion: str, *, entry: str, prompt: str = "") -> str | None:
    """Source text in which ``entry`` is defined, or None: the first of these that is Python.

    1. the last fenced block that defines it (an unclosed fence counts), ``prompt`` before it, so that imports and helpers are there;
    2. without such a block, the part of the text from its first line of code to the last line that still is Python, likewise;
    3. with a ``prompt`` (a signature with its docstring), its continuation: the last fenced block, else the text up to the first line
       that is not indented. A body without indentation is indented.

    Text beyond 100,000 characters is not read.
    """
    text = completion[:_LONGEST].replace("\r\n", "\n")
    blocks = _FENCED.findall(text)[::-1]
    whole = (block for part in (*blocks, *_code_in(text)) for block in _after(prompt, part, entry))
    continued = (source for part in (*blocks, text) for source in _continued(prompt, part))
    return next(whole, None) or (next(continued, None) if prompt else None)


def parse(source: str) -> ast.Module:
    """The syntax tree, without the warnings that Python gives about escapes and the like.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source is no Python, or nested too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _error_line(source: str) -> int | None:
    """Line at which the source stops being Python; None where it does not."""
    try:
        parse(source)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None


def _defines(source: str, entry: str) -> bool:
    if _error_line(source) is not None:
        return False
    return any(entry in _bound(statement) for statement in parse(source).body)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _after(prompt: str, part: str, entry: str) -> Iterator[str]:
    if not _defines(part, entry):
        return
    both = f"{prompt}\n\n{part}"
    yield both if prompt and "__future__" not in part and _error_line(both) is None else part


def _code_in(text: str) -> Iterator[str]:
    lines = text.split("\n")
    starts = [index for index, line in enumerate(lines) if _BEGINNING.match(line)]
    for start in starts[:_TRIES]:
        yield _python_part(lines[start:])


def _python_part(lines: list[str]) -> str:
    for _ in range(_TRIES):
        bad = _error_line("\n".join(lines))
        if bad is None:
            break
        lines = lines[: min(bad, len(lines)) - 1]
    return "\n".join(lines)


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
    if not first[0].isspace():
        forms = [[_INDENT + line for line in lines], [_INDENT + first, *rest], [_INDENT + line for line in body]]
    else:
        forms = [body]
    for form in forms:
        source = prompt.rstrip("\n") + "\n" + "\n".join(form) + "\n"
        if _error_line(source) is None:
            yield source
