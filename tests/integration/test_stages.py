"""A stream of several stages cloned with one adapter, and what replay and experience do to forgetting, in whole runs of small models."""

import hashlib
import itertools
import json
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.config import load_experiment  # noqa: E402
from xplearn.experiment.run import run_experiment  # noqa: E402
from xplearn.hookspecs import hookimpl  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.plugins import Plugins  # noqa: E402
from xplearn.record.reader import load  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.fakes import FakePolicy, tiny_model  # noqa: E402

CONTEXT = 2048
CLONE = {"epochs": 1, "batch": 2, "reduction": "trajectory", "empty_share": 0.2}
ACT = {"choices": "admissible"}


class Watched(FakePolicy):
    """Notes the weights around every training: the frozen ones as a hash, the trained ones by name and shape."""

    seen: ClassVar[list] = []

    @contextmanager
    def training(self):
        self.seen.append(self._weights())
        with super().training():
            yield
        self.seen.append(self._weights())

    def _weights(self):
        model = self._ready.weights.model
        return digest(model), {name: tuple(value.shape) for name, value in self.parameters()}


class Own:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "watched", f"{__name__}:Watched")


def digest(model):
    """Hash of the weights that are not trained."""
    values = [value for name, value in model.named_parameters() if "lora_" not in name]
    return hashlib.sha256(b"".join(value.detach().numpy().tobytes() for value in values)).hexdigest()


def start(folder, **changes):
    plugins = Plugins().discover()
    plugins.add("own", Own())
    config = {
        "store": "core.memory",
        "record": "core.record",
        "selector": {"name": "core.nearest", "k": 1},
        "conditioner": "core.prompt",
        "sampling": ACT,
        "run": {"dir": str(folder)},
    }
    experiment, given = load_experiment({**config, **changes}, [], plugins.registry)
    return load(run_experiment(experiment, plugins=plugins, given=given).folder)


def study(run, stage):
    return json.loads((run.path / "study" / f"{stage}-0.json").read_text())


def trained_on(run, stage):
    """The trajectories of a stage's training: its own, then the replayed."""
    chosen = [(stage, anchor) for anchor in study(run, stage)["anchors"]]
    chosen += [(earlier, anchor) for earlier, _, anchor in study(run, stage)["replayed"]]
    phases = {index: study(run, index) for index in range(stage + 1)}
    found = {index: {item.id: item for item in run.trajectories(phases[index]["phase"])} for index in phases}
    return [found[index][id] for index, anchor in chosen for id in phases[index]["anchors"][anchor]]


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """A run of three stages with one LoRA adapter, and the weights around each training."""
    Watched.seen.clear()
    run = start(
        tmp_path_factory.mktemp("staged"),
        stream=[
            {"env": "core.errands", "tasks": {"limit": 6, "part": "1/2"}},
            {"env": "core.counting", "tasks": {"limit": 3}},
            {"env": "core.errands", "tasks": {"limit": 6, "part": "2/2"}},
        ],
        policy={"name": "own.watched", "context": CONTEXT},
        learner={"name": "core.clone", **CLONE},
        replay={"ratio": 1.0},
        evaluate={"tasks": {"limit": 1}, "before": False, "sampling": ACT, "resamples": 100},
    )
    return run, list(Watched.seen)


def policies(run):
    """The folder of the policy after each stage."""
    positions = sorted((run.path / "checkpoints").glob("*/position.json"))
    return [path.parent / "policy" for path in positions if json.loads(path.read_text())["keep"]]


def test_the_base_weights_stay_what_they_were_over_a_whole_run(staged):
    _, seen = staged
    assert len(seen) == 6
    assert {base for base, _ in seen} == {digest(tiny_model(context=CONTEXT))}


def test_the_adapter_has_the_same_parameters_and_file_size_after_every_stage(staged):
    run, seen = staged
    assert all(adapter == seen[0][1] for _, adapter in seen)
    assert all("lora_" in name for name in seen[0][1])
    files = [{path.name: path.stat().st_size for path in folder.iterdir() if path.name != "policy.json"} for folder in policies(run)]
    assert len(files) == 3
    assert files[0].keys() == {"adapter_config.json", "adapter_model.safetensors"}
    assert files[0] == files[1] == files[2]


def weights(agent):
    return {name: value.detach().clone() for name, value in agent.policy.parameters()}


def loaded(folder):
    with FakeAgent(policy=FakePolicy(context=CONTEXT)) as agent:
        agent.policy.load(folder)
        return weights(agent)


def relearned(run, stage, folder):
    """The adapter that a new learner makes of one stage's trajectories, beginning with the adapter in a folder."""
    with FakeAgent(policy=FakePolicy(context=CONTEXT), position=(stage, 0)) as agent:
        if folder is not None:
            agent.policy.load(folder)
        CloneLearner(**CLONE).learn(trained_on(run, stage), agent)
        return weights(agent)


