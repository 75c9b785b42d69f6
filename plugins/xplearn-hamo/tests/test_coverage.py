from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter

import numpy as np
import pytest
from xplearn_hamo.coverage import CoverageSelector

import xplearn
from xplearn import ConfigError, ContractError, IncompatibleError, Selection
from xplearn.builtin.record import RecordLearner
from xplearn.testing import parts, samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import SelectorContract

DIM = 6


class TestContract(SelectorContract):
    @pytest.fixture(
        params=[{}, {"pool": "cumulative"}, {"space": "key", "budget": "full"}, {"draw": "random"}],
        ids=["default", "cumulative", "full", "random"],
    )
    def make(self, request):
        return parts.maker("selector", "hamo.coverage", request.param)


@pytest.fixture
def store():
    with FakeAgent() as agent:
        yield agent.store


def ids(numbers):
    return [f"experience-{number}" for number in numbers]


def write(store, vectors, *, first=0, order=None, space="card"):
    """Experiences numbered on from ``first``, written in the given order."""
    store.open_space(space, encoder="test", dim=vectors.shape[1])
    order = list(range(len(vectors))) if order is None else order
    store.add([samples.experience(first + at) for at in order], {space: vectors[order].astype(np.float32)})


def study(candidates=None):
    return dataclasses.replace(samples.query(0), purpose="study", candidates=None if candidates is None else tuple(candidates))


def clusters(sizes, seed=0, spread=0.05):
    """Bunches of vectors, each about an axis of its own."""
    rng = np.random.default_rng(seed)
    return np.concatenate([np.eye(DIM)[at] + rng.normal(scale=spread, size=(size, DIM)) for at, size in enumerate(sizes)])


def plain(names, vectors, k):
    """The paper's description, in order of names; returns all anchors and their gains."""
    order = sorted(range(len(names)), key=names.__getitem__)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = {i: set(sorted((j for j in order if j != i), key=lambda j: -float(unit[i] @ unit[j]))[:k]) for i in order}
    sets = {j: {i for i in order if j in near[i]} for j in order}
    covered, chosen, gains = set(), [], []
    while True:
        best = max(order, key=lambda j: (len(sets[j] - covered), len(sets[j])))
        if not sets[best] - covered:
            return [names[j] for j in chosen], gains
        chosen.append(best)
        gains.append(len(sets[best] - covered))
        covered |= sets[best]


def chosen(selection):
    return [experience.id for experience in selection.experiences]


def select(store, query=None, **fields):
    (selection,) = CoverageSelector(**fields).select([query or study()], store)
    return selection


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_anchors_are_those_of_the_papers_description(store, k, seed):
    vectors = np.random.default_rng(seed).normal(size=(40, DIM))
    write(store, vectors)
    selection = select(store, k=k, budget="full")
    assert (chosen(selection), list(selection.scores)) == plain(ids(range(40)), vectors, k)


def test_the_knee_leaves_out_anchors_that_add_little(store):
    write(store, clusters([12, 9, 6]))
    selector = CoverageSelector()
    (selection,) = selector.select([study()], store)
    curve = selector.curve
    assert curve.cards == curve.covered[-1] == 27
    assert len(selection.experiences) == curve.kept == curve.knee < len(curve.ids)
    assert tuple(chosen(selection)) == curve.ids[: curve.kept]
    assert selection.scores == tuple(map(float, curve.gains[: curve.kept]))
    assert list(curve.gains) == sorted(curve.gains, reverse=True)


