from __future__ import annotations

import ast
import dataclasses
import inspect

import pytest

from xplearn import types
from xplearn.testing import samples
from xplearn.types import Conditioning, Sampling, Selection

RECORDS = [value for value in vars(types).values() if isinstance(value, type) and dataclasses.is_dataclass(value)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_records_are_frozen_slotted_and_keyword_only(record):
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)
    assert all(field.kw_only for field in dataclasses.fields(record))


def test_records_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        samples.task(0).goal = "another"


def test_equal_content_is_equal():
    assert samples.trajectory(3) == samples.trajectory(3)
    assert samples.trajectory(3) != samples.trajectory(4)


def test_defaults_are_the_plain_case():
    assert Selection() == Selection(experiences=(), scores=())
    assert Conditioning(messages=()).memory is None
    assert (Sampling().temperature, Sampling().choices, Sampling().stop) == (0.0, "free", ("\n",))


def test_module_needs_the_standard_library_only():
    tree = ast.parse(inspect.getsource(types))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "collections.abc", "dataclasses", "typing"}
