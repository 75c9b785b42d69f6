"""A simulator in a Java process of its own: launched, bounded, never orphaned.

The process reads its standard input and ends when that closes, so it can't outlive Python however Python ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xplearn import DataError, EnvironmentDiedError
from xplearn_scienceworld import install
from xplearn_scienceworld.gateway import JavaError, Line, LineClosedError, Reference

NAME = "scienceworld.text"
START_SECONDS = 60.0
"""Limit of starting a process and connecting to it."""

_DETERMINISTIC = ("-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2")  # else sets iterate in the order of memory addresses
_INTERFACE = "scienceworld.runtime.pythonapi.PythonInterface"
_PATHS = "scienceworld.goldagent.PathFinder"


class Closeable(Protocol):
    """A pipe or a line."""

    def close(self) -> None: ...


class SimulatorGoneError(EnvironmentDiedError):
    """The process ended underneath; a new one may go on where it was."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How a simulator is launched."""

    java: str = ""
    heap_mb: int = 512
    deterministic: bool = True

    def command(self) -> list[str]:
        """The command line of the process."""
        flags = _DETERMINISTIC if self.deterministic else ()
        heap = [f"-Xmx{self.heap_mb}m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
        server = ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
        return [install.java(self.java), *heap, *flags, "-classpath", install.classpath(), *server]


class Simulator:
    """The server object of one process. One episode at a time: objects of one JVM share generators and settings."""

    def __init__(self, launch: Launch) -> None:
        """Launch and connect.

        Raises:
            DataError: Java or the simulator is missing.
            EnvironmentDiedError: the process does not come up; the message holds what it said.
        """
        self.owner = os.getpid()
        self._process, port, token = _launched(launch.command())
        ends = _pipes(self._process)
        self._close = weakref.finalize(self, _end, self._process, ends, self.owner)
        self._ends = ends
        _alive.add(self)
        try:
            self._line = Line(port, token, limit=START_SECONDS)
            ends.append(self._line)
            self._silence()
            self._server = self._line.new(_INTERFACE, limit=START_SECONDS)
        except (LineClosedError, TimeoutError, JavaError) as error:
            self._close()
            raise EnvironmentDiedError(NAME, f"Java started but the simulator did not: {error}") from error

    @property
    def pid(self) -> int:
        """Process id of the JVM."""
        return self._process.pid

    def call(self, method: str, *arguments: str | int | bool, limit: float) -> Any:
        """Call a method of the server.

        Raises:
            SimulatorGoneError: the process is gone.
            EnvironmentDiedError: no answer within ``limit`` seconds, or Java raised; the process is ended.
        """
        return self._guarded(lambda: self._line.call(self._server, method, *arguments, limit=limit), method, limit)

    def listing(self, method: str, *, limit: float) -> tuple[str, ...]:
        """Call a method that returns an array of strings: one round trip for all of them."""

        def fetch() -> str:
            array = self._line.call(self._server, method, limit=limit)
            joined = self._line.call("z:java.lang.String", "join", "\n", (array,), limit=limit)
            self._line.forget(array, limit=limit)
            return str(joined)

        text = str(self._guarded(fetch, method, limit))
        return tuple(text.split("\n")) if text else ()

    def forget_paths(self, *, limit: float) -> None:
        """Empty the simulator's cache of random walks: without that, a gold path depends on those asked for before."""

        def clear() -> None:
            cache = self._line.call(f"z:{_PATHS}", "precomputedExhaustivePaths", limit=limit)
            self._line.call(cache, "clear", limit=limit)
            self._line.forget(cache, limit=limit)

        self._guarded(clear, "precomputedExhaustivePaths", limit)

    @property
    def closed(self) -> bool:
        """Whether it can't be used any more."""
        return not self._close.alive

    def close(self) -> None:
        """End the process. May be called twice. In a forked child the process lives on: it is the parent's."""
        self._close()

    def disown(self) -> None:
        """Close this Python's ends of pipe and line: a forked child must not keep its parent's simulator alive."""
        _close_quietly(self._ends)

    def _guarded(self, ask: Any, method: str, limit: float) -> Any:
        try:
            return ask()
        except LineClosedError as error:
            self.close()
            raise SimulatorGoneError(NAME, f"its Java process is gone ({error}); reset starts a new one") from error
        except TimeoutError as error:
            self.close()
            raise EnvironmentDiedError(NAME, f"no answer to '{method}' within {limit:g} s; raise step_seconds if that is normal") from error
        except JavaError as error:
            self.close()
            raise EnvironmentDiedError(NAME, f"Java raised in '{method}': {error}; if it is about memory, raise heap_mb") from error

    def _silence(self) -> None:
        """What the simulator prints would fill a pipe that nobody reads."""
        for method in ("setOut", "setErr"):
            null = self._line.new("java.io.FileOutputStream", os.devnull, limit=START_SECONDS)
            stream = self._line.new("java.io.PrintStream", (Reference(null),), limit=START_SECONDS)
            self._line.call("z:java.lang.System", method, (stream,), limit=START_SECONDS)


_alive: weakref.WeakSet[Simulator] = weakref.WeakSet()


def _disown_all() -> None:
    for simulator in list(_alive):
        simulator.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def _launched(command: list[str]) -> tuple[subprocess.Popen[bytes], int, str]:
    """The process, its port and the token that opens it."""
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as complaints:
        try:
            # its own session: Ctrl-C is for Python to handle, and must not take the simulator away underneath
            process = subprocess.Popen(command, cwd=install.scratch(), stdin=pipe, stdout=pipe, stderr=complaints, start_new_session=True)
        except OSError as error:
            raise DataError(command[0], f"can't be run ({error.strerror}); leave 'java' empty to use the bundled one") from error
        port, token = _greeting(process)
        if port.isdigit() and token:
            return process, int(port), token
        _end(process, _pipes(process), os.getpid())
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines()
    raise EnvironmentDiedError(NAME, f"{command[0]} did not start the simulator: {_explained(said)}")


def _explained(said: Sequence[str]) -> str:
    if said:
        return f"{said[0]}; see whether heap_mb fits, and leave 'java' empty to use the bundled one"
    return f"it said nothing for {START_SECONDS:g} s, or is no Java; leave 'java' empty to use the bundled one"


def _greeting(process: subprocess.Popen[bytes]) -> tuple[str, str]:
    """The two lines a gateway says first; empty ones where it ends or stays silent."""
    overdue = threading.Timer(START_SECONDS, process.kill)
    overdue.daemon = True
    overdue.start()
    stream = process.stdout
    assert stream is not None  # noqa: S101 - asked for a pipe
    with stream:
        port, token = (stream.readline().decode(errors="replace").strip() for _ in range(2))
    overdue.cancel()
    return port, token


def _pipes(process: subprocess.Popen[bytes]) -> list[Closeable]:
    return [process.stdin] if process.stdin is not None else []


def _end(process: subprocess.Popen[bytes], ends: Sequence[Closeable], owner: int) -> None:
    _close_quietly(ends)
    if os.getpid() == owner:
        process.kill()
        process.wait()


def _close_quietly(ends: Iterable[Closeable]) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.close()
