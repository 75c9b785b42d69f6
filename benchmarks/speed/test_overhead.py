"""The evaluator beside a bare for-loop: what selection, conditioning, lock step and the record cost per episode.

Run with ``python -m pytest benchmarks/speed/test_overhead.py``; the line ``RATIO name: value (target t)`` is the figure.
"""

from __future__ import annotations

import statistics

import pytest

from benchmarks.speed.counting import TURNS, bare_loop, evaluator

ROUNDS = 9


@pytest.mark.benchmark(group="overhead")
def test_evaluator_costs_at_most_two_milliseconds_an_episode(tmp_path, capsys):
    bare_loop(), evaluator(tmp_path / "warm")
    bare, ours = zip(*((bare_loop(), evaluator(tmp_path / str(number))) for number in range(ROUNDS)), strict=True)
    overhead = 1000.0 * statistics.median(b - a for a, b in zip(bare, ours, strict=True))
    with capsys.disabled():
        print(
            f"\nRATIO evaluator overhead, ms an episode of {TURNS} steps: {overhead:.3f} (target 2); "
            f"bare loop {1000 * statistics.median(bare):.3f}, evaluator {1000 * statistics.median(ours):.3f}"
        )
