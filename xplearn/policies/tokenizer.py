"""A tokenizer of one's own: byte-level pairs learned from the run's text, with the ChatML turns of the real models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

END_OF_TEXT, TURN_START, TURN_END = SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
"""Padding, and the marks of a turn. Their ids are 0, 1 and 2."""

SMALLEST = 256 + len(SPECIAL_TOKENS)
"""A vocabulary below this cannot spell every byte."""

LONGEST_WORD = 64
"""Characters of one word, or of one gap: learning pairs within a longer one takes the square of its length, so it is cut."""

_SURROGATE = re.compile("[\ud800-\udfff]")

CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""Turns as SmolLM2 and Qwen write them, with no system message of their own."""


def spellable(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which no tokenizer takes: it has no bytes."""
    return _SURROGATE.sub("\ufffd", text)


def train_tokenizer(corpus: Iterable[str], vocabulary: int) -> Any:
    """A ``PreTrainedTokenizerFast`` for chats that can spell any text. The same texts in any order give the same tokenizer.

    Args:
        corpus: texts; their words are counted.
        vocabulary: most tokens it may have, at least ``SMALLEST``.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    core = Tokenizer(models.BPE())
    cut = pre_tokenizers.Split(Regex(rf"\S{{{LONGEST_WORD}}}|\s{{{LONGEST_WORD}}}"), behavior="isolated")
    core.pre_tokenizer = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        show_progress=False,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    core.train_from_iterator(sorted(map(spellable, corpus)), trainer=trainer)
    return _chat_tokenizer(core)


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of ``train_tokenizer`` that ``save_pretrained`` wrote into ``folder``; saved again, it is the same to the byte."""
    from tokenizers import Tokenizer

    return _chat_tokenizer(Tokenizer.from_file(str(folder / "tokenizer.json")))


def write_tokenizer(tokenizer: Any) -> str:
    """A tokenizer of ``train_tokenizer`` as JSON text."""
    return str(tokenizer.backend_tokenizer.to_str())


def read_tokenizer(text: str) -> Any:
    """What ``write_tokenizer`` wrote."""
    from tokenizers import Tokenizer

    return _chat_tokenizer(Tokenizer.from_str(text))


def _chat_tokenizer(core: Any) -> Any:
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=END_OF_TEXT, bos_token=TURN_START, eos_token=TURN_END, clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = CHATML
    return tokenizer
