"""A worker process: plays some slots of an environment, one JSON line in, one JSON line out.

``python -m xplearn.rollout.worker``, started by ``xplearn.rollout.workers`` with this or another interpreter. Needs xplearn and the
environment's plugin, never torch. Ends when its standard input closes.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

from xplearn.errors import ConfigError, EnvironmentDiedError
from xplearn.rollout import wire
from xplearn.rollout.pool import Seats
from xplearn.schema import EnvSpec

T = TypeVar("T")

GRACE_SECONDS = 5.0
"""How long an environment may take to close once nobody listens any more."""


class Worker:
    """Answers requests about one environment."""

    def __init__(self, opening: wire.Json) -> None:
        if opening["protocol"] != wire.PROTOCOL:
            reason = f"the xplearn of {sys.executable} speaks protocol {wire.PROTOCOL}, wanted is {opening['protocol']}"
            raise ConfigError("env.python", f"{reason}; install the same version")
        self._seats = Seats(EnvSpec(name=opening["name"], fields=opening["fields"]), opening["listing"])
        self._verbs: dict[str, Callable[[wire.Json], Any]] = {
            "describe": self._describe,
            "tasks": lambda request: [wire.dump_task(task) for task in self._seats.first.tasks(request["split"])],
            "reset": self._reset,
            "step": self._step,
            "demonstrate": self._demonstrate,
        }

    def answer(self, request: wire.Json) -> Any:
        """Do what a request asks for, and return its JSON value."""
        return self._verbs[request["verb"]](request)

    def close(self) -> None:
        """Close the environment's copies."""
        self._seats.close()

    def _describe(self, request: wire.Json) -> Any:
        env = self._seats.first
        return {"version": env.version, "splits": env.splits(), "provides": sorted(env.provides)}

    def _reset(self, request: wire.Json) -> Any:
        return wire.dump_start(_alive(self._seats.reset(request["slot"], wire.load_task(request["task"]), request["seed"])))

    def _step(self, request: wire.Json) -> Any:
        return wire.dump_turn(_alive(self._seats.step(request["slot"], request["completion"])))

    def _demonstrate(self, request: wire.Json) -> Any:
        return wire.dump_demonstration(_alive(self._seats.demonstrate(wire.load_task(request["task"]), request["seed"])))


def _alive(value: T | EnvironmentDiedError) -> T:
    if isinstance(value, EnvironmentDiedError):
        raise value
    return value


def main() -> None:
    """Serve the pipes this process was started with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = claim_pipes()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, requests), daemon=True).start()
    worker: Worker | None = None
    env = "unknown"
    while line := requests.get():
        try:
            message = wire.load(line)
            if worker is None:
                env = message["name"]
                worker, value = Worker(message), None
            else:
                value = worker.answer(message)
            reply = wire.dump({"value": value})
        except Exception as error:
            reply = wire.dump({"error": wire.dump_error(error, env)})
        outgoing.write(reply)
        outgoing.flush()
    if worker is not None:
        worker.close()


def claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output of this process, kept to ourselves: what a part prints goes to standard error, and it reads nothing."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


def _listen(incoming: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    for message in wire.messages(incoming):
        requests.put(message)
    requests.put(b"")
    time.sleep(GRACE_SECONDS)
    os._exit(1)  # the environment hangs: nothing else ends this process


if __name__ == "__main__":
    main()
