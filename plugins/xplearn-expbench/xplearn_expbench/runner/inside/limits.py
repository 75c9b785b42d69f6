"""What the kernel is asked to forbid."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import sys

FILE_BYTES = 16 * 2**20
FOLDER_BYTES = 64 * 2**20
OPEN_FILES = 64
PROCESSES = 64
"""At one time, threads included."""

_LINUX = sys.platform == "linux"
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522
_SYS_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_MS_NOSUID, _MS_NODEV = 2, 4


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
    """Bound the processes of this user (in a namespace of its own: of this program). Linux ignores it for root: see ``judge.Watch``."""
    most = PROCESSES + (0 if namespaces else _tasks_of_user())
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


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


def only_folder_writable(folder: str) -> bool:
    """In a mount namespace of one's own: an empty file system in memory over ``folder``, and everything else read-only.

    False where the system refuses, which old kernels and some containers do.
    """
    size = f"size={FOLDER_BYTES},mode=700".encode()
    if _libc().mount(b"tmpfs", folder.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, size) != 0:
        return False
    os.chdir(folder)
    return _set_mount("/", _AT_RECURSIVE, forbid=_MOUNT_ATTR_RDONLY) and _set_mount(folder, 0, permit=_MOUNT_ATTR_RDONLY)


def _set_mount(path: str, flags: int, *, forbid: int = 0, permit: int = 0) -> bool:
    attributes = (ctypes.c_uint64 * 4)(forbid, permit, 0, 0)
    size = ctypes.sizeof(attributes)
    return bool(_libc().syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, attributes, size) == 0)


def _prctl(option: int, value: int) -> None:
    if _LINUX and _libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