def test_each_bunch_has_an_anchor(store):
    write(store, clusters([10, 10, 10, 10]))
    numbers = [int(id.removeprefix("experience-")) for id in chosen(select(store))]
    assert {number // 10 for number in numbers} == {0, 1, 2, 3}


def test_a_limit_cuts_the_budget(store):
    write(store, clusters([12, 9, 6]))
    everything = select(store, budget="full")
    assert chosen(select(store, budget="full", limit=4)) == chosen(everything)[:4]
    assert chosen(select(store, limit=1)) == chosen(everything)[:1]
    assert chosen(select(store, budget="full", limit=1000)) == chosen(everything)


@pytest.mark.parametrize("pool", ["stage", "cumulative"])
def test_order_of_writing_and_of_candidates_plays_no_part(store, pool):
    vectors = np.concatenate([clusters([15, 10]), np.repeat(clusters([1], seed=7), 5, axis=0)])
    order = list(range(len(vectors)))
    write(store, vectors)
    expected = select(store, study(ids(order[:25])), pool=pool, budget="full")
    for seed in range(3):
        shuffled = random.Random(seed).sample(order, len(order))
        with FakeAgent() as other:
            write(other.store, vectors, order=shuffled)
            offered = [id for id in ids(shuffled) if id in ids(order[:25])]
            found = select(other.store, study(offered), pool=pool, budget="full")
            assert (chosen(found), found.scores) == (chosen(expected), expected.scores)


def test_a_stage_is_chosen_as_if_it_were_alone(store):
    vectors = clusters([10, 8])
    write(store, vectors)
    alone = select(store)
    write(store, clusters([10, 8], seed=1), first=100)
    assert chosen(select(store, study(ids(range(18))))) == chosen(alone)


def test_with_the_cumulative_pool_anchors_are_candidates_that_cover_the_bank(store):
    write(store, np.random.default_rng(0).normal(size=(30, DIM)))
    offered = ids(range(20, 30))
    selector = CoverageSelector(pool="cumulative", budget="full")
    (selection,) = selector.select([study(offered)], store)
    assert set(chosen(selection)) <= set(offered)
    assert selector.curve.cards == 30
    assert 10 < selector.curve.covered[-1] <= 30


def test_candidates_that_nothing_is_near_to_leave_nothing_to_study(store):
    vectors = np.concatenate([clusters([10]), -0.5 * np.eye(DIM)[:1]])
    write(store, vectors)
    selection = select(store, study(ids([10])), pool="cumulative")
    assert selection == Selection()


def test_nobodys_neighbour_is_no_anchor_and_can_still_be_retrieved(store):
    write(store, np.concatenate([clusters([10]), -np.eye(DIM)[:1]]))
    assert "experience-10" not in chosen(select(store, budget="full"))
    ((hit, _),) = store.search("card", -np.eye(DIM, dtype=np.float32)[:1], 1)[0]
    assert hit == "experience-10"


def drawn(store, seed=0, query=None, **fields):
    selector = CoverageSelector(draw="random", **fields)
    with FakeAgent(seed=seed) as agent:
        selector.setup(agent)
    return selector.select([query or study()], store)[0], selector


@pytest.mark.parametrize("fields", [{}, {"budget": "full"}, {"limit": 2}, {"pool": "cumulative"}], ids=str)
def test_at_random_as_many_are_drawn_as_greedy_would_keep(store, fields):
    write(store, clusters([12, 9, 6]))
    offered = study(ids(range(4, 27)))
    greedy = select(store, offered, **fields)
    for seed in range(20):
        selection, _ = drawn(store, seed, offered, **fields)
        assert len(selection.experiences) == len(greedy.experiences) > 0
        assert set(chosen(selection)) <= set(offered.candidates)
        assert selection.scores == (0.0,) * len(selection.experiences)


def test_the_random_draw_is_keyed_and_uniform(store):
    write(store, clusters([10, 10]))
    first, again = (chosen(drawn(store, seed=1, limit=3, budget="full")[0]) for _ in range(2))
    draws = [chosen(drawn(store, seed=seed, limit=3, budget="full")[0]) for seed in range(400)]
    counts = Counter(id for draw in draws for id in draw)
    assert first == again
    assert set(counts) == set(ids(range(20)))
    assert all(35 < count < 90 for count in counts.values()), "each in 60 of 400 draws, give or take four deviations"


def test_order_plays_no_part_in_the_random_draw(store):
    vectors = clusters([10, 8])
    write(store, vectors)
    with FakeAgent() as other:
        write(other.store, vectors, order=list(reversed(range(18))))
        assert chosen(drawn(other.store)[0]) == chosen(drawn(store)[0])


def test_the_explained_curve_stays_that_of_greedy_and_names_the_draw(store):
    write(store, clusters([12, 9, 6]))
    greedy = CoverageSelector()
    greedy.select([study()], store)
    _, random_one = drawn(store)
    assert random_one.explain() == {**greedy.explain(), "draw": "random"}
    assert greedy.explain()["draw"] == "greedy"


def test_what_has_no_vector_is_never_drawn(store):
    write(store, clusters([12]))
    store.add([samples.experience(number) for number in range(50, 55)])
    for seed in range(20):
        assert set(chosen(drawn(store, seed=seed, budget="full")[0])) <= set(ids(range(12)))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_no_more_cards_than_neighbours_are_all_covered(store, count):
    write(store, np.random.default_rng(0).normal(size=(count, DIM)))
    selector = CoverageSelector(budget="full")
    selector.select([study()], store)
    assert selector.curve.gains == ((count - 1), 1)


@pytest.mark.parametrize("pool", ["stage", "cumulative"])
def test_a_lone_card_is_its_own_anchor(store, pool):
    write(store, clusters([1]))
    selection = select(store, pool=pool)
    assert (chosen(selection), selection.scores) == (["experience-0"], (0.0,))


def test_an_empty_stage_selects_nothing(store):
    selector = CoverageSelector()
    assert selector.select([study(), study(())], store) == [Selection(), Selection()]
    write(store, clusters([5]))
    assert selector.select([study(())], store) == [Selection()]
    assert (selector.curve.ids, selector.curve.knee) == ((), 0)


def test_duplicate_cards_need_few_anchors(store):
    write(store, np.ones((20, DIM)))
    selection = select(store, budget="full")
    assert (chosen(selection), selection.scores) == (["experience-0", "experience-1"], (19.0, 1.0))
    assert chosen(select(store)) == ["experience-0"]


def test_candidates_named_twice_count_once(store):
    write(store, clusters([8]))
    assert chosen(select(store, study(ids([*range(8), 0, 1])))) == chosen(select(store))


@pytest.mark.parametrize("pool", ["stage", "cumulative"])
def test_experiences_of_others_without_a_vector_take_no_part(store, pool):
    write(store, clusters([12]))
    alone = select(store, pool=pool, budget="full")
    store.add([samples.experience(number) for number in range(50, 55)])
    assert chosen(select(store, study(ids([*range(12), 51, 53])), pool=pool, budget="full")) == chosen(alone)
    assert select(store, study(ids([51])), pool=pool) == Selection()


def test_a_candidate_that_the_bank_does_not_know_is_told(store):
    write(store, clusters([5]))
    with pytest.raises(ContractError, match="experience-77"):
        select(store, study(ids([0, 77])))


def test_a_space_that_the_bank_lacks_is_told_with_those_it_has(store):
    write(store, clusters([5]), space="studied")
    with pytest.raises(ContractError, match=r"no space 'card' \(spaces: studied\)"):
        select(store)
    with pytest.raises(ContractError, match=r"no space 'key' \(spaces: studied\)"):
        select(store, space="key")


def test_cards_are_compared_by_their_whole_text_and_other_experience_by_its_key(store):
    vectors = clusters([8, 4])
    write(store, vectors, space="key")
    assert chosen(select(store)) == chosen(select(store, space="key"))
    other = vectors[::-1].copy()
    store.open_space("card", encoder="test", dim=DIM)
    store.remove(ids(range(12)))
    store.add([samples.experience(at) for at in range(12)], {"key": vectors.astype(np.float32), "card": other.astype(np.float32)})
    assert chosen(select(store)) == chosen(select(store, space="card")) != chosen(select(store, space="key"))


@pytest.mark.parametrize("space", ["", "key"])
def test_records_of_the_core_serve_as_well(space):
    with FakeAgent() as agent:
        RecordLearner().learn([samples.trajectory(number) for number in range(12)], agent)
        selector = parts.maker("selector", "hamo.coverage", {"space": space})()
        selector.setup(agent)
        (selection,) = selector.select([study()], agent.store)
        assert 0 < len(selection.experiences) < 12
        assert selector.requires == {"store.space:key"}


def test_a_run_that_records_takes_it_by_one_override(tmp_path):
    run = {
        "stream": [{"env": "core.errands", "tasks": {"limit": 8}}],
        "policy": "core.random",
        "record": "core.record",
        "selector": "core.nearest",
        "conditioner": "core.prompt",
        "learner": [{"name": "core.record", "space": "studied"}],
        "sampling": {"choices": "admissible"},
        "evaluate": {"tasks": {"limit": 1}, "resamples": 100},
        "run": {"dir": str(tmp_path)},
    }
    folder = xplearn.run(run, curriculum="hamo.coverage").folder
    assert json.loads((folder / "study" / "0-0.json").read_text())["explained"]["cards"] == 8
    with pytest.raises(IncompatibleError, match=r"'hamo\.coverage' requires 'store\.space:card'"):
        xplearn.run(run, curriculum={"name": "hamo.coverage", "space": "card"})


def test_acting_is_refused(store):
    with pytest.raises(ContractError, match=r"core\.nearest"):
        CoverageSelector().select([samples.query(0)], store)


@pytest.mark.parametrize(("field", "value"), [("k", 0), ("limit", 0)])
def test_bad_fields_are_told(field, value):
    with pytest.raises(ConfigError, match=f"^{field}:"):
        CoverageSelector(**{field: value})


def test_the_curve_is_none_before_the_first_query_and_plain_after(store):
    selector = CoverageSelector()
    assert selector.curve is None
    write(store, clusters([6]))
    selector.select([study()], store)
    assert json.loads(json.dumps(dataclasses.asdict(selector.curve)))["cards"] == 6
