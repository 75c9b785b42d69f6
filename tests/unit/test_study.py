import dataclasses
from collections import Counter

import pytest

from xplearn.builtin.selectors import AllSelector, NoneSelector
from xplearn.errors import ContractError
from xplearn.experiment.study import choose, draw
from xplearn.interfaces import Selector
from xplearn.stores.memory import MemoryStore
from xplearn.testing.samples import trajectory
from xplearn.types import Experience, Selection

BATCH = [trajectory(number) for number in range(4)]


class Picky(Selector):
    """Studies the experiences on offer whose id ends in an even digit."""

    def __init__(self):
        self.queries = []

    def select(self, queries, store):
        self.queries += queries
        return [Selection(experiences=tuple(store.get([id for id in query.candidates if int(id[-1]) % 2 == 0]))) for query in queries]


def bank(*numbers):
    store = MemoryStore()
    store.add([Experience(id=f"card-{n}", kind="card", key="k", content="c", source=trajectory(n).id) for n in numbers])
    store.add([Experience(id="older-8", kind="card", key="k", content="c", source="an earlier trajectory")])
    return store


def test_curriculum_is_offered_this_rounds_experiences_once_and_decides():
    picky = Picky()
    assert choose(picky, bank(0, 1, 2, 3), BATCH) == [BATCH[0], BATCH[2]]
    (query,) = picky.queries
    assert (query.purpose, query.candidates) == ("study", ("card-0", "card-1", "card-2", "card-3"))


def test_a_curriculum_that_selects_what_is_not_on_offer_is_refused():
    class Blind(Selector):
        def select(self, queries, store):
            return [Selection(experiences=tuple(store.get(["older-8"]))) for _ in queries]

    with pytest.raises(ContractError, match=r"Blind: selected 'older-8' for study, which is not on offer: choose among query\.candidates"):
        choose(Blind(), bank(0, 1), BATCH)


def test_trajectories_without_an_experience_stay():
    assert choose(Picky(), bank(0, 1), BATCH) == [BATCH[0], BATCH[2], BATCH[3]]
    assert choose(AllSelector(), bank(1), BATCH) == BATCH


def test_without_a_record_everything_is_studied():
    assert choose(Picky(), bank(), BATCH) == BATCH


def test_none_as_curriculum_studies_nothing_that_is_recorded():
    assert choose(NoneSelector(), bank(0, 1, 2, 3), BATCH) == []


def anchors(stage, count):
    return [(stage, 0, f"t{number}") for number in range(count)]


def test_replay_draws_without_repetition_and_all_where_there_are_fewer():
    earlier = {0: anchors(0, 3), 1: anchors(1, 2), 2: []}
    drawn = draw(earlier, 4, seed=1)
    assert len(set(drawn)) == 4
    assert sorted(draw(earlier, 99, seed=1)) == sorted([*earlier[0], *earlier[1]])
    assert draw({}, 3, seed=1) == []
    assert draw(earlier, 0, seed=1) == []
    assert earlier[0] == anchors(0, 3)


def test_replay_is_uniform_over_stages_then_over_their_anchors():
    earlier = {0: anchors(0, 30), 1: anchors(1, 2)}
    counts = Counter(draw(earlier, 1, seed)[0] for seed in range(4000))
    by_stage = Counter(stage for stage, _, _ in counts.elements())
    assert abs(by_stage[1] / 4000 - 0.5) < 0.03
    assert abs(counts[1, 0, "t0"] / 4000 - 0.25) < 0.03
    assert len(counts) == 32


def test_replay_is_keyed():
    earlier = {0: anchors(0, 30)}
    assert draw(earlier, 5, seed=3) == draw(earlier, 5, seed=3) != draw(earlier, 5, seed=4)


def test_a_group_that_is_compared_stays_or_goes_whole():
    store = MemoryStore()

    batch = [
        dataclasses.replace(trajectory(number), id=f"t{number}/{replica}", group=f"g{number}", source="rollout")
        for number in range(3)
        for replica in range(2)
    ]
    store.add([Experience(id=f"e{n}", kind="summary", key="k", content="c", source=f"t{n}/1", task=f"x{n}") for n in range(2)])

    class Second(AllSelector):
        def select(self, queries, store):
            return [Selection(experiences=tuple(store.get(["e1"])), scores=(0.0,))]

    assert [item.id for item in choose(Second(), store, batch)] == ["t0/0", "t1/0", "t1/1", "t2/0", "t2/1"]
    assert [item.id for item in choose(Second(), store, batch, grouped=True)] == ["t1/0", "t1/1", "t2/0", "t2/1"]
