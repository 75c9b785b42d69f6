"""From recorded runs to leaderboards."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.metrics.board import Contender
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.leaderboard import leaderboard
from xplearn.record.cross import Cell, Cross
from xplearn.record.reader import load
from xplearn.report.boards import across, boards
from xplearn.report.compare import entries
from xplearn.testing.dial import dial_plugins

DIAL = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 3}}],
    "policy": "dial.policy",
    "record": ["core.record"],
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "encoder": "core.hashing",
    "learner": "dial.turn",
    "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
}
BARE = {"record": [], "selector": "core.none", "conditioner": "core.none", "learner": {"name": "dial.turn", "arms": ["plain"]}}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two seeds of a method with a bank, and one of a method without."""
    place, plugins, found = tmp_path_factory.mktemp("boards"), dial_plugins(), []
    for name, seed, changes in (("edge", 0, {}), ("edge", 1, {}), ("bare", 0, BARE)):
        given = {**DIAL, **changes, "run": {"dir": str(place), "name": name, "seed": seed}}
        experiment, given = load_experiment(given, [], plugins.registry)
        found.append(run_experiment(experiment, plugins=plugins, given=given).folder)
    return found


@pytest.fixture
def folders(recorded, tmp_path):
    return [shutil.copytree(folder, tmp_path / folder.name) for folder in recorded]


def loaded(folders):
    return [load(folder) for folder in folders]


def edit(folder, **changes):
    """Change the header of a run."""
    path = folder / "run.json"
    header = json.loads(path.read_text())
    path.write_text(json.dumps(header | changes))


def names(board):
    return sorted(standing.contender.name for standing in board.standings)


def test_seeds_of_a_configuration_are_one_contender_for_each_arm(folders):
    (found,), refused = boards(loaded(folders))
    assert not refused
    assert (found.title, found.panel) == ("core.errands", {"core.errands": 4})
    assert names(found) == ["bare", "edge", "edge+Harness"]
    by_name = {standing.contender.name: standing for standing in found.standings}
    assert sorted(by_name["edge"].contender.scores) == [0, 1]
    assert by_name["edge"].contender.runs == [folders[0].name, folders[1].name]
    assert by_name["edge+Harness"].versus_plain.tasks == 4
    assert by_name["edge"].versus_plain is None
    assert all(standing.versus_base.tasks == 4 for standing in found.standings)


def test_the_mean_is_the_final_score_that_the_run_itself_shows(folders):
    runs = loaded(folders)
    (found,), _ = boards(runs[2:])
    assert found.standings[0].mean.mean == pytest.approx(runs[2].matrix("plain").figures()["final"].mean)


def test_a_run_of_another_version_stands_apart_and_is_named_with_the_reason(folders):
    edit(folders[2], environments={"core.errands": "9.9"})
    found, refused = boards(loaded(folders))
    assert [board.title for board in found] == ["core.errands", "core.errands (2)"]
    assert [names(board) for board in found] == [["edge", "edge+Harness"], ["bare"]]
    assert [one.run for one in refused] == ["bare"]
    assert "its environment version of 'core.errands' is 9.9" in refused[0].reason
    first = json.loads((folders[0] / "run.json").read_text())["environments"]["core.errands"]
    assert [board.apart for board in found] == [f"version of core.errands: {first}", "version of core.errands: 9.9"]


def test_runs_of_other_panels_and_encoders_stand_apart_too(folders):
    edit(folders[1], encoder="other/encoder")
    panels = json.loads((folders[2] / "run.json").read_text())["panels"]
    edit(folders[2], panels={"core.errands": {**panels["core.errands"], "hash": "0123"}})
    found, refused = boards(loaded(folders))
    assert len(found) == 3
    assert "encoder: other/encoder" in found[1].apart
    assert [
        f"panel of core.errands: tasks 4, hash {hash}" in board.apart
        for board, hash in zip(found[1:], (panels["core.errands"]["hash"], "0123"), strict=True)
    ] == [True, True]
    assert "its bank has vectors of encoder 'other/encoder'" in refused[0].reason
    assert "its panel of 'core.errands'" in refused[1].reason


def test_a_run_without_an_evaluated_stage_is_left_out_and_named(folders):
    lines = (folders[2] / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folders[2] / "episodes.jsonl").write_text("".join(line for line in lines if "eval/1" not in line))
    edit(folders[2], status="running")
    (found,), refused = boards(loaded(folders))
    assert (names(found), found.apart) == (["edge", "edge+Harness"], "")
    assert [(one.run, one.reason) for one in refused] == [("bare", "no stage of it is evaluated yet; let it run on, then ask again")]
    assert boards(loaded(folders[2:])) == ([], refused)


