"""One server, asked one thing or many at once."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import Any, TypeVar

from xplearn.endpoint.config import EndpointConfig, key, one_line
from xplearn.endpoint.line import Answer, Line
from xplearn.errors import ConfigError, EndpointError
from xplearn.types import Finish, Message

_T = TypeVar("_T")
_REFUSED = frozenset({401, 403, 404, 405, *range(300, 400)})
"""What a server answers to every request alike: asking again, or for something else, is of no use."""
_PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})
_TOO_LARGE = frozenset({400, 413, 422})
_CONTEXT = re.compile(r"context[ _-](length|size|window)", re.IGNORECASE)
"""What servers say, each in its own words, where a conversation does not fit."""
_QUOTED_BYTES = 800
_LONGEST_PAUSE = 300.0
"""Seconds; a server that wants to be left alone for longer is given up."""
_HOPELESS = 8
"""A server that stayed silent on so many questions in a row is not tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One of many things to ask."""

    messages: Sequence[Message]
    """The conversation."""
    settings: Mapping[str, Any]
    """The other fields of the request, e.g. ``{"temperature": 0, "max_tokens": 64}``; JSON values."""
    usable: Callable[[str], bool] = lambda _: True
    """Whether an answer is of use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    """May be empty. Data: it is nobody's instruction."""
    finish: Finish
    """``length`` where it was cut off, ``context`` where the server says that the conversation does not fit: then nothing was said."""
    counted: tuple[int, int] | None = None
    """Tokens read and written, where the server counts them."""


