from __future__ import annotations

from xplearn_hamo.recent import Recent


def made(recent, *keys):
    """What had to be made for these keys."""
    calls = []
    assert recent.values(list(keys), lambda missing: calls.append(missing) or [key.upper() for key in missing]) == [
        key.upper() for key in keys
    ]
    return calls


def test_a_value_is_made_once_and_all_missing_ones_in_one_call():
    recent = Recent(9)
    assert made(recent, "a", "b", "a") == [["a", "b"]]
    assert made(recent, "b", "c", "a") == [["c"]]
    assert made(recent, "a") == []
    assert made(recent) == []


def test_what_was_not_used_for_longest_is_forgotten_first():
    recent = Recent(2)
    made(recent, "a", "b")
    made(recent, "a")
    made(recent, "c")
    assert made(recent, "a", "c") == []
    assert made(recent, "b") == [["b"]]


def test_more_than_it_holds_is_still_answered_and_everything_can_be_forgotten():
    recent = Recent(1)
    assert made(recent, "a", "b", "c") == [["a", "b", "c"]]
    assert made(recent, "c") == []
    recent.clear()
    assert made(recent, "c") == [["c"]]
