"""The native engine beside the original, step by step; and what is said where the original is not installed."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import threading
from dataclasses import replace

import pytest
from xplearn_alfworld.environment import AlfWorld
from xplearn_alfworld.houses import generate
from xplearn_alfworld.pddl import parse
from xplearn_alfworld.problem import Goal
from xplearn_alfworld.textworld import TextWorldAlfWorld

from xplearn import ContractError, DataError
from xplearn.testing.contracts import EnvironmentContract

INSTALLED = importlib.util.find_spec("textworld") is not None and importlib.util.find_spec("alfworld") is not None
needs_original = pytest.mark.skipif(not INSTALLED, reason="needs the original engine: pip install 'xplearn-alfworld[textworld]'")
needs_none = pytest.mark.skipif(INSTALLED, reason="the original engine is installed")

ODD = ("put mug 1 in/on shelf 1", "go to mug 1", "examine shelf 99", "Look", "take", "", "look\x00", "\ud800", "xyzzy" * 2000)
"""Commands at which nothing happens."""
IDLE = ("go to", "examine", "help", "inventory", "look")


def play(native, original, task, *, steps, seed):
    """Play the same random actions on both; they must answer alike at every step."""
    draws = random.Random(seed)
    assert native.reset(task, seed=0) == original.reset(replace(task, env=original.NAME), seed=0)
    for _ in range(steps):
        outcome = native.step(choose(native.admissible(), draws))
        assert outcome == original.step(choose.last)
        if outcome.terminated or outcome.truncated:
            return


def choose(admissible, draws):
    """Mostly an action that changes something, now and then nonsense."""
    telling = [action for action in admissible if not action.startswith(IDLE)]
    choose.last = draws.choice(ODD if draws.random() < 0.1 else telling if telling and draws.random() < 0.6 else admissible)
    return choose.last


@pytest.fixture
def both():
    """Makes the native and the original environment with the same fields."""
    made = []

    def make(**fields):
        made.extend([AlfWorld(**fields), TextWorldAlfWorld(**fields)])
        return made[-2:]

    yield make
    for env in made:
        env.close()


@needs_none
def test_without_the_extra_the_error_says_what_to_install():
    env = TextWorldAlfWorld()
    (task, *_) = env.tasks("train")
    for attempt in (lambda: env.version, lambda: env.reset(task, seed=0)):
        with pytest.raises(DataError, match=r"not installed .*pip install 'xplearn-alfworld\[textworld\]'"):
            attempt()


def test_it_offers_the_tasks_of_the_native_environment():
    native, original = AlfWorld(games=6, valid_games=6), TextWorldAlfWorld(games=6, valid_games=6)
    assert original.splits() == native.splits()
    for split in native.splits():
        assert [replace(task, env=native.NAME) for task in original.tasks(split)] == native.tasks(split)


def test_there_is_no_going_back():
    env = TextWorldAlfWorld()
    with pytest.raises(ContractError, match=r"alfworld\.text can"):
        env.snapshot()


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize(("faithful", "unseen"), [(True, 3), (False, 0)])
def test_generated_houses_are_played_alike(both, faithful, unseen):
    native, original = both(faithful=faithful, games=6, valid_games=unseen)
    for split in native.splits():
        for number, task in enumerate(native.tasks(split)):
            play(native, original, task, steps=25, seed=number)


@needs_original
@pytest.mark.slow
def test_the_oracle_wins_generated_houses_on_the_original_too(both):
    native, original = both(games=6)
    for task in native.tasks("train"):
        shown, told = native.demonstrate(task, seed=0), original.demonstrate(replace(task, env=original.NAME), seed=0)
        assert told.success
        assert (told.final, told.score, len(told.steps)) == (shown.final, shown.score, len(shown.steps))
        assert all(one.query.messages == other.query.messages for one, other in zip(shown.steps, told.steps, strict=True))


@needs_original
@pytest.mark.slow
def test_released_games_are_played_alike(both, data_folder):
    native, original = both(data=str(data_folder / "valid_seen.jsonl.xz"), faithful=True)
    for number, task in enumerate(native.tasks("valid_seen")[::24]):
        play(native, original, task, steps=25, seed=number)


@needs_original
@pytest.mark.slow
def test_a_house_with_everything_odd_is_played_alike(both, packed):
    native, original = both(data=str(packed), faithful=True)
    for number, task in enumerate(native.tasks("train")):
        play(native, original, task, steps=40, seed=number)


@needs_original
def test_the_process_is_left_as_it_was(monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["mine"])
    before = sys.stdout
    env = TextWorldAlfWorld(games=6)
    env.reset(env.tasks("train")[0], seed=0)
    env.step("look")
    assert (sys.argv, sys.stdout) == (["mine"], before)
    assert "ALFWORLD_DATA" not in os.environ


@needs_original
def test_a_goal_out_of_reach_is_named(both):
    _, original = both(games=6)
    problem, sentence = generate(0, "train", 0)
    with pytest.raises(DataError, match=r"house_0_train_0: .*can its goal be reached"):
        original.engine(replace(problem, goal=Goal(type="pick_and_place_simple", thing="Unicorn", target="Safe")), sentence)


@needs_original
def test_any_goal_sentence_is_shown_as_it_is(both, little):
    sentence = 'say "#help#" {o.name} [x | y] \\n twice'
    _, original = both()
    assert original.engine(parse(little()), sentence).intro().endswith(f"Your task is to: {sentence}.")


@needs_original
@pytest.mark.slow
def test_threads_take_turns(both):
    def run(number):
        env = TextWorldAlfWorld(games=6)
        texts[number] = env.demonstrate(env.tasks("train")[number], seed=0).final

    texts = {}
    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    native, _ = both(games=6)
    assert texts == {number: native.demonstrate(native.tasks("train")[number], seed=0).final for number in range(3)}


@needs_original
@pytest.mark.slow
class TestContract(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return lambda: TextWorldAlfWorld(games=6, valid_games=6, max_steps=12)
