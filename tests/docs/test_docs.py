"""Every block of the documentation is run: YAML is composed and checked, Python executed, the reference compared."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from xplearn.compose import compose
from xplearn.config import load_experiment
from xplearn.experiment.build import check_experiment
from xplearn.experiment.cross.file import read_cross
from xplearn.experiment.cross.grid import build_grid
from xplearn.plugins import installed

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
OWN = re.compile(r"class (Best|Parity)\(")
"""What is written into the how-to's own plugin."""
TORCH = importlib.util.find_spec("torch") is not None
TORCH_WORDS = ("core.hf", "core.clone", "core.tiny", "backbone.", "core.minilm", "core.policy", "import torch", "demo", "baselines")


def written(language: str) -> dict[str, list[str]]:
    """The blocks of each page that has any."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = {str(page.relative_to(ROOT)): pattern.findall(page.read_text(encoding="utf-8")) for page in PAGES}
    return {page: texts for page, texts in found.items() if texts}


def blocks(language: str) -> list[object]:
    return [pytest.param(text, id=f"{page}:{n}") for page, texts in written(language).items() for n, text in enumerate(texts)]


def pages(language: str) -> list[object]:
    return [pytest.param(texts, id=page) for page, texts in written(language).items()]


def require(*texts: str) -> None:
    """Skip where what the texts name is not installed in this environment; the one with everything skips nothing."""
    names = " ".join(texts)
    if not TORCH and any(word in names for word in TORCH_WORDS):
        pytest.skip("names parts that need torch")
    for plugin in sorted(
        {"scienceworld", "alfworld", "webshop", "hamo", "baselines", "expbench", "expweaver", "edge"} - set(installed().versions)
    ):
        if plugin in names or "demo" in names:
            pytest.skip(f"names the plugin {plugin}")


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_yaml_block_is_a_sound_experiment(text, tmp_path):
    require(text)
    file = tmp_path / "block.yaml"
    file.write_text(text)
    if "\naxes:" in text:
        grid = build_grid(read_cross(file, installed().registry), installed(), lambda _: False)
        assert any(cell.state == "waiting" for cell in grid)
        return
    fragment = [] if "policy:" in text or "preset:" in text else ["policy=core.random", "sampling.choices=admissible"]
    experiment, _ = load_experiment(str(file), fragment, installed().registry)
    assert check_experiment(experiment, installed()) == []


@pytest.mark.parametrize("texts", pages("python"))
def test_the_python_blocks_of_a_page_run_in_turn(texts, tmp_path, monkeypatch, capsys):
    require(*texts)
    monkeypatch.chdir(tmp_path)
    for name in ("block", "xplearn_mine"):  # the how-to's later blocks import its first one
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for text in texts:
        target = sys.modules["xplearn_mine" if OWN.search(text) else "block"]
        exec(compile(text, target.__name__, "exec"), vars(target))


def test_the_plugin_of_the_how_to_keeps_its_contracts(tmp_path):
    page = (ROOT / "docs" / "how-to" / "write-a-plugin.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "xplearn_mine.py").write_text("\n".join(text for text in found if OWN.search(text)), encoding="utf-8")
    for number, text in enumerate(text for text in found if "testing.contracts" in text):
        (tmp_path / f"test_{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    ran = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) > 25


def test_every_preset_is_a_sound_experiment_or_a_part_of_one():
    require("core.hf demo")
    registry = installed().registry
    toy = {"stream": "stream=[{env: core.errands, rounds: 2}]", "policy": "policy=core.tiny"}
    assert registry.presets()
    for name in registry.presets():
        said = compose(name, [], registry)
        experiment, _ = load_experiment(name, [value for key, value in toy.items() if key not in said], registry)
        assert check_experiment(experiment, installed()) == [], name


def test_the_reference_is_what_the_registry_says():
    require("core.hf scienceworld alfworld webshop hamo baselines expbench expweaver edge")
    path = ROOT / "docs" / "generate_reference.py"
    spec = importlib.util.spec_from_file_location("generate_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages = module.pages()
    assert {page.name for page in pages} == {"parts.md", "experiment.md"}
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text, "run: python docs/generate_reference.py"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} → {target}"
