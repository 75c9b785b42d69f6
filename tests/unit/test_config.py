from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

import xplearn
from tests.needs import TORCH
from xplearn.compose import compose, merge
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, PluginError, UnknownComponentError, nearest
from xplearn.experiment.build import sampling
from xplearn.experiment.stream import stages
from xplearn.fields import build
from xplearn.interfaces import Selector
from xplearn.plugins import installed
from xplearn.registry import Registry

REGISTRY = installed().registry
TOY = ["stream=[{env: core.errands}]", "policy=core.random", "sampling.choices=admissible"]


@dataclass(kw_only=True)
class Inner:
    rank: int = 16
    alpha: int = 32

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError("rank", f"is {self.rank}; want at least 1")


@dataclass(kw_only=True)
class Part(Selector):
    need: str
    k: int = 1
    mode: Literal["a", "b"] = "a"
    path: str = ""
    names: list[str] = field(default_factory=list)
    lora: Inner | None = None
    preset: Inner = field(default_factory=lambda: Inner(rank=4))

    def select(self, queries, store):
        return []


def test_fields_are_converted_to_their_annotated_types():
    part = build(Part, {"need": "x", "k": "3", "lora": {"rank": 8}}, path="selector")
    assert (part.k, part.lora) == (3, Inner(rank=8))


def test_a_nested_block_is_laid_on_its_default():
    part = build(Part, {"need": "x", "preset": {"alpha": 1}}, path="selector")
    assert part.preset == Inner(rank=4, alpha=1)


