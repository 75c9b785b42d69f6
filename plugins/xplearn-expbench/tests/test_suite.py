from __future__ import annotations

import pytest
from xplearn_expbench.catalogue import THIRTEEN

import xplearn
from xplearn import ConfigError, DataError
from xplearn.compose import compose
from xplearn.plugins import installed

ALLOWED = {"execution": {"allow": True}}


def make(**fields):
    return xplearn.make("environment", "expbench.suite", **fields)


def test_by_default_it_asks_the_thirteen_but_the_one_without_own_rows():
    names = [spec.name for spec in make().specs()]
    assert names == [name for name in THIRTEEN if name != "gpqa_diamond"]
    assert "gpqa_diamond" in [spec.name for spec in make(tier="official", data="here").specs()]


def test_the_task_that_is_left_out_is_named(monkeypatch, fakes):
    monkeypatch.setattr("xplearn_expbench.catalogue.THIRTEEN", ("gpqa_diamond", "gsm8k", "mmlu"))
    assert make().version.endswith("without gpqa_diamond, which the mini tier lacks")
    assert "without" not in make(mix=["gsm8k"]).version


def test_tasks_are_asked_in_the_order_of_the_mix_as_alone(fakes):
    suite = make(mix=["mmlu", "gsm8k"])
    alone = [task for name in ("mmlu", "gsm8k") for task in xplearn.make("environment", f"expbench.{name}").tasks("test")]
    tasks = suite.tasks("test")
    assert [(task.id, task.kind, task.goal) for task in tasks] == [(task.id, task.kind, task.goal) for task in alone]
    assert {task.env for task in tasks} == {"expbench.suite"}
    env = xplearn.make("environment", "expbench.mmlu")
    assert suite.reset(tasks[0], seed=0) == env.reset(env.tasks("test")[0], seed=0)


def test_each_kind_is_played_and_judged_as_its_own(fakes):
    suite = make(mix=["mmlu", "gsm8k", "humaneval", "rec_movies", "nq_open"], **ALLOWED)
    first = {task.kind: task for task in reversed(suite.tasks("test"))}
    assert len(first) == 5
    assert all(suite.demonstrate(task, seed=0).success for task in first.values())
    assert [suite.reset(first[kind], seed=0).actions is not None for kind in ("rec_movies", "gsm8k")] == [True, False]


def test_a_ranking_task_in_the_mix_offers_ranking():
    assert "env.ranking" in make(mix=["gsm8k", "rec_beauty"]).provides
    assert "env.ranking" not in make(mix=["gsm8k"]).provides


def test_examples_may_be_for_some_tasks_only(fakes):
    suite = make(mix=["mmlu", "gsm8k"], shots=2, shots_in=["gsm8k"])
    turns = {task.kind: len(suite.opening(task, suite.reset(task, seed=0))) for task in suite.tasks("test")}
    assert turns == {"gsm8k": 2 + 2 * 2, "mmlu": 2}
    assert "gsm8k" in suite.version


def test_programs_can_be_left_out_by_what_the_message_says(fakes):
    suite = make(mix=["gsm8k", "humaneval", "mmlu"])
    with pytest.raises(ConfigError, match=r"execution\.allow=true; or leave it out: stream\.0\.env\.mix=\[gsm8k, mmlu\]"):
        suite.tasks("test")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"mix": ["gsm9k"]}, r"mix: no task is called 'gsm9k'; did you mean 'gsm8k'\? \(known: "),
        ({"mix": ["gsm8k", "gsm8k"]}, "mix: names a task twice"),
        ({"mix": ["gpqa_diamond"]}, "mix: gpqa_diamond has no own rows; say tier=official"),
        ({"mix": ["gsm8k"], "shots": 2, "shots_in": ["mmlu"]}, r"shots_in: 'mmlu' is not asked here \(asked: gsm8k\)"),
        ({"shots": 2, "shots_in": ["chem"]}, "shots_in: no task is called 'chem'; did you mean 'chemistry'"),
        ({"shots_in": ["gsm8k"]}, "shots_in: names tasks while shots is 0"),
    ],
)
def test_a_wrong_mix_is_told_with_the_way_out(fields, told):
    with pytest.raises(ConfigError, match=told):
        make(**fields)


def test_published_files_lie_in_a_folder_by_task(fakes, tmp_path):
    (tmp_path / "gsm8k").mkdir()
    with pytest.raises(DataError, match=r"mmlu: is not there"):
        make(tier="official", data=str(tmp_path), mix=["gsm8k", "mmlu"]).tasks("test")
    with pytest.raises(ConfigError, match="data: is empty"):
        make(tier="official", mix=["gsm8k"]).splits()


def slices(preset):
    """The suite of a preset, what it learns from and what it tests."""
    said = compose(preset, [], installed().registry)
    stage = said["stream"][0]
    return make(**{key: value for key, value in stage["env"].items() if key != "name"}), stage["tasks"], said["evaluate"]["tasks"]


@pytest.mark.parametrize("preset", ["expbench/transfer", "expbench/transfer_few_shot"])
def test_transfer_learns_on_generic_tasks_and_is_tested_on_chemistry_alone(preset):
    suite, learned, tested = slices(preset)
    names = {spec.name: spec.group for spec in suite.specs()}
    assert {names[kind] for kind in learned["kinds"]} == {"generic"}
    assert (learned["split"], tested["split"], tested["kinds"]) == ("train", "test", ["chemistry"])
    assert {*learned["kinds"], *tested["kinds"]} == set(names)


def test_few_shot_transfer_shows_examples_of_chemistry_alone():
    zero, few = slices("expbench/transfer")[0], slices("expbench/transfer_few_shot")[0]
    assert {spec.name: few.shots_of(spec) for spec in few.specs() if few.shots_of(spec)} == {"chemistry": 4}
    assert not any(zero.shots_of(spec) for spec in zero.specs())
