"""Objects of the program as the tests see them: names to call, never values to trust."""

from __future__ import annotations

import builtins
import contextlib
import signal
from collections.abc import Iterator
from typing import Any

from .channel import receive, send
from .values import decode, encode
from .watch import Died, End, TimedOut, Watch

_LATER_SECONDS = 0.2
_ENDS_LOOPS = (StopIteration, StopAsyncIteration)
"""In the tests these would end ``map`` and the like, and with them the comparing, without a word."""


class Program:
    """Asks a program's process for values."""

    def __init__(self, watch: Watch, requests: int) -> None:
        self._watch, self._requests = watch, requests
        self.end: End | None = None
        """Why it gives no more answers; None while it does."""
        self.fault: Exception | None = None
        """The last exception that it raised."""
        self.sealed = False
        """Whether it sees a root of its own."""

    def greet(self) -> None:
        """Wait until its process is ready, before anything of the program has run, and learn how it is shut in."""
        with contextlib.suppress(End):
            self.sealed = bool(self.ask("sealed"))

    @contextlib.contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """End it after so many seconds even where the tests ask it nothing: raises ``TimedOut`` in them, and again where they catch it."""

        def late(*_: object) -> None:
            self.end = self.end or TimedOut(f"the tests were not over within {seconds:g} s")
            raise self.end

        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds + _LATER_SECONDS, _LATER_SECONDS)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)

    def ask(self, verb: str, *given: Any) -> Any:
        """The value of one request.

        Raises:
            Exception: what the program raised: a built-in exception of that name, else (and for StopIteration) RuntimeError.
            End: it is dead, late, or spoke no sense; so is every request from then on.
        """
        if self.end:
            raise self.end
        sent = [verb, *(encode(item, _number) for item in given)]
        try:
            answer = self._exchange(sent)
        except End as end:
            self.end = end
            raise
        if isinstance(answer, Exception):
            self.fault = answer
            raise answer
        return answer

    def _exchange(self, sent: list[Any]) -> Any:
        try:
            send(self._requests, sent)
            answer = receive(self._watch.read)
            if "value" in answer:
                return decode(answer["value"], lambda number: Handle(self, number))
            name, message = answer["raise"]
        except (EOFError, OSError):
            raise self._watch.obituary() from None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise Died(f"its answer makes no sense ({type(error).__name__})") from None
        return _exception(str(name), str(message))


def _exception(name: str, message: str) -> Exception:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, _ENDS_LOOPS):
        try:
            return kind(message)
        except TypeError:
            pass
    return RuntimeError(f"{name}: {message}")


class Handle:
    """A function, class or object of the program. Equal to nothing but itself, and neither true nor false."""

    __slots__ = ("_number", "_program")

    def __init__(self, program: Program, number: int) -> None:
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._program.ask("call", self, list(args), keywords)

    def __getattr__(self, name: str) -> Any:
        return self._program.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask("set", self, name, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._program.ask("list", self))

    def __bool__(self) -> bool:
        raise TypeError("an object of the program is neither true nor false")


def _number(value: Any) -> int:
    if not isinstance(value, Handle):
        raise TypeError(f"tests cannot hand a {type(value).__name__} to a program")
    return int(object.__getattribute__(value, "_number"))
