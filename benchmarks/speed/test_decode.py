"""20-turn conversations, 8 episodes at once: prefix reuse beside ``transformers.generate`` reading the whole prompt every turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
import transformers

from xplearn.policies import backbone
from xplearn.policies.hf import HfPolicy
from xplearn.testing.conversations import answered, conditioning, opening
from xplearn.types import Message, Sampling

pytestmark = [pytest.mark.slow, pytest.mark.weights]

EPISODES, TURNS, TARGET = 8, 20, 5.0
SAMPLING = Sampling(max_new_tokens=12, temperature=0.0, stop=())

Speak = Callable[[list[list[Message]]], list[tuple[str, tuple[int, ...]]]]
"""Conversations to words and tokens."""


def with_reuse(policy: HfPolicy) -> Speak:
    def speak(conversations: list[list[Message]]) -> list[tuple[str, tuple[int, ...]]]:
        completions = policy.generate([conditioning(messages) for messages in conversations], SAMPLING, list(range(EPISODES)))
        return [(completion.text, completion.token_ids) for completion in completions]

    return speak


def rereading(folder: str) -> Speak:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")

    def speak(conversations: list[list[Message]]) -> list[tuple[str, tuple[int, ...]]]:
        batch = tokenizer.apply_chat_template(
            conversations, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
        )
        output = model.generate(**batch, max_new_tokens=SAMPLING.max_new_tokens, do_sample=False)
        said = [until_end(row.tolist(), tokenizer.eos_token_id) for row in output[:, batch["input_ids"].shape[1] :]]
        return [(tokenizer.decode(ids, skip_special_tokens=True), ids) for ids in said]

    return speak


def until_end(ids: list[int], end: int) -> tuple[int, ...]:
    return tuple(ids[: ids.index(end) + 1] if end in ids else ids)


class Match:
    """Both play the same conversations, turn about, so that a busy machine slows both alike."""

    def __init__(self, ours: Speak, theirs: Speak) -> None:
        self.speakers, self.seconds = (ours, theirs), [0.0, 0.0]
        self.conversations = [opening(episode) for episode in range(EPISODES)]
        self.turn = self.tokens = 0

    def play(self) -> None:
        """One turn."""
        said = []
        for index, speak in enumerate(self.speakers):
            started = time.perf_counter()
            said.append(speak(self.conversations))
            self.seconds[index] += time.perf_counter() - started
        assert said[0] == said[1]
        self.turn += 1
        self.tokens += sum(len(ids) for _, ids in said[0])
        self.conversations = [answered(messages, said[0][i][0], i, self.turn) for i, messages in enumerate(self.conversations)]


@pytest.mark.timeout(3600)
def test_decoding_with_prefix_reuse(policy: HfPolicy, benchmark: Any, capsys: Any) -> None:
    match = Match(with_reuse(policy), rereading(backbone.resolve("smollm2")))
    benchmark.pedantic(match.play, rounds=TURNS)
    ours, theirs = (match.tokens / seconds for seconds in match.seconds)
    with capsys.disabled():
        print(f"\n{match.tokens} tokens: {ours:.1f} tokens/s with prefix reuse, {theirs:.1f} re-reading the prompt every turn")
        print(f"RATIO decode: {ours / theirs:.2f} (target {TARGET})")
