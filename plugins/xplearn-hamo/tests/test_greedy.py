from __future__ import annotations

import numpy as np
import pytest
from xplearn_hamo.greedy import greedy_cover, reverse_sets


def graph(count, k, seed=0, *, hubs=False):
    """Random neighbours of each card, distinct and without itself; with hubs the first cards are everybody's."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, count + 1) if hubs else np.ones(count)
    rows = []
    for at in range(count):
        others = np.arange(count) != at
        rows.append(rng.choice(count, size=k, replace=False, p=weights * others / (weights * others).sum()))
    return np.array(rows, dtype=np.int64).reshape(count, k)


def plain(neighbours, allowed=None):
    """Greedy as it is written: every card looked at for every choice."""
    count = len(neighbours)
    sets = [{i for i in range(count) if j in neighbours[i]} for j in range(count)]
    left, covered, chosen, gains = {j for j in range(count) if allowed is None or allowed[j]}, set(), [], []
    while left:
        best = min(left, key=lambda j: (-len(sets[j] - covered), -len(sets[j]), j))
        if not sets[best] - covered:
            break
        chosen.append(best)
        gains.append(len(sets[best] - covered))
        covered |= sets[best]
        left.remove(best)
    return chosen, gains


def lists(found):
    return found[0].tolist(), found[1].tolist()


INSTANCES = [(count, k, hubs) for count, k in ((2, 1), (5, 3), (30, 1), (40, 3), (60, 5)) for hubs in (False, True)]


@pytest.mark.parametrize(("count", "k", "hubs"), INSTANCES)
@pytest.mark.parametrize("seed", range(5))
def test_choices_are_those_of_plain_greedy_ties_and_all(count, k, hubs, seed):
    neighbours = graph(count, k, seed, hubs=hubs)
    assert lists(greedy_cover(neighbours)) == plain(neighbours)


@pytest.mark.parametrize("seed", range(10))
def test_choices_among_some_are_those_of_plain_greedy(seed):
    neighbours = graph(40, 3, seed)
    allowed = np.random.default_rng(seed).random(40) < 0.4
    chosen, gains = lists(greedy_cover(neighbours, allowed))
    assert (chosen, gains) == plain(neighbours, allowed)
    assert allowed[chosen].all()


@pytest.mark.parametrize(("count", "k", "hubs"), INSTANCES)
def test_reverse_sets_hold_each_card_once_for_each_of_its_neighbours(count, k, hubs):
    neighbours = graph(count, k, hubs=hubs)
    indptr, indices = reverse_sets(neighbours)
    assert indptr[-1] == len(indices) == k * count
    for j in range(count):
        assert indices[indptr[j] : indptr[j + 1]].tolist() == [i for i in range(count) if j in neighbours[i]]


@pytest.mark.parametrize("seed", range(5))
def test_gains_never_grow_and_end_with_all_that_can_be_covered(seed):
    neighbours = graph(300, 3, seed, hubs=True)
    _, gains = lists(greedy_cover(neighbours))
    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0
    assert sum(gains) == 300


def test_among_some_it_ends_with_what_these_can_cover():
    neighbours = graph(200, 3)
    allowed = np.arange(200) < 20
    assert greedy_cover(neighbours, allowed)[1].sum() == np.isin(neighbours, np.arange(20)).any(axis=1).sum()


def test_nobodys_neighbour_is_never_chosen():
    neighbours = graph(200, 3, hubs=True)
    nobodys = np.setdiff1d(np.arange(200), neighbours)
    assert len(nobodys) > 0
    assert not np.isin(nobodys, greedy_cover(neighbours)[0]).any()
    only = np.isin(np.arange(200), nobodys)
    assert lists(greedy_cover(neighbours, only)) == ([], [])


def test_a_tie_goes_to_the_larger_reverse_set():
    neighbours = np.array([[4, 1], [4, 2], [4, 3], [4, 2], [0, 1]])  # 4 covers all but itself, which both 0 and 1 do; 1 has two hits
    assert lists(greedy_cover(neighbours)) == ([4, 1], [4, 1])


def test_among_equals_a_tie_goes_to_the_smaller_row():
    assert lists(greedy_cover(np.array([[1], [0], [1], [0]]))) == ([0, 1], [2, 2])


@pytest.mark.parametrize(("count", "k"), [(0, 0), (0, 3), (1, 0)])
def test_without_neighbours_nothing_is_chosen(count, k):
    assert lists(greedy_cover(np.empty((count, k), dtype=np.int64))) == ([], [])


def test_plain_greedy_agrees_on_graphs_that_hypothesis_finds():
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    @st.composite
    def graphs(draw):
        count = draw(st.integers(2, 9))
        k = draw(st.integers(1, min(3, count - 1)))
        rows = [draw(st.permutations([n for n in range(count) if n != at]))[:k] for at in range(count)]
        return np.array(rows, dtype=np.int64), np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))

    @hypothesis.settings(max_examples=200, deadline=None)
    @hypothesis.given(graphs())
    def agrees(drawn):
        neighbours, allowed = drawn
        assert lists(greedy_cover(neighbours)) == plain(neighbours)
        assert lists(greedy_cover(neighbours, allowed)) == plain(neighbours, allowed)

    agrees()
