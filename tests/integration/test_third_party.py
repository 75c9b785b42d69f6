"""A plugin of one file and one entry point, installed with pip, needs no edit of the core."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "xplearn-thirdparty"
version = "1.2.3"
dependencies = ["xplearn"]

[project.entry-points.xplearn]
thirdparty = "xplearn_thirdparty"

[tool.hatch.build.targets.wheel]
only-include = ["xplearn_thirdparty.py"]
"""

MODULE = '''
"""One selector: the experience that scored best."""

from dataclasses import dataclass

import xplearn


@dataclass(kw_only=True)
class Best(xplearn.Selector):
    """The best k by outcome."""

    k: int = 1

    @property
    def provides(self):
        return frozenset({"selector.act"})

    @property
    def requires(self):
        return frozenset({"store.filled"})

    def select(self, queries, store):
        return [self._one(query, store) for query in queries]

    def _one(self, query, store):
        barred = store.from_task(query.task.id)
        best = sorted((e for e in store if e.id not in barred), key=lambda e: (-e.outcome, e.id))[: self.k]
        return xplearn.Selection(experiences=tuple(best), scores=tuple(e.outcome for e in best))


@xplearn.hookimpl
def xplearn_register(registry):
    registry.add("selector", "best", "xplearn_thirdparty:Best", help="best by outcome")


@xplearn.hookimpl
def xplearn_cli(commands):
    parser = commands.add_parser("greet", help="a command of the plugin")
    parser.set_defaults(call=lambda args: print("hello from the plugin"))
'''


def pip(*args: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *args], check=True, capture_output=True, text=True)


def xplearn(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "xplearn", *args], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "xplearn_thirdparty.py").write_text(MODULE)
    pip("install", "--no-deps", "--no-build-isolation", str(folder))
    yield folder
    pip("uninstall", "-y", "xplearn-thirdparty")


MIX = [
    "stream=[{env: core.errands, tasks: {limit: 4}}]",
    "policy=core.random",
    "sampling.choices=admissible",
    "selector=thirdparty.best",
    "conditioner=core.prompt",
    "evaluate.tasks.limit=2",
]


def test_it_is_listed_with_its_distribution(plugin):
    listed = xplearn("plugins").stdout
    assert "thirdparty  (xplearn-thirdparty 1.2.3)" in listed
    assert "thirdparty.best" in listed


def test_it_is_checked_like_a_part_of_the_core(plugin):
    refused = xplearn("check", *MIX)
    assert refused.returncode == 2
    assert "selector 'thirdparty.best' requires 'store.filled'" in refused.stderr
    assert xplearn("check", *MIX, "record=core.record").returncode == 0
    typo = xplearn("check", *MIX, "selector.kk=2")
    assert "selector.kk: unknown key; did you mean 'k'?" in typo.stderr


def test_it_is_run(plugin, tmp_path):
    done = xplearn("run", "--quiet", *MIX, "record=core.record", f"run.dir={tmp_path}")
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.splitlines()[-1])
    assert "thirdparty.best" in (folder / "run.json").read_text()
    assert "xplearn-thirdparty 1.2.3" in (folder / "run.json").read_text()


def test_it_brings_its_own_command(plugin):
    assert xplearn("greet").stdout == "hello from the plugin\n"
