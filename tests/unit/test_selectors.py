from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from xplearn.builtin.selectors import AllSelector, NoneSelector, RandomSelector
from xplearn.errors import ConfigError, ContractError
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.types import Selection


@pytest.fixture
def agent():
    with FakeAgent() as agent:
        agent.store.add([samples.experience(number) for number in range(10)])
        yield agent


def ids(selection: Selection) -> list[str]:
    return [experience.id for experience in selection.experiences]


def study(*candidates: str):
    return dataclasses.replace(samples.query(0), purpose="study", candidates=candidates)


def test_none_selects_nothing(agent):
    assert NoneSelector().select([samples.query(0), study("experience-1")], agent.store) == [Selection()] * 2


def test_all_selects_the_bank_in_order_without_the_task_at_hand(agent):
    (selection,) = AllSelector().select([samples.query(4)], agent.store)
    assert ids(selection) == [f"experience-{number}" for number in range(10) if number != 4]
    assert selection.scores == (0.0,) * 9


def test_all_stops_at_its_limit_when_acting_only(agent):
    selector = AllSelector(limit=2)
    act, learn = selector.select([samples.query(0), study("experience-5", "experience-2", "experience-7")], agent.store)
    assert ids(act) == ["experience-1", "experience-2"]
    assert ids(learn) == ["experience-5", "experience-2", "experience-7"]


def test_study_may_choose_what_came_from_its_own_task(agent):
    (selection,) = AllSelector().select([study("experience-0")], agent.store)
    assert ids(selection) == ["experience-0"]


def test_study_without_candidates_offers_the_whole_bank(agent):
    query = dataclasses.replace(samples.query(0), purpose="study", candidates=None)
    assert len(AllSelector().select([query], agent.store)[0].experiences) == 10


def test_candidate_that_is_not_in_the_bank_is_named(agent):
    with pytest.raises(ContractError, match="experience-77"):
        AllSelector().select([study("experience-77")], agent.store)


def test_random_draws_k_distinct_ones(agent):
    selections = RandomSelector(k=4).select([samples.query(number) for number in range(10)], agent.store)
    for number, selection in enumerate(selections):
        assert len(set(ids(selection))) == 4
        assert f"experience-{number}" not in ids(selection)
    assert len({tuple(ids(selection)) for selection in selections}) == 10


def test_random_selects_all_where_fewer_are_on_offer(agent):
    act, learn = RandomSelector(k=50).select([samples.query(0), study("experience-3", "experience-4")], agent.store)
    assert len(act.experiences) == 9
    assert sorted(ids(learn)) == ["experience-3", "experience-4"]


def test_random_follows_the_seed_of_the_run(agent):
    drawn = set()
    for seed in range(5):
        selector = RandomSelector(k=3)
        selector.setup(FakeAgent(seed=seed))
        drawn.add(tuple(ids(selector.select([samples.query(0)], agent.store)[0])))
    assert len(drawn) > 1


def test_random_is_uniform(agent):
    selections = RandomSelector(k=1).select([samples.query(number) for number in range(100, 3100)], agent.store)
    counts = Counter(id for selection in selections for id in ids(selection))
    assert len(counts) == 10
    assert all(240 < count < 360 for count in counts.values())


def test_impossible_counts_are_refused():
    with pytest.raises(ConfigError, match="k: must be at least 1"):
        RandomSelector(k=0)
    with pytest.raises(ConfigError, match="limit"):
        AllSelector(limit=0)
