from __future__ import annotations

import pytest

from xplearn import errors
from xplearn.capability import Problem
from xplearn.errors import (
    ConfigError,
    ContractError,
    DataError,
    EndpointError,
    EnvironmentDiedError,
    IncompatibleError,
    PluginError,
    RecordError,
    UnknownComponentError,
    XplearnError,
    nearest,
)


@pytest.mark.parametrize(
    ("error", "message", "attribute", "value"),
    [
        (ConfigError("learner.0.rank", "must be at least 1"), "learner.0.rank: must be at least 1", "path", "learner.0.rank"),
        (ConfigError("", "no such file"), "no such file", "path", ""),
        (PluginError("edge", "no module"), "plugin 'edge': no module", "plugin", "edge"),
        (ContractError("MyStore", "wrote while frozen"), "MyStore: wrote while frozen", "component", "MyStore"),
        (RecordError("runs/1", "damaged"), "runs/1: damaged", "path", "runs/1"),
        (DataError("weights", "missing"), "weights: missing", "path", "weights"),
        (EndpointError("http://h/v1", "answers 500"), "http://h/v1: answers 500", "reason", "answers 500"),
        (EnvironmentDiedError("core.counting", "exit 1"), "environment 'core.counting': exit 1", "env", "core.counting"),
    ],
)
def test_message_leads_with_the_culprit(error, message, attribute, value):
    assert isinstance(error, XplearnError)
    assert str(error) == message
    assert getattr(error, attribute) == value


def test_unknown_component_suggests_and_lists():
    error = UnknownComponentError("selector", "core.nearst", ["core.nearest", "core.bm25"])
    assert str(error) == "no selector is called 'core.nearst'; did you mean 'core.nearest'? (known: core.bm25, core.nearest)"
    assert str(UnknownComponentError("store", "x", [])) == "no store is called 'x' (known: none)"


def test_incompatible_counts_its_problems():
    problem = Problem(slot="selector", name="core.bm25", capability="store.filled", why="because")
    assert str(IncompatibleError([problem])).splitlines()[0] == "this mix has 1 problem"
    assert str(IncompatibleError([problem] * 2)).startswith("this mix has 2 problems\n\n  selector 'core.bm25' requires")
    assert IncompatibleError([problem]).problems == (problem,)


def test_nearest_name():
    assert nearest("utilty", ["utility", "uses"]) == "utility"
    assert nearest("nearest", ["core.nearest", "core.all"]) == "core.nearest"
    assert nearest("zzz", ["core.nearest"]) is None
    assert nearest("", ["a"]) is None


def test_every_error_stands_in_the_tree():
    drawn = errors.__doc__ or ""
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(found) == 10
    assert all(error.__name__ in drawn for error in found)
