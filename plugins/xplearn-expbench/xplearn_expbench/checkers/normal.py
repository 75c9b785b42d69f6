"""Texts made comparable: what stands around an answer is taken off, and forms that differ in nothing that matters become one."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.MULTILINE)
_TURN_END = re.compile(r"<\|(?:im_end|im_start|eot_id|endoftext|end_of_text)\|>|</s>")
_NEXT_QUESTION = re.compile(r"^[ \t>*#]*(?:question|problem|q)\b[ \t*]*(?:\d+[ \t*]*)?[:：]", re.IGNORECASE | re.MULTILINE)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WRAPPING = " \t\n*_`\"'“”‘’"
_FULL_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(94)}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–−﹣"), "-")


def visible(text: str) -> str:
    r"""The text without characters that show nothing (NUL, marks of direction, zero widths), composed, with ``\n`` between its lines."""
    return unicodedata.normalize("NFC", _UNSEEN.sub("", _LINE_END.sub("\n", text)))


def said(completion: str) -> str:
    """What a completion says itself.

    Without its thinking (all of it, where that never ends), without code fences, and up to the end of its turn or to the next question
    that it asks itself: text that runs on after the answer is not the answer.
    """
    text = visible(completion)
    if "</think>" in text:
        text = text.rpartition("</think>")[2]
    elif "<think>" in text:
        return ""
    text = _FENCE.sub("", _TURN_END.split(text, maxsplit=1)[0])
    for question in _NEXT_QUESTION.finditer(text):
        if not text[: question.start()].isspace() and question.start():
            return text[: question.start()].strip()
    return text.strip()


def lines(text: str) -> list[str]:
    """The lines that hold something, stripped."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def ascii_signs(text: str) -> str:
    """The text with plain digits, brackets and minus signs for full-width ones, dashes and U+2212."""
    return text.translate(_FULL_WIDTH).translate(_DASHES)


def unwrapped(text: str) -> str:
    """The text without emphasis, quotes and one full stop around it; as it is where it holds nothing else (``*`` may be the answer)."""
    return text.strip(_WRAPPING).removesuffix(".").strip(_WRAPPING) or text.strip()


def light(text: str) -> str:
    """As written but for case, spacing, and what :func:`unwrapped` takes off: keeps ``1.5`` and ``15`` apart."""
    plain = text if text.isascii() and text.isprintable() else visible(text)
    return " ".join(unwrapped(plain).casefold().split())


def squad(text: str) -> str:
    """SQuAD's normal form: lower case, no punctuation, no articles, single spaces [C: SQuAD 1.1].

    Punctuation is ASCII's, and Unicode's classes of it, so that a curly apostrophe goes as a straight one does.
    """
    kept = "".join(char for char in visible(text).lower() if not _is_punctuation(char))
    return " ".join(_ARTICLES.sub(" ", kept).split())


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char).startswith("P")
