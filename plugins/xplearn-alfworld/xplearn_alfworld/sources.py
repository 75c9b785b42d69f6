"""Which source of games a path stands for."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from xplearn import DataError
from xplearn_alfworld.games import Games
from xplearn_alfworld.generated import GeneratedHouses
from xplearn_alfworld.official import GET, OfficialFolder
from xplearn_alfworld.packed import SUFFIXES, PackedFile, PackedFolder, packed


def source(data: str, *, human: bool, seed: int, counts: Mapping[str, int]) -> Games:
    """The games at a path: a packed file, a folder of packed files, an official folder, or generated houses where it is empty.

    Raises ``DataError`` when nothing is there.
    """
    if not data:
        return GeneratedHouses(seed=seed, counts=counts)
    try:
        path = Path(data).expanduser()
        mode = path.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:  # no such file, no such user's home, no possible path
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be opened ({error})"
        raise DataError(data, f"{reason}; give a packed file ({', '.join(SUFFIXES)}), a folder of games, or nothing. {GET}") from None
    if stat.S_ISDIR(mode):
        return PackedFolder(path) if packed(path) else OfficialFolder(path, human=human)
    if not (path.name.endswith(SUFFIXES) and stat.S_ISREG(mode)):
        raise DataError(path, f"is no packed file: its name should end in {', '.join(SUFFIXES)}")
    return PackedFile(path)
