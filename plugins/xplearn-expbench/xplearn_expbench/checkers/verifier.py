"""Equality of mathematical expressions, asked of math-verify in a child process with a time limit."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Literal, cast

from xplearn import PluginError

Outcome = Literal["equal", "different", "timed-out", "crashed"]
_GET = "pip install 'xplearn-expbench[maths]'"
SECONDS = 10.0
"""Wall-clock limit of one comparison; most take a few milliseconds."""
_START_SECONDS = 120.0
_WORKER = str(Path(__file__).with_name("worker.py"))


class Verifier:
    """One child process, started by the first comparison and kept; killed when a comparison takes too long, and started anew by the next.

    The child is a fresh interpreter, never a fork of this process, and this process sets no signals: safe in threads, whose comparisons
    wait for one another. ``close`` ends the child.
    """

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def compare(self, gold: str, answer: str) -> Outcome:
        """Whether two LaTeX expressions are equal.

        Raises:
            PluginError: math-verify is not installed, or its process doesn't start; with the command that installs it.
        """
        with self._lock:
            if self._child is None:
                self._child = _started()
            try:
                reply = self._child.ask({"gold": gold, "answer": answer, "seconds": self.seconds}, self.seconds)
            except (TimeoutError, EOFError) as error:
                self._stop()
                return "timed-out" if isinstance(error, TimeoutError) else "crashed"
            except BaseException:
                self._stop()  # an interrupt leaves a reply on its way, which would answer the next question
                raise
        return "crashed" if "error" in reply else "equal" if reply["equal"] else "different"

    def close(self) -> None:
        """End the child, if there is one. A later comparison starts another."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """Leave the child to the process that started it: called in a process forked from that one."""
        self._lock = threading.Lock()
        if self._child is not None:
            self._child.process.returncode = 0
            self._child = None

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()


class _Child:
    def __init__(self) -> None:
        command = [sys.executable, "-P", _WORKER]
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True, encoding="utf-8")
        self._replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True, name="math-verify replies")
        self._reader.start()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a request; raises as ``hear`` does."""
        try:
            to = cast(IO[str], self.process.stdin)
            to.write(json.dumps(request) + "\n")
            to.flush()
        except OSError:
            raise EOFError from None
        return self.hear(seconds)

    def hear(self, seconds: float) -> dict[str, Any]:
        """The next reply; ``TimeoutError`` when it takes longer, ``EOFError`` when the process ended."""
        try:
            line = self._replies.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if not line:
            raise EOFError
        reply: dict[str, Any] = json.loads(line)
        return reply

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # what was still to be written is lost, as it should be
                cast(IO[str], pipe).close()

    def _read(self) -> None:
        for line in cast(IO[str], self.process.stdout):
            self._replies.put(line)
        self._replies.put("")


def _started() -> _Child:
    child = _Child()
    try:
        hello = child.hear(_START_SECONDS)
    except (TimeoutError, EOFError):
        hello = {"absent": "its process does not start"}
    if "ready" in hello:
        return child
    child.kill()
    raise PluginError("expbench", f"answers that are expressions are compared by 'math-verify', and {hello['absent']}: {_GET}")


shared = Verifier()
"""The verifier of this process."""
atexit.register(shared.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.forget)
