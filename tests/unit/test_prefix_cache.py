import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from xplearn.policies.prefix_cache import PrefixCache, common_prefix

CPU = torch.device("cpu")


def tokens(*ids):
    return np.array(ids, dtype=np.int64)


def feed(cache, rows, new):
    """What a one-layer model would do: each token's key is its id, its value its position."""
    with cache.feeding(rows, new, CPU) as (ids, places, seen):
        keys, values = cache.cache.update(ids[:, None, :, None].float(), places[:, None, :, None].float(), 0)
    return keys[:, 0, :, 0], values[:, 0, :, 0], seen


def read_all(cache, prompts, tags=None, room=4):
    """Seat the prompts and feed what is missing; returns seats and how much each knew."""
    seats = cache.seat(prompts, tags or [None] * len(prompts), max(map(len, prompts)) + room)
    known = [len(cache.slots[seat].tokens) for seat in seats]
    order = sorted(range(len(prompts)), key=seats.__getitem__)
    feed(cache, slice(0, len(prompts)), [prompts[i][known[i] :] for i in order])
    return seats, known


def holds(cache, slot, expected):
    """Whether the slabs really hold these tokens at their places."""
    layer = cache.cache.layers[0]
    ids = layer.keys[slot, 0, : len(expected), 0].long().numpy()
    return ids.tolist() == list(expected) and layer.values[slot, 0, : len(expected), 0].tolist() == list(range(len(expected)))


@pytest.fixture
def cache():
    return PrefixCache(layers=1, budget=4096)


@pytest.mark.parametrize(
    ("first", "second", "length"), [([], [1], 0), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [1, 5, 3], 1), ([4], [4], 1), ([1], [2], 0)]
)
def test_common_prefix_counts_equal_tokens(first, second, length):
    assert common_prefix(tokens(*first), tokens(*second)) == length


def test_new_prompt_is_read_whole(cache):
    seats, known = read_all(cache, [tokens(1, 2, 3)])
    assert (seats, known) == ([0], [0])
    assert holds(cache, 0, [1, 2, 3])


def test_grown_prompt_feeds_only_what_is_new(cache):
    read_all(cache, [tokens(1, 2, 3), tokens(4, 5)])
    seats, known = read_all(cache, [tokens(1, 2, 3, 7), tokens(4, 5, 8, 9)])
    assert (seats, known) == ([0, 1], [3, 2])
    assert holds(cache, 0, [1, 2, 3, 7])
    assert holds(cache, 1, [4, 5, 8, 9])


def test_rows_find_their_slots_in_any_order(cache):
    read_all(cache, [tokens(1, 2, 3), tokens(4, 5, 6)])
    seats, known = read_all(cache, [tokens(4, 5, 6, 7), tokens(1, 2, 3, 4)])
    assert (seats, known) == ([1, 0], [3, 3])


def test_same_prompt_again_feeds_its_last_token(cache):
    read_all(cache, [tokens(1, 2, 3)])
    assert read_all(cache, [tokens(1, 2, 3)])[1] == [2]


def test_changed_ending_keeps_the_beginning(cache):
    read_all(cache, [tokens(1, 2, 3, 4, 5)])
    assert read_all(cache, [tokens(1, 2, 3, 9, 9, 9)])[1] == [3]
    assert holds(cache, 0, [1, 2, 3, 9, 9, 9])


def test_other_tag_shares_nothing(cache):
    read_all(cache, [tokens(1, 2, 3)], tags=["before"])
    assert read_all(cache, [tokens(1, 2, 3)], tags=["after"])[1] == [0]


def test_newcomer_copies_a_beginning_and_leaves_the_other_alone(cache):
    old = tokens(*range(10))
    read_all(cache, [old])
    new = tokens(0, 1, 2, 50)
    seats, known = read_all(cache, [new])
    assert known == [3]
    assert holds(cache, seats[0], new)
    assert read_all(cache, [tokens(*range(10), 77)])[1] == [10]


def test_conversations_that_end_make_room_without_growth(cache):
    for wave in range(40):
        read_all(cache, [tokens(wave, 1, 2, 3), tokens(wave, 7, 8)])
    assert len(cache.slots) <= 2 * 6


def test_budget_bounds_the_slots():
    cache = PrefixCache(layers=1, budget=512)
    for start in range(20):
        read_all(cache, [tokens(start, 1, 2)])
        assert len(cache.slots) <= 2
    assert cache.rows_within(200) == 2
    assert cache.rows_within(600) == 1


def test_one_row_beyond_the_budget_is_still_read():
    cache = PrefixCache(layers=1, budget=256)
    long = tokens(*range(700))
    read_all(cache, [long])
    assert holds(cache, 0, long)


def test_growth_keeps_what_was_read(cache):
    read_all(cache, [tokens(*range(200)), tokens(*range(500, 600))])
    long = tokens(*range(200), *range(1000, 1400))
    _, known = read_all(cache, [long, tokens(*range(500, 601))])
    assert known == [200, 100]
    assert holds(cache, 0, long)


def test_tokens_see_the_past_of_their_own_row_only(cache):
    read_all(cache, [tokens(1, 2, 3), tokens(4)])
    _, _, seen = feed(cache, slice(0, 2), [tokens(7), tokens(8, 9)])
    assert seen.shape == (2, 1, 2, 16)
    assert seen[:, 0].sum(-1).tolist() == [[4, 5], [2, 3]]
    assert seen[:, 0, :, :2].all()
    assert not seen[:, 0, :, 5:].any()


def test_idle_row_keeps_its_tokens(cache):
    read_all(cache, [tokens(1, 2), tokens(3, 4)])
    feed(cache, slice(0, 2), [tokens(), tokens(5)])
    assert cache.slots[0].tokens.tolist() == [1, 2]
    assert holds(cache, 0, [1, 2])
    assert holds(cache, 1, [3, 4, 5])


def test_clear_forgets_everything(cache):
    read_all(cache, [tokens(1, 2, 3)])
    cache.clear()
    assert read_all(cache, [tokens(1, 2, 3)])[1] == [0]


turns = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 90), st.integers(0, 1)), min_size=1, max_size=5), min_size=1, max_size=15
)


@settings(max_examples=60, deadline=None)
@given(turns, st.sampled_from([1, 600, 1100, 4096]))
def test_whatever_comes_every_slot_holds_its_tokens(batches, budget):
    cache = PrefixCache(layers=1, budget=budget)
    for batch in batches:
        prompts = [tokens(*range(stem * 1000, stem * 1000 + length * 6), *[7] * extra) for stem, length, extra in batch]
        seats, _ = read_all(cache, prompts)
        assert sorted(seats) == list(range(len(prompts)))
        for prompt, seat in zip(prompts, seats, strict=True):
            assert cache.slots[seat].tokens.tolist() == prompt.tolist()
        for index, slot in enumerate(cache.slots):
            assert holds(cache, index, slot.tokens.tolist())
