from __future__ import annotations

import numpy as np
import pytest

from xplearn.testing import samples
from xplearn.testing.trace import ACCEPT, Trace, fingerprint


@pytest.fixture
def comparing(monkeypatch):
    monkeypatch.delenv(ACCEPT, raising=False)


def trace(*values: object) -> Trace:
    recorded = Trace()
    for at, value in enumerate(values):
        recorded.add("act", f"step {at}", value)
    return recorded


def test_equal_values_have_equal_fingerprints():
    assert fingerprint(samples.trajectory(1)) == fingerprint(samples.trajectory(1))
    assert fingerprint(samples.trajectory(1)) != fingerprint(samples.trajectory(2))
    assert fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    assert fingerprint({"x", "y"}) == fingerprint({"y", "x"})
    assert fingerprint(np.float32([1.5, 2.5])) == fingerprint([1.5, 2.5])


def test_floats_count_to_six_digits():
    assert fingerprint(1.00000001) == fingerprint(1.0)
    assert fingerprint(1.0001) != fingerprint(1.0)
    assert fingerprint(-0.0) == fingerprint(0.0)


def test_fingerprint_never_changes():
    assert fingerprint(["open door", 3, 0.1, None, True]) == "980c05a2f1a9"


def test_values_without_content_are_refused():
    with pytest.raises(TypeError, match="object"):
        fingerprint(object())


def test_line_is_stage_key_and_hash():
    assert trace("look").lines == [f"act step_0 {fingerprint('look')}"]


def test_missing_file_says_how_to_accept(tmp_path, comparing):
    with pytest.raises(AssertionError, match=f"{ACCEPT}=1"):
        trace("look").check(tmp_path / "golden.txt")


def test_accepted_trace_passes_and_a_changed_one_shows_the_difference(tmp_path, monkeypatch):
    golden = tmp_path / "deep" / "golden.txt"
    monkeypatch.setenv(ACCEPT, "1")
    trace("look", "wait").check(golden)
    monkeypatch.delenv(ACCEPT)
    trace("look", "wait").check(golden)
    with pytest.raises(AssertionError) as caught:
        trace("look", "go").check(golden)
    assert f"-act step_1 {fingerprint('wait')}\n+act step_1 {fingerprint('go')}" in str(caught.value)
    assert f"{ACCEPT}=1" in str(caught.value)


def test_long_differences_are_cut(tmp_path, monkeypatch):
    golden = tmp_path / "golden.txt"
    monkeypatch.setenv(ACCEPT, "1")
    trace(*range(100)).check(golden)
    monkeypatch.delenv(ACCEPT)
    with pytest.raises(AssertionError, match="more lines"):
        trace(*range(100, 200)).check(golden)
