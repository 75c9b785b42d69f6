"""Where cells are run: in this process, or several at once in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Protocol, cast

from xplearn.experiment.cross.cell import Outcome, run_cell
from xplearn.experiment.cross.planned import Planned
from xplearn.experiment.cross.watched import CrossObserver
from xplearn.plugins import Plugins

GRACE_SECONDS = 20.0
"""How long a cell that is told to stop may take over it; a kill loses at most its episodes in flight."""

ALONE = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
"""Environment of a process beside others: one thread."""


class Runner(Protocol):
    """Runs cells. When the block ends, so does whatever still runs."""

    def __enter__(self) -> Runner: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def submit(self, cell: Planned) -> Future[Outcome]:
        """Run a cell, now or at the same time as others."""


class Here:
    """Runs one cell after the other in this process."""

    def __init__(self, folder: Path, plugins: Plugins, watching: CrossObserver) -> None:
        self._folder, self._plugins, self._watching = folder, plugins, watching

    def __enter__(self) -> Here:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def submit(self, cell: Planned) -> Future[Outcome]:
        """Run the cell; the result is there when this returns."""
        future: Future[Outcome] = Future()
        with self._watching.inside() as observer:
            future.set_result(run_cell(cell.given, self._folder / cell.folder, self._plugins, observer))
        return future


class Jobs:
    """Runs cells in processes of their own, with the installed plugins.

    Args:
        folder: of the cross.
        count: cells at once.
        lock: of the cross, which every process holds open: while one lives that lost this process, no other cross begins.
    """

    def __init__(self, folder: Path, count: int, lock: BinaryIO) -> None:
        self._folder, self._lock = folder, lock
        self._threads = ThreadPoolExecutor(count)
        self._guard = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._stopped = False

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._guard:
            self._stopped = True
            running = list(self._processes)
        for process in running:
            _hang_up(process)
        for process in running:
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        self._threads.shutdown()

    def submit(self, cell: Planned) -> Future[Outcome]:
        """Run the cell in a process that begins now."""
        return self._threads.submit(self._run, cell)

    def _run(self, cell: Planned) -> Outcome:
        with self._guard:
            if self._stopped:
                return Outcome(reason="interrupted")
            try:
                process = self._start()
            except OSError as error:
                return Outcome(reason=f"its process cannot be started: {error.strerror}")
            self._processes.append(process)
        answer = _ask(process, {"id": cell.id, "given": cell.given, "folder": str(self._folder / cell.folder)})
        with self._guard:
            self._processes.remove(process)
        try:
            return Outcome(**json.loads(answer))
        except (TypeError, ValueError):
            return Outcome(reason=_silent(process.returncode))

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "xplearn.experiment.cross.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ALONE},
            pass_fds=[self._lock.fileno()],
            start_new_session=True,
        )


def _ask(process: subprocess.Popen[bytes], request: dict[str, object]) -> bytes:
    """Hand a process its cell, and wait for what it says at its end; it stops when its input closes before."""
    requests, answers = cast("tuple[IO[bytes], IO[bytes]]", (process.stdin, process.stdout))
    with contextlib.suppress(OSError, ValueError):
        requests.write(json.dumps(request).encode() + b"\n")
        requests.flush()
    with answers:
        answer = answers.read()
    process.wait()
    _hang_up(process)
    return answer


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()


def _silent(status: int) -> str:
    """Why a process ended without a word."""
    if status == -signal.SIGKILL:
        return "its process was killed (SIGKILL), as the system does where memory runs out; fewer --jobs need less of it"
    ended = f"with status {status}" if status >= 0 or -status not in set(signal.Signals) else f"by {signal.Signals(-status).name}"
    return f"its process ended {ended} and no word"


def report(outcome: Outcome) -> bytes:
    """What a process says at its end."""
    return json.dumps(asdict(outcome)).encode()
