"""Ranking with an engine: scores by state or likelihood, orders drawn and scored again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from xplearn.errors import ContractError
from xplearn.policies.engine import NAME, Engine, as_tokens
from xplearn.policies.ranking import Ranked, RankingConfig, cosines, order, plackett_luce
from xplearn.policies.scoring import Target, retrieve, score
from xplearn.types import Completion, Conditioning, Sampling

Candidates = Sequence[tuple[str, ...]]
Retrieved = tuple[tuple[int, ...], ...]


class Ranker:
    """Scores the candidates of conversations. A row's scores depend on its own conversation and candidates."""

    def __init__(self, engine: Engine, settings: RankingConfig, limit: int) -> None:
        """``limit``: padded tokens of one forward pass."""
        self._engine, self._settings, self._limit = engine, settings, limit

    def draw(
        self, conditionings: Sequence[Conditioning], candidates: Candidates, sampling: Sampling, keys: Sequence[int]
    ) -> list[Completion]:
        """One order of the candidates per row, best first: its lines are the text, their positions the tokens.

        ``retrieved`` has one entry, for the state after the prompt; ranking by likelihood, one for each token of each candidate.

        A conversation that does not fit the context, by likelihood together with any candidate, comes back empty with
        ``finish="context"``.

        Raises:
            ContractError: ``top_p`` cuts an order short, or a candidate is empty, or by itself too long for the context.
        """
        if sampling.top_p < 1.0:
            raise ContractError(NAME, f"top_p={sampling.top_p} has no meaning for an order of candidates; leave it at 1")
        fitting = [at for at, row in enumerate(zip(conditionings, candidates, strict=True)) if self._fits(*row)]
        shown, offered = [conditionings[at] for at in fitting], [candidates[at] for at in fitting]
        with torch.no_grad():
            relevance, retrieved = self.relevance(shown, offered)
        rows = zip(shown, offered, relevance, retrieved, [keys[at] for at in fitting], strict=True)
        drawn = dict(zip(fitting, (self._completion(*row, sampling=sampling) for row in rows), strict=True))
        return [drawn.get(at) or self._too_long(conditioning, sampling) for at, conditioning in enumerate(conditionings)]

    def score(self, conditionings: Sequence[Conditioning], completions: Sequence[Completion], candidates: Candidates) -> list[Tensor]:
        """Log-probabilities ``[C]`` of orders that were drawn; gradients flow where enabled."""
        recorded = [completion.retrieved for completion in completions]
        relevance, _ = self.relevance(conditionings, candidates, recorded)
        return [
            plackett_luce(self._logits(scores, completion.sampling), completion.token_ids)
            for scores, completion in zip(relevance, completions, strict=True)
        ]

    def relevance(
        self, conditionings: Sequence[Conditioning], candidates: Candidates, recorded: Sequence[Retrieved | None] | None = None
    ) -> tuple[list[Tensor], list[Retrieved | None]]:
        """Per row float32 ``[C]``, the higher the better, and what was retrieved for it.

        Raises:
            ContractError: a prompt, or a prompt and candidate, do not fit the context.
        """
        known = recorded if recorded is not None else [None] * len(conditionings)
        if not conditionings:
            return [], []
        if self._settings.by == "state":
            return self._by_state(conditionings, candidates, known)
        return self._by_likelihood(conditionings, candidates, known)

    def _by_state(
        self, conditionings: Sequence[Conditioning], candidates: Candidates, known: Sequence[Retrieved | None]
    ) -> tuple[list[Tensor], list[Retrieved | None]]:
        engine = self._engine
        rows = [
            Ranked(
                prompt=as_tokens(self._fitting(engine.chat.prompt(conditioning.messages), "the prompt")),
                candidates=[as_tokens(self._fitting(engine.chat.text(text), f"candidate '{text[:80]}'")) for text in texts],
                memory=conditioning.memory,
                retrieved=kept,
                tag=engine.tag(conditioning.memory),
            )
            for conditioning, texts, kept in zip(conditionings, candidates, known, strict=True)
        ]
        return cosines(engine.network, rows, bare=engine.tag(None), limit=self._limit)

    def _by_likelihood(
        self, conditionings: Sequence[Conditioning], candidates: Candidates, known: Sequence[Retrieved | None]
    ) -> tuple[list[Tensor], list[Retrieved | None]]:
        engine = self._engine
        replies = [
            [self._reply(conditioning, text) for text in texts] for conditioning, texts in zip(conditionings, candidates, strict=True)
        ]
        flat = [(conditioning, reply) for conditioning, row in zip(conditionings, replies, strict=True) for reply in row]
        kept = [part for row, found in zip(replies, known, strict=True) for part in _divided(found, row)]
        said = [replace(reply, retrieved=part) for (_, reply), part in zip(flat, kept, strict=True)]
        targets = [
            engine.target(at, conditioning, reply, None) for at, ((conditioning, _), reply) in enumerate(zip(flat, said, strict=True))
        ]
        asking = [target for target in targets if target.retrieved is None] if engine.network.sites.retrieving is not None else []
        found = retrieve(engine.network, asking, limit=self._limit)
        targets = [replace(target, retrieved=found.get(target.row, target.retrieved)) for target in targets]
        width = max((len(target.completion) for target in targets), default=0)
        sums = score(engine.network, targets, torch.zeros(len(targets), width, device=engine.network.device), limit=self._limit).sum(-1)
        means = sums / sums.new_tensor([len(target.completion) for target in targets])
        ends = [0, *accumulate(map(len, replies))]
        rows = [means[start:end] for start, end in pairwise(ends)]
        return rows, [_joined(targets[start:end]) for start, end in pairwise(ends)]

    def _reply(self, conditioning: Conditioning, text: str) -> Completion:
        prompt, reply = self._engine.chat.prompt(conditioning.messages), self._engine.chat.reply(text)
        self._fitting((*prompt, *reply), f"a prompt with candidate '{text[:80]}'")
        return Completion(text=text, prompt_ids=prompt, token_ids=reply)

    def _fits(self, conditioning: Conditioning, texts: tuple[str, ...]) -> bool:
        chat = self._engine.chat
        prompt = len(chat.prompt(conditioning.messages))
        longest = max((len(chat.reply(text)) for text in texts), default=0) if self._settings.by == "likelihood" else 0
        return prompt + longest <= self._engine.context

    def _too_long(self, conditioning: Conditioning, sampling: Sampling) -> Completion:
        prompt = self._engine.chat.prompt(conditioning.messages)
        return Completion(text="", prompt_ids=prompt, logprobs=(), sampling=sampling, finish="context")

    def _fitting(self, ids: tuple[int, ...], what: str) -> tuple[int, ...]:
        if len(ids) > self._engine.context:
            raise ContractError(NAME, f"{what} is longer than the context of {self._engine.context} tokens")
        if not ids:
            raise ContractError(NAME, f"{what} is empty, and nothing can be said of it")
        return ids

    def _completion(
        self,
        conditioning: Conditioning,
        texts: tuple[str, ...],
        relevance: Tensor,
        retrieved: Retrieved | None,
        key: int,
        *,
        sampling: Sampling,
    ) -> Completion:
        logits = self._logits(relevance, sampling)
        places = order(logits.tolist(), key=key, greedy=sampling.temperature == 0.0)
        return Completion(
            text="\n".join(texts[place] for place in places),
            prompt_ids=self._engine.chat.prompt(conditioning.messages),
            token_ids=tuple(places),
            logprobs=tuple(plackett_luce(logits, places).tolist()),
            sampling=sampling,
            retrieved=retrieved,
        )

    def _logits(self, relevance: Tensor, sampling: Sampling) -> Tensor:
        return relevance / (self._settings.temperature * (sampling.temperature or 1.0))


def _divided(found: Retrieved | None, replies: Sequence[Completion]) -> Iterator[Retrieved | None]:
    """What a row retrieved, by candidate."""
    at = 0
    for reply in replies:
        yield None if found is None else found[at : at + len(reply.token_ids)]
        at += len(reply.token_ids)


def _joined(targets: Sequence[Target]) -> Retrieved | None:
    """What a row's candidates retrieved, one after the other."""
    kept = [target.retrieved for target in targets if target.retrieved is not None]
    return tuple(tuple(place) for part in kept for place in part) if kept else None
