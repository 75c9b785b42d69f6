"""Environments in worker processes, of this interpreter or another: its dependencies, crashes and hangs stay there.

Each worker plays the slots ``index, index + workers, …`` and has one request in flight. A worker that ends, or takes longer than a
request may, is killed with everything it started; its episodes are lost, and the next ``reset`` starts another.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xplearn.errors import ConfigError, EnvironmentDiedError, XplearnError
from xplearn.rollout import wire
from xplearn.rollout.pool import EnvironmentPool, Start, Turn
from xplearn.schema import EnvSpec
from xplearn.types import Task, Trajectory

START_SECONDS = 60.0
"""What starting a process, and what a ``reset`` that starts an environment's machinery, may take at least."""

LONGEST_SECONDS = 1e8
"""Three years: a clock that runs longer overflows."""

DEMONSTRATION_STEPS = 10
"""A demonstration may take as long as this many steps at their limit."""

WINDOW = 4
"""Demonstrations per worker that may wait for an earlier, slower one."""

CLOSE_SECONDS = 5.0
"""How long a worker may take to close."""

Answers = queue.SimpleQueue[tuple["_Process", bytes | None]]
"""Messages of all workers as they come; None where a worker ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One request to one worker."""

    key: int
    """Slot, or place in a sequence of requests."""
    verb: str
    request: wire.Json
    limit: float
    """Seconds."""


class _Process:
    """One worker process."""

    def __init__(self, python: str, opening: wire.Json, answers: Answers) -> None:
        command = [python, "-P", "-m", "xplearn.rollout.worker"]
        try:
            self._popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise ConfigError("env.python", f"'{python}' can't be run ({error.strerror}); give the path of a Python interpreter") from error
        self._listener = threading.Thread(target=self._listen, args=(answers,), daemon=True)
        self._listener.start()
        self.opened = False
        """Whether it has answered its opening."""
        self._limit = START_SECONDS
        self.deadline = time.monotonic() + START_SECONDS
        self.send(opening, START_SECONDS)

    def send(self, message: wire.Json, limit: float) -> None:
        """Send a message, to be answered within ``limit`` seconds. Where nobody reads it, the end of the process is the answer.

        A message sent while the process is starting has its time from when it has started.
        """
        self._limit = limit
        if self.opened:
            self.deadline = time.monotonic() + limit
        pipe = self._popen.stdin
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.write(wire.dump(message))
                pipe.flush()

    def open(self) -> None:
        """Note that it has answered its opening, and let the time of its first request run."""
        self.opened = True
        self.deadline = time.monotonic() + self._limit

    def hang_up(self) -> None:
        """Tell it to close."""
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def end(self, *, patience: float = 0.0) -> int:
        """Wait ``patience`` seconds, then kill it with all it started. Its exit code."""
        self.hang_up()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        code = self._popen.wait()
        self._listener.join()
        return code

    def _listen(self, answers: Answers) -> None:
        stream = self._popen.stdout
        if stream is not None:
            with stream:
                for message in wire.messages(stream):
                    answers.put((self, message))
        answers.put((self, None))


