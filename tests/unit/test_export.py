import dataclasses
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.unit import pieces
from xplearn.errors import ConfigError, XplearnError
from xplearn.report import export, figures, sheets

SVG = "{http://www.w3.org/2000/svg}"


def drawing():
    return figures.leaderboard(pieces.board(["hamo", pieces.HOSTILE]))


def test_an_svg_file_stands_alone_in_light_colours(tmp_path):
    (path,) = export.write_figures([drawing()], tmp_path / "paper")
    root = ET.parse(path).getroot()
    assert path == tmp_path / "paper" / "leaderboard.svg"
    style = root.find(f"{SVG}style").text
    assert "var(" not in style
    assert "--k-" not in style
    assert ".k-s0 { fill: #076ff7; }" in style
    assert "@" not in style
    width, height = root.get("viewBox").split()[2:]
    ground = root.find(f"{SVG}rect")
    assert (ground.get("class"), ground.get("width"), ground.get("height")) == ("k-ground", width, height)
    assert root.get("width") == width


def test_a_png_shows_its_words(tmp_path):
    pytest.importorskip("resvg_py")
    figure = drawing()
    (path,) = export.write_figures([figure], tmp_path, ["png"])
    content = path.read_bytes()
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    asked = [float(part) * export.PNG_SCALE for part in ET.fromstring(figure.svg).get("viewBox").split()[2:]]
    assert content.startswith(b"\x89PNG")
    assert [width, height] == pytest.approx(asked, abs=1)
    silent = dataclasses.replace(figure, svg=re.sub("[^<>]*</text>", "</text>", figure.svg))
    assert export.png(silent) != content


def test_without_a_font_a_png_is_refused_with_what_to_install():
    with pytest.raises(XplearnError, match=r"no font was found .* apt-get install fonts-liberation"):
        export._require_fonts(lambda svg_string: b"blank")


def test_without_the_extra_a_png_is_refused_by_its_name(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(XplearnError, match=r"pip install 'xplearn\[report\]'"):
        export.write_figures([drawing()], tmp_path, ["png"])
    assert list(tmp_path.iterdir()) == []


def test_sheets_are_written_in_every_format(tmp_path):
    sheet = sheets.leaderboard_sheet(pieces.board(["hamo"]))
    paths = export.write_sheets([sheet], tmp_path)
    assert [path.name for path in paths] == ["leaderboard-table.md", "leaderboard-table.csv", "leaderboard-table.tex"]
    assert [path.read_bytes().decode() for path in paths] == [sheets.to_markdown(sheet), sheets.to_csv(sheet), sheets.to_latex(sheet)]
    assert {path.name for path in tmp_path.iterdir()} == {export.MADE, *(path.name for path in paths)}


def test_files_of_an_earlier_report_go_and_those_of_others_stay(tmp_path):
    first, second = (dataclasses.replace(sheets.leaderboard_sheet(pieces.board(["hamo"])), name=name) for name in ("first", "second"))
    export.write_sheets([first, second], tmp_path, ["md"])
    (tmp_path / "mine.md").write_text("kept")
    (tmp_path.parent / "outside.md").write_text("kept")
    (tmp_path / export.MADE).write_text((tmp_path / export.MADE).read_text() + "../outside.md\n..\n\n")
    export.write_sheets([second], tmp_path, ["md"])
    assert {path.name for path in tmp_path.iterdir()} == {export.MADE, "mine.md", "second.md"}
    export.write_sheets([], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {export.MADE, "mine.md"}
    assert (tmp_path.parent / "outside.md").read_text() == "kept"
    export.write_sheets([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_unknown_format_and_two_pieces_of_one_name_are_refused_before_anything_is_written(tmp_path):
    sheet = sheets.leaderboard_sheet(pieces.board(["hamo"]))
    with pytest.raises(ConfigError, match="'pdf' is none of svg, png"):
        export.write_figures([drawing()], tmp_path, ["svg", "pdf"])
    with pytest.raises(ConfigError, match="two pieces are called 'leaderboard-table'"):
        export.write_sheets([sheet, sheet], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_drawing_needs_neither_torch_nor_what_makes_png_files():
    code = "import sys, xplearn.report.export; print({'torch', 'resvg_py', 'rich'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    assert found.stdout.strip() == "set()"
