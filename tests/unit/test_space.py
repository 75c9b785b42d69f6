from __future__ import annotations

import numpy as np
import pytest

from xplearn.stores.space import Space


def brute_force(vectors, query, k, barred):
    scores = vectors.astype(np.int64) @ query.astype(np.int64)
    order = [row for row in np.lexsort((np.arange(len(scores)), -scores)) if str(row) not in barred]
    return [(str(row), float(scores[row])) for row in order[:k]]


@pytest.mark.parametrize("width", [1, 3, 40])
@pytest.mark.parametrize("k", [1, 5, 60])
def test_many_ties_and_exclusions_equal_a_full_comparison(width, k):
    rng = np.random.default_rng(k + width)
    vectors = rng.integers(-1, 2, size=(1500, 16)).astype(np.float32)
    queries = rng.integers(-2, 3, size=(width, 16)).astype(np.float32)
    space = Space(16)
    for start in range(0, 1500, 400):
        space.add([str(row) for row in range(start, min(1500, start + 400))], vectors[start : start + 400])
    exclude = [{str(row) for row in rng.integers(0, 1500, size=at * 20)} for at in range(width)]
    expected = [brute_force(vectors, query, k, barred) for query, barred in zip(queries, exclude, strict=True)]
    assert space.search(queries, k, exclude) == expected


def test_equal_vectors_tie_wherever_they_stand():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3001, 384)).astype(np.float32)
    twins = [5, 1023, 1024, 2999, 3000]
    vectors[twins] = vectors[5]
    space = Space(384)
    space.add([str(row) for row in range(3001)], vectors)
    for width in (1, 25):
        for hits in space.search(np.repeat(vectors[5:6], width, axis=0), 5, None):
            assert [id for id, _ in hits] == [str(row) for row in twins]
            assert len({score for _, score in hits}) == 1


def test_rows_stay_right_through_removal_and_growth():
    vectors = np.eye(8, dtype=np.float32)
    space = Space(8)
    space.add(list("abcd"), vectors[:4])
    space.remove(["b", "unknown"])
    space.add(list("ef"), vectors[4:6])
    assert space.ids == list("acdef")
    np.testing.assert_array_equal(space.rows(["f", "a", "e"]), vectors[[5, 0, 4]])
    assert [hits[0] for hits in space.search(vectors[[2, 5]], 1, None)] == [("c", 1.0), ("f", 1.0)]
    space.remove(list("acdef"))
    assert len(space) == 0
    assert space.search(vectors[:1], 3, None) == [[]]
    space.add(["z"], vectors[7:])
    assert space.search(vectors[7:], 3, None) == [[("z", 1.0)]]
