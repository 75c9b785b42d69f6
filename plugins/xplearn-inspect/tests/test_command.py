"""``xplearn inspect``, as it is typed."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from xplearn_inspect.commands import add

from xplearn import PluginError


def xplearn(*args, cwd):
    return subprocess.run([sys.executable, "-m", "xplearn", *args], cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def parsed(*args):
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())
    return parser.parse_args(["inspect", *map(str, args)])


def test_runs_of_a_folder_go_where_inspect_looks(folder, tmp_path):
    pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install xplearn-inspect")
    done = xplearn("inspect", str(folder.parent), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "logs").glob(f"{folder.name}/*.eval"))) == 8
    *lines, last = done.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.endswith("  6 episodes") for line in lines)
    assert last == "look at them: inspect view"


def test_what_is_no_run_is_one_line(tmp_path):
    pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install xplearn-inspect")
    refused = xplearn("inspect", "nowhere", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("RecordError: nowhere: not a run folder")
    assert not (tmp_path / "logs").exists()


def test_without_inspect_ai_the_error_says_what_to_install(folder, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "inspect_ai" or name == "xplearn_inspect.export"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    for name in ("spec", "sample", "conversation"):
        monkeypatch.delitem(sys.modules, f"xplearn_inspect.{name}", raising=False)
    args = parsed(folder, "--to", tmp_path / "logs")
    with pytest.raises(PluginError, match="plugin 'inspect': needs the package 'inspect_ai': pip install xplearn-inspect"):
        args.call(args)


def test_plugin_is_imported_without_inspect_ai():
    code = "import sys, xplearn_inspect, xplearn_inspect.commands; assert 'inspect_ai' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
