"""Tests as they are run: an asserted equality also asks for the same types."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

FILE = "<tests>"
"""Name of the tests' source in tracebacks."""
SAME = "__same__"
"""Name under which the tests find ``same``."""


def compiled(source: str) -> CodeType:
    """Tests with each ``assert a == b`` asking ``same(a, b)``; other asserts stay as they are.

    Raises:
        SyntaxError: the source is no Python.
    """
    tree = ast.fix_missing_locations(_Asserts().visit(ast.parse(source)))
    return compile(tree, FILE, "exec", dont_inherit=True)


class _Asserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        test = node.test
        if isinstance(test, ast.Compare) and [type(operator) for operator in test.ops] == [ast.Eq]:
            call = ast.Call(func=ast.Name(id=SAME, ctx=ast.Load()), args=[test.left, *test.comparators], keywords=[])
            node.test = ast.copy_location(call, test)
        return node


def same(value: Any, expected: Any) -> bool:
    """Equal, and of the same types down to the items: ``True`` does not pass for ``1``.

    Reference solutions need two exceptions: ``2.0`` passes for ``2``, and ``0`` for ``False``.
    """
    return bool(value == expected) and _fits(value, expected)


def _fits(value: Any, expected: Any) -> bool:
    if isinstance(value, bool):
        return isinstance(expected, bool)
    if isinstance(value, list | tuple):
        return all(map(_fits, value, expected))
    if isinstance(value, dict):
        return all(_fits(item, expected[key]) for key, item in value.items())
    return True
