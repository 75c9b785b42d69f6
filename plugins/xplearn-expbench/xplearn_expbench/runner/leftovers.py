"""What programs leave behind when whoever watched them was killed: processes, and folders."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from xplearn_expbench.runner.inside.limits import FILE_BYTES

PREFIX = "xplearn-code-"
_DAY_SECONDS = 86_400.0
_SECONDS = 5.0


def folder() -> str:
    """A new temporary folder whose name tells this process."""
    return tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")


def remove_folders() -> None:
    """Remove folders that are older than a day and whose process is no more."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        number = left.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if number.isdigit() and not _lives(int(number)) and left.stat().st_mtime < time.time() - _DAY_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def end_strays() -> None:
    """Kill programs whose judge is dead, in whatever session, under whatever name, with whatever environment.

    They are known by their limit on file sizes, which no process can raise again: just under the judge's. Their forebears are followed
    up to the first without that mark; where that is no judge, nobody waits for them. Linux only; all are stopped before any is killed.
    """
    if sys.platform != "linux" or _limit(os.getpid()) < FILE_BYTES:
        return
    deadline = time.monotonic() + _SECONDS
    while (strays := _strays()) and time.monotonic() < deadline:
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in strays:
                with contextlib.suppress(OSError):
                    os.kill(process, number)


def _strays() -> list[int]:
    found = []
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{process}").st_uid == os.getuid() and _limit(process) < FILE_BYTES and _is_stray(process):
                found.append(process)
    return found


def _is_stray(process: int) -> bool:
    state = ""
    while process and _limit(process) < FILE_BYTES:
        above = _state(process)
        state, process = state or above[0], above[1]
    return state != "Z" and (not process or _limit(process) != FILE_BYTES)


def _state(process: int) -> tuple[str, int]:
    state, parent = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
    return state, int(parent)


def _limit(process: int) -> float:
    """Hard limit on file sizes, in bytes.

    Raises:
        OSError: the process is no more.
    """
    limits = Path(f"/proc/{process}/limits").read_text(encoding="utf-8")
    hard = limits.partition("Max file size")[2].split()[1]
    return float("inf") if hard == "unlimited" else int(hard)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
