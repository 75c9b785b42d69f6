"""Every sound cell of a toy cross runs for one round; every other cell says why it cannot."""

import itertools

import pytest

from xplearn.config import load_experiment
from xplearn.errors import IncompatibleError
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.record.reader import load
from xplearn.testing.dial import dial_plugins

SELECTORS = ("core.none", "core.all", "core.random", "core.nearest", "core.bm25")
CONDITIONERS = ("core.none", "core.prompt")
RECORDS = ([], ["core.record"])
LEARNERS = ([], [{"name": "dial.turn"}], [{"name": "dial.turn", "source": "demonstration", "arms": ["plain", "experience"]}])
CURRICULA = ("core.all", "core.random", "core.none")


def start(tmp_path, plugins, **mix):
    fixed = {
        "stream": [{"env": "core.errands", "tasks": {"limit": 3}}],
        "store": "core.memory",
        "evaluate": {"tasks": {"split": "test", "limit": 2}, "resamples": 100},
        "run": {"dir": str(tmp_path), "max_steps": 4},
    }
    experiment, given = load_experiment({**fixed, **mix}, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given)


@pytest.mark.slow
def test_each_cell_runs_or_says_why_not(tmp_path):
    plugins = dial_plugins()
    ran, refused = [], []
    cells = itertools.product(SELECTORS, CONDITIONERS, RECORDS, LEARNERS)
    for number, (selector, conditioner, record, learner) in enumerate(cells):
        curriculum = CURRICULA[number % len(CURRICULA)]
        mix = {"selector": selector, "conditioner": conditioner, "record": record, "learner": learner, "curriculum": curriculum}
        try:
            result = start(tmp_path, plugins, policy="dial.policy", **mix)
        except IncompatibleError as error:
            refused.append((selector, bool(record), str(error)))
            continue
        ran.append(mix)
        rows = result.table.rows
        assert rows[0].label == "Base"
        assert {row.n for row in rows} == {2}
        assert any(row.label == "Model-only" for row in rows) == bool(learner)
        assert all(row.versus_plain is not None for row in rows if row.arm == "experience")
    assert len(ran) + len(refused) == 60
    assert {(selector, record) for selector, record, _ in refused} == {(selector, False) for selector in SELECTORS[1:]}
    assert all("store.filled" in reason or "store.space:key" in reason for _, _, reason in refused)


class Fakes:
    """The two-layer language model as a policy of the registry."""

    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "model", "xplearn.testing.fakes:FakePolicy")


def test_language_model_clones_demonstrations_with_and_without_experience(tmp_path):
    pytest.importorskip("torch")
    plugins = dial_plugins()
    plugins.add("fake", Fakes())
    result = start(
        tmp_path,
        plugins,
        policy={"name": "fake.model", "context": 2048},
        selector="core.nearest",
        conditioner="core.prompt",
        record="core.record",
        learner={"name": "core.clone", "arms": "both", "epochs": 1, "batch": 2},
        sampling={"choices": "admissible", "max_new_tokens": 8},
        evaluate={"tasks": {"split": "test", "limit": 1}, "resamples": 100, "sampling": {"choices": "admissible", "max_new_tokens": 8}},
    )
    assert [row.label for row in result.table.rows] == ["Base", "Base+Harness", "Model-only", "Model+Harness"]
    run = load(result.folder)
    figures = run.scalars()[-1]
    assert (figures["trajectories"], figures["steps"]) == (6.0, 3.0)
    versions = {step.completion.policy_version for found in run.trajectories("eval/1/core.errands") for step in found.steps}
    assert versions == {1}
    assert (result.folder / "checkpoints" / "002" / "policy" / "adapter_model.safetensors").exists()
    prompts = [step.completion.prompt_ids for found in run.trajectories("dressed/0/0") for step in found.steps]
    assert all(prompts)
