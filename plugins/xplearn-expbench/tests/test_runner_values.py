"""Values that cross between a program and its tests, and how tests compare them."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xplearn_expbench.runner.inside.channel import LARGEST, receive, send
from xplearn_expbench.runner.inside.compare import compiled, same
from xplearn_expbench.runner.inside.values import decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.booleans(), st.none()), inner, max_size=4)
        | st.sets(st.integers() | st.text(), max_size=4)
        | st.frozensets(st.booleans(), max_size=2)
    ),
    max_leaves=12,
)


def across(value):
    def refuse(thing):
        raise AssertionError(thing)

    return decode(json.loads(json.dumps(encode(value, refuse))), refuse)


@given(values)
def test_built_in_values_cross_unchanged_and_with_their_types(value):
    back = across(value)
    assert back == value
    assert repr(back) == repr(value) or isinstance(value, set | frozenset | dict | list | tuple)
    assert same(back, value)


@pytest.mark.parametrize(
    "value", [2**5000, -(2**64), float("inf"), "\ud800", range(3, 9, 2), bytearray(b"a"), int, type(None), {1: {(2,): {3}}}]
)
def test_rare_values_cross_too(value):
    assert (across(value), type(across(value))) == (value, type(value))


def test_subclasses_cross_as_what_they_extend():
    from collections import Counter, OrderedDict, namedtuple
    from enum import IntEnum

    pair, colour = namedtuple("pair", "a b")(1, 2), IntEnum("colour", "RED").RED
    for value, plain in ((Counter("aab"), {"a": 2, "b": 1}), (OrderedDict(a=1), {"a": 1}), (pair, (1, 2)), (colour, 1)):
        assert (across(value), type(across(value))) == (plain, type(plain))


@pytest.mark.parametrize("data", [{"object": "x"}, {"nonsense": 1}, {}, {"int": "z"}, {"set": [[1]]}, {"dict": [1]}, {"a": 1, "b": 2}])
def test_what_is_no_value_is_refused(data):
    with pytest.raises((ValueError, TypeError, KeyError)):
        decode(data, lambda number: number)


@pytest.mark.parametrize(
    ("value", "expected", "alike"),
    [
        (1, 1, True),
        (2.0, 2, True),
        (2, 2.0, True),
        (0, False, True),
        (True, 1, False),
        (False, 0, False),
        ([True], [1], False),
        ((1, 2), [1, 2], False),
        ({"a": True}, {"a": 1}, False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ("1", 1, False),
        ({1, 2}, {2, 1}, True),
        ({1.0, 2}, {2, 1}, True),
        ({True}, {1}, False),
        (frozenset({(False, 2)}), {(0, 2)}, False),
        ({True: 2}, {1: 2}, False),
        ({True: 2}, {True: 2}, True),
        ({1: {2: [True]}}, {1: {2: [1]}}, False),
    ],
)
def test_equal_means_equal_in_value_and_type(value, expected, alike):
    assert same(value, expected) is alike


def test_only_asserted_equality_asks_for_types():
    asked = []
    scope = {"__same__": lambda value, expected: asked.append((value, expected)) or True}
    exec(compiled("def check(f):\n    assert f == 2, 'm'\n    assert f != 3\n    assert 0 < f < 9\n    x = f == 5\ncheck(1)"), scope)
    assert asked == [(1, 2)]


@pytest.mark.parametrize(
    "tests",
    [
        "assert 1 == f(True)",
        "assert f(True) == 1 and f(False) == 0",
        "assert f(2) == 2 and f(True) == 1",
        "assert f(True) == 1 == 1",
        "assert 1 == 1 == f(True)",
        "assert f(3) == 1 or f(True) == 1",
        "assert all(f(x) == y for x, y in [(2, 2), (True, 1)])",
        "assert any([f(x) == 1 for x in (True, 5)])",
        "assert (f(True) == 1 if f(2) == 2 else False)",
        "assert f({True}) == {1}",
        "assert [{1: 'a'}] == f([{True: 'a'}])",
    ],
)
def test_true_never_passes_for_one(run, tests):
    assert run("auto", "def f(x): return x", tests).ending == "wrong"
    assert run("auto", "def f(x): return x", tests.replace("True", "1").replace("False", "0")).ending == "passed"


def test_other_comparisons_in_asserts_are_those_of_python():
    scope = {"__same__": same}
    exec(compiled("assert not True == 2\nassert 0 < True == 1\nassert [1][0] == 1 == 1.0\nassert 2 == 2 != 3"), scope)
    for wrong in ("1 == 1 == 2", "2 == 1 == 1", "1 == 1 and 2 == 3", "not 1 == 1"):
        with pytest.raises(AssertionError):
            exec(compiled(f"assert {wrong}"), scope)


def test_messages_cross_a_pipe_in_pieces_and_end_with_it():
    theirs, ours = os.pipe()
    send(ours, {"a": "ü" * 1000})
    os.close(ours)
    assert receive(lambda size: os.read(theirs, min(size, 7))) == {"a": "ü" * 1000}
    with pytest.raises(EOFError):
        receive(lambda size: os.read(theirs, size))
    os.close(theirs)
    with pytest.raises(ValueError, match="larger than"):
        send(-1, "x" * LARGEST)


def test_numpy_numbers_are_numbers():
    numpy = pytest.importorskip("numpy")
    for value, plain in ((numpy.int64(1), 1), (numpy.float64(0.5), 0.5), (numpy.bool_(1), True)):
        assert (across(value), type(across(value))) == (plain, type(plain))
