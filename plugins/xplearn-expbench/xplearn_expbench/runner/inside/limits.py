"""What the kernel is asked to forbid."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import re
import resource
import sys

FILE_BYTES = 16 * 2**20
"""Largest file of the process of the tests. A program's is a byte smaller: no process can raise it again, so it marks them."""
OPEN_FILES = 64
PROCESSES = 64
"""At one time, threads included."""
NAMESPACE_PROCESSES = 1024
"""Living at one time in a namespace, where the kernel counts by namespace: then this holds for root's processes too."""
NOT_BEGUN = 75
"""Exit status of a judge for whose program the machine starts no process."""

_LINUX = sys.platform == "linux"
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522


def resources(*, seconds: float, memory_mb: int) -> None:
    """Of this process and those it starts: processor time, memory, files; no core dumps."""
    processor, memory = math.ceil(seconds) + 1, memory_mb * 2**20
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, processor, processor + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit may be set already
            resource.setrlimit(kind, (soft, hard))


def processes(*, namespaces: bool) -> None:
    """Bound the processes of this user (in a namespace: of this program), and mark this one as a program's. See ``Watch`` for root."""
    most = PROCESSES + (0 if namespaces else _tasks_of_user())
    for kind, limit in ((resource.RLIMIT_NPROC, most), (resource.RLIMIT_FSIZE, FILE_BYTES - 1)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def namespace() -> None:
    """Bound the living processes of a new pid namespace, from within its first process, where the kernel has a bound for each."""
    if os.getpid() == 1 and bounds_namespaces():
        with contextlib.suppress(OSError), open("/proc/sys/kernel/pid_max", "w", encoding="ascii") as file:
            file.write(str(NAMESPACE_PROCESSES))


def bounds_namespaces() -> bool:
    """Whether ``pid_max`` is a namespace's own, as from Linux 6.14 on; before, the same file sets the whole machine's."""
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 14)


def _tasks_of_user() -> int:
    total = 0
    for process in filter(str.isdigit, os.listdir("/proc") if _LINUX else ()):
        with contextlib.suppress(OSError):
            tasks = os.stat(f"/proc/{process}/task")
            total += tasks.st_nlink - 2 if tasks.st_uid == os.getuid() else 0
    return total


def adopt_orphans() -> None:
    """Make descendants whose parent ends this process's children, so that they can be found."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide() -> None:
    """Let no process of the same user trace this one, read its memory or open its files."""
    _prctl(_PR_SET_DUMPABLE, 0)


def renounce() -> None:
    """Give up every capability for good: set-uid programs bring none back."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if _LINUX and os.getuid() == 0:
        header, nothing = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        if _libc().capset(header, nothing) != 0:
            raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, value: int) -> None:
    if _LINUX and _libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
