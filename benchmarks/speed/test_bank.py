"""The bank beside raw FAISS, and 100,000 experiences written durably and read back.

Run with ``python -m pytest benchmarks/speed/test_bank.py``; each line ``RATIO name: value (target t)`` is one figure.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import textwrap
import time

import faiss
import numpy as np
import pytest

from xplearn.stores.sqlite import SqliteStore
from xplearn.types import Experience

DIM = 384
SIZE = 10_000


@pytest.fixture(scope="module")
def vectors():
    rows = np.random.default_rng(0).normal(size=(SIZE + 64, DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def bank(vectors, tmp_path_factory):
    store = SqliteStore(path=str(tmp_path_factory.mktemp("bank") / "bank.sqlite"))
    store.open_space("key", encoder="random/384", dim=DIM)
    experiences = [Experience(id=str(n), kind="record", key=f"key {n}", content="", task=str(n % 500)) for n in range(SIZE)]
    store.add(experiences, {"key": vectors[:SIZE]})
    yield store
    store.close()


@pytest.fixture(scope="module")
def index(vectors):
    flat = faiss.IndexFlatIP(DIM)
    flat.add(vectors[:SIZE])
    return flat


def best_of(call, tries: int = 3) -> float:
    """Shortest of a few consecutive calls, in seconds: what the machine's other work disturbed least."""
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def paired_ratio(ours, theirs, rounds: int = 101) -> tuple[float, float]:
    """Median over rounds of the ratio of both, measured side by side in turn; and the median seconds of ours."""
    pairs = []
    for at in range(rounds):
        first, second = (ours, theirs) if at % 2 else (theirs, ours)
        seconds = {first: best_of(first), second: best_of(second)}
        pairs.append((seconds[ours], seconds[theirs]))
    return statistics.median(a / b for a, b in pairs), statistics.median(a for a, _ in pairs)


@pytest.mark.parametrize("guard", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("width", [1, 64])
def test_search_beside_raw_faiss(benchmark, say, bank, index, vectors, width, guard):
    queries, k = vectors[SIZE : SIZE + width], 5
    exclude = [bank.from_task(str(row)) for row in range(width)] if guard else None
    found = bank.search("key", queries, k)
    scores, rows = index.search(queries, k)
    assert [[id for id, _ in hits] for hits in found] == [[str(row) for row in line] for line in rows]
    np.testing.assert_allclose([[score for _, score in hits] for hits in found], scores, atol=1e-5)
    ratio, seconds = paired_ratio(lambda: bank.search("key", queries, k, exclude=exclude), lambda: index.search(queries, k))
    benchmark.extra_info["ratio_to_faiss"] = ratio
    benchmark.pedantic(lambda: bank.search("key", queries, k, exclude=exclude), rounds=50)
    name = f"search {SIZE} x {DIM}, {width} quer{'y' if width == 1 else 'ies'}{', 20 excluded' if guard else ''}"
    say(name, f"{ratio:.3f} of FAISS, {seconds * 1e3:.2f} ms", "1.15")


WRITE = """
    rng, spent = np.random.default_rng(0), 0.0
    bank.open_space("key", encoder="random/384", dim=384)
    for start in range(0, 100_000, 1000):
        vectors = rng.normal(size=(1000, 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        batch = [experience(n) for n in range(start, start + 1000)]
        begin = time.perf_counter()
        bank.add(batch, {"key": vectors})
        spent += time.perf_counter() - begin
    print(100_000 / spent)
"""
REOPEN = """
    begin = time.perf_counter()
    bank.setup(None)
    opened = time.perf_counter() - begin
    assert len(bank.search("key", np.ones((1, 384), np.float32), 5)[0]) == 5
    print(opened, time.perf_counter() - begin)
"""
GROW = """
    queries = np.ones((1, 384), np.float32)
    bank.search("key", queries, 5)
    for start in range(100_000, 105_000, 1000):
        vectors = np.ones((1000, 384), np.float32)
        bank.add([experience(n) for n in range(start, start + 1000)], {"key": vectors})
        bank.search("key", queries, 5)
    bank.digest()
    print(0)
"""
PREAMBLE = """
    import sys, time
    import numpy as np
    from xplearn.stores.sqlite import SqliteStore
    from xplearn.types import Experience

    def experience(n):
        actions = "; ".join(f"open door {step}" for step in range(12))
        return Experience(
            id=f"record/train/boil-{n}/plain/0",
            kind="record",
            key=f"Task: boil water {n}. This room is called the kitchen. In it you see a stove, a table, a cupboard and a sink. " * 2,
            content=f"Outcome: solved\\nActions: {actions}",
            task=f"boil-{n % 1000}",
            outcome=1.0,
        )

    bank = SqliteStore(path=sys.argv[1])
"""
# Not ru_maxrss: a process begins with that of the one it was started from.
CODA = """
    bank.close()
    print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024)
"""


def in_process(work: str, path) -> list[float]:
    """Figures that a script prints about the bank at ``path``, the last one its peak memory in MB."""
    code = "".join(textwrap.dedent(part) for part in (PREAMBLE, work, CODA))
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_a_hundred_thousand_experiences(benchmark, say, tmp_path):
    path = tmp_path / "bank.sqlite"
    rate, write_mb = benchmark.pedantic(in_process, args=(WRITE, path), rounds=1)
    opened, searched, read_mb = in_process(REOPEN, path)
    _, grow_mb = in_process(GROW, path)
    say("100k experiences added durably", f"{rate:,.0f} a second", "over 5,000")
    say("100k reopened, pages checked", f"{opened:.2f} s", "under 2 s")
    say("100k reopened to the first search done", f"{searched:.2f} s", "under 2 s")
    say("100k memory while writing", f"{write_mb:.0f} MB", "under 500 MB")
    say("100k memory reopened and searched", f"{read_mb:.0f} MB", "under 500 MB")
    say("100k memory searched, 5k added, hashed", f"{grow_mb:.0f} MB", "under 500 MB")
    say("100k file", f"{os.path.getsize(path) / 2**20:.0f} MB", "none")
