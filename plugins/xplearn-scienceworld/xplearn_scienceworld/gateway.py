"""One line to a py4j gateway: a request, an answer, a time limit.

py4j's own client retries calls on its own account, logs tracebacks to the root logger and reclaims objects from whatever thread or
forked child drops them. A simulator needs none of it, so this speaks the gateway's protocol over one socket.
"""

from __future__ import annotations

import socket
from typing import Any, NewType

from py4j import protocol

from xplearn import XplearnError

Reference = NewType("Reference", str)
"""Id of an object that lives in the JVM."""

Argument = str | int | bool | tuple[Reference]
"""What a method takes; a one-tuple passes an object of the JVM."""


class LineClosedError(Exception):
    """The other end is gone, or a call was interrupted half-way."""


class JavaError(XplearnError):
    """Java raised an exception."""


class Line:
    """An authenticated connection. Not for several threads."""

    def __init__(self, port: int, token: str, *, limit: float) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=limit)
        except OSError as error:
            raise LineClosedError(str(error)) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")
        self._ask(f"{protocol.AUTH_COMMAND_NAME}\n{token}\n", limit)

    def new(self, class_name: str, *arguments: Argument, limit: float) -> Reference:
        """Construct an object."""
        command = f"{protocol.CONSTRUCTOR_COMMAND_NAME}{class_name}\n{_encoded(arguments)}{protocol.END_COMMAND_PART}"
        return Reference(self._value(self._ask(command, limit)))

    def call(self, target: str, method: str, *arguments: Argument, limit: float) -> Any:
        """Call a method of an object, or of a class given as ``z:full.Name``.

        Returns:
            Text, numbers and booleans as such; anything else as the ``Reference`` of an object, to be dropped with ``forget``.

        Raises:
            TimeoutError: no answer within ``limit`` seconds; the line is closed.
            LineClosedError: the other end is gone.
            JavaError: the method raised.
        """
        command = f"{protocol.CALL_COMMAND_NAME}{target}\n{method}\n{_encoded(arguments)}{protocol.END_COMMAND_PART}"
        return self._value(self._ask(command, limit))

    def forget(self, reference: Reference, *, limit: float) -> None:
        """Let the JVM reclaim an object."""
        self._ask(f"{protocol.MEMORY_COMMAND_NAME}{protocol.MEMORY_DEL_SUBCOMMAND_NAME}{reference}\n{protocol.END_COMMAND_PART}", limit)

    def close(self) -> None:
        """Hang up, without a word to the other end. May be called twice."""
        self._reader.close()
        self._socket.close()

    def _ask(self, command: str, limit: float) -> str:
        try:
            self._socket.settimeout(limit)
            self._socket.sendall(command.encode())
            answer = self._reader.readline()
        except TimeoutError:
            self.close()
            raise
        except (OSError, ValueError) as error:
            self.close()
            raise LineClosedError(str(error)) from error
        except BaseException:  # an interrupted call leaves its answer on the line: nothing after it would match
            self.close()
            raise
        if not answer.endswith(b"\n"):
            self.close()
            raise LineClosedError("the simulator hung up")
        return answer.decode().removeprefix(protocol.RETURN_MESSAGE)[:-1]

    def _value(self, answer: str) -> Any:
        if not answer.startswith(protocol.SUCCESS):
            raise JavaError(self._reason(answer))
        kind, content = answer[1:2], answer[2:]
        if kind == protocol.STRING_TYPE:
            return protocol.unescape_new_line(content)
        if kind in (protocol.INTEGER_TYPE, protocol.LONG_TYPE):
            return int(content)
        if kind == protocol.DOUBLE_TYPE:
            return float(content)
        if kind == protocol.BOOLEAN_TYPE:
            return content == "true"
        if kind in (protocol.VOID_TYPE, protocol.NULL_TYPE):
            return None
        return Reference(content)

    def _reason(self, answer: str) -> str:
        if answer[1:2] != protocol.REFERENCE_TYPE:
            return protocol.unescape_new_line(answer[2:]) or "refused"
        return str(self.call(answer[2:], "toString", limit=self._socket.gettimeout() or 1.0))


def _encoded(arguments: tuple[Argument, ...]) -> str:
    return "".join(f"{_argument(value)}\n" for value in arguments)


def _argument(value: Argument) -> str:
    if isinstance(value, bool):
        return f"{protocol.BOOLEAN_TYPE}{value}"
    if isinstance(value, int):
        return f"{protocol.INTEGER_TYPE}{value}"
    if isinstance(value, tuple):
        return f"{protocol.REFERENCE_TYPE}{value[0]}"
    return f"{protocol.STRING_TYPE}{protocol.escape_new_line(value)}"
