"""The files that a program sees within namespaces: the system's and the interpreter's, read-only, and an empty folder of its own."""

from __future__ import annotations

import ctypes
import glob
import os
import sys

FOLDER_BYTES = 64 * 2**20

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SINGLE = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    *(f"/dev/{name}" for name in ("null", "zero", "random", "urandom")),
)
_SHARED = "/dev/shm"  # noqa: S108 - semaphores need it, and it is the program's own
_PACKAGES = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages", "local/lib*/python3*/*-packages")
_CLONE_NEWNS = 0x20000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_SYS_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1


def narrow(folder: str) -> bool:
    """Give this process a root of its own, in which most of the host has no path: no data, sockets, home or temporary files.

    In it are what ``_SYSTEM`` lists, the interpreter without what is installed for it, a fresh ``/proc``, and ``folder``: empty, in memory.

    False where the system refuses, which kernels before 5.12 and some containers do; all is as before then, but for ``folder``.
    """
    try:
        _call("unshare", _CLONE_NEWNS)
        _call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
        _memory(folder, 2**20)
        _furnish(folder)
        _set_readable_only(folder, but=folder + folder)
        os.chdir(folder)
        _call("pivot_root", b".", b".")
        _call("umount2", b".", _MNT_DETACH)
        os.chdir(folder)
    except OSError:
        return False
    return True


def _furnish(root: str) -> None:
    for path in (*_SYSTEM, *_SINGLE, sys.base_prefix):
        if os.path.lexists(path) and not os.path.lexists(root + path):
            _show(path, root)
    for prefix in {sys.base_prefix, "/usr", "/usr/local"}:
        for pattern in _PACKAGES:
            for packages in glob.glob(f"{root}{prefix}/{pattern}"):
                _memory(packages, 2**12)
    for path in (_SHARED, "/proc", root):
        os.makedirs(root + path)
    _memory(root + _SHARED, FOLDER_BYTES)
    _memory(root + root, FOLDER_BYTES)
    _call("mount", b"proc", f"{root}/proc".encode(), b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)


def _show(path: str, root: str) -> None:
    place = root + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.islink(path) and path in _SYSTEM:
        os.symlink(os.readlink(path), place)
        return
    if os.path.isdir(path):
        os.mkdir(place)
    else:
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600))
    _call("mount", path.encode(), place.encode(), None, _MS_BIND | _MS_REC, None)


def _memory(path: str, size: int) -> None:
    _call("mount", b"tmpfs", path.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, f"size={size},mode=700".encode())


def _set_readable_only(root: str, *, but: str) -> None:
    _set_mount(root, _AT_RECURSIVE, forbid=_MOUNT_ATTR_RDONLY)
    for path in (but, root + _SHARED):
        _set_mount(path, 0, permit=_MOUNT_ATTR_RDONLY)


def _set_mount(path: str, flags: int, *, forbid: int = 0, permit: int = 0) -> None:
    attributes = (ctypes.c_uint64 * 4)(forbid, permit, 0, 0)
    _call("syscall", _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, attributes, ctypes.sizeof(attributes))


def _call(name: str, *given: object) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*given) != 0:
        raise OSError(ctypes.get_errno(), name)
