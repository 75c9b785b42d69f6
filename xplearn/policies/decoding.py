"""Decoding: many rows at once over the prefix cache, each independent of its neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xplearn.policies.adapter import MemoryBatch
from xplearn.policies.chat import ChatEncoder
from xplearn.policies.choose import ActionTrie, Node, forced, options
from xplearn.policies.network import Network
from xplearn.policies.prefix_cache import PrefixCache, common_prefix
from xplearn.policies.recurrence import Thoughts
from xplearn.policies.sampling import draw
from xplearn.policies.steady import padded
from xplearn.types import Finish, Memory, Sampling

Tokens = NDArray[np.int64]

_WORTH_SHARING = 32
"""Tokens that two prompts of a batch must share beyond the cache before one is read for both."""
_WASTE = 1.25
"""Padded over real tokens above which long rows are read ahead by themselves."""


@dataclass(slots=True, kw_only=True)
class Row:
    """One completion in the making."""

    prompt: Tokens
    key: int
    limit: int
    """Most tokens of a free completion."""
    memory: Memory | None = None
    tag: Hashable = None
    """What the keys and values depend on besides the tokens."""
    trie: ActionTrie | None = None
    """The admissible actions; None for any text."""
    node: Node = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    retrieved: list[tuple[int, ...]] = field(default_factory=list)
    """Per token, the memory rows read to draw it."""
    thoughts: list[Tensor] = field(default_factory=list)
    """Per token ``[D]``, what is carried on from where it was drawn; NaN where it was certain."""
    thought: Tensor | None = None
    """``[D]``, carried into the first pending token."""
    pending: Tokens = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Tokens to be fed next."""
    text: str = ""
    finish: Finish | None = None

    def add(self, token: int, logprob: float) -> None:
        """Take a drawn token, and those that it makes certain."""
        run: list[int] = []
        if self.trie is not None:
            run, self.node = forced(self.node[token])
        if self.thought is not None:
            nothing = torch.full_like(self.thought, torch.nan)
            self.thoughts += [nothing] * (len(self.ids) - len(self.thoughts)) + [self.thought]
        self.ids += [token, *run]
        self.logprobs += [logprob, *([0.0] * len(run))]
        self.pending = np.array([token, *run], dtype=np.int64)
        if self.trie is not None and not self.node:
            self.text, self.finish = self.trie.text(self.ids), "stop"

    @property
    def carried(self) -> Tensor | None:
        """What was carried on from each token, float32 ``[T, D]``; None where nothing was."""
        if not self.thoughts:
            return None
        thoughts = torch.stack(self.thoughts).cpu()
        return nn.functional.pad(thoughts, (0, 0, 0, len(self.ids) - len(thoughts)), value=torch.nan)

    @property
    def reach(self) -> int:
        """Tokens that the row may come to hold."""
        return len(self.prompt) + (self.limit if self.trie is None else self.trie.longest)


