"""Waiting for a program's answer while its time, its processes, its output and the life of whoever asked are watched."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

from .descendants import descendants
from .limits import PROCESSES

OUTPUT_BYTES = 4096
"""Kept of what a program prints; the rest is read and forgotten."""
FORKS = 512
"""Processes and threads that a program may start in all, where they have a namespace of their own."""
_TICK_SECONDS = 0.05


class End(BaseException):
    """The program gives no more answers. Not an ``Exception``, so that tests which catch those do not hide it."""

    status = "crashed"


class Died(End):
    """It ended, was killed, or spoke no sense."""


class TimedOut(End):
    """Its time is over."""

    status = "timed-out"


class Watch:
    """What the judge knows of the program's process. ``lifeline`` closes when nobody wants the verdict any more."""

    def __init__(self, *, process: int, answers: int, output: int, lifeline: int, seconds: float, namespaces: bool) -> None:
        self._process, self._answers, self._output, self._lifeline = process, answers, output, lifeline
        self._seconds, self._namespaces = seconds, namespaces
        self._deadline = time.monotonic() + seconds
        self._said = bytearray()
        self.abandoned = False
        """Whether nobody wants the verdict any more."""
        self._poll = select.poll()
        for handle in (answers, output, lifeline):
            self._poll.register(handle, select.POLLIN)

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes of the answer; none where the program has closed its side.

        Raises:
            TimedOut: the wall clock says so.
            Died: it started too many processes, or nobody wants its verdict.
        """
        while True:
            ready = {handle for handle, _ in self._poll.poll(1000 * _TICK_SECONDS)}
            if self._lifeline in ready:
                self.abandoned = True
                raise Died("nobody waits for the verdict any more")
            if self._output in ready:
                self._listen()
            if time.monotonic() > self._deadline:
                raise TimedOut(f"no answer within {self._seconds:g} s")
            if self._answers in ready:
                return os.read(self._answers, size)
            self._count()

    def said(self) -> str:
        """The beginning of what the program printed."""
        os.set_blocking(self._output, False)
        with contextlib.suppress(BlockingIOError):
            while len(self._said) < OUTPUT_BYTES and self._listen():
                pass
        return self._said.decode(errors="replace")

    def obituary(self) -> End:
        """How the program's process ended; it has closed its side, so it is about to."""
        for _ in range(20):
            ended, code = os.waitpid(self._process, os.WNOHANG)
            if ended:
                return _cause(code)
            time.sleep(_TICK_SECONDS / 10)
        return Died("closed the pipe to its tests")

    def _listen(self) -> bool:
        heard = os.read(self._output, 65536)
        if not heard:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._output)
        self._said += heard[: OUTPUT_BYTES - len(self._said)]
        return bool(heard)

    def _count(self) -> None:
        """Linux bounds no processes of root, so they are counted; loadavg names the last id given out in the reader's own namespace."""
        if self._namespaces:
            with open("/proc/loadavg", encoding="ascii") as file:
                started, most = int(file.read().split()[4]), FORKS
        else:
            started, most = len(descendants(os.getpid())), PROCESSES
        if started > most:
            raise Died(f"started more than {most} processes")


def _cause(code: int) -> End:
    if not os.WIFSIGNALED(code):
        return Died(f"exited with status {os.WEXITSTATUS(code)} before the tests were over")
    name = signal.Signals(os.WTERMSIG(code)).name
    return TimedOut("no processor time left") if name == "SIGXCPU" else Died(f"killed by {name}")
