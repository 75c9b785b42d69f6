"""One program in one fresh interpreter, from its start to the last of its processes."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn import EnvironmentDiedError
from xplearn_expbench.runner import leftovers
from xplearn_expbench.runner.inside.descendants import descendants
from xplearn_expbench.runner.inside.limits import NOT_BEGUN
from xplearn_expbench.runner.program import Program

_INSIDE = Path(__file__).with_name("inside")
_UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--ipc", "--mount", "--pid", "--fork", "--kill-child")
_NO_FORK = b"unshare: fork failed"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_GRACE_SECONDS = 10.0
_PATIENCE_SECONDS = 30.0
"""For a machine that starts no more processes, before giving up."""
_PAUSE_SECONDS = 0.2


class NotBegunError(Exception):
    """The machine starts no more processes just now. That is no verdict on a program, which has not begun."""


class Halt:
    """Ends programs from another thread: those that run, at once, and those that are started later."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._called = False

    @property
    def called(self) -> bool:
        """Whether they were ended."""
        return self._called

    def call(self) -> None:
        """End them."""
        with self._lock:
            self._called = True
            for process in self._running:
                process.kill()

    @contextlib.contextmanager
    def over(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """While a process runs."""
        with self._lock:
            self._running.add(process)
            if self._called:
                process.kill()
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """How one program is shut in."""

    python: str
    """The interpreter."""
    seconds: float
    """Wall clock from the moment that the program is loaded."""
    memory_mb: int
    """Address space of each of its processes."""
    namespaces: bool
    """Linux namespaces: no network, no other processes, and where mounts allow no files but the system's and its folder's."""

    def run(self, program: Program, halt: Halt) -> dict[str, Any]:
        """The judge's report: ``status``, ``detail``, ``output``, ``sealed``. Without one the program has crashed or timed out.

        Raises:
            EnvironmentDiedError: the machine started no process for it, however often it was asked.
            OSError: the interpreter cannot be started.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._once(program, halt)
            except NotBegunError as error:
                if halt.called or time.monotonic() > deadline:
                    raise EnvironmentDiedError("expbench", f"the machine starts no process for a program: {error}") from None
                time.sleep(_PAUSE_SECONDS)

    def _once(self, program: Program, halt: Halt) -> dict[str, Any]:
        token = secrets.token_hex(16)
        job = {"token": token, "code": program.code, "preamble": program.preamble, "tests": program.tests, "names": program.names}
        started = time.monotonic()
        with _folder() as folder, _lifeline() as lifeline:
            process = self._start(folder, lifeline)
            try:
                with halt.over(process):
                    written, complaint = process.communicate(json.dumps(job).encode(), timeout=self.seconds + _GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                return _report("timed-out", f"no verdict within {self.seconds:g} s")
            finally:
                if self.namespaces:
                    _end_namespace(process)
                _end(process)
                if process.returncode != 0 and not self.namespaces:
                    leftovers.end_strays()
        if process.returncode == 0:
            return _read(written, token)
        if process.returncode == NOT_BEGUN or complaint.startswith(_NO_FORK):
            raise NotBegunError(_last(complaint, process.returncode))
        if time.monotonic() - started > self.seconds:  # a judge without processor time is killed before it can say so
            return _report("timed-out", f"the tests were not over within {self.seconds:g} s")
        return _report("crashed", _last(complaint, process.returncode))

    def _start(self, folder: str, lifeline: int) -> subprocess.Popen[bytes]:
        inside = (str(_INSIDE / "__main__.py"), str(lifeline), str(self.seconds), str(self.memory_mb), str(int(self.namespaces)))
        command = [*(_UNSHARE if self.namespaces else ()), self.python, "-S", "-s", "-P", "-X", "utf8", *inside]
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=_environment(folder),
                pass_fds=(lifeline,),
                start_new_session=True,
            )
        except BlockingIOError as error:
            raise NotBegunError(f"fork: {error.strerror}") from None


def _environment(folder: str) -> dict[str, str]:
    """Nothing of ours. The hash seed is fixed, since no verdict must hang on the order of a set: hence ``-s -P`` instead of ``-I``."""
    return {"HOME": folder, "TMPDIR": folder, "PYTHONHASHSEED": "0", **dict.fromkeys(_THREADS, "1")}


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    folder = leftovers.folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _lifeline() -> Iterator[int]:
    """A pipe that closes when this process ends, however it ends: the judge, which has its other end, then ends too."""
    theirs, ours = os.pipe()
    try:
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


def _end_namespace(unshare: subprocess.Popen[bytes]) -> None:
    """Kill a namespace's first process. ``unshare`` then ends once all in it are gone; killed first, it would not wait for them."""
    if unshare.poll() is None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            for first in descendants(unshare.pid)[:1]:
                os.kill(first, signal.SIGKILL)
                unshare.wait(timeout=_GRACE_SECONDS)


def _read(written: bytes, token: str) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(written)
    except ValueError:
        return _report("crashed", "the judge gave no verdict")
    return report if report["token"] == token else _report("crashed", "the verdict carries another token")


def _report(status: str, detail: str) -> dict[str, Any]:
    return {"status": status, "detail": detail, "output": "", "sealed": False}


def _last(complaint: bytes, code: int) -> str:
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"the judge ended with status {code}"
