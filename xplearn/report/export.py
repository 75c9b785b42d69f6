"""Figures and sheets as files for papers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from xplearn.errors import ConfigError, XplearnError
from xplearn.files import replacing
from xplearn.report.figure import Figure, Sheet
from xplearn.report.figures import stylesheet
from xplearn.report.sheets import to_csv, to_latex, to_markdown

PNG_SCALE = 3
"""Pixels for each unit of a drawing: 1440 across, sharp in a column of a paper and on a slide."""

MADE = ".made"
"""File that lists those which were written beside it."""

P = TypeVar("P", Figure, Sheet)

_VARIABLE = re.compile(r"(--k-[a-z0-9-]+):\s*(#[0-9a-f]{6});")
_USED = re.compile(r"var\((--k-[a-z0-9-]+)\)")
_VIEW = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def write_figures(figures: Sequence[Figure], folder: Path, formats: Collection[str] = ("svg",)) -> list[Path]:
    """Write each figure as ``<name>.svg`` and ``<name>.png``, light, standing alone, atomically, in place of those written there before.

    Raises:
        ConfigError: there is no such format, or two figures have one name.
        XplearnError: PNG is asked for and ``xplearn[report]`` is not installed, or no font was found to draw text with.
    """
    return _write(figures, folder, formats, {"svg": _svg_bytes, "png": png})


def write_sheets(sheets: Sequence[Sheet], folder: Path, formats: Collection[str] = ("md", "csv", "tex")) -> list[Path]:
    """Write each sheet as ``<name>.md``, ``<name>.csv`` and ``<name>.tex``, atomically, in place of those written there before.

    Raises:
        ConfigError: there is no such format, or two sheets have one name.
    """
    forms: Mapping[str, Callable[[Sheet], str]] = {"md": to_markdown, "csv": to_csv, "tex": to_latex}
    return _write(sheets, folder, formats, {name: functools.partial(_encoded, form) for name, form in forms.items()})


def standalone(figure: Figure) -> str:
    """The drawing as a file of its own: size, white ground and the light colours inside."""
    found = _VIEW.search(figure.svg)
    if found is None:
        raise ValueError(f"figure '{figure.name}' has no viewBox")
    wide, high = found.groups()
    sized = figure.svg.replace('width="100%"', f'width="{wide}" height="{high}"', 1)
    head, _, body = sized.partition("<title>")
    return f'{head}<style>{light()}</style><rect class="k-ground" width="{wide}" height="{high}"/><title>{body}\n'


@functools.cache
def light() -> str:
    """The rules of the kit's classes with the light colours in place of variables, which few programs but browsers know."""
    themes, first, rules = stylesheet().partition(".k-figure")
    colours = dict(_VARIABLE.findall(themes.partition("@media")[0]))
    return _USED.sub(lambda used: colours[used[1]], first + rules).strip()


def png(figure: Figure) -> bytes:
    """The drawing as a PNG.

    Raises:
        XplearnError: as ``write_figures``.
    """
    try:
        import resvg_py
    except ImportError:
        raise XplearnError("PNG files need resvg_py: pip install 'xplearn[report]' (SVG files need nothing)") from None
    _require_fonts(resvg_py.svg_to_bytes)
    return bytes(resvg_py.svg_to_bytes(svg_string=standalone(figure), zoom=PNG_SCALE))


@functools.cache
def _require_fonts(render: Callable[..., bytes]) -> None:
    """Raise where a word leaves no trace: resvg draws nothing without a font, and says nothing."""
    page = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" font-family="Arial, Helvetica, sans-serif">{}</svg>'
    if render(svg_string=page.format('<text y="15">mm</text>')) == render(svg_string=page.format("")):
        raise XplearnError("no font was found to draw text with: install one, e.g. apt-get install fonts-liberation or fonts-dejavu-core")


def _write(pieces: Sequence[P], folder: Path, formats: Collection[str], forms: Mapping[str, Callable[[P], bytes]]) -> list[Path]:
    for form in formats:
        if form not in forms:
            raise ConfigError("formats", f"'{form}' is none of {', '.join(forms)}")
    names = [piece.name for piece in pieces]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError("name", f"two pieces are called '{twice}': their files would be one")
    contents = {folder / f"{piece.name}.{form}": forms[form](piece) for piece in pieces for form in formats}
    if contents or folder.is_dir():
        _replace(folder, contents)
    return list(contents)


def _replace(folder: Path, contents: Mapping[Path, bytes]) -> None:
    """Put these files in place of those that were written here before; what others laid beside them stays.

    Nothing waits for the disk but the list: whatever a failing machine loses here is made again by the same command.
    """
    made = folder / MADE
    before = made.read_text(encoding="utf-8", errors="replace").splitlines() if made.is_file() else []
    folder.mkdir(parents=True, exist_ok=True)
    names = [path.name for path in contents]
    with replacing(made) as file:
        file.write("".join(f"{name}\n" for name in dict.fromkeys([*names, *before])).encode())
    for path, content in contents.items():
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_bytes(content)
        temporary.replace(path)
    for name in set(before) - set(names):
        if Path(name).name == name and (folder / name).is_file():
            (folder / name).unlink()
    with replacing(made) as file:
        file.write("".join(f"{name}\n" for name in names).encode())


def _svg_bytes(figure: Figure) -> bytes:
    return standalone(figure).encode()


def _encoded(form: Callable[[Sheet], str], sheet: Sheet) -> bytes:
    return form(sheet).encode()
