from __future__ import annotations

from dataclasses import dataclass

import pytest

from xplearn.builtin.toys import Counting
from xplearn.errors import ConfigError, ContractError, DataError, EnvironmentDiedError, UnknownComponentError
from xplearn.rollout import pool as pool_module
from xplearn.rollout.pool import Start, Turn, open_pool
from xplearn.schema import EnvSpec
from xplearn.types import Task


@dataclass(kw_only=True)
class Fragile(Counting):
    def step(self, action):
        if action == "crash":
            raise ZeroDivisionError("oh")
        if action == "die":
            raise EnvironmentDiedError("fragile", "gone")
        return super().step(action)


@pytest.fixture
def pool():
    made = open_pool(EnvSpec(name="core.counting", fields={"length": 2}), slots=3)
    yield made
    made.close()


@pytest.fixture
def fragile(monkeypatch):
    class Registry:
        registry = None

        def make(self, slot, name, **fields):
            return Fragile(**fields)

    Registry.registry = Registry()
    monkeypatch.setattr(pool_module, "installed", lambda: Registry)
    return open_pool(EnvSpec(name="fragile"), slots=2)


def test_pool_describes_its_environment(pool):
    assert pool.slots == 3
    assert pool.version == Counting(length=2).version
    assert pool.splits == ("train", "dev", "test")
    assert "env.demos" in pool.provides
    assert list(pool.tasks("dev")) == Counting(length=2).tasks("dev")


def test_slots_are_independent_episodes(pool):
    first, second = pool.tasks("train")[:2]
    starts = pool.reset({0: (first, 1), 2: (second, 1)})
    assert isinstance(starts[0], Start)
    assert starts[0].messages[-1]["content"].endswith(starts[0].observation.text)
    up, down = first.meta["start"], second.meta["start"]
    turns = pool.step({2: f" {down - 1}\nbecause", 0: "wrong"})
    assert (turns[2].action, turns[2].outcome.info["score"]) == (str(down - 1), 0.5)
    assert (turns[0].action, turns[0].outcome.info["score"]) == ("wrong", 0.0)
    assert pool.step({0: str(up + 2)})[0].outcome.terminated


def test_demonstrations_come_in_the_order_of_the_requests(pool):
    requests = [(task, 3) for task in reversed(pool.tasks("train"))]
    assert [trajectory.task.id for trajectory in pool.demonstrate(requests)] == [task.id for task, _ in requests]


def test_listing_can_be_left_out():
    pool = open_pool(EnvSpec(name="core.counting"), slots=1, listing=False)
    start = pool.reset({0: (pool.tasks("train")[0], 0)})[0]
    assert start.observation.actions is None
    assert pool.step({0: "1"})[0].outcome.observation.actions is None


@pytest.mark.parametrize(("action", "reason"), [("die", "gone"), ("crash", "ZeroDivisionError")])
def test_a_copy_that_dies_is_a_value_and_is_replaced_at_its_next_reset(fragile, action, reason):
    task = fragile.tasks("train")[0]
    fragile.reset({0: (task, 0), 1: (task, 0)})
    turns = fragile.step({0: action, 1: str(task.meta["start"] + 1)})
    assert isinstance(turns[0], EnvironmentDiedError)
    assert reason in str(turns[0])
    assert isinstance(turns[1], Turn)
    assert isinstance(fragile.reset({0: (task, 0)})[0], Start)
    assert fragile.step({1: str(task.meta["start"] + 2)})[1].outcome.info["score"] == pytest.approx(2 / 5)


def test_misuse_is_raised_not_returned(pool):
    with pytest.raises(ContractError):
        pool.step({0: "1"})
    with pytest.raises(DataError):
        pool.reset({0: (Task(id="nowhere", env="other", split="train", goal="?"), 0)})
    with pytest.raises(ConfigError):
        pool.tasks("weekend")


def test_wrong_names_and_fields_fail_when_the_pool_is_opened():
    with pytest.raises(UnknownComponentError, match=r"core\.counting"):
        open_pool(EnvSpec(name="core.countin"), slots=1)
    with pytest.raises(ConfigError, match="length"):
        open_pool(EnvSpec(name="core.counting", fields={"lenght": 1}), slots=1)


def test_closing_twice_is_harmless(pool):
    pool.close()
    pool.close()
