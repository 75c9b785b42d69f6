"""The script of HaMo's four ablations, on toys."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hamo_ablations.py"
TOY = """
policy: {name: core.tiny, layers: 1, width: 32}
stream:
  - {env: core.errands, tasks: {limit: 6}}
  - {env: core.counting, tasks: {limit: 6}}
record: {name: hamo.cards, writer: rules}
selector: {name: core.nearest, k: 1}
conditioner: core.prompt
curriculum: {name: hamo.coverage, budget: full}
replay: {ratio: 1.0}
learner: [{name: core.clone, epochs: 1}]
sampling: {choices: admissible}
evaluate: {tasks: {limit: 2}, resamples: 100}
"""


@pytest.fixture
def ablations():
    spec = importlib.util.spec_from_file_location("hamo_ablations", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_choice_is_changed_at_a_time_or_all_together(ablations):
    alone = [ablations.name(setting) for setting in ablations.settings(list(ablations.FACTORS), full=False)]
    assert sorted(alone) == sorted(
        ["hamo", "replay-0", "replay-0.5", "replay-2", "anchors-random", "anchors-all", "conditioning-plain", "temperature-1"]
    )
    grid = {ablations.name(setting) for setting in ablations.settings(list(ablations.FACTORS), full=True)}
    assert len(grid) == 4 * 3 * 2 * 2
    assert "replay-0.5_anchors-random_conditioning-plain_temperature-1" in grid
    assert [ablations.name(setting) for setting in ablations.settings(["temperature"], full=True)] == ["hamo", "temperature-1"]


@pytest.mark.slow
def test_every_level_is_run_and_stands_in_one_table(ablations, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    pytest.importorskip("xplearn_hamo")
    monkeypatch.setenv("COLUMNS", "250")
    file = tmp_path / "toy.yaml"
    file.write_text(TOY)
    assert ablations.main([str(file), f"--dir={tmp_path / 'runs'}", "run.seed=3"]) == 0
    said = capsys.readouterr().out
    for setting in ablations.settings(list(ablations.FACTORS), full=False):
        assert f"{ablations.name(setting)}+Harness after 2" in said
    assert ablations.main([str(file), f"--dir={tmp_path / 'runs'}", "run.seed=3", "replay.size=1"]) == 2
