from __future__ import annotations

import gc
import weakref

import pytest

pytest.importorskip("torch")

import torch
from xplearn_expweaver import search
from xplearn_expweaver.search import Ready, Rows

FREE = ((),)


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def by_hand(queries, bank, k, barred=()):
    """Rows by float64 cosine, best first, the smaller at a tie."""
    cosines = torch.nn.functional.normalize(queries.double(), dim=-1) @ torch.nn.functional.normalize(bank.double(), dim=-1).T
    found = []
    for line in cosines.tolist():
        order = sorted((row for row in range(len(bank)) if row not in barred), key=lambda row: (-line[row], row))
        found.append(order[:k])
    return found


def test_the_nearest_by_cosine_best_first():
    bank, queries = drawn(300, 24) * torch.rand(300, 1).add(0.1), drawn(40, 24, seed=1)
    assert Rows(bank).nearest(queries[None], 5, FREE)[0].tolist() == by_hand(queries, bank, 5)


def test_rows_and_places_keep_their_order():
    bank, queries = drawn(50, 16), drawn(3, 4, 16, seed=1)
    found = Rows(bank).nearest(queries, 3, [()] * 3)
    assert found.shape == (3, 4, 3)
    assert [found[row].tolist() for row in range(3)] == [by_hand(queries[row], bank, 3) for row in range(3)]


def test_equal_rows_go_by_their_place():
    bank = drawn(4, 16)[[0, 1, 0, 2, 0, 0, 3, 0]]
    found = Rows(bank).nearest(drawn(4, 16)[None, :1], 4, FREE)
    assert found.flatten().tolist() == [0, 2, 4, 5]


def test_a_bank_of_equal_rows_is_searched_to_its_end():
    bank = drawn(1, 16).expand(500, 16).contiguous()
    assert Rows(bank).nearest(drawn(1, 2, 16), 3, FREE).tolist() == [[[0, 1, 2]] * 2]


def test_barred_rows_are_never_found_and_others_take_their_place():
    bank, queries = drawn(60, 16), drawn(2, 3, 16, seed=1)
    barred = [tuple(range(0, 60, 2)), (5,)]
    found = Rows(bank).nearest(queries, 4, barred)
    assert [found[row].tolist() for row in range(2)] == [by_hand(queries[row], bank, 4, barred[row]) for row in range(2)]


def test_fewer_rows_than_asked_for_end_in_minus_one():
    bank = drawn(4, 16)
    assert Rows(bank).nearest(drawn(1, 1, 16), 9, FREE).shape == (1, 1, 4)
    (found,) = Rows(bank).nearest(bank[None, 3:], 4, [(0, 1)])[0].tolist()
    assert found == [3, 2, -1, -1]
    assert Rows(bank).nearest(drawn(1, 1, 16), 2, [(0, 1, 2, 3)]).tolist() == [[[-1, -1]]]


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_found_does_not_depend_on_how_many_are_asked(narrow, monkeypatch):
    if narrow:
        monkeypatch.setattr(search, "EXACT_ROWS", 1000)
    base = drawn(700, 360)
    bank = torch.cat([base, base[:350] + 1e-6 * drawn(350, 360, seed=2), base[350:]])  # near and exact ties everywhere
    rows, queries = Rows(bank), base[:64, None] + 0.3 * drawn(64, 1, 360, seed=1)
    together = rows.nearest(queries, 5, [()] * 64)
    for width in (1, 8):
        parts = [rows.nearest(queries[at : at + width], 5, [()] * width) for at in range(0, 64, width)]
        assert torch.equal(torch.cat(parts), together)


def test_long_searches_are_done_in_parts(monkeypatch):
    bank, queries = drawn(90, 16), drawn(5, 7, 16, seed=1)
    barred = [(row, row + 1) for row in range(5)]
    whole = Rows(bank).nearest(queries, 4, barred)
    monkeypatch.setattr(search, "_BLOCK", 90 * 4)
    assert torch.equal(Rows(bank).nearest(queries, 4, barred), whole)


def test_a_large_bank_is_searched_in_its_leading_directions(monkeypatch):
    centres = drawn(40, 360)
    bank = centres[torch.arange(4000) % 40] + 0.4 * drawn(4000, 360, seed=1) * torch.linspace(1.5, 0.01, 360)
    queries = (bank[::50] + 0.1 * drawn(80, 360, seed=2))[None]
    exact = Rows(bank).nearest(queries, 5, FREE)
    monkeypatch.setattr(search, "EXACT_ROWS", 1000)
    rows = Rows(bank)
    assert rows._scanned.shape == (4000, 160)
    found = rows.nearest(queries, 5, FREE)
    recall = (found[..., None] == exact[..., None, :]).any(-1).float().mean()
    assert recall >= 0.99
    barred = tuple(exact[0, 0].tolist())
    assert not set(rows.nearest(queries[:, :1], 5, [barred])[0, 0].tolist()) & set(barred)


def test_a_bank_is_made_ready_once_and_forgotten_with_its_tensor():
    ready, bank = Ready(), drawn(10, 16)
    rows = ready(bank)
    assert ready(bank) is rows
    assert ready(bank.clone()) is not rows
    gone = weakref.ref(rows)
    del rows, bank
    gc.collect()
    assert gone() is None
    assert not ready._rows


def test_an_empty_row_of_the_bank_is_no_obstacle():
    bank = torch.cat([torch.zeros(1, 16), drawn(3, 16)])
    assert Rows(bank).nearest(bank[None, 2:3], 4, FREE)[0, 0, 0] == 2