class Endpoint:
    """Asks one server. Safe to use from several threads.

    ``ask`` sends one request. ``ask_all`` and ``try_all`` ask many questions at once, each again, ``retries`` times at most, where that may
    help: after a failure that may pass (nobody reached, no answer in ``timeout_seconds``, 408, 409, 425, 429, 5xx, a reply that is no chat
    completion), and, in the same words, after an answer that is of no use. Before each further request they wait ever longer
    (``EndpointConfig.pause_seconds``), and as long as the server wants to be left alone (``Retry-After``); one that wants more than five
    minutes is given up. Any exception, Ctrl-C too, ends all that is under way at once, and no thread outlives the call.
    """

    def __init__(self, config: EndpointConfig) -> None:
        """Read the key; nothing is contacted.

        Raises:
            ConfigError: the variable that should hold it does not.
        """
        self._config = config
        self._key = key(config.key_env)
        self._tls = _tls() if config.url.lower().startswith("https") else None
        self._under_way: set[Line] = set()
        self._silent = 0

    def ask_all(self, questions: Sequence[Question], *, parallel: int) -> list[Reply]:
        """The answers in order; where none is of use, the last.

        Args:
            questions: what is asked.
            parallel: requests under way at once.

        Raises:
            EndpointError: a question stayed without any answer; ``passing`` tells whether it was asked for as long as that might help.
            ConfigError: as ``ask``.
        """
        return self._together(self._answer, questions, parallel)

    def try_all(self, questions: Sequence[Question]) -> list[Reply | None]:
        """As ``ask_all``, all of them at once, with None where there was no answer.

        A server that stayed silent on eight questions in a row, of this call and those before, is asked no more. Silence is a failure that
        might have passed and did not.

        Raises:
            ConfigError: as ``ask``.
        """
        if self._silent >= _HOPELESS:
            return [None] * len(questions)
        found = self._together(self._answer_or_failure, questions, len(questions))
        for answer in found:
            self._silent = self._silent + 1 if isinstance(answer, EndpointError) and answer.passing else 0
        return [answer if isinstance(answer, Reply) else None for answer in found]

    def ask(self, messages: Sequence[Message], settings: Mapping[str, Any], stop: threading.Event | None = None) -> Reply:
        """What the model says to a conversation.

        Args:
            messages: the conversation.
            settings: the other fields of the request, e.g. ``{"temperature": 0, "max_tokens": 64}``; JSON values.
            stop: once it is set, nothing is asked any more; set it, then ``hang_up``, to end what is under way.

        Raises:
            EndpointError: no answer in time, or none that is a chat completion.
            ConfigError: the server refuses such requests altogether, or shows a certificate that is not trusted. Redirections are not
                followed: they would carry the key away.
        """
        body = json.dumps({"model": self._config.model, "messages": list(messages), **settings})
        try:
            status, reply, headers = self._exchange(body.encode(), stop or threading.Event())
        except ssl.SSLCertVerificationError as error:
            advice = "check url, or have SSL_CERT_FILE name the file of its authority"
            raise ConfigError(
                "", f"the certificate of {self._config.url} is not trusted ({one_line(error.verify_message)}); {advice}"
            ) from error
        except (OSError, HTTPException, ValueError) as error:
            raise self._failure(f"{type(error).__name__}: {one_line(str(error))}") from error
        if status == 200:
            return self._read(reply)
        said = self._quoted(reply)
        if status in _REFUSED:
            raise ConfigError("", f"{self._config.url} answers {status} {said}; check url, model and key_env")
        if status in _TOO_LARGE and _CONTEXT.search(reply.decode("utf-8", "replace")):
            return Reply(text="", finish="context")
        raise self._failure(f"answers {status} {said}", passing=status in _PASSING, pause=_wanted_pause(headers))

    def hang_up(self) -> None:
        """End the requests under way; whoever waits for one gets an ``EndpointError``."""
        for line in tuple(self._under_way):
            line.hang_up(_nobody_waits())

    def _together(self, ask: Callable[[Question, threading.Event], _T], questions: Sequence[Question], parallel: int) -> list[_T]:
        stop = threading.Event()
        with ThreadPoolExecutor(max(1, min(parallel, len(questions)))) as pool:
            try:
                asked = [pool.submit(ask, question, stop) for question in questions]
                for answered in as_completed(asked):
                    answered.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                self.hang_up()
                raise
        return [answered.result() for answered in asked]

    def _answer(self, question: Question, stop: threading.Event) -> Reply:
        """The first answer of use, else the last."""
        last: Reply | None = None
        for attempt in range(1, self._config.retries + 2):
            pause = self._config.pause_seconds(attempt)
            try:
                last = self.ask(question.messages, question.settings, stop)
                if last.finish == "context" or question.usable(last.text):
                    return last
            except _UnansweredError as error:
                failed, pause = error, max(pause, error.pause)
                if not error.passing or pause > _LONGEST_PAUSE:
                    break
            if attempt <= self._config.retries and stop.wait(pause):
                break
        if last is not None:
            return last
        if not failed.passing:
            raise failed
        raise EndpointError(self._config.url, f"no answer to {attempt} requests, at last {failed.reason}") from failed

    def _answer_or_failure(self, question: Question, stop: threading.Event) -> Reply | EndpointError:
        try:
            return self._answer(question, stop)
        except EndpointError as error:
            return error

    def _exchange(self, body: bytes, stop: threading.Event) -> Answer:
        url, seconds = f"{self._config.url.rstrip('/')}/chat/completions", self._config.timeout_seconds
        line = Line(url, seconds=seconds, tls=self._tls)
        self._under_way.add(line)
        try:
            if stop.is_set():
                raise _nobody_waits()
            return line.post(body, self._headers())
        finally:
            self._under_way.discard(line)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _read(self, reply: bytes) -> Reply:
        try:
            said: Any = json.loads(reply)
            choice = said["choices"][0]
            text = choice["message"].get("content")
            finish = choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._failure(f"the reply is no chat completion ({type(error).__name__})") from error
        if not isinstance(text, str | None):
            raise self._failure("the reply is no chat completion (its content is no text)")
        return Reply(text=text or "", finish="length" if finish == "length" else "stop", counted=_counted(said.get("usage")))

    def _failure(self, reason: str, *, passing: bool = True, pause: float = 0.0) -> _UnansweredError:
        return _UnansweredError(self._config.url, reason, passing=passing, pause=pause)

    def _quoted(self, reply: bytes) -> str:
        text = reply[:_QUOTED_BYTES].decode("utf-8", "replace")
        return repr(one_line(text.replace(self._key, "…") if self._key else text))


class _UnansweredError(EndpointError):
    """Of one request."""

    def __init__(self, url: str, reason: str, *, passing: bool, pause: float) -> None:
        """Keep ``pause``: the seconds for which the server wants to be left alone."""
        self.pause = pause
        later = f" and wants to be left alone for {pause:.0f} seconds" if pause > _LONGEST_PAUSE else ""
        super().__init__(url, f"{reason}{later}", passing=passing)


def _nobody_waits() -> OSError:
    return ConnectionAbortedError("nobody waits for it any more")


def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _counted(usage: Any) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (read, written) if type(read) is type(written) is int and min(read, written) >= 0 else None


def _wanted_pause(headers: HTTPMessage) -> float:
    """Seconds for which a server wants to be left alone, said as a number or as a date on the server's own clock; 0 where it says none."""
    said = headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdecimal():
        return float(said)
    until, now = _date(said), _date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until else 0.0


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