class Decoder:
    """Draws completions with a network and a prefix cache."""

    def __init__(self, network: Network, cache: PrefixCache, chat: ChatEncoder, ends: frozenset[int]) -> None:
        """``ends`` are the tokens that end a free completion."""
        self._network, self._cache, self._chat, self._ends = network, cache, chat, ends

    @torch.no_grad()
    def run(self, rows: Sequence[Row], sampling: Sampling) -> None:
        """Complete every row, as many at once as the cache's budget allows."""
        todo = [row for row in rows if not self._settled(row)]
        while todo:
            count = self._cache.rows_within(max(row.reach for row in todo))
            self._run_batch(todo[:count], sampling)
            todo = todo[count:]

    def _settled(self, row: Row) -> bool:
        """Whether a row needs no decision at all: one admissible action."""
        if row.trie is None:
            return False
        run, row.node = forced(row.trie.root)
        row.ids, row.logprobs = run, [0.0] * len(run)
        if not row.node:
            row.text, row.finish = row.trie.text(run), "stop"
        return row.finish is not None

    def _run_batch(self, batch: Sequence[Row], sampling: Sampling) -> None:
        texts = [np.concatenate([row.prompt, np.array(row.ids, dtype=np.int64)]) for row in batch]
        seats = self._cache.seat(texts, [row.tag for row in batch], max(row.reach for row in batch))
        order = sorted(range(len(batch)), key=seats.__getitem__)
        rows = [batch[index] for index in order]
        self._share([texts[index] for index in order], rows)
        for slot, index in enumerate(order):
            batch[index].pending = texts[index][len(self._cache.slots[slot].tokens) :]
        self._level(rows)
        while live := [slot for slot, row in enumerate(rows) if row.finish is None]:
            window = slice(live[0], live[-1] + 1)
            hidden = self._feed(rows, window)[[slot - window.start for slot in live]]
            self._decide([rows[slot] for slot in live], hidden, sampling)
        self._forget_thoughts(rows)

    def _share(self, texts: Sequence[Tokens], rows: Sequence[Row]) -> None:
        """Read beginnings that several rows have in common once."""
        for slot in range(1, len(rows)):
            shared = [common_prefix(texts[slot], texts[other]) * (rows[slot].tag == rows[other].tag) for other in range(slot)]
            leader = int(np.argmax(shared))
            common = min(shared[leader], len(texts[slot]) - 1, len(texts[leader]) - 1)
            have = len(self._cache.slots[leader].tokens)
            if common - len(self._cache.slots[slot].tokens) >= _WORTH_SHARING:
                if have < common:
                    rows[leader].pending = texts[leader][have:common]
                    self._feed(rows, slice(leader, leader + 1))
                self._cache.copy(leader, slot, common)

    def _level(self, rows: Sequence[Row]) -> None:
        """Read rows that have much more to read than the others ahead, by themselves, so that the batch is hardly padded."""
        lengths = [len(row.pending) for row in rows]
        short = sorted(lengths)[len(lengths) // 4]
        if len(rows) * max(lengths) <= _WASTE * sum(lengths):
            return
        for slot, row in enumerate(rows):
            if len(row.pending) > 2 * short + _WORTH_SHARING:
                rest, row.pending = row.pending[-short:], row.pending[:-short]
                self._feed(rows, slice(slot, slot + 1))
                row.pending = rest

    def _feed(self, rows: Sequence[Row], window: slice) -> Tensor:
        """Read what the rows of a window have pending; hidden states ``[B, D]`` after the last token of each."""
        batch, network = rows[window], self._network
        memory = MemoryBatch.of([row.memory for row in batch], network.device) if network.sites.within else None
        new = [row.pending for row in batch]
        carried = [(0, None if row.thought is None else row.thought[None]) for row in batch]
        with self._cache.feeding(window, new, network.device) as (ids, places, seen):
            thoughts = Thoughts.of(carried, ids.shape[1], network.device)
            hidden = network.hidden(ids, places, seen, cache=self._cache.cache, memory=memory, thoughts=thoughts)
        for row in batch:
            row.pending, row.thought = row.pending[:0], None
        last = torch.tensor([max(len(tokens) - 1, 0) for tokens in new], device=network.device)
        return hidden[torch.arange(len(batch), device=network.device), last]

    def _decide(self, rows: Sequence[Row], hidden: Tensor, sampling: Sampling) -> None:
        """Draw the next token of each row from its hidden state ``[B, D]``."""
        hidden = self._with_memory(rows, hidden)
        logits = self._network.logits(padded(hidden))[: len(rows)]
        self._think(rows, hidden, logits)
        logits = logits / (sampling.temperature or 1.0)
        if sampling.temperature == 0.0 and all(row.trie is None for row in rows):
            tokens = logits.argmax(-1)
            chosen = logits.log_softmax(-1).gather(-1, tokens[:, None])[:, 0].tolist()
            for row, token, logprob in zip(rows, tokens.tolist(), chosen, strict=True):
                self._take(row, token, logprob, sampling)
            return
        for row, logprobs in zip(rows, logits.log_softmax(-1).cpu().numpy(), strict=True):
            self._take(row, *_draw(row, logprobs, sampling), sampling)

    def _think(self, rows: Sequence[Row], hidden: Tensor, logits: Tensor) -> None:
        """Let the rows carry a thought on from where their next token is drawn."""
        recurrence, thoughts = self._network.sites.recurrence, self._network.thoughts(hidden, logits)
        if recurrence is not None and thoughts is not None:
            for row, thought in zip(rows, thoughts, strict=True):
                read = bool(row.retrieved) and bool(row.retrieved[-1])
                row.thought = thought if read or not recurrence.needs_memory else None

    def _with_memory(self, rows: Sequence[Row], hidden: Tensor) -> Tensor:
        """What the adapters at the norm make of ``[B, D]``; the rows note what was retrieved."""
        sites = self._network.sites
        once = sites.retrieving is not None and sites.retrieving.every == "completion"
        recorded = [row.retrieved[-1:] if once and row.retrieved else None for row in rows]
        memory = MemoryBatch.of([row.memory for row in rows], self._network.device, recorded)
        hidden = sites.at_norm(hidden[:, None], memory)[:, 0]
        for row, (found,) in memory.read() if memory is not None else ():
            rows[row].retrieved += [()] * (len(rows[row].ids) - len(rows[row].retrieved)) + [found]
        return hidden

    def _forget_thoughts(self, rows: Sequence[Row]) -> None:
        """Keys and values that depend on thoughts are those of no text: the cache keeps the prompt only."""
        for slot, row in enumerate(rows):
            if row.thoughts:
                self._cache.slots[slot].tokens = self._cache.slots[slot].tokens[: len(row.prompt)]

    def _take(self, row: Row, token: int, logprob: float, sampling: Sampling) -> None:
        row.add(token, logprob)
        if row.trie is not None:
            return
        text = self._chat.decode(row.ids)
        ends = [place for stop in sampling.stop if (place := text.find(stop)) >= 0]
        row.text = text[: min(ends)] if ends else text
        if token in self._ends or ends:
            row.finish = "stop"
        elif len(row.ids) >= row.limit:
            row.finish = "length"


def _draw(row: Row, logprobs: NDArray[np.float32], sampling: Sampling) -> tuple[int, float]:
    tokens = None if row.trie is None else options(row.node)
    if tokens is not None:
        some = logprobs[tokens].astype(np.float64)
        logprobs = some - np.logaddexp.reduce(some)
    return draw(logprobs, greedy=sampling.temperature == 0.0, top_p=sampling.top_p, key=row.key, index=len(row.ids), tokens=tokens)
