"""The policy ``core.hf``: any transformers chat model, with prefix reuse, packed scoring, admissible choices and one LoRA adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers
from torch import Tensor

from xplearn.capability import Capability
from xplearn.component import State
from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.policy import AllChoices, LocalPolicy, Support, TokenScores
from xplearn.policies import backbone, saving
from xplearn.policies.adapter import Adapter
from xplearn.policies.decoding import Row
from xplearn.policies.engine import NAME, Engine, as_tokens, per_row
from xplearn.policies.packing import batches, pack
from xplearn.policies.precision import Dtype, choose_device, choose_dtype, computing, set_threads
from xplearn.policies.ranker import Ranker
from xplearn.policies.ranking import RankingConfig
from xplearn.policies.recurrence import Recurrence
from xplearn.policies.scorer import Scorer
from xplearn.policies.scoring import read, retrieve
from xplearn.policies.usable import check_usable, without_progress
from xplearn.policies.weights import LoraConfig
from xplearn.types import Completion, Conditioning, Sampling

T = TypeVar("T")


@dataclass(kw_only=True)
class HfPolicy(LocalPolicy):
    """A causal language model with a chat template, in this process."""

    model: str = "smollm2"
    """``smollm2``, a local folder, or a hub name ``owner/model``."""
    device: str = "auto"
    """``cpu``, ``cuda`` (or ``cuda:1`` …), or ``auto``: cuda where there is one."""
    dtype: Dtype = "auto"
    """Of the weights: ``bf16``, ``fp32``, or ``auto``: bf16 where the weights are frozen and the processor multiplies in it, else fp32."""
    lora: LoraConfig | None = field(default_factory=LoraConfig)
    """The adapter that is trained; None trains every weight."""
    context_tokens: int = 0
    """Longest prompt and completion together; 0 for the model's own limit."""
    cache_tokens: int = 65536
    """Budget of the prefix cache: tokens of all live conversations together. A batch beyond it is decoded in parts."""
    score_tokens: int = 4096
    """Tokens of one forward pass in scoring, padding included: bounds memory and changes no result beyond rounding."""
    ranking: RankingConfig = field(default_factory=RankingConfig)
    """How candidates are put in order, with ``choices: rank``."""
    threads: int = 0
    """Threads inside an operation; 0 for torch's own choice."""
    template_options: dict[str, Any] = field(default_factory=dict)
    """Variables for the chat template, e.g. ``{enable_thinking: false}`` for Qwen3."""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("model", "name a model: smollm2, a local folder or a hub name")
        for name in ("context_tokens", "threads"):
            if getattr(self, name) < 0:
                raise ConfigError(name, f"must be 0 or more, not {getattr(self, name)}")
        for name in ("cache_tokens", "score_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(name, f"must be at least 1, not {getattr(self, name)}")
        self._engine: Engine | None = None

    @property
    def provides(self) -> frozenset[Capability]:
        named = "score", "train", "encode", "memory", "reference", "rank", "keyed", "pretrained", "distribution"
        return frozenset(f"policy.{name}" for name in named)

    def setup(self, agent: AgentView) -> None:
        """Load the model.

        Raises:
            DataError: its weights are missing or damaged, or its ``config.json`` is; the latter is told before weights are read.
            ConfigError: no such device, or a model that cannot be used: no chat template, or, told before weights are read, no causal
                language model of decoder layers with full attention over the context.
        """
        set_threads(self.threads)
        self._open(*self._load(), seed=agent.seed)

    def _load(self) -> tuple[Any, Any]:
        """The model and its tokenizer; a subclass may make them in memory."""
        folder = backbone.resolve(self.model)
        dtype = self.dtype if self.dtype != "auto" or self.lora is not None else "fp32"
        wanted = choose_dtype(dtype, choose_device(self.device))
        check_usable(folder, dtype=wanted, context_tokens=self.context_tokens)
        with without_progress():
            model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=wanted, use_safetensors=True)
            return model, transformers.AutoTokenizer.from_pretrained(folder)

    def _open(self, model: Any, tokenizer: Any, *, seed: int) -> None:
        """Take a model into use."""
        self._engine = Engine(
            model.to(choose_device(self.device)).eval(),
            tokenizer,
            lora=self.lora,
            seed=seed,
            template_options=self.template_options,
            context_tokens=self.context_tokens,
            cache_tokens=self.cache_tokens,
        )

    @property
    def _ready(self) -> Engine:
        if self._engine is None:
            raise ContractError(NAME, "used before setup(agent)")
        return self._engine

    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        """One completion per conditioning; an admissible action is always said to its end, whatever ``max_new_tokens``.

        With ``choices="rank"``, rows that have candidates put them in order; the others say any text, and their completion says so.
        """
        offered = per_row(choices if sampling.choices == "rank" else None, len(keys))
        ranked = [at for at, texts in enumerate(offered) if texts]
        free = [at for at, texts in enumerate(offered) if not texts]
        said = self._decode(_at(conditionings, free), sampling, _at(keys, free), _at(choices, free) if choices is not None else None)
        orders = self._draw(_at(conditionings, ranked), [texts for texts in offered if texts], sampling, _at(keys, ranked))
        by_row = dict(zip([*free, *ranked], [*said, *orders], strict=True))
        return [by_row[at] for at in range(len(keys))]

    def _draw(
        self, conditionings: Sequence[Conditioning], candidates: Sequence[tuple[str, ...]], sampling: Sampling, keys: Sequence[int]
    ) -> list[Completion]:
        if not conditionings:
            return []
        with self._ready.acting():
            orders = self._ranker.draw(conditionings, candidates, sampling, keys)
        return [replace(completion, policy_version=self.version) for completion in orders]

    def _decode(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None
    ) -> list[Completion]:
        engine = self._ready
        sampling = replace(sampling, choices="free") if sampling.choices == "rank" else sampling
        restricted = choices if sampling.choices == "admissible" else None
        rows = [
            Row(
                prompt=as_tokens(engine.chat.prompt(conditioning.messages)),
                key=key,
                limit=sampling.max_new_tokens,
                memory=conditioning.memory,
                tag=engine.tag(conditioning.memory),
                trie=engine.trie(actions),
            )
            for conditioning, key, actions in zip(conditionings, keys, per_row(restricted, len(keys)), strict=True)
        ]
        with engine.acting():
            engine.decoder.run([row for row in rows if row.reach <= engine.context], sampling)
        return [self._completion(row, sampling) for row in rows]

    def _completion(self, row: Row, sampling: Sampling) -> Completion:
        return Completion(
            text=row.text,
            prompt_ids=tuple(row.prompt.tolist()),
            token_ids=tuple(row.ids),
            logprobs=tuple(row.logprobs),
            sampling=sampling,
            policy_version=self.version,
            finish=row.finish or "context",
            retrieved=self._ready.retrieved(row.memory, row.retrieved, len(row.ids)),
            thoughts=row.carried,
        )

    def score(
        self,
        conditionings: Sequence[Conditioning],
        completions: Sequence[Completion],
        choices: AllChoices | None = None,
        *,
        support: Sequence[Tensor] | None = None,
    ) -> TokenScores:
        """Log-probabilities of given completions, read in packed sequences; of orders of candidates, of each choice.

        Raises:
            ContractError: a completion has tokens and no prompt, is none of its admissible actions, or is an order without candidates;
                ``support`` is asked for of an order, or not at every token.
        """
        return self._scorer.score(conditionings, completions, per_row(choices, len(completions)), support)

    def likely(
        self, conditionings: Sequence[Conditioning], completions: Sequence[Completion], choices: AllChoices | None = None, *, k: int | None
    ) -> list[Support]:
        """What the tokens of given completions could have been, in one reading of them; ``[0, 0]`` for an empty one.

        Raises:
            ContractError: as ``score``, or ``k`` is below 1, or a completion is an order of candidates.
        """
        with self._ready.acting():
            return self._scorer.likely(conditionings, completions, per_row(choices, len(completions)), k)

    @property
    def _scorer(self) -> Scorer:
        return Scorer(self._ready, self._ranker, self.score_tokens)

    def transcribe(self, conditionings: Sequence[Conditioning], texts: Sequence[str]) -> list[Completion]:
        """Completions with the tokens of ``texts``; empty and ``finish="context"`` where they do not fit the context."""
        return [self._transcribed(conditioning, text) for conditioning, text in zip(conditionings, texts, strict=True)]

    def _transcribed(self, conditioning: Conditioning, text: str) -> Completion:
        engine = self._ready
        prompt, reply = engine.chat.prompt(conditioning.messages), engine.chat.reply(text)
        fits = len(prompt) + len(reply) <= engine.context
        return Completion(
            text=text,
            prompt_ids=prompt,
            token_ids=reply if fits else (),
            policy_version=self.version,
            finish="stop" if fits else "context",
        )

    def retrieve(self, conditionings: Sequence[Conditioning], completions: Sequence[Completion]) -> list[Completion]:
        engine = self._ready
        if engine.network.sites.retrieving is None:
            return list(completions)
        rows = enumerate(zip(conditionings, completions, strict=True))
        targets = [engine.target(index, *row, None) for index, row in rows if row[0].memory is not None and row[1].token_ids]
        with engine.acting():
            found = retrieve(engine.network, targets, limit=self.score_tokens)
        return [replace(completion, retrieved=tuple(found[at])) if at in found else completion for at, completion in enumerate(completions)]

    def rank(self, conditionings: Sequence[Conditioning], candidates: Sequence[tuple[str, ...]]) -> list[tuple[float, ...]]:
        """Relevance of each candidate as ``ranking.by`` says; a row's candidates share one reading of its prompt.

        Raises:
            ContractError: a prompt or candidate does not fit the context, or a candidate is empty.
        """
        engine = self._ready
        with torch.no_grad(), engine.acting():
            relevance, _ = self._ranker.relevance(conditionings, candidates)
        return [tuple(values.tolist()) for values in relevance]

    @property
    def _ranker(self) -> Ranker:
        return Ranker(self._ready, self.ranking, self.score_tokens)

    def encode(self, texts: Sequence[str], *, as_turn: bool = False) -> Tensor:
        """float32 ``[N, D]``: last layer, last token, detached; zeros for an empty plain text.

        A text past the context is cut at its end, a turn at its beginning.
        """
        engine = self._ready
        if as_turn:
            ids = [as_tokens(engine.chat.prompt([{"role": "user", "content": text}])[-engine.context :]) for text in texts]
        else:
            ids = [as_tokens(engine.chat.text(text)[: engine.context]) for text in texts]
        states = torch.zeros(len(texts), engine.network.width, device=engine.network.device)
        filled = [index for index, tokens in enumerate(ids) if len(tokens)]
        packed = pack([ids[index] for index in filled], [None] * len(filled), limit=self.score_tokens, width=engine.network.width)
        with torch.no_grad(), engine.acting():
            for batch in batches(packed, self.score_tokens):
                hidden = read(engine.network, batch)
                for at, item in enumerate(batch):
                    for row, places in item.places.items():
                        states[filled[row]] = hidden[at, int(places[-1])].float()
        return states

    @property
    def width(self) -> int:
        return self._ready.network.width

    @property
    def identity(self) -> str:
        return f"{Path(self.model).name}/{self._ready.digest}"

    @property
    def computing(self) -> Mapping[str, str | int]:
        return computing(self._ready.network.device, self._ready.network.dtype)

    def attach(self, adapter: Adapter | Recurrence) -> None:
        """Put an adapter, or a recurrence, at its site; its parameters are trained and saved with the policy's.

        Raises:
            ConfigError: the model has no such site.
        """
        self._ready.attach(adapter)

    def parameters(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        return self._ready.parameters()

    def pretrained(self) -> tuple[Any, Any]:
        return self._ready.weights.model, self._ready.tokenizer

    @contextmanager
    def training(self) -> Iterator[None]:
        """Dropout on inside; at the end cached prefixes are dropped and ``version`` is raised, also after an exception."""
        try:
            with self._ready.training():
                yield
        finally:
            self.version += 1

    @contextmanager
    def reference(self) -> Iterator[None]:
        """The policy of before any training: LoRA adapter off or first weights back, adapters at sites silent."""
        with self._ready.reference():
            yield

    def save(self, folder: Path) -> None:
        """Write the PEFT adapter (or all weights), the adapters at sites, and ``policy.json``; all or nothing."""
        saving.save(folder, self._ready, version=self.version)

    def load(self, folder: Path) -> None:
        """Restore what ``save`` wrote.

        Raises:
            RecordError: there is nothing there, it is damaged, or it was saved with another configuration.
        """
        self.version = saving.load(folder, self._ready)

    def state_dict(self) -> State:
        """Version and trained parameters; ``save`` writes the same as files that PEFT can read."""
        return {"version": self.version} | {name: value.detach().clone() for name, value in self.parameters()}

    def load_state_dict(self, state: State) -> None:
        engine = self._ready
        engine.weights.about_to_change()
        with torch.no_grad():
            for name, value in self.parameters():
                value.copy_(torch.as_tensor(state[name]))
        engine.cache.clear()
        self.version = int(state["version"])

    def close(self) -> None:
        self._engine = None


def _at(values: Sequence[T], places: Sequence[int]) -> list[T]:
    return [values[at] for at in places]
