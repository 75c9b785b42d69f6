import pytest

from tests.needs import TORCH
from xplearn.errors import ConfigError
from xplearn.experiment.cross.axes import matches, read_axes, read_patterns
from xplearn.experiment.cross.file import read_cross
from xplearn.experiment.cross.labels import joined, slug
from xplearn.plugins import installed

SELECTORS = ["core.none", {"name": "core.nearest", "k": 1}, {"name": "core.nearest", "k": 3}]


def labels(name, values):
    (axis,) = read_axes({name: values})
    return list(axis.values)


def refused(**said):
    with pytest.raises(ConfigError) as caught:
        read_cross({"axes": {"seed": [0, 1]}, **said}, installed().registry)
    return caught.value.path, str(caught.value)


def test_labels_of_a_list_are_made_from_its_values_and_say_as_much_as_tells_them_apart():
    assert labels("selector", SELECTORS) == ["core.none", "core.nearest k=1", "core.nearest k=3"]
    assert labels("seed", [0, 1]) == ["0", "1"]
    assert labels("record", [[], ["core.record"], [{"name": "hamo.cards", "writer": "rules"}, "core.record"]]) == [
        "none",
        "core.record",
        "hamo.cards+core.record",
    ]
    assert labels("stream", [[{"env": "core.errands"}], [{"env": {"name": "core.counting", "size": 3}}]]) == [
        "core.errands",
        "core.counting",
    ]
    assert labels("order", [[0, 1], [1, 0]]) == ["0+1", "1+0"]
    assert labels("evaluate.before", [True, None]) == ["true", "null"]


def test_labels_of_a_mapping_are_its_own():
    assert labels("selector", {"no bank": "core.none", "<b>bank</b>": "core.nearest"}) == ["no bank", "<b>bank</b>"]


@pytest.mark.parametrize("name", ["", " a", "a\nb", "\x1b[31mred", "a · b", "x" * 61, "\u202eabc"])
def test_a_label_that_cannot_be_shown_is_refused(name):
    with pytest.raises(ConfigError, match=r"^axes\.selector: .* is no name"):
        read_axes({"selector": {name: "core.none"}})


def test_labels_made_of_unprintable_values_are_shown_without_what_controls_a_screen():
    assert labels("policy.model", ["a\x1b[31mb\n", "x" * 100]) == ["a [31mb", "x" * 59 + "…"]


def test_two_values_of_one_label_are_refused():
    with pytest.raises(ConfigError, match=r"axes\.seed: two values are called '1'"):
        read_axes({"seed": [1, 1]})


def test_what_a_value_is_laid_over():
    axes = read_axes({"seed": [3], "backbone": ["tiny"], "learner.0.lr": [0.1], "bank": {"none": {"record": [], "selector": "core.none"}}})
    found = [axis.overrides(next(iter(axis.values))) for axis in axes]
    assert found == [
        [("run.seed", 3)],
        [("preset", ["backbone.tiny"])],
        [("learner.0.lr", 0.1)],
        [("record", []), ("selector", "core.none")],
    ]


def test_a_value_of_an_axis_of_its_own_may_be_nothing_and_one_of_a_key_is_then_null():
    bank, limit = read_axes({"bank": {"none": None, "kept": {"record": "core.record"}}, "run.max_steps": [None, 3]})
    assert (bank.overrides("none"), bank.overrides("kept")) == ([], [("record", "core.record")])
    assert limit.overrides("null") == [("run.max_steps", None)]


def test_an_axis_of_a_keys_name_may_say_other_keys_beside_its_own():
    (axis,) = read_axes({"learner": {"clone": {"learner": "core.clone", "stream.0.rounds": 1}, "part": {"name": "core.grpo", "lr": 1}}})
    assert axis.overrides("clone") == [("learner", "core.clone"), ("stream.0.rounds", 1)]
    assert axis.overrides("part") == [("learner", {"name": "core.grpo", "lr": 1})]


@pytest.mark.parametrize(
    ("axes", "path", "words"),
    [
        ({"selecter": ["core.none"]}, "axes.selecter", "did you mean 'selector'? (an axis of a name of its own wants a mapping"),
        ({"selecter": {"a": {"name": "core.none"}}}, "axes.selecter", "did you mean 'selector'? (an axis of a name of its own wants"),
        pytest.param(
            {"learner": {"clone": {"learner": "core.clone", "lr": 1e-3}}},
            "axes.learner.clone.lr",
            "did you mean learner.0.lr: 0.001, or say it in the part, {name: core.clone, lr: 0.001}?",
            marks=TORCH,
        ),
        ({"way": {"near": {"selector": "core.nearest", "k": 3}}}, "axes.way.near.k", "did you mean selector.k: 3, or say it in"),
        ({"way": {"long": {"max_steps": 3}}}, "axes.way.long.max_steps", "did you mean run.max_steps: 3?"),
        ({"learner": {"clone": {"learner": "core.clone", "zzz": 1}}}, "axes.learner.clone.zzz", "is called that (known: preset"),
        ({"max_steps": [1, 2]}, "axes.max_steps", "did you mean 'run.max_steps'? (an axis of a name of its own wants"),
        ({"environment": ["core.errands"]}, "axes.environment", "did you mean 'stream.0.env'?"),
        ({"bank": {"a": {"recrd": []}}}, "axes.bank.a.recrd", "did you mean 'record'?"),
        ({"seed": [0], "run.seed": [1]}, "axes.seed", "is there twice"),
        ({"run.dir": ["a"]}, "axes.run.dir", "into its own folder"),
        ({"backbone": [1]}, "axes.backbone", "want the end of a preset's name"),
        ({"seed": {0: 1, "0": 2}}, "0", "is there twice, as a text and as a number"),
        ({"seed": []}, "axes.seed", "want at least one value"),
        ({"seed": 0}, "axes.seed", "want at least one value"),
        ({"seed": list(range(101)), "run.batch": list(range(1, 101))}, "axes", "make 10,100 cells (101 seed × 100 run.batch)"),
        ({}, "axes", "want a mapping from axis to values"),
    ],
)
def test_a_wrong_axis_is_told_with_its_path_and_the_nearest_key(axes, path, words):
    found, message = refused(axes=axes)
    assert found == path
    assert words in message


