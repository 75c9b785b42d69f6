"""Coverage greedy beside submodlib and apricot on the same instances, a million cards, and the neighbours of 100,000 cards.

Run with ``python -m pytest benchmarks/speed/test_coverage.py``; each line ``RATIO name: value (target t)`` is one figure. A peer that is
not installed is skipped (``pip install submodlib-py apricot-select``). All three must choose the same cards in the same order. Peers
break ties in their own way, so they are given ours: submodlib by a concept of each set's own that weighs less than a card, apricot
by the order of the rows. Times are the best of a few rounds in turn, from the peer's own input to the chosen cards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

pytest.importorskip("xplearn_hamo")

from xplearn_hamo.greedy import greedy_cover, reverse_sets
from xplearn_hamo.neighbours import nearest_neighbours

K = 3
ROUNDS = 5


def instance(count: int):
    """Neighbours of random cards, and each card's rank among ties: more hits first, then the smaller row."""
    neighbours = nearest_neighbours(np.random.default_rng(0).normal(size=(count, 64)).astype(np.float32), K)
    order = np.argsort(-np.bincount(neighbours.ravel(), minlength=count), kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return neighbours, rank


def in_turn(ours, theirs) -> tuple[float, float]:
    """Seconds of both, the best of a few rounds."""
    times = {ours: [], theirs: []}
    for _ in range(ROUNDS):
        for call, taken in times.items():
            began = time.perf_counter()
            call()
            taken.append(time.perf_counter() - began)
    return min(times[ours]), min(times[theirs])


@pytest.mark.parametrize(("optimizer", "target"), [("NaiveGreedy", ">= 10"), ("LazyGreedy", "none")])
def test_greedy_beside_submodlib(benchmark, say, optimizer, target):
    submodlib = pytest.importorskip("submodlib", reason="submodlib is not installed: pip install submodlib-py")
    count = 5000
    neighbours, rank = instance(count)
    indptr, indices = reverse_sets(neighbours)
    sets = [set(indices[indptr[j] : indptr[j + 1]].tolist()) for j in range(count)]
    chosen, gains = greedy_cover(neighbours)

    def theirs(sets=sets, concepts=count, weights=None):
        function = submodlib.SetCoverFunction(n=count, cover_set=sets, num_concepts=concepts, concept_weights=weights)
        return function.maximize(budget=len(chosen), optimizer=optimizer, show_progress=False)

    marked = [{*members, count + j} for j, members in enumerate(sets)]
    found = theirs(marked, 2 * count, [1.0] * count + ((count - rank) / 2**13).tolist())
    assert [(card, int(gain)) for card, gain in found] == list(zip(chosen.tolist(), gains.tolist(), strict=True))
    assert sum(gain for _, gain in theirs()) == pytest.approx(gains.sum(), rel=2e-3)  # where ties are broken otherwise
    ours, other = in_turn(lambda: greedy_cover(neighbours), theirs)
    benchmark.pedantic(greedy_cover, args=(neighbours,), rounds=5)
    default = " (its default)" if optimizer == "NaiveGreedy" else " (C++, lazy)"
    say(
        f"greedy at {count}, submodlib {optimizer}{default} / ours",
        f"{other / ours:.1f} ({other * 1e3:.1f} ms, {ours * 1e3:.1f} ms; same cards)",
        target,
    )


def test_greedy_beside_apricot(say):
    apricot = pytest.importorskip("apricot", reason="apricot is not installed: pip install apricot-select")
    sparse = pytest.importorskip("scipy.sparse")
    count = 1000
    neighbours, rank = instance(count)
    relabelled = rank[neighbours[np.argsort(rank)]]
    chosen, gains = greedy_cover(relabelled)
    cards = np.repeat(np.arange(count), K)
    matrix = sparse.csr_matrix((np.ones(cards.size), (relabelled.ravel(), cards)), shape=(count, count))

    def theirs():
        return apricot.MaxCoverageSelection(len(chosen), optimizer="naive").fit(matrix)

    found = theirs()
    assert (found.ranking.tolist(), found.gains.tolist()) == (chosen.tolist(), gains.tolist())
    ours, other = in_turn(lambda: greedy_cover(relabelled), theirs)
    say(f"greedy at {count}, apricot naive / ours", f"{other / ours:.0f} ({other * 1e3:.0f} ms, {ours * 1e3:.2f} ms; same cards)", "none")


MILLION = """
    cards, k = 1_000_000, 3
    neighbours = (np.arange(cards)[:, None] + rng.integers(1, cards // k, size=(cards, k)).cumsum(1)) % cards
    began = time.perf_counter()
    chosen, gains = greedy_cover(neighbours)
    curve = knee(gains.tolist())
    print(time.perf_counter() - began, len(chosen), gains.sum(), curve)
"""
NEIGHBOURS = """
    vectors = rng.normal(size=(100_000, 384)).astype(np.float32)
    began = time.perf_counter()
    neighbours = nearest_neighbours(vectors, 3)
    print(time.perf_counter() - began, time.process_time(), faiss.omp_get_max_threads())
"""
PREAMBLE = """
    import time
    import faiss
    import numpy as np
    from xplearn_hamo.greedy import greedy_cover
    from xplearn_hamo.knee import knee
    from xplearn_hamo.neighbours import nearest_neighbours

    rng = np.random.default_rng(0)
"""
# Not ru_maxrss: a process begins with that of the one it was started from.
CODA = """
    print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024)
"""


def in_process(work: str) -> list[float]:
    """Figures that a script prints, the last one its peak memory in MB."""
    code = "".join(textwrap.dedent(part) for part in (PREAMBLE, work, CODA))
    calm = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}  # as the command line: beside other work, threads that spin cost fourfold
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=calm)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_a_million_cards_with_given_neighbours(say):
    seconds, chosen, covered, curve, megabytes = in_process(MILLION)
    assert covered == 1_000_000
    assert 0 < curve < chosen
    say("greedy at 1,000,000", f"{seconds:.1f} s ({chosen:,.0f} anchors, knee {curve:,.0f})", "<= 60 s")
    say("greedy at 1,000,000, memory", f"{megabytes:,.0f} MB", "<= 4,000 MB")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_neighbours_of_a_hundred_thousand_cards(say):
    seconds, processor, threads, megabytes = in_process(NEIGHBOURS)
    how = f"exact, FAISS flat in blocks; threads: {threads:.0f}, processor time: {processor:.0f} s"
    say("neighbours of 100,000 x 384", f"{seconds:.0f} s ({how})", "none")
    say("neighbours of 100,000 x 384, memory", f"{megabytes:,.0f} MB", "none")
