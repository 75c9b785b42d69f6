from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from xplearn_hamo.cache import Outlines
from xplearn_hamo.cards import CardWriter
from xplearn_hamo.outline import Outline

import xplearn
from xplearn import Completion, ConfigError, Policy
from xplearn.endpoint import EndpointConfig
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent, FakeCheckpoint

BATCH = [samples.trajectory(number) for number in range(6)]
SAID = "1. Find the door\n2. Open it\n3. Done when the door is open"


class StoppingPolicy(Policy):
    """Says an outline, of task 3 nonsense, until it is struck down in its n-th answer."""

    def setup(self, agent):
        self.asked, self.stop_at = [], None

    def generate(self, conditionings, sampling, keys, choices=None):
        if self.stop_at is not None and len(self.asked) >= self.stop_at:
            raise KeyboardInterrupt
        self.asked += [conditioning.messages[-1]["content"] for conditioning in conditionings]
        return [Completion(text="nonsense" if "number 3" in row.messages[-1]["content"] else SAID) for row in conditionings]

    def reference(self):
        return contextlib.nullcontext()

    def __repr__(self):
        return "StoppingPolicy()"


def agent(**fields):
    return FakeAgent(policy=StoppingPolicy(), **fields)


def again(trajectory):
    """The same episode under another id, as a later round brings it."""
    return dataclasses.replace(trajectory, id=f"later/{trajectory.id}")


def test_a_call_cut_short_goes_on_where_it_was_and_ends_the_same():
    learner = CardWriter(batch=2, checkpoint_seconds=0.0)
    with agent() as whole:
        figures, digest = learner.learn(BATCH, whole), whole.store.digest()
    with agent() as first:
        first.policy.stop_at = 4
        with pytest.raises(KeyboardInterrupt):
            learner.learn(BATCH, first)
        assert len(first.store) == 0
        assert len(first.checkpoint.state["outlines"]) == 4
        json.dumps(first.checkpoint.state)
    checkpoint = FakeCheckpoint()
    checkpoint.state = json.loads(json.dumps(first.checkpoint.state))
    with agent(checkpoint=checkpoint) as second:
        assert learner.learn(BATCH, second) == figures
        assert len(second.policy.asked) == 2
        assert second.store.digest() == digest


def test_progress_is_saved_now_and_then_and_at_the_end():
    saves = []

    class Counting(FakeCheckpoint):
        def save(self, state):
            saves.append(len(state["outlines"]))

    with agent(checkpoint=Counting()) as busy:
        CardWriter(batch=1, checkpoint_seconds=3600.0).learn(BATCH, busy)
    assert saves == [6]


def test_the_same_episode_under_another_id_takes_its_outline_from_the_bank():
    with agent() as busy:
        learner = CardWriter()
        first = learner.learn(BATCH, busy)
        busy.checkpoint = FakeCheckpoint()
        figures = learner.learn([again(trajectory) for trajectory in BATCH], busy)
        cards = list(busy.store)
        assert len(busy.policy.asked) == 6
    assert (figures["written"], figures["asked"]) == (6.0, 0.0)
    assert figures["unusable"] == first["unusable"] == 1.0
    assert [card.content for card in cards[6:]] == [card.content for card in cards[:6]]
    assert [card.meta for card in cards[6:]] == [card.meta for card in cards[:6]]


def test_equal_episodes_of_one_batch_are_asked_about_once():
    with agent() as busy:
        figures = CardWriter().learn([BATCH[0], again(BATCH[0])], busy)
        assert len(busy.policy.asked) == 1
    assert (figures["written"], figures["asked"]) == (2.0, 1.0)


@pytest.mark.parametrize(
    "changed",
    [{"max_steps": 7}, {"max_new_tokens": 300}, {"start_chars": 10}, {"writer": "rules"}],
    ids=lambda changed: next(iter(changed)),
)
def test_an_outline_made_otherwise_is_not_reused(changed):
    with agent() as busy:
        CardWriter().learn(BATCH[:1], busy)
        busy.checkpoint = FakeCheckpoint()
        assert CardWriter(**changed).learn([again(BATCH[0])], busy)["asked"] == 1.0


def test_foreign_and_damaged_cards_in_the_bank_are_passed_over():
    with agent() as busy:
        CardWriter().learn(BATCH[:1], busy)
        (card,) = busy.store
        digest = card.meta["digest"]
        for meta in ({"digest": digest}, {**card.meta, "outline": []}, {**card.meta, "outline": [1]}, {**card.meta, "digest": 7}, {}):
            busy.store.update(card.id, meta=meta)
            assert digest not in Outlines(FakeAgent(store=busy.store), every_seconds=0.0)
        busy.store.update(card.id, meta=card.meta)
        assert Outlines(FakeAgent(store=busy.store), every_seconds=0.0)[digest] == Outline(
            lines=tuple(card.meta["outline"]), writer="policy"
        )


@pytest.mark.parametrize("state", [{}, {"outlines": None}, {"outlines": {"d": None}}, {"outlines": {"d": {"lines": "text"}}}])
def test_progress_of_another_making_is_passed_over(state):
    checkpoint = FakeCheckpoint()
    checkpoint.state = state
    with FakeAgent(checkpoint=checkpoint) as idle:
        assert "d" not in Outlines(idle, every_seconds=0.0)


def test_a_refusal_midway_keeps_what_was_written(model):
    good = model.reply(0, None)
    model.reply = lambda number, request: good if number < 3 else (401, b"expired")
    settings = EndpointConfig(url=model.url, model="small")
    learner = CardWriter(writer="endpoint", endpoint=settings, batch=1)
    with FakeAgent() as busy:
        with pytest.raises(ConfigError, match="answers 401"):
            learner.learn(BATCH, busy)
        model.reply = lambda number, request: good
        figures = learner.learn(BATCH, busy)
        assert figures["unusable"] == 0.0
    assert len(model.requests) == 3 + 1 + 3


SCRIPT = "import json, sys, xplearn; xplearn.run(json.loads(sys.argv[1]))"


def mix(folder, url):
    return {
        "stream": [{"env": "core.errands", "tasks": {"limit": 6}}],
        "policy": "core.random",
        "sampling": {"choices": "admissible"},
        "selector": "core.nearest",
        "conditioner": "core.prompt",
        "record": [
            {
                "name": "hamo.cards",
                "writer": "endpoint",
                "source": "demonstration",
                "batch": 1,
                "checkpoint_seconds": 0.0,
                "endpoint": {"url": url, "model": "small", "timeout_seconds": 60.0},
            }
        ],
        "evaluate": {"tasks": {"limit": 1}, "resamples": 100, "sampling": {"choices": "admissible"}},
        "run": {"dir": str(folder)},
    }


def test_killed_midway_the_run_ends_with_the_same_bank_and_asks_nothing_twice(model, tmp_path):
    good = model.reply(0, None)
    whole = xplearn.run(mix(tmp_path / "whole", model.url))
    assert len(model.requests) == 6
    model.requests.clear()
    model.reply = lambda number, request: good if number < 3 else model.HANG
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, json.dumps(mix(tmp_path / "cut", model.url))], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(model.requests) < 4 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    errors = process.communicate()[1].decode()
    assert process.returncode == -signal.SIGKILL, errors
    model.reply = lambda number, request: good
    cut = xplearn.run(mix(tmp_path / "cut", model.url))
    assert cut.header.bank == whole.header.bank
    asked = Counter(json.dumps(request) for request in model.requests)
    assert sorted(asked.values()) == [1, 1, 1, 1, 1, 2]
