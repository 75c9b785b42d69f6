"""Finding and ending what a program left behind, by walking ``/proc``; elsewhere than on Linux the process group must do."""

from __future__ import annotations

import contextlib
import os
import signal
import time


def descendants(root: int) -> list[int]:
    """Ids of the living processes below ``root``; none where there is no ``/proc``."""
    if not os.path.isdir("/proc/self"):
        return []
    children: dict[int, list[int]] = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            state, parent = file.read().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(process))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def end_all(root: int, *, seconds: float = 5.0) -> None:
    """Kill every descendant of this process (``root``), stopping all before killing any, so that none can replace another."""
    deadline = time.monotonic() + seconds
    while (left := descendants(root)) and time.monotonic() < deadline:
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