@pytest.mark.parametrize(
    ("said", "path", "words"),
    [
        ({"skip": [{"sed": 0}]}, "skip.0", "no axis is called 'sed'; did you mean 'seed'?"),
        ({"only": [{"seed": 0}, {"seed": [0, 2]}]}, "only.1.seed", "no value is called '2'"),
        ({"first": [{}]}, "first", "want a list of patterns"),
        ({"first": {"seed": 0}}, "first", "want a list of patterns"),
        ({"skip": [{"seed": [0, 1]}]}, "skip", "leave no cell"),
        ({"axs": {}}, "axs", "did you mean 'axes'?"),
        ({"policy": "core.random"}, "policy", "stands under 'base' (policy: …), what they differ in under 'axes' (policy: […])"),
        ({"seed": 0}, "seed", "stands under 'base' (run: {seed: …}), what they differ in under 'axes' (seed: […])"),
        ({"seeds": [0, 1]}, "seeds", "under 'axes' (seed: […])"),
        ({"learners": []}, "learners", "under 'axes' (learner: […])"),
        ({"zzz": []}, "zzz", "what all cells share stands under 'base' (…: …)"),
        ({"name": "../up"}, "name", "cannot name a folder"),
        ({"dir": 3}, "dir", "want the folder"),
        ({"base": 3}, "base", "want what an experiment file holds"),
        ({"base": "no/such.yaml"}, "base", "no such file"),
        ({"base": {"preset": "backbone.tny"}}, "base", "did you mean 'backbone.tiny'?"),
    ],
)
def test_a_wrong_file_is_told_with_its_path(said, path, words):
    found, message = refused(**said)
    assert found == path
    assert words in message


def test_an_experiment_says_the_command_that_takes_it(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("policy: core.random\n")
    with pytest.raises(ConfigError, match=r"^axes: there are none; this is an experiment: xplearn run .*mine\.yaml$"):
        read_cross(file, installed().registry)


def test_patterns_choose_cells_by_label_and_may_say_run_seed():
    axes = read_axes({"selector": SELECTORS, "seed": [0, 1]})
    (pattern,) = read_patterns("skip", [{"selector": ["core.none", "core.nearest k=1"], "run.seed": 1}], axes)
    assert matches(pattern, {"selector": "core.none", "seed": "1"})
    assert not matches(pattern, {"selector": "core.none", "seed": "0"})
    assert not matches(pattern, {"selector": "core.nearest k=3", "seed": "1"})


def test_only_and_skip_make_the_grid_and_the_last_axis_varies_fastest():
    said = {
        "axes": {"selector": SELECTORS, "seed": [0, 1]},
        "only": [{"seed": 0}, {"selector": "core.none"}],
        "skip": [{"selector": SELECTORS[1:2]}],
    }
    said["skip"] = [{"selector": "core.nearest k=1"}]
    cells = [tuple(cell.values()) for cell in read_cross(said, installed().registry).combinations()]
    assert cells == [("core.none", "0"), ("core.none", "1"), ("core.nearest k=3", "0")]


def test_the_base_may_be_a_file_beside_the_cross_file(tmp_path, monkeypatch):
    (tmp_path / "shared.yaml").write_text("policy: core.random\n")
    (tmp_path / "mine.yaml").write_text("base: shared.yaml\naxes: {seed: [0]}\n")
    monkeypatch.chdir("/")
    file = read_cross(tmp_path / "mine.yaml", installed().registry)
    assert (file.name, file.base) == ("mine", {"policy": "core.random"})


def test_ids_name_what_a_bare_number_is_the_number_of_and_slugs_are_safe_names():
    cell = {"bank": "../<a> b", "learner.0.lr": "0.001", "seed": "0", "other": "名"}
    assert joined(cell) == "../<a> b · lr 0.001 · seed 0 · 名"
    assert slug(cell) == "a-b_lr-0.001_seed-0"
    assert slug({"other": "名"}) == "cell"