def test_why_a_run_has_no_scores_is_its_error_where_it_failed_and_that_it_goes_on_where_it_was_interrupted(folders):
    lines = (folders[2] / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folders[2] / "episodes.jsonl").write_text("".join(line for line in lines if "eval/1" not in line))
    edit(folders[2], status="failed", error="out of memory\x1b")
    _, (failed,) = boards(loaded(folders))
    assert failed.reason.startswith("it failed before a stage of it was evaluated")
    assert failed.reason.endswith(": out of memory�")
    edit(folders[2], status="interrupted", error=None)
    _, (interrupted,) = boards(loaded(folders))
    assert interrupted.reason == "it was interrupted before a stage of it was evaluated; the same command goes on with it"


def test_a_damaged_run_is_named_and_the_others_stand(folders):
    edit(folders[2], panels={})
    (found,), refused = boards(loaded(folders))
    assert names(found) == ["edge", "edge+Harness"]
    assert "damaged" in refused[0].reason


def test_a_run_without_base_is_measured_by_one_that_starts_alike(folders):
    lines = (folders[0] / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folders[0] / "episodes.jsonl").write_text("".join(line for line in lines if "eval/0" not in line))
    (found,), _ = boards(loaded([folders[0], folders[2]]))
    assert all(standing.versus_base for standing in found.standings)
    (alone,), _ = boards(loaded(folders[:1]))
    assert not any(standing.versus_base for standing in alone.standings)


def rescored(folder, phase, score):
    """Give all episodes of a phase (by its beginning) one score."""
    path = folder / "episodes.jsonl"
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    for episode in episodes:
        if episode["phase"].startswith(phase):
            episode["score"] = score
    path.write_text("".join(json.dumps(episode) + "\n" for episode in episodes))


def test_each_run_is_measured_by_its_own_base_where_policies_start_apart(folders):
    (before,), _ = boards(loaded([folders[0], folders[2]]))
    rescored(folders[2], "eval/0", 1.0)
    (after,), _ = boards(loaded([folders[0], folders[2]]))
    gains = [{standing.contender.name: standing.versus_base.interval.mean for standing in board.standings} for board in (before, after)]
    assert gains[1]["edge"] == gains[0]["edge"]
    assert gains[1]["bare"] == pytest.approx(next(one.mean.mean for one in after.standings if one.contender.name == "bare") - 100)
    assert gains[1]["bare"] < gains[0]["bare"]


def test_a_warm_up_that_may_see_another_bank_starts_another_policy(folders):
    def starts():
        return {entry.start for entry in entries(loaded([folders[0], folders[2]]))}

    assert len(starts()) == 1
    for folder in (folders[0], folders[2]):
        resolved = json.loads((folder / "run.json").read_text())["resolved"]
        stream = [{**resolved["stream"][0], "warmup": True}, *resolved["stream"]]
        edit(folder, resolved={**resolved, "stream": stream, "warmup": [{"name": "dial.turn", "fields": {}}]})
    assert len(starts()) == 2


def cross(folders, axes):
    cells = [Cell(id=" · ".join(labels.values()), axes=labels, state="finished", run=folder.name) for folder, labels in axes]
    return Cross(axes={axis: sorted({labels[axis] for _, labels in axes}) for axis in axes[0][1]}, cells=cells)


def test_the_labels_of_the_axes_that_vary_name_the_contenders_of_a_cross(folders):
    labels = [
        {"learner": "turn", "store": "sqlite", "selector": "nearest", "seed": "0"},
        {"learner": "turn", "store": "sqlite", "selector": "nearest", "seed": "1"},
        {"learner": "plain turn", "store": "sqlite", "selector": "none", "seed": "0"},
    ]
    (found,), _ = boards(loaded(folders), cross(folders, list(zip(folders, labels, strict=True))))
    assert names(found) == ["plain turn · none", "turn · nearest", "turn · nearest+Harness"]
    by_name = {standing.contender.name: standing.contender for standing in found.standings}
    assert by_name["turn · nearest"].axes == {"learner": "turn", "store": "sqlite", "selector": "nearest"}
    assert sorted(by_name["turn · nearest"].scores) == [0, 1]


def test_a_run_is_called_by_the_cell_that_it_was_made_for_not_by_one_that_is_the_same(folders):
    made = cross(folders[::2], [(folders[0], {"shown": "A"}), (folders[2], {"shown": "B"})])
    made.cells.append(Cell(id="C", axes={"shown": "C"}, state="same", reason="A", run=folders[0].name))
    (found,), _ = boards(loaded(folders[::2]), made)
    assert names(found) == ["A", "A+Harness", "B"]


