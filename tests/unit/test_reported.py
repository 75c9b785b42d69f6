"""What papers report: told by plugins, shown apart from what was measured, marked as theirs."""

from __future__ import annotations

import io
import types

import pytest
from rich.console import Console

from xplearn import Reported
from xplearn.cli import main
from xplearn.hookspecs import hookimpl
from xplearn.plugins import Plugins
from xplearn.report.reported import render

ROW = Reported(paper="Some, arXiv 1", method="Method", policy="8B", domain="World", split="not stated", figure="score", value=12.5)


def telling(*rows):
    module = types.ModuleType("mine")

    @hookimpl
    def xplearn_reported():
        return list(rows)

    module.xplearn_reported = xplearn_reported
    return module


def shown(rows):
    stream = io.StringIO()
    render(rows, Console(file=stream, width=160))
    return stream.getvalue()


def test_every_plugin_tells_what_its_paper_reports_in_their_order():
    plugins = Plugins()
    other = Reported(paper="Other", method="M", policy="p", domain="d", split="test", figure="success, %", value=3.0)
    plugins.add("one", telling(ROW))
    plugins.add("two", telling(other))
    assert plugins.reported() == [ROW, other]
    assert plugins.reported({"two", "three"}) == [other]


def test_a_plugin_that_tells_something_else_is_remembered_and_the_others_stay():
    plugins = Plugins()
    plugins.add("bad", telling({"paper": "x"}))
    plugins.add("good", telling(ROW))
    assert plugins.reported() == [ROW]
    assert "must return a list of xplearn.Reported" in str(plugins.registry.failures["bad"])


def test_figures_stand_under_their_paper_with_notes_below_and_a_word_that_they_are_not_ours():
    noted = Reported(paper=ROW.paper, method="N", policy="8B", domain="World", split="test", figure="score", value=3.0, note="inferred")
    text = " ".join(shown([ROW, noted]).split())
    assert text.startswith("reported by Some, arXiv 1")
    assert "Method 8B World score 12.5" in text
    assert "N 8B World (test) score 3 [1]" in text
    assert "[1] inferred" in text
    assert "nothing here was measured by xplearn" in text


def test_a_plugins_text_never_controls_the_screen():
    text = shown([Reported(paper="\x1b[2J", method="[red]x", policy="\x9b", domain="d", split="s", figure="f", value=1.0, note="\x1b]0;t")])
    assert "\x1b" not in text
    assert "[red]x" in text


def test_the_command_lists_what_the_installed_methods_papers_report(capsys):
    pytest.importorskip("xplearn_edge")
    assert main(["plugins", "--reported"]) == 0
    out = capsys.readouterr().out
    assert "reported by EDGE, arXiv 2608.21946" in out
    assert main(["plugins", "edge", "--reported"]) == 2


def test_the_quoted_sums_are_those_of_the_quoted_terms():
    hamo = pytest.importorskip("xplearn_hamo.reported")
    rows = hamo.across_domains()
    for method, stated in (("HaMo", 178.86), ("Model-only", 152.65)):
        finals = {row.domain: row.value for row in rows if row.method == method and row.figure == "score, final"}
        assert sum(finals.values()) == pytest.approx(stated)
        assert stated in [row.value for row in hamo.other_orders() if row.method == method]


def test_what_is_inferred_says_from_what():
    edge = pytest.importorskip("xplearn_edge.reported")
    assert [row.note.partition(" from")[0] for row in edge.rows() if row.value == 70.1] == ["inferred"]