@pytest.mark.parametrize("stage", [1, 2])
def test_a_stage_goes_on_with_the_adapter_of_the_one_before_and_a_fresh_optimiser(staged, stage):
    run, _ = staged
    folders = policies(run)
    after = loaded(folders[stage])
    again = relearned(run, stage, folders[stage - 1])
    assert all(torch.equal(after[name], again[name]) for name in after)
    anew = relearned(run, stage, None)
    assert not any(torch.equal(after[name], anew[name]) for name in after if "lora_B" in name)


TASKS = 6
GRID = list(itertools.product((0.0, 1.0), ("experience", "plain")))


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Runs with and without replay, cloned with and without experience in the input."""
    return {
        (ratio, arm): start(
            tmp_path_factory.mktemp("grid"),
            stream=[{"env": "core.errands", "tasks": {"limit": 6}}, {"env": "core.counting", "tasks": {"limit": 6}}],
            policy={"name": "core.tiny", "width": 32, "heads": 2, "vocabulary": 400, "threads": 1},
            learner={"name": "core.clone", "arms": arm, "epochs": 16, "batch": 2, "lr": 1e-2},
            replay={"ratio": ratio},
            evaluate={"tasks": {"limit": TASKS}, "sampling": ACT, "resamples": 100},
        )
        for ratio, arm in GRID
    }


def scores(run, arm):
    """R[stage, domain] from the recorded episodes."""
    domains = ("core.errands", "core.counting")
    found = {(point, domain): [] for point in range(3) for domain in domains}
    for episode in run.episodes():
        kind, _, place = episode.phase.partition("/")
        if kind == "eval" and episode.arm == arm:
            point, _, domain = place.partition("/")
            found[int(point), domain].append(100.0 * episode.score)
    assert {len(values) for values in found.values()} == {TASKS}
    return np.array([[sum(found[point, domain]) / TASKS for domain in domains] for point in range(3)])


def test_forgetting_is_final_minus_best_so_far_in_every_run_of_the_grid(grid):
    for run, arm in itertools.product(grid.values(), ("experience", "plain")):
        expected = scores(run, arm)
        matrix = run.matrix(arm)
        np.testing.assert_allclose(matrix.values, expected)
        figures = {name: interval.mean for name, interval in matrix.figures().items()}
        (_base, _), (learned, before), (kept, after) = expected.tolist()
        assert figures["final"] == pytest.approx((kept + after) / 2)
        assert figures["average"] == pytest.approx((learned + (kept + after) / 2) / 2)
        assert figures["forgetting"] == pytest.approx(kept - max(learned, kept))
        assert figures["bwt"] == pytest.approx(kept - learned)
        assert figures["fwt"] == pytest.approx(before - expected[0, 1])


def test_the_four_matrices_of_the_grid_are_whole_and_part_where_replay_begins(grid):
    matrices = [grid[cell].matrix(cell[1]).values for cell in GRID]
    assert all(np.isfinite(values).all() for values in matrices)
    for without, replayed in zip(matrices[:2], matrices[2:], strict=True):
        np.testing.assert_array_equal(without[:2], replayed[:2], "replay begins with the second stage")
    assert any(values[:, 0].any() for values in matrices), "or there was nothing to forget"


@pytest.mark.parametrize("arm", ["experience", "plain"])
def test_the_replayed_run_trains_on_anchors_of_the_stage_before(grid, arm):
    without, replayed = (trained_on(grid[ratio, arm], 1) for ratio in (0.0, 1.0))
    assert [item.task.env for item in without] == ["core.counting"] * 6
    assert [item.task.env for item in replayed] == ["core.counting"] * 6 + ["core.errands"] * 6
    assert {item.id for item in replayed[6:]} == {item.id for item in trained_on(grid[1.0, arm], 0)}
    counts = [[line["trajectories"] for line in grid[ratio, arm].scalars() if line["name"] == "core.clone"] for ratio in (0.0, 1.0)]
    assert counts == [[6.0, 6.0], [6.0, 12.0]]


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_no_demonstration_is_shown_the_experience_of_its_own_task(grid, ratio):
    shown = [(item.task, step.selection.experiences) for stage in (0, 1) for item in trained_on(grid[ratio, "experience"], stage)
             for step in item.steps]  # fmt: skip
    assert all(len(experiences) == 1 for _, experiences in shown)
    assert not any(task.id == experience.task for task, experiences in shown for experience in experiences)
    assert {experience.task_kind for _, experiences in shown for experience in experiences} >= {"up", "down", "fetch-lantern"}


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_the_plain_arm_is_shown_none(grid, ratio):
    steps = [step for stage in (0, 1) for item in trained_on(grid[ratio, "plain"], stage) for step in item.steps]
    assert steps
    assert not any(step.selection.experiences for step in steps)
    assert all(step.conditioning.messages == step.query.messages for step in steps)
