"""Conversations as tokens: the chat template's own pieces are control, everything between them is plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from xplearn.errors import ConfigError, ContractError
from xplearn.policies.tokenizer import spellable
from xplearn.types import Message

Ids = tuple[int, ...]

_PIECES = 16384
"""Encoded texts kept; a long run repeats its observations and actions."""
_SENTINEL = re.compile("\ue000(\\d+)\ue001")


class ChatEncoder:
    """Encodes conversations with a tokenizer's chat template.

    The template is rendered with sentinels in place of the contents and cut at them. Its own pieces are encoded with control tokens, the
    contents without: text from outside that spells ``<|im_end|>`` stays text. As each piece is encoded by itself, the tokens of
    a conversation that grows at its end grow at their end.
    """

    def __init__(self, tokenizer: Any, options: Mapping[str, Any] | None = None) -> None:
        """Encode with a transformers tokenizer.

        Args:
            tokenizer: a fast tokenizer that has a chat template.
            options: variables handed to the template, e.g. ``{"enable_thinking": False}``.
        """
        if not tokenizer.chat_template:
            raise ConfigError("model", "its tokenizer has no chat template; use an instruction-tuned model")
        self._tokenizer, self._options = tokenizer, dict(options or {})
        self._control = _control_texts(tokenizer)
        self._skeleton = lru_cache(maxsize=1024)(self._cut_template)
        self._plain = lru_cache(maxsize=_PIECES)(self._encode_plain)
        self.end_of_turn = self._find_end_of_turn()
        """Token that ends what the assistant says."""

    def prompt(self, messages: Sequence[Message]) -> Ids:
        """Tokens of a conversation up to where the assistant speaks next.

        Raises:
            ContractError: the template refuses this order of roles, or leaves out a message.
        """
        pieces = self._skeleton(tuple(message["role"] for message in messages))
        ids = list(pieces[0])
        for message, piece in zip(messages, pieces[1:], strict=True):
            ids.extend(self._plain(message["content"]))
            ids.extend(piece)
        return tuple(ids)

    def reply(self, text: str) -> Ids:
        """Tokens with which the assistant says ``text`` and ends its turn."""
        return (*self._plain(text), self.end_of_turn)

    def text(self, content: str) -> Ids:
        """Tokens of plain text; control tokens spelled in it are text."""
        return self._plain(content)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of tokens, control tokens left out."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _cut_template(self, roles: tuple[str, ...], generate: bool = True) -> tuple[Ids, ...]:
        messages = [{"role": role, "content": f"\ue000{index}\ue001"} for index, role in enumerate(roles)]
        try:
            rendered = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=generate, **self._options)
        except Exception as error:
            raise ContractError("core.hf", f"the chat template refuses the roles {' '.join(roles)}: {error}") from error
        parts = _SENTINEL.split(rendered)
        if parts[1::2] != [str(index) for index in range(len(roles))]:
            raise ContractError("core.hf", f"the chat template does not show each of the messages {' '.join(roles)} once, in order")
        return tuple(self._encode_control(piece) for piece in parts[::2])

    def _encode_control(self, piece: str) -> Ids:
        return tuple(self._tokenizer.encode(piece, add_special_tokens=False)) if piece else ()

    def _encode_plain(self, content: str) -> Ids:
        ids: list[int] = []
        for part in _broken(spellable(content), self._control):
            ids.extend(self._tokenizer.encode(part, add_special_tokens=False, split_special_tokens=True))
        return tuple(ids)

    def _find_end_of_turn(self) -> int:
        after = self._cut_template(("user", "assistant"), generate=False)[-1]
        added = self._tokenizer.added_tokens_decoder
        special = {token for token, text in added.items() if text.special} | set(self._tokenizer.all_special_ids)
        found = next((token for token in after if token in special), self._tokenizer.eos_token_id)
        if found is None:
            raise ConfigError("model", "its tokenizer has neither an end-of-turn nor an end-of-sequence token")
        return int(found)


def _control_texts(tokenizer: Any) -> re.Pattern[str] | None:
    """Added tokens that are not marked special, yet written by the template: ``split_special_tokens`` does not cover them."""
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else str(tokenizer.chat_template)
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if not token.special]
    risky = sorted((text for text in added if len(text) > 1 and text in template), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, risky))) if risky else None


def _broken(content: str, control: re.Pattern[str] | None) -> list[str]:
    """The text cut after the first character of every control text, so that no part contains one."""
    parts, start = [], 0
    while control is not None and (match := control.search(content, start)) is not None:
        parts.append(content[start : match.start() + 1])
        start = match.start() + 1
    return [*parts, content[start:]] if content[start:] else parts
