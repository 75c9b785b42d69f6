"""`import xplearn` under 0.15 s and `xplearn --help` under 0.4 s, both without torch; beside a bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

import pytest

COMMANDS = {
    "import xplearn": (["-c", "import xplearn, sys; assert 'torch' not in sys.modules"], 0.15),
    "xplearn --help": (["-m", "xplearn", "--help"], 0.4),
}
REPEATS = 9


def seconds(arguments: list[str]) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began


@pytest.mark.parametrize("name", COMMANDS)
def test_startup(name, benchmark):
    arguments, target = COMMANDS[name]
    bare = median(seconds(["-c", "pass"]) for _ in range(REPEATS))
    benchmark.pedantic(seconds, args=(arguments,), rounds=REPEATS, warmup_rounds=1)
    ours = benchmark.stats.stats.median
    benchmark.extra_info.update(bare_interpreter_s=bare, target_s=target)
    print(f"\nSECONDS {name}: {ours:.3f} (target {target}), {ours / bare:.1f} x a bare interpreter's {bare:.3f}")