def test_a_run_that_the_cross_does_not_know_keeps_its_name(folders):
    (found,), _ = boards(loaded(folders), cross(folders, [(folders[0], {"learner": "turn"})]))
    assert "bare" in names(found)
    assert boards([]) == ([], [])


def one_board(domain, *entrants):
    """Of ``(labels, score of every task)``, experience arms all."""
    contenders = []
    for labels, value in entrants:
        scores = {seed: {(domain, f"t{number}"): float(value) for number in range(4)} for seed in (0, 1)}
        name = labels.get("learner", "own") + "+Harness"
        contenders.append(Contender(name=name, arm="experience", scores=scores, plain=scores, axes=labels, runs=(f"{domain}-{name}",)))
    return leaderboard(contenders, title=domain, environments={domain: f"{domain} 1"}, bootstrap=Bootstrap(resamples=100))


def test_across_boards_the_contenders_that_stand_on_all_are_pooled():
    here = one_board("alf", ({"stream": "alf", "learner": "grpo"}, 80), ({"stream": "alf", "learner": "clone"}, 20))
    there = one_board(
        "shop",
        ({"stream": "shop", "learner": "clone"}, 40),
        ({"stream": "shop", "learner": "grpo"}, 50),
        ({"stream": "shop", "learner": "rare"}, 9),
    )
    found = across([here, there])
    assert (found.title, found.panel) == ("all environments", {"alf": 4, "shop": 4})
    assert found.environments == {"alf": "alf 1", "shop": "shop 1"}
    assert [(one.contender.name, one.mean.mean) for one in found.standings] == [("grpo+Harness", 65.0), ("clone+Harness", 30.0)]
    assert found.standings[0].contender.axes == {"learner": "grpo"}
    assert found.standings[0].contender.runs == ["alf-grpo+Harness", "shop-grpo+Harness"]
    assert found.standings[0].versus_plain.tasks == 8


def test_across_needs_two_boards_of_different_domains_with_a_contender_in_common():
    grpo, clone = (
        one_board("alf", ({"stream": "alf", "learner": "grpo"}, 80)),
        one_board("shop", ({"stream": "shop", "learner": "clone"}, 40)),
    )
    assert across([grpo]) is None
    assert across([grpo, replace(grpo, title="alf (2)")]) is None
    assert across([grpo, clone]) is None
    assert across([grpo, clone, one_board("web", ({"stream": "web", "learner": "grpo"}, 1))]) is None


def test_boards_with_banks_of_other_encoders_are_not_pooled():
    here, there = one_board("alf", ({}, 10)), one_board("shop", ({}, 30))
    assert across([replace(here, encoder="a"), there]).encoder == "a"
    assert across([replace(here, encoder="a"), replace(there, encoder="b")]) is None


def moved(folder, env):
    """The same run as of another domain."""
    header = json.loads((folder / "run.json").read_text())
    for key in ("environments", "panels"):
        header[key] = {env: header[key]["core.errands"]}
    (folder / "run.json").write_text(json.dumps(header))
    path = folder / "episodes.jsonl"
    path.write_text(path.read_text().replace("/core.errands/", f"/{env}/").replace('/core.errands"', f'/{env}"'))
    return folder


def test_why_there_is_no_board_across_others_is_said_with_both_encoders(folders, tmp_path):
    """One configuration on two domains, whose banks are of two encoders."""
    here, there = folders[0], moved(Path(shutil.copytree(folders[0], tmp_path / "elsewhere" / folders[0].name)), "shop")
    found, refused = boards(loaded([here, there]))
    assert (len(found), refused) == (2, [])
    assert across(found).title == "all environments"
    edit(there, encoder="other/encoder")
    found, refused = boards(loaded([here, there]))
    assert across(found) is None
    assert [(one.run, one.reason) for one in refused] == [
        (
            "all environments",
            "banks of core.errands have vectors of encoder 'core.hashing/256', those of shop of 'other/encoder': figures of the two must"
            " not stand in one table. Run all with one encoder",
        )
    ]


def test_across_boards_without_a_cross_names_tell_contenders():
    here, there = one_board("alf", ({}, 10)), one_board("shop", ({}, 30))
    assert [(one.contender.name, one.mean.mean) for one in across([here, there]).standings] == [("own+Harness", 20.0)]


def test_the_axis_that_tells_boards_apart_may_have_another_name():
    here, there = one_board("alf", ({"env": "alf", "learner": "grpo"}, 10)), one_board("shop", ({"env": "shop", "learner": "grpo"}, 30))
    (found,) = across([here, there]).standings
    assert (found.contender.axes, found.mean.mean) == ({"learner": "grpo"}, 20.0)
    other = one_board("shop", ({"env": "shop", "learner": "clone"}, 30))
    assert across([here, other]) is None, "either axis may be the one, so none is"