def test_paths_are_accepted_as_strings():
    assert build(Part, {"need": "x", "path": Path("a/b")}, path="s").path == "a/b"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"need": "x", "kk": 1}, "selector.kk: unknown key; did you mean 'k'? (known: need, k, mode, path, names, lora, preset)"),
        ({"need": "x", "k": "many"}, "selector.k: Value 'many' of type 'str' could not be converted to Integer"),
        ({"need": "x", "mode": "c"}, "selector.mode: Invalid value 'c', expected one of ['a', 'b']"),
        ({"need": "x", "lora": {"rnk": 1}}, "selector.lora.rnk: unknown key; did you mean 'rank'? (known: rank, alpha)"),
        ({"need": "x", "lora": {"rank": 0}}, "selector.lora.rank: is 0; want at least 1"),
        ({"need": "x", "lora": 3}, "selector.lora: want a mapping, not 3"),
        ({"need": "x", "k": 2, "names": {"a": 1}}, "selector.names: want a list, not a mapping"),
        ({"need": "x", "names": "a"}, "selector.names: want a list"),
        ({}, "selector.need: is required (str)"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_path(fields, message):
    with pytest.raises(ConfigError) as error:
        build(Part, fields, path="selector")
    assert str(error.value) == message


def test_what_was_checked_before_is_told_from_what_only_equals_it_and_is_nobody_elses(monkeypatch):
    assert [build(Part, {"need": "x", "path": path}, path="p").path for path in ("1", 1, True, 1.0)] == ["1", "1", "True", "1.0"]
    first, second = (build(Part, {"need": "x", "names": ["a"]}, path="p") for _ in range(2))
    first.names.append("b")
    assert (second.names, build(Part, {"need": "x", "names": ["a"]}, path="p").names) == (["a"], ["a"])
    for home in ("/here", "/there"):
        monkeypatch.setenv("HOME", home)
        assert build(Part, {"need": "x", "path": "${oc.env:HOME}"}, path="p").path == home


def test_later_layers_win_key_by_key():
    assert merge({"a": {"x": 1, "y": 2}, "b": [1]}, {"a": {"y": 3}, "b": [2]}) == {"a": {"x": 1, "y": 3}, "b": [2]}


def test_naming_another_part_drops_the_fields_of_the_old_one():
    base = {"selector": {"name": "core.nearest", "k": 3}}
    assert merge(base, {"selector": "core.none"}) == {"selector": {"name": "core.none"}}
    assert merge(base, {"selector": {"name": "core.nearest", "k": 5}}) == {"selector": {"name": "core.nearest", "k": 5}}
    assert compose(None, ["selector=core.nearest", "selector.k=2", "selector.name=core.bm25"], REGISTRY) == {
        "selector": {"name": "core.bm25"}
    }


@pytest.mark.parametrize(
    ("items", "changes", "expected"),
    [
        ([{"name": "a", "x": 1}, "b"], {0: {"y": 2}}, [{"name": "a", "x": 1, "y": 2}, "b"]),
        ([{"name": "a", "x": 1}], {"0": {"name": "a", "x": 3}}, [{"name": "a", "x": 3}]),
        ([{"name": "a", "x": 1}], {0: {"name": "b"}}, [{"name": "b"}]),
        (["a"], {0: {"x": 1}}, [{"name": "a", "x": 1}]),
        (["a"], {1: "b", 2: {"name": "c"}}, ["a", "b", {"name": "c"}]),
    ],
)
def test_a_mapping_by_number_changes_items_of_a_list(items, changes, expected):
    assert merge({"learner": items}, {"learner": changes}) == {"learner": expected}
    assert compose({"learner": items}, [("learner", changes)], REGISTRY) == {"learner": expected}


def test_a_preset_laid_over_an_experiment_may_change_one_learner(tmp_path):
    registry = Registry()
    (tmp_path / "over.yaml").write_text("learner: {0: {arms: plain}}")
    registry.put_preset("over", "test", "", "")
    registry.preset_text = lambda name: (tmp_path / f"{name}.yaml").read_text()
    source = {"learner": [{"name": "core.clone", "epochs": 8}, "other"]}
    assert compose(source, ["preset=over"], registry) == {"learner": [{"name": "core.clone", "epochs": 8, "arms": "plain"}, "other"]}
    assert compose({"preset": "over"}, [], registry) == {"learner": [{"arms": "plain"}]}


@pytest.mark.parametrize(
    "overrides",
    [
        ["learner={0: core.clone}", "learner.0.lr=1e-3"],
        ["learner={'0': {name: core.clone}}", "learner={0: {lr: 1e-3}}"],
        ["learner=[core.clone]", "learner.0.lr=1e-3"],
        ["learner=[]", "learner.0=core.clone", "learner.0.lr=1e-3"],
    ],
)
def test_numbers_mean_the_same_however_they_are_written(overrides):
    assert compose(None, overrides, REGISTRY) == {"learner": [{"name": "core.clone", "lr": 1e-3}]}


def test_an_override_by_the_number_after_the_last_adds_an_item():
    assert compose(None, ["learner=[core.clone]", "learner.1=hamo.release"], REGISTRY) == {"learner": ["core.clone", "hamo.release"]}
    with pytest.raises(ConfigError, match=r"learner\.3: want a number"):
        compose(None, ["learner=[core.clone]", "learner.3=hamo.release"], REGISTRY)


def test_a_mapping_by_number_cannot_leave_a_gap_and_is_no_list_elsewhere():
    with pytest.raises(ConfigError, match=r"learner\.3: the list has 1 items, so the next is 1"):
        merge({"learner": ["a"]}, {"learner": {3: "b"}})
    assert merge({"policy": {"bias": {0: 1.0}}}, {"policy": {"bias": {1: 2.0}}}) == {"policy": {"bias": {0: 1.0, 1: 2.0}}}


def test_the_name_of_a_run_is_just_a_name():
    assert compose(None, ["run.seed=5", "run.name=foo"], REGISTRY) == {"run": {"seed": 5, "name": "foo"}}
    assert merge({"run": {"name": "a", "seed": 1}}, {"run": {"name": "b"}}) == {"run": {"name": "b", "seed": 1}}


def test_fields_alone_are_fields_of_the_default_part():
    experiment, _ = load_experiment(None, [*TOY, "store.path=bank.sqlite", "encoder.dim=64"], REGISTRY)
    assert (experiment.store.name, experiment.store.fields) == ("core.sqlite", {"path": "bank.sqlite"})
    assert (experiment.encoder.name, experiment.encoder.fields) == ("core.hashing", {"dim": 64})


@pytest.mark.parametrize("wrong", [None, 3, [1], [["demo"]], ""])
def test_what_cannot_name_a_preset_is_refused(wrong):
    with pytest.raises(ConfigError, match="preset: want the name of a preset or a list of names"):
        compose({"preset": wrong}, [], REGISTRY)
    with pytest.raises(ConfigError, match="preset: want the name of a preset or a list of names"):
        compose(None, [("preset", wrong)], REGISTRY)


def test_what_is_no_file_says_what_it_is(tmp_path):
    with pytest.raises(ConfigError, match="is a folder; want an experiment file"):
        compose(str(tmp_path), [], REGISTRY)
    with pytest.raises(ConfigError, match="cannot be read"):
        compose("a" * 5000, [], REGISTRY)
    with pytest.raises(ConfigError, match="want the path of a file"):
        compose(3, [], REGISTRY)


def test_overrides_reach_into_lists_and_bare_names():
    composed = compose(None, ["learner=core.clone", "learner.0.lr=1e-4", "stream=[{env: core.errands}]", "stream.0.env.count=3"], REGISTRY)
    assert composed == {"learner": [{"name": "core.clone", "lr": 1e-4}], "stream": [{"env": {"name": "core.errands", "count": 3}}]}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["run.seed"], "'run.seed' is not an override; want key.path=value, e.g. run.seed=1"),
        (["backbone.tiny"], "'backbone.tiny' is the name of a preset; to lay it over the rest: preset=[backbone.tiny]"),
        (["learner=[core.clone]", "learner.3.lr=1"], "learner.3: want a number from 0 to 0"),
        (["run=3", "run.seed=1"], "run: is 3, so it has no parts of its own"),
        (["stream=[{env: core.errands}]", "stream.²=3"], "stream.²: the list has 1 item; want its number, e.g. stream.0.²"),
        (["learner=core.clone", "learner.lr=1e-3"], "learner.lr: the list has 1 item; want its number, e.g. learner.0.lr"),
        (["learner=[core.clone, core.grpo]", "learner.lora.rank=3"], "learner.lora: the list has 2 items; want the number of one, from 0"),
        (["preset=nothing.like.it"], "preset: no preset is called 'nothing.like.it'"),
    ],
)
def test_a_bad_override_says_what_it_wants(overrides, message):
    with pytest.raises(ConfigError, match=r".") as error:
        compose(None, overrides, REGISTRY)
    assert str(error.value).startswith(message)


