"""HaMo's checks as a run shows them: what holds of cards, anchors and keys once every part has done its work."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from xplearn_hamo.cards import CardWriter

import xplearn
from xplearn import Query
from xplearn.endpoint import EndpointConfig
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent

K = 3


def elsewhere(trajectory):
    """The first query of another task that begins like this one."""
    query = trajectory.steps[0].query
    return dataclasses.replace(query, task=dataclasses.replace(query.task, id="elsewhere"))


def again(trajectory, number):
    """The same in another task, word for word."""
    task = dataclasses.replace(trajectory.task, id=f"again-{number}")
    return dataclasses.replace(trajectory, id=f"train/again-{number}", task=task, seed=100 + number)


class Played:
    """A run over a toy house: demonstrations carded, anchors chosen, tests played; nothing is trained."""

    def __init__(self, folder, **changes):
        bank = folder / "bank.sqlite"
        self.result = xplearn.run(
            {
                "stream": [{"env": "core.errands"}],
                "policy": "core.random",
                "store": {"name": "core.sqlite", "path": str(bank)},
                "sampling": {"choices": "admissible"},
                "selector": {"name": "core.nearest", "k": K},
                "conditioner": "core.prompt",
                "record": [{"name": "hamo.cards", "writer": "rules", "source": "demonstration"}],
                "curriculum": {"name": "hamo.coverage", "k": K, "budget": "full"},
                "learner": [{"name": "core.record", "space": "studied"}],
                "evaluate": {"tasks": {"split": "test"}, "resamples": 100, "sampling": {"choices": "admissible"}},
                "run": {"dir": str(folder)},
                **changes,
            }
        )
        self.run = xplearn.load(self.result.folder)
        self.curve = json.loads((self.result.folder / "study" / "0-0.json").read_text())["explained"]
        self.agent = FakeAgent(store=xplearn.make("store", "core.sqlite", path=str(bank)))
        self.agent.__enter__()
        self.cards = [found for found in self.agent.store if found.kind == "card"]
        self.hits = np.bincount(self._neighbours().ravel(), minlength=len(self.cards))
        """How many cards have each among their nearest."""

    def _neighbours(self):
        """By the definition: cosines of all pairs of whole texts, itself left out."""
        vectors = self.agent.store.vectors("card", [card.id for card in self.cards]).astype(np.float64)
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -np.inf)
        return np.argsort(-cosines, axis=1, kind="stable")[:, :K]

    @property
    def nobodys(self):
        """Ids of the cards that are nobody's neighbour."""
        return {card.id for card, hits in zip(self.cards, self.hits, strict=True) if hits == 0}

    def steps(self, arm):
        """Every step that was played to be scored."""
        return [step for phase in self.run.phases() if phase.startswith("eval/") for step in self._steps(phase, arm)]

    def _steps(self, phase, arm):
        return [step for found in self.run.trajectories(phase) if found.arm == arm for step in found.steps]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    played = Played(tmp_path_factory.mktemp("checks"))
    yield played
    played.agent.__exit__(None, None, None)


def test_reverse_sets_sum_to_k_times_the_cards(played):
    assert len(played.cards) == played.curve["cards"] == 72
    assert played.hits.sum() == K * len(played.cards)
    first = [card.id for card in played.cards].index(played.curve["ids"][0])
    assert played.curve["gains"][0] == played.hits[first] == played.hits.max()


def test_coverage_grows_by_gains_that_never_grow_to_all_that_can_be_reached(played):
    gains = played.curve["gains"]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0
    assert sum(gains) == len(played.cards), "each card has neighbours, so each can be reached"


def test_a_card_that_is_nobodys_neighbour_is_no_anchor_yet_shown_when_acting(played):
    assert played.nobodys
    assert not played.nobodys & set(played.curve["ids"])
    shown = {experience.id for step in played.steps("experience") for experience in step.selection.experiences}
    assert shown & played.nobodys


def test_every_card_is_found_by_a_task_that_begins_as_its_own_did(played):
    nearest = xplearn.make("selector", "core.nearest", k=K)
    nearest.setup(played.agent)
    begun = {found.id: found for found in played.run.trajectories("train/0/0")}
    queries = [elsewhere(begun[card.source]) for card in played.cards]
    for card, selection in zip(played.cards, nearest.select(queries, played.agent.store), strict=True):
        assert card.id in [experience.id for experience in selection.experiences]


def test_a_key_holds_neither_outline_nor_later_observation(played):
    shown = {found.id: found for found in played.run.trajectories("train/0/0")}
    for card in played.cards:
        seen = [step.query.messages[-1]["content"] for step in shown[card.source].steps] + [shown[card.source].final]
        assert card.key == seen[0]
        assert not [text for text in (*seen[1:], *card.meta["outline"], "Outline") if text in card.key]


@pytest.mark.parametrize("limit", [1, 2, K])
def test_a_stage_of_one_card_and_of_no_more_than_k_runs_to_its_end(tmp_path, limit):
    small = {"stream": [{"env": "core.errands", "tasks": {"limit": limit}}], "selector": {"name": "hamo.gate", "k": K}}
    played = Played(tmp_path, **small, evaluate={"tasks": {"split": "test", "limit": 1}, "resamples": 100})
    assert (played.result.header.status, played.curve["cards"]) == ("finished", limit)
    assert len(played.curve["ids"]) == min(limit, 2), "two cards are each other's, and one is its own"


def test_cards_of_the_same_words_are_each_written_and_need_two_anchors():
    with FakeAgent() as agent:
        CardWriter(writer="rules").learn([again(samples.trajectory(0), number) for number in range(10)], agent)
        assert len(agent.store) == 10
        assert len({card.content for card in agent.store}) == 1
        study = Query(purpose="study", task=samples.task(0), messages=())
        (selection,) = xplearn.make("selector", "hamo.coverage", budget="full").select([study], agent.store)
        assert selection.scores == (9.0, 1.0)
        gate = xplearn.make("selector", "hamo.gate", k=5)
        gate.setup(agent)
        assert len(gate.select([elsewhere(samples.trajectory(0))], agent.store)[0].experiences) == 5


def test_an_endpoint_that_hangs_or_talks_nonsense_is_asked_again_and_counted(model):
    good = model.reply(0, None)
    replies = {"number 1": model.HANG, "number 2": (200, good[1].replace(b"1. Find", b"I am sorry")), "number 3": (200, b"{}")}
    model.reply = lambda _, request: next((reply for words, reply in replies.items() if words in str(request)), good)
    settings = EndpointConfig(url=model.url, model="small", retries=1, backoff_seconds=0.0, timeout_seconds=1.5)
    with FakeAgent() as agent:
        figures = CardWriter(writer="endpoint", endpoint=settings).learn([samples.trajectory(number) for number in range(4)], agent)
        assert [card.meta["writer"] for card in agent.store] == ["endpoint", "rules", "rules", "rules"]
    assert (figures["written"], figures["unusable"], len(model.requests)) == (4.0, 3.0, 1 + 2 * 3)