class WorkerPool(EnvironmentPool):
    """Slots spread over worker processes."""

    def __init__(self, spec: EnvSpec, *, slots: int, workers: int, step_seconds: float, listing: bool) -> None:
        """Start the workers.

        Raises:
            ConfigError: the interpreter does not exist, lacks xplearn, or has another version of it; or the fields are wrong.
            EnvironmentDiedError: a worker ends or hangs while starting.
        """
        self._name, self.slots, self._limit = spec.name, slots, min(step_seconds, LONGEST_SECONDS)
        self._patience = max(self._limit, START_SECONDS)
        self._python = _interpreter(spec.python)
        self._opening = {"protocol": wire.PROTOCOL, "name": spec.name, "fields": dict(spec.fields), "listing": listing}
        self._answers: Answers = queue.SimpleQueue()
        self._processes: list[_Process | None] = [None] * min(workers, slots)
        self._lost: dict[int, str] = {}
        self._tasks: dict[str, list[Task]] = {}
        try:
            for index in range(len(self._processes)):
                self._process(index)
            description = self._ask("describe", {})
        except BaseException:
            self.close()
            raise
        self.version, self.splits = description["version"], tuple(description["splits"])
        self.provides = frozenset(description["provides"])

    def tasks(self, split: str) -> Sequence[Task]:
        if split not in self._tasks:
            self._tasks[split] = [wire.load_task(data) for data in self._ask("tasks", {"split": split})]
        return self._tasks[split]

    def reset(self, requests: Mapping[int, tuple[Task, int]]) -> dict[int, Start | EnvironmentDiedError]:
        jobs = self._dealt("reset", {slot: {"task": wire.dump_task(task), "seed": seed} for slot, (task, seed) in requests.items()})
        starts: dict[int, Start | EnvironmentDiedError] = {}
        for slot, answer in self._play(lambda index: jobs[index].popleft() if jobs[index] else None):
            if isinstance(answer, EnvironmentDiedError):
                starts[slot] = answer
            else:
                starts[slot] = wire.load_start(answer)
                self._lost.pop(slot, None)
        return starts

    def step(self, completions: Mapping[int, str]) -> dict[int, Turn | EnvironmentDiedError]:
        playable = {slot: {"completion": text} for slot, text in completions.items() if slot not in self._lost}
        jobs = self._dealt("step", playable)
        turns: dict[int, Turn | EnvironmentDiedError] = {}
        for slot, answer in self._play(lambda index: jobs[index].popleft() if jobs[index] else None):
            turns[slot] = answer if isinstance(answer, EnvironmentDiedError) else wire.load_turn(answer)
            if slot in self._lost:
                jobs[slot % len(self._processes)].clear()
        return turns | {slot: EnvironmentDiedError(self._name, self._lost[slot]) for slot in completions if slot not in turns}

    def demonstrate(self, requests: Sequence[tuple[Task, int]]) -> Iterator[Trajectory | EnvironmentDiedError]:
        done: dict[int, Any] = {}
        given = due = 0

        def next_job(_: int) -> _Job | None:
            nonlocal given
            if given == len(requests) or given - due >= WINDOW * len(self._processes):
                return None
            task, seed = requests[given]
            given += 1
            request = {"task": wire.dump_task(task), "seed": seed}
            return _Job(key=given - 1, verb="demonstrate", request=request, limit=DEMONSTRATION_STEPS * self._patience)

        with contextlib.closing(self._play(next_job)) as answers:
            for key, answer in answers:
                done[key] = answer
                while due in done:
                    shown = done.pop(due)
                    due += 1
                    yield shown if isinstance(shown, EnvironmentDiedError) else wire.load_demonstration(shown)

    def close(self) -> None:
        processes = [process for process in self._processes if process is not None]
        self._processes = [None] * len(self._processes)
        for process in processes:
            process.hang_up()
        deadline = time.monotonic() + CLOSE_SECONDS
        for process in processes:
            process.end(patience=max(0.0, deadline - time.monotonic()))

    def _dealt(self, verb: str, requests: Mapping[int, wire.Json]) -> list[deque[_Job]]:
        """The jobs of each worker. A worker numbers its own slots from 0."""
        workers = len(self._processes)
        dealt: list[deque[_Job]] = [deque() for _ in range(workers)]
        limit = self._limit if verb == "step" else self._patience
        for slot, request in requests.items():
            dealt[slot % workers].append(_Job(key=slot, verb=verb, request={"slot": slot // workers, **request}, limit=limit))
        return dealt

    def _ask(self, verb: str, request: wire.Json) -> Any:
        """Ask the first worker about the environment in general."""
        jobs = deque([_Job(key=0, verb=verb, request=request, limit=self._patience)])
        ((_, answer),) = self._play(lambda _: jobs.popleft() if jobs else None)
        if isinstance(answer, EnvironmentDiedError):
            raise answer
        return answer

    def _play(self, next_job: Callable[[int], _Job | None]) -> Generator[tuple[int, Any]]:
        """Keep every worker at its next job until there is none left. Yields key and answer, as they come."""
        busy: dict[int, _Job] = {}
        try:
            while True:
                for index in range(len(self._processes)):
                    job = next_job(index) if index not in busy else None
                    if job is not None:
                        busy[index] = job
                        self._process(index).send({"verb": job.verb, **job.request}, job.limit)
                if not busy:
                    return
                index, answer = self._wait(busy)
                job = busy.pop(index)
                if isinstance(answer, XplearnError) and not isinstance(answer, EnvironmentDiedError):
                    raise answer
                yield job.key, answer
        finally:
            for index in busy:  # given up half-way: whoever owes an answer can't be asked anything else
                self._drop(index, "its worker was ended while it was busy")

    def _wait(self, busy: Mapping[int, _Job]) -> tuple[int, Any]:
        """The next answer of a busy worker: a JSON value, or an error."""
        while True:
            index = min(busy, key=lambda index: self._process(index).deadline)
            remaining = self._process(index).deadline - time.monotonic()
            try:
                process, line = self._answers.get(timeout=max(0.0, remaining))
            except queue.Empty:
                return index, self._drop(index, self._overdue(index, busy[index]))
            if process not in self._processes:
                continue
            index = self._processes.index(process)
            answer = self._ended(index, process) if line is None else wire.load_answer(line)
            if line is not None and not process.opened and not isinstance(answer, XplearnError):
                process.open()
            elif index in busy:
                return index, answer

    def _process(self, index: int) -> _Process:
        process = self._processes[index]
        if process is None:
            process = self._processes[index] = _Process(self._python, self._opening, self._answers)
        return process

    def _overdue(self, index: int, job: _Job) -> str:
        if self._process(index).opened:
            return f"no answer to '{job.verb}' within {job.limit:g} s; its worker was ended"
        trial = f"{self._python} -P -c 'import xplearn.rollout.worker'"
        return f"its worker was not ready within {START_SECONDS:g} s and was ended; see whether this returns: {trial}"

    def _ended(self, index: int, process: _Process) -> XplearnError:
        code = process.end(patience=CLOSE_SECONDS)
        if not process.opened:
            reason = _cannot_import(self._python)
            if reason:
                return ConfigError("env.python", reason)
        return self._drop(index, f"its worker ended with code {code}; what it said is on standard error")

    def _drop(self, index: int, reason: str) -> EnvironmentDiedError:
        """End a worker. Its episodes are lost."""
        process, self._processes[index] = self._processes[index], None
        if process is not None:
            process.end()
        for slot in range(index, self.slots, len(self._processes)):
            self._lost[slot] = reason
        return EnvironmentDiedError(self._name, reason)


def _interpreter(given: str) -> str:
    if not given:
        return sys.executable
    found = shutil.which(os.path.expanduser(given))
    if found is None:
        raise ConfigError("env.python", f"'{given}' is not an executable; give the path of a Python interpreter")
    return found


def _cannot_import(python: str) -> str:
    """Why an interpreter can't run a worker, or nothing where it could."""
    greeting = "xplearn?"
    if greeting not in _tried(python, "-c", f"print({greeting!r})").stdout:
        return f"'{python}' is no Python interpreter; give the path of one"
    trial = _tried(python, "-P", "-c", "import xplearn.rollout.worker")
    if not trial.returncode:
        return ""
    said = trial.stderr.strip().splitlines() or ["it said nothing"]
    return f"{python} can't run xplearn ({said[-1]}); install it there: {python} -m pip install xplearn"


def _tried(*command: str) -> subprocess.CompletedProcess[str]:
    """A command's outcome; a failure where it takes too long."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=10)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, stdout="", stderr="it takes too long")