def test_a_file_is_laid_on_the_presets_it_names(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("preset: backbone.smollm2\nstream: [{env: core.errands}]\npolicy: {context: 512}\n")
    composed = compose(str(file), [], REGISTRY)
    assert composed["policy"]["name"] == "core.hf"
    assert composed["policy"]["context"] == 512


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: 1\nb: [1,\n", "line 3: not YAML"), ("- 1", "want a mapping"), ("a: 1\na: 2", "not YAML")],
)
def test_a_file_that_is_no_mapping_is_refused(tmp_path, text, message):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        compose(str(file), [], REGISTRY)
    assert message in str(error.value)


def test_a_missing_file_and_an_unknown_preset_are_told_apart():
    with pytest.raises(ConfigError, match=r"nope\.yaml: no such file"):
        compose("nope.yaml", [], REGISTRY)
    with pytest.raises(ConfigError, match=r"neither a file nor a preset; did you mean 'backbone\.smollm2'"):
        compose("backbone.smolm2", [], REGISTRY)


def presets(*names):
    registry = Registry()
    for name in names:
        registry.put_preset(name, "test", "", "")
    return registry


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("baseline", "did you mean one of baselines/base, baselines/eto?"),
        ("baselines", "did you mean one of baselines/base, baselines/eto?"),
        ("hamo", "did you mean one of mini/hamo_cross, paper/hamo_cross?"),
        ("mini/ham", "did you mean 'mini/hamo_cross'?"),
        ("baselines/etto", "did you mean 'baselines/eto'?"),
        ("zzz", None),
    ],
)
def test_a_preset_that_was_begun_or_misspelt_is_answered_with_those_it_may_mean(name, question):
    registry = presets("baselines/base", "baselines/eto", "demo", "mini/hamo_cross", "paper/hamo_cross")
    for source, overrides, problem in [
        (name, [], f"'{name}' is neither a file"),
        (None, [f"preset={name}"], "preset: no preset is called"),
    ]:
        with pytest.raises(ConfigError) as error:
            compose(source, overrides, registry)
        assert str(error.value).startswith(problem)
        assert (question or "(list them: xplearn plugins)") in str(error.value)
        assert question is not None or "did you mean" not in str(error.value)


