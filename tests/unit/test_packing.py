import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from xplearn.policies.packing import batches, pack

WIDTH = 64


def rows_of(*rows):
    return [np.array(row, dtype=np.int64) for row in rows]


def packed(rows, tags=None, limit=1000, width=WIDTH):
    return pack(rows, tags or [None] * len(rows), limit=limit, width=width)


def check(rows, sequences):
    """Every token stands at its own position and sees exactly the beginning of its row."""
    assert sorted(row for item in sequences for row in item.places) == list(range(len(rows)))
    for item in sequences:
        seen = item.seen(len(item.ids))
        for row, places in item.places.items():
            assert item.ids[places].tolist() == rows[row].tolist()
            assert item.positions[places].tolist() == list(range(len(rows[row])))
            for at, place in enumerate(places):
                assert np.flatnonzero(seen[place]).tolist() == sorted(places[: at + 1].tolist())


def test_rows_that_extend_one_another_become_one_plain_sequence():
    rows = rows_of([1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7])
    (item,) = packed(rows)
    assert item.ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert not item.branched
    check(rows, [item])


def test_order_of_the_rows_does_not_matter():
    rows = rows_of([1, 2, 3, 4, 5, 6, 7], [1, 2], [1, 2, 3, 4])
    (item,) = packed(rows)
    assert len(item.ids) == 7
    check(rows, [item])


def test_completions_of_one_prompt_become_branches():
    prompt = list(range(20))
    rows = rows_of([*prompt, 30], [*prompt, 31, 32], [*prompt, 33])
    (item,) = packed(rows)
    assert len(item.ids) == 20 + 4
    assert item.branched
    check(rows, [item])


def test_equal_rows_are_read_once():
    rows = rows_of([1, 2, 3], [1, 2, 3])
    (item,) = packed(rows)
    assert len(item.ids) == 3
    check(rows, [item])


def test_rows_with_nothing_in_common_stay_apart():
    assert len(packed(rows_of([1, 2, 3], [4, 5, 6]))) == 2


def test_long_rows_with_a_short_common_beginning_stay_apart():
    first, second = list(range(1000)), [0, 1, 2, *range(5000, 5997)]
    assert len(packed(rows_of(first, second), limit=10_000)) == 2


def test_rows_with_different_tags_stay_apart():
    rows = rows_of([1, 2], [1, 2, 3], [1, 2, 3, 4])
    sequences = packed(rows, tags=["a", "b", "a"])
    assert sorted(sorted(item.places) for item in sequences) == [[0, 2], [1]]
    check(rows, sequences)


def test_branches_respect_the_limit():
    prompt = list(range(20))
    rows = rows_of(*([*prompt, 100 + branch] for branch in range(10)))
    sequences = packed(rows, limit=24)
    assert all(len(item.ids) <= 24 for item in sequences)
    check(rows, sequences)


def test_a_row_beyond_the_limit_still_takes_its_beginnings_along():
    rows = rows_of(range(10), range(30), range(50))
    (item,) = packed(rows, limit=16)
    assert len(item.ids) == 50


def test_batches_hold_sequences_of_one_kind_within_the_limit():
    rows = rows_of(*([base, base + 1, base + 2] for base in range(0, 100, 10)), [500, 501, 1], [500, 501, 2], [500, 501, 3])
    sequences = packed(rows)
    groups = batches(sequences, 9)
    assert sum(len(group) for group in groups) == len(sequences)
    for group in groups:
        assert len({item.branched for item in group}) == 1
        assert len(group) == 1 or len(group) * max(len(item.ids) for item in group) <= 9


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), min_size=1, max_size=12), st.integers(1, 40))
def test_any_rows_keep_their_tokens_positions_and_sight(rows, limit):
    arrays = rows_of(*rows)
    check(arrays, packed(arrays, limit=limit))
