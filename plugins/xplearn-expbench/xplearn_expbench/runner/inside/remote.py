"""Objects of the program as the tests see them: names to call, never values to trust."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from .channel import receive, send
from .values import decode, encode
from .watch import Died, End, Watch


class Program:
    """Asks a program's process for values."""

    def __init__(self, watch: Watch, requests: int) -> None:
        self._watch, self._requests = watch, requests
        self.end: End | None = None
        """Why it gives no more answers; None while it does."""
        self.fault: Exception | None = None
        """The last exception that it raised."""

    def ask(self, verb: str, *given: Any) -> Any:
        """The value of one request.

        Raises:
            Exception: what the program raised: a built-in exception of that name, else RuntimeError.
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
    if isinstance(kind, type) and issubclass(kind, Exception):
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
