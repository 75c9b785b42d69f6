from __future__ import annotations

from collections import Counter

from xplearn.seeding import derive, shuffled


def test_mapping_is_part_of_the_format():
    assert derive(0) == 5311021103046526168
    assert derive(7, "env", 3, "boil-1", 0) == 4186072061310200685


def test_text_and_number_are_different_keys():
    assert derive(0, 1) != derive(0, "1")
    assert derive(0, "i1") != derive(0, 1)


def test_keys_do_not_run_together():
    assert derive(0, "ab", "c") != derive(0, "a", "bc")
    assert derive(0, "a") != derive(0, "a", "")
    assert derive(1, 2) != derive(2, 1)


def test_seeds_fit_in_63_bits_and_use_them():
    seeds = [derive(0, number) for number in range(2000)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert len(set(seeds)) == 2000
    for bit in range(63):
        assert 800 < sum(seed >> bit & 1 for seed in seeds) < 1200


def test_any_text_is_a_key():
    assert derive(0, "\ud800") != derive(0, "\ud801")


def test_shuffled_is_a_keyed_permutation():
    items = list("abcdef")
    assert sorted(shuffled(items, 0, "x")) == items
    assert shuffled(items, 0, "x") == shuffled(items, 0, "x")
    assert items == list("abcdef")
    firsts = Counter(shuffled(items, seed)[0] for seed in range(1200))
    assert all(140 < count < 260 for count in firsts.values())