def test_a_file_that_is_not_there_is_answered_with_its_neighbour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hamo.yaml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    for wrong, question in [
        ("hamo.yml", "; did you mean 'hamo.yaml'?"),
        ("hmo.yaml", "; did you mean 'hamo.yaml'?"),
        (f"{tmp_path}/hamo.yml", f"; did you mean '{tmp_path}/hamo.yaml'?"),
        ("notes.yaml", ""),
        ("mini/first.yaml", "; did you mean the preset 'mini/first'?"),
        ("nowhere/hamo.yaml", ""),
    ]:
        with pytest.raises(ConfigError) as error:
            compose(wrong, [], presets("mini/first"))
        assert str(error.value) == f"{wrong}: no such file{question}"


def test_a_whole_experiment_is_checked_with_full_paths():
    experiment, _ = load_experiment(None, [*TOY, "evaluate.tasks.limit=3"], REGISTRY)
    assert experiment.evaluate.tasks.split == "test"
    assert experiment.stream[0].env.name == "core.errands"
    for override, path in [
        ("stream.0.tasks.limt=1", "stream.0.tasks.limt: unknown key; did you mean 'limit'?"),
        ("stream.0.rounds=0", "stream.0.rounds: is 0; want at least 1"),
        ("stream.0.per_round=0", "stream.0.per_round: is 0; want at least 1"),
        ("sampling.stop=['END', '']", "sampling.stop: holds an empty text"),
        ("evaluate.sampling.stop=['']", "evaluate.sampling.stop: holds an empty text"),
        ("sampling.stop=END", "sampling.stop: want a list"),
        ("run.seed=x", "run.seed: Value 'x'"),
        ("evaluate.sampling.top_p=2", "evaluate.sampling.top_p: is 2.0; want a number in (0, 1]"),
        ("run.name=../up", "run.name: '../up' cannot name a folder"),
        (f"run.name={'x' * 300}", "run.name: 'xxx"),
        ("run.step_seconds=nan", "run.step_seconds: is nan; want a positive, finite number"),
        ("sampling.temperature=nan", "sampling.temperature: is nan; want at least 0"),
        ("replay.ratio=inf", "replay.ratio: is inf; want at least 0 and a finite number"),
    ]:
        with pytest.raises(ConfigError) as error:
            load_experiment(None, [*TOY, override], REGISTRY)
        assert str(error.value).startswith(path)


@pytest.mark.parametrize(
    ("overrides", "rollouts", "evaluation"),
    [
        ([], ("\n",), ("\n",)),
        (["sampling.stop=[]"], (), ()),
        (['sampling.stop=["END", "\\n\\n"]'], ("END", "\n\n"), ("END", "\n\n")),
        (["sampling.stop=[]", "evaluate.sampling.stop=[END]"], (), ("END",)),
        (["evaluate.sampling.stop=[]"], ("\n",), ()),
    ],
)
def test_texts_that_end_a_completion_are_those_of_sampling_unless_evaluation_says_otherwise(overrides, rollouts, evaluation):
    experiment, _ = load_experiment(None, [*TOY, *overrides], REGISTRY)
    assert (sampling(experiment.sampling).stop, sampling(experiment.evaluate.sampling).stop) == (rollouts, evaluation)
    assert sampling(experiment.evaluate.sampling).temperature == 0.0


def test_an_unknown_part_suggests_the_nearest():
    with pytest.raises(UnknownComponentError, match=r"no selector is called 'core.neerest'; did you mean 'core.nearest'\?"):
        load_experiment(None, [*TOY, "selector=core.neerest"], REGISTRY)


def test_a_name_that_was_begun_is_meant_where_no_other_begins_so():
    assert nearest("obs", ["nouns", "observation", "max_steps"]) == "observation"
    assert nearest("obs", ["nouns", "observation", "observed"]) != "observation"


@pytest.mark.parametrize(("key", "words"), [("selector", "--slot selector"), ("record", r"for none say \[\]"), ("policy", "--slot policy")])
def test_a_part_that_is_null_says_what_to_say_instead(key, words):
    with pytest.raises(ConfigError, match=f"^{key}: is null; .*{words}"):
        load_experiment({"stream": [{"env": "core.errands"}], "policy": "core.random", key: None}, [], REGISTRY)


def test_make_builds_one_part_from_keywords():
    assert xplearn.make("selector", "core.random", k=2).k == 2
    with pytest.raises(ConfigError, match=r"core\.random\.kk: unknown key"):
        xplearn.make("selector", "core.random", kk=2)


