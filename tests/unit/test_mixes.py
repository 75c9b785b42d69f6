"""Mixes whose parts do nothing for one another are refused with the reason; those that do are not."""

import numpy as np
import pytest

from xplearn.capability import offered
from xplearn.config import load_experiment
from xplearn.errors import ConfigError
from xplearn.experiment.build import build_parts, check_experiment
from xplearn.experiment.idle import idle
from xplearn.experiment.opening import check_tasks
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.dial import dial_plugins

PLUGINS = dial_plugins()
MIX = {
    "stream": [{"env": "core.errands"}],
    "policy": "dial.policy",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": "dial.turn",
    "sampling": {"choices": "admissible"},
}
BARE = {"selector": "core.none", "conditioner": "core.none", "record": []}
BOTH = {"learner": {"name": "dial.turn", "arms": ["plain", "experience"]}}


def problems(**changes):
    experiment, _ = load_experiment({**MIX, **changes}, [], PLUGINS.registry)
    return {f"{problem.slot} {problem.capability}": problem for problem in check_experiment(experiment, PLUGINS)}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, set()),
        (BARE, set()),
        ({**BARE, "conditioner": "core.prompt"}, set()),
        ({"selector": "core.none"}, set()),
        ({"conditioner": "core.none"}, set()),
        (BOTH, set()),
        ({**BARE, **BOTH}, set()),
        ({"curriculum": "core.random"}, set()),
        ({**BARE, "curriculum": "core.random"}, set()),
        ({**BARE, "curriculum": "core.random", "learner": []}, set()),
        ({"stream": [{"env": "core.errands", "record": False}]}, {"selector store.filled"}),
        ({"stream": [{"env": "core.errands", "warmup": True, "record": True}, {"env": "core.errands", "record": False}]}, set()),
    ],
)
def test_what_does_nothing_is_refused_and_nothing_else(changes, found):
    assert set(problems(**changes)) == found


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        (BARE, []),
        (BOTH, []),
        ({"conditioner": "core.none"}, ["selector 'core.bm25' selects and conditioner 'core.none' uses nothing of it"]),
        ({**BARE, **BOTH}, ["dial.turn learns from both arms, and both are the same"]),
        ({**BOTH, "selector": "core.none"}, ["dial.turn learns from both arms, and both are the same"]),
        ({"curriculum": "core.random"}, []),
        ({**BARE, "curriculum": "core.random"}, ["curriculum 'core.random' chooses from a bank that nothing fills"]),
        ({**BARE, "curriculum": "core.random", "learner": []}, []),
    ],
)
def test_parts_of_a_sound_mix_that_are_idle_are_told(changes, told):
    experiment, _ = load_experiment({**MIX, **changes}, [], PLUGINS.registry)
    lines = list(idle(build_parts(experiment, PLUGINS.registry)))
    assert len(lines) == len(told)
    assert all(line.startswith(beginning) for line, beginning in zip(lines, told, strict=True))
    assert check_tasks(experiment, PLUGINS)[: len(lines)] == lines


def test_a_bank_that_no_stage_writes_is_told_apart_from_one_without_a_writer():
    silent = problems(stream=[{"env": "core.errands", "record": False}])["selector store.filled"]
    assert str(silent).endswith("or: stream.0.record=true, as no stage writes the bank")
    assert "or:" not in str(problems(record=[])["selector store.filled"])


def test_a_bank_that_is_there_needs_no_stage_that_writes(tmp_path):
    store = SqliteStore(path=str(tmp_path / "bank.sqlite"))
    store.add([samples.experience(1)])
    store.close()
    kept = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    assert problems(store=kept, stream=[{"env": "core.errands", "record": False}]) == {}


def test_who_trains_does_not_stand_where_the_bank_is_written():
    with pytest.raises(ConfigError, match=r"^record.1: dial.turn trains the policy, .*; put it under learner$"):
        problems(record=["core.record", "dial.turn"], learner=[])


def test_what_nearly_all_parts_have_is_implied_for_the_slot_alone():
    part = PLUGINS.registry.make("selector", "core.bm25")
    assert "selector.selects" in offered("selector", part)
    assert "selector.selects" not in offered("curriculum", part)
    assert "selector.selects" not in offered("selector", PLUGINS.registry.make("selector", "core.none"))


def kept(folder, encoder):
    """A bank with vectors of an encoder in the spaces ``key`` and ``other``."""
    path = folder / "bank.sqlite"
    store = SqliteStore(path=str(path))
    for space in ("key", "other"):
        store.open_space(space, encoder=encoder, dim=2)
    store.add([samples.experience(1)], {space: np.ones((1, 2), dtype=np.float32) for space in ("key", "other")})
    store.close()
    return {"name": "core.sqlite", "path": str(path)}


@pytest.mark.parametrize(
    ("made_by", "encoder"),
    [
        ("core.hashing/64", "core.hashing"),
        ("core.minilm/tiny/256", "core.hashing"),
        ("core.hashing/256", {"name": "core.policy", "weights": "current"}),
    ],
)
def test_a_bank_of_another_encoder_is_refused_where_it_is_searched_or_written(tmp_path, made_by, encoder):
    searched = {"store": kept(tmp_path, made_by), "encoder": encoder, "selector": "core.nearest", "record": []}
    for changes in (searched, {**searched, "selector": "core.bm25", "record": "core.record"}):
        with pytest.raises(
            ConfigError, match=rf"^encoder: is core\.\w+.*, and {made_by} made the vectors of space 'key' in the bank; take that"
        ):
            problems(**changes)
    problems(**{**searched, "selector": "core.bm25"})


@pytest.mark.parametrize("made_by", ["core.hashing/256", "states of a policy", "mine.own/3"])
def test_a_bank_of_the_same_encoder_or_of_one_that_cannot_be_told_is_not(tmp_path, made_by):
    assert problems(store=kept(tmp_path, made_by), selector="core.nearest", record=[]) == {}
