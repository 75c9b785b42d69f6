"""Tests as they are run: an asserted equality also asks for the same types."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

FILE = "<tests>"
"""Name of the tests' source in tracebacks."""
SAME = "__same__"
"""Name under which the tests find ``same``."""

_EVERY = ("all", "any")


def compiled(source: str) -> CodeType:
    """Tests in which each equality that an assert asks for is one of types too: ``same(a, b)`` in place of ``a == b``.

    So it is alone or in a chain of equalities, under ``and``, ``or`` and ``if … else``, and for each item of ``all(…)`` and ``any(…)``.
    Under ``not`` and elsewhere comparisons stay as they are.

    Raises:
        SyntaxError: the source is no Python.
    """
    tree = ast.fix_missing_locations(_Asserts().visit(ast.parse(source)))
    return compile(tree, FILE, "exec", dont_inherit=True)


class _Asserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        node.test = _typed(node.test)
        return node


def _typed(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.Compare):
        return _compared(test)
    if isinstance(test, ast.BoolOp):
        test.values = [_typed(value) for value in test.values]
    elif isinstance(test, ast.IfExp):
        test.body, test.orelse = _typed(test.body), _typed(test.orelse)
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in _EVERY and len(test.args) == 1:
        (items,) = test.args
        if isinstance(items, ast.GeneratorExp | ast.ListComp):
            items.elt = _typed(items.elt)
    return test


def _compared(test: ast.Compare) -> ast.expr:
    """The program's value first: whatever is called, where the other side is not."""
    if not all(isinstance(operator, ast.Eq) for operator in test.ops):
        return test
    sides = [test.left, *test.comparators]
    if not _calls(sides[0]) and any(map(_calls, sides)):
        sides.reverse()
    return ast.copy_location(ast.Call(func=ast.Name(id=SAME, ctx=ast.Load()), args=sides, keywords=[]), test)


def _calls(side: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(side))


def same(value: Any, *expected: Any) -> bool:
    """Equal, each to the next, and of the same types down to the items: ``True`` does not pass for ``1``.

    Reference solutions need two exceptions: ``2.0`` passes for ``2``, and ``0`` for ``False``.
    """
    pairs = [*zip((value, *expected), expected, strict=False)]
    return all(bool(one == other) for one, other in pairs) and all(_fits(value, other) for other in expected)


def _fits(value: Any, expected: Any) -> bool:
    if isinstance(value, bool):
        return isinstance(expected, bool)
    if isinstance(value, list | tuple):
        return all(map(_fits, value, expected))
    if isinstance(value, set | frozenset):
        return _fit_keys(value, expected)
    if isinstance(value, dict):
        return _fit_keys(value, expected) and all(_fits(item, expected[key]) for key, item in value.items())
    return True


def _fit_keys(value: Any, expected: Any) -> bool:
    twins = {key: key for key in expected}
    return all(_fits(key, twins[key]) for key in value)
