"""Decoding with a latent bank beside plain decoding, SmolLM2, 8 rows; and how many of the nearest states a large bank's search finds.

Run with ``python -m pytest benchmarks/speed/test_latent.py``; the bank is 100,000 states of the model reading this project's own text.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("xplearn_expweaver")

import torch
from torch import Tensor
from xplearn_expweaver.latent import LatentConditioner
from xplearn_expweaver.search import Rows

from xplearn.policies.hf import HfPolicy
from xplearn.testing.conversations import opening
from xplearn.types import Completion, Conditioning, Memory, Sampling

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.timeout(3600)]

ROWS, TOKENS, ROUNDS, K = 8, 24, 9, 5
ENTRIES, ASKED, WINDOW = 100_000, 512, 512
SAMPLING = Sampling(max_new_tokens=TOKENS, temperature=0.0, stop=())

Say = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def states(policy: HfPolicy) -> Tensor:
    """Float32 ``[ENTRIES + ASKED, D]``, in random order: last layer after the final norm, at every token of the project's files."""
    model, tokenizer = policy.pretrained()
    root = Path(__file__).parents[2]
    files = sorted(
        path for name in ("docs", "plugins", "tests", "xplearn") for kind in ("py", "md") for path in (root / name).rglob(f"*.{kind}")
    )
    ids = tokenizer("\n\n".join(path.read_text(encoding="utf-8") for path in files), return_tensors="pt", verbose=False).input_ids[0]
    count = -(-(ENTRIES + ASKED) // WINDOW)
    windows = ids[: len(ids) // WINDOW * WINDOW].view(-1, WINDOW)
    windows = windows[torch.linspace(0, len(windows) - 1, count).long()]
    torch.set_num_threads(os.cpu_count() or 1)
    with torch.no_grad():
        read = [model.base_model(input_ids=part, use_cache=False).last_hidden_state.flatten(0, 1) for part in windows.split(4)]
    torch.set_num_threads(1)
    order = torch.randperm(count * WINDOW, generator=torch.Generator().manual_seed(0))[: ENTRIES + ASKED]
    return torch.cat(read)[order]


@pytest.fixture(scope="module")
def weaving(policy: HfPolicy) -> HfPolicy:
    """The policy with the adapter; rows without memory decode as plainly as ever."""
    policy.attach(LatentConditioner(k=K).adapter(576, 0))
    return policy


@pytest.mark.parametrize("entries", [2_000, 20_000, ENTRIES])
def test_recall_of_real_states(states: Tensor, say: Say, entries: int) -> None:
    bank, queries = states[ASKED : ASKED + entries], states[:ASKED]
    unit = torch.nn.functional.normalize(bank)
    exact = torch.cat([(part @ unit.T).topk(K).indices for part in queries.split(64)])
    began = time.perf_counter()
    rows = Rows(bank)
    ready = time.perf_counter() - began
    found = rows.nearest(queries[:, None], K, [()] * ASKED)[:, 0]
    recall = (found[..., None] == exact[:, None, :]).any(-1).double().mean().item()
    say(f"recall@{K} among {entries:,} states (made ready in {ready:.2f} s)", f"{recall:.4f}", "0.99")
    assert recall >= 0.99


def seconds_per_token(policy: HfPolicy, shown: Sequence[Conditioning]) -> tuple[float, list[Completion]]:
    began = time.perf_counter()
    said = policy.generate(shown, SAMPLING, range(ROWS))
    return (time.perf_counter() - began) / sum(len(row.token_ids) for row in said), said


@pytest.mark.parametrize(("entries", "target"), [(2_000, "1.10"), (ENTRIES, "1.25")])
def test_decoding_with_a_bank(weaving: HfPolicy, states: Tensor, benchmark: Any, say: Say, entries: int, target: str) -> None:
    bank = states[ASKED : ASKED + entries].contiguous()
    memory = Memory(states=bank, ids=tuple(map(str, range(entries))))
    plain = [Conditioning(messages=tuple(opening(row))) for row in range(ROWS)]
    latent = [Conditioning(messages=shown.messages, memory=memory) for shown in plain]
    _, said = seconds_per_token(weaving, latent)  # reads the prompts, makes the bank ready
    assert all(len(set(token)) == K for row in said for token in row.retrieved or ())
    pairs: list[tuple[float, float]] = []

    def turn() -> None:
        first, second = (latent, plain) if len(pairs) % 2 else (plain, latent)
        seconds = {id(shown): seconds_per_token(weaving, shown)[0] for shown in (first, second)}
        pairs.append((seconds[id(latent)], seconds[id(plain)]))

    benchmark.pedantic(turn, rounds=ROUNDS)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (1e3 * ROWS * statistics.median(column) for column in zip(*pairs, strict=True))
    benchmark.extra_info["ratio_to_plain"] = ratio
    say(f"decoding with {entries:,} states, {ours:.1f} ms a step beside {theirs:.1f} plain", f"{ratio:.3f}", target)