def test_a_name_of_a_plugin_that_is_not_installed_says_how_to_get_ours_and_invents_no_package():
    with pytest.raises(PluginError, match=r"'hamo': is not installed, so there is no selector 'hamo\.x' \(pip install xplearn-hamo\)"):
        Registry().get("selector", "hamo.x")
    with pytest.raises(PluginError, match=r"'scientist': is not installed, .* \(installed are none\)"):
        Registry().get("selector", "scientist.best")


STREAM = {"stream": [{"env": "core.errands"}, {"env": "core.counting"}, {"env": {"name": "core.counting", "length": 2}}]}


def test_the_stages_stand_in_another_order_by_one_override():
    listed, _ = load_experiment(STREAM, TOY[1:], REGISTRY)
    ordered, given = load_experiment(STREAM, [*TOY[1:], "order=[2,0,1]", "stream.1.tasks.limit=5"], REGISTRY)
    assert [stage.env for stage in ordered.stream] == [listed.stream[number].env for number in (2, 0, 1)]
    assert ordered.stream[2].tasks.limit == 5
    assert given["order"] == [2, 0, 1]


def test_what_is_given_is_never_changed():
    given, value = {"stream": [{"env": "core.errands"}], "learner": ["core.clone"]}, ["core.record"]
    compose(given, [("record", value), "stream.0.env.per_kind=2", "learner.0.lr=1", "record.0.k=1"], REGISTRY)
    assert given == {"stream": [{"env": "core.errands"}], "learner": ["core.clone"]}
    assert value == ["core.record"]


def test_what_is_wrong_in_a_reordered_stage_is_told_by_its_number_as_listed():
    with pytest.raises(ConfigError, match=r"stream\.0\.env\.count_: unknown key"):
        load_experiment(STREAM, [*TOY[1:], "order=[2,0,1]", "stream.0.env.count_=3"], REGISTRY)
    ordered, _ = load_experiment(STREAM, [*TOY[1:], "order=[2,0,1]"], REGISTRY)
    assert [stage.path for stage in stages(ordered)] == ["stream.2", "stream.0", "stream.1"]


def test_an_error_names_a_stage_as_an_override_does_in_any_order():
    with pytest.raises(ConfigError, match=r"^stream\.1\.env\.sise: unknown key; did you mean 'size'\?"):
        load_experiment(STREAM, [*TOY[1:], "order=[2,1,0]", "stream.1.env.sise=3", "order=[1,2,0]"], REGISTRY)


@pytest.mark.parametrize(("wrong", "meant"), [("polcy", "policy"), ("ordr", "order"), ("presets", "preset"), ("learners", "learner")])
def test_a_key_that_no_experiment_has_is_answered_with_all_that_may_stand_at_the_top(wrong, meant):
    with pytest.raises(ConfigError) as error:
        load_experiment(None, [f"{wrong}=x"], REGISTRY)
    assert str(error.value).startswith(f"{wrong}: unknown key; did you mean '{meant}'? (known: preset, order, stream, policy, ")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (["seed=1"], "run.seed"),
        (["selector=core.nearest", "k=3"], "selector.k"),
        pytest.param(["lr=1", "learner=[core.clone]"], "learner.0.lr", marks=TORCH),
    ],
)
def test_a_field_said_at_the_top_is_answered_with_where_it_belongs(said, meant):
    with pytest.raises(ConfigError, match=f"^[a-z]+: unknown key; did you mean '{meant}'\\?"):
        load_experiment(None, [*TOY, *said], installed().registry)


def test_a_cross_file_says_the_command_that_takes_it(tmp_path):
    file = tmp_path / "cross.yaml"
    file.write_text("base: {policy: core.random}\naxes: {seed: [0, 1]}\n")
    with pytest.raises(ConfigError, match=r"^axes: this is a cross file: xplearn cross .*cross\.yaml$"):
        load_experiment(str(file), [], REGISTRY)


@pytest.mark.parametrize("order", ["[0,1]", "[0,1,1]", "[1,2,3]", "[a,b,c]", "2", "[true,0,2]", "{}"])
def test_an_order_that_is_no_permutation_of_the_stages_is_refused(order):
    with pytest.raises(ConfigError, match=r"order: is .*; want each of the 3 stages once, by number from 0, e\.g\. \[2, 1, 0\]"):
        load_experiment(STREAM, [*TOY[1:], f"order={order}"], REGISTRY)
