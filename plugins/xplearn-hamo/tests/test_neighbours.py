from __future__ import annotations

import faiss
import numpy as np
import pytest
from xplearn_hamo import neighbours
from xplearn_hamo.neighbours import nearest_neighbours

SHAPES = [(2, 3, 1), (5, 4, 3), (9, 2, 3), (10, 2, 3), (40, 3, 1), (60, 3, 5), (300, 4, 3)]


def drawn(count, dim, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)


def coarse(count, dim, seed=0):
    """Vectors that repeat, point the same way or stand at right angles: full of ties."""
    return np.random.default_rng(seed).integers(-1, 2, size=(count, dim)).astype(np.float32)


def plain(vectors, k):
    """All pairs in whole numbers, sorted."""
    rows = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(rows).sum(-1, keepdims=True))
    whole = np.rint(rows / np.where(lengths == 0, 1, lengths) * 2.0**24).astype(np.int64).tolist()
    found = []
    for at, row in enumerate(whole):
        products = [(-sum(a * b for a, b in zip(row, other, strict=True)), n) for n, other in enumerate(whole) if n != at]
        found.append([n for _, n in sorted(products)[:k]])
    return found


@pytest.mark.parametrize(("count", "dim", "k"), SHAPES)
@pytest.mark.parametrize("draw", [drawn, coarse])
def test_neighbours_are_those_of_all_pairs_compared_in_whole_numbers(draw, count, dim, k):
    vectors = draw(count, dim)
    assert nearest_neighbours(vectors, k).tolist() == plain(vectors, k)


@pytest.mark.parametrize("draw", [drawn, coarse])
def test_small_blocks_change_nothing(draw, monkeypatch):
    vectors = draw(200, 6)
    whole = nearest_neighbours(vectors, 3).tolist()
    monkeypatch.setattr(neighbours, "_BLOCK", 500)
    assert nearest_neighbours(vectors, 3).tolist() == whole


def test_threads_change_nothing():
    vectors = drawn(700, 384)
    threads = faiss.omp_get_max_threads()
    try:
        found = []
        for count in (1, 2):
            faiss.omp_set_num_threads(count)
            found.append(nearest_neighbours(vectors, 3).tolist())
    finally:
        faiss.omp_set_num_threads(threads)
    assert found[0] == found[1]


def test_neighbours_have_the_highest_cosines():
    vectors = drawn(120, 32) * np.random.default_rng(1).uniform(0.01, 100.0, size=(120, 1)).astype(np.float32)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2.0)
    best = np.sort(cosines, axis=1)[:, :-4:-1]
    np.testing.assert_allclose(np.take_along_axis(cosines, nearest_neighbours(vectors, 3), 1), best, atol=1e-6)


def test_a_row_of_duplicates_is_told_by_its_number():
    vectors = np.ones((12, 5), dtype=np.float32)
    found = nearest_neighbours(vectors, 3).tolist()
    assert found[:4] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert found[4:] == [[0, 1, 2]] * 8


def test_duplicates_beyond_what_is_fetched_tie_to_the_smaller_rows():
    vectors = np.concatenate([drawn(30, 5), np.repeat(drawn(1, 5, seed=9), 30, axis=0)])
    found = nearest_neighbours(vectors, 3).tolist()
    assert found[30] == [31, 32, 33]
    assert found[59] == [30, 31, 32]


def test_length_plays_no_part():
    vectors = drawn(50, 8)
    assert nearest_neighbours(vectors * np.float32(2.0**40), 3).tolist() == nearest_neighbours(vectors, 3).tolist()
    assert nearest_neighbours(vectors * np.float32(2.0**-100), 3).tolist() == nearest_neighbours(vectors, 3).tolist()


def test_a_vector_of_zeros_is_at_right_angles_to_all():
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    assert nearest_neighbours(vectors, 2).tolist() == [[1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize(("count", "width"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 3)])
def test_few_rows_have_all_the_others(count, width):
    assert nearest_neighbours(drawn(count, 4), 3).shape == (count, width)
