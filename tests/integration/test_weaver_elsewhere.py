"""ExpWeaver's conditioner in another world with another learner, and GRPO on ExpBench with experience as text: by override alone."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("xplearn_expweaver")
pytest.importorskip("xplearn_expbench")

from safetensors.torch import load_file

import xplearn

TINY = {"name": "core.tiny", "layers": 1, "width": 64, "heads": 2, "vocabulary": 600, "context_tokens": 4096}


def moved(folder):
    """Parameters of the adapter that are no longer what they were at first."""
    from xplearn_expweaver.latent import LatentConditioner

    first = LatentConditioner().adapter(TINY["width"], xplearn.derive(0, "expweaver.latent")).state_dict()
    (latest,) = folder.glob("checkpoints/*/policy/**/sites.safetensors")
    after = load_file(latest)
    return {name for name, value in first.items() if not value.equal(after[f"0.norm.{name}"])}


def read(folder):
    """How many of the evaluated steps with experience read latent memory, and how many of those without."""
    found = xplearn.load(folder)
    trajectories = [trajectory for phase in ("eval/1",) for trajectory in played(found, phase)]
    arms = {"experience": 0, "plain": 0}
    for trajectory in trajectories:
        arms[trajectory.arm] += sum(bool(step.completion.retrieved and any(step.completion.retrieved)) for step in trajectory.steps)
    return arms


def played(run, phase):
    (name,) = {result.phase for result in run.episodes() if result.phase.startswith(phase)}
    return run.trajectories(name)


@pytest.mark.slow
def test_latent_memory_in_scienceworld_with_cloning(tmp_path):
    pytest.importorskip("xplearn_scienceworld")
    world = {"name": "scienceworld.text", "kinds": ["find-living-thing"], "step_caps": "papers", "demonstrations": "admissible"}
    mix = {
        "stream": [{"env": world, "tasks": {"split": "train", "limit": 3}}],
        "policy": TINY,
        "record": {"name": "core.record"},
        "selector": {"name": "core.nearest", "k": 1},
        "conditioner": "core.prompt",
        "learner": [{"name": "core.clone", "epochs": 2, "lr": 1e-3}],
        "sampling": {"choices": "admissible"},
        "evaluate": {"tasks": {"split": "test", "limit": 1}, "before": False, "resamples": 100},
        "run": {"dir": str(tmp_path), "max_steps": 4, "batch": 1},  # each of a batch has its own Java
    }
    latent = {"record": {"name": "expweaver.summaries", "writer": "rules"}, "selector": "core.all", "conditioner": "expweaver.latent"}
    folder = xplearn.run({**mix, **latent}).folder
    assert {"pooling.u", "gate.lambda_"} <= moved(folder)
    assert read(folder) == {"experience": 4, "plain": 0}


def test_grpo_on_expbench_with_experience_as_text(tmp_path):
    suite = {"name": "expbench.suite", "mix": ["arc_challenge", "rec_movies"]}
    mix = {
        "stream": [{"env": suite, "tasks": {"split": "train", "limit": 4}, "rounds": 2}],
        "policy": TINY,
        "record": {"name": "expweaver.summaries", "writer": "rules"},
        "selector": {"name": "core.nearest", "k": 2},
        "conditioner": "core.prompt",
        "learner": [{"name": "core.grpo", "group_size": 2, "beta": 0.0}],
        "sampling": {"choices": "rank", "max_new_tokens": 4},
        "evaluate": {"tasks": {"split": "test", "limit": 2}, "before": False, "resamples": 100},
        "run": {"dir": str(tmp_path)},
    }
    result = xplearn.run(mix)
    (last,) = [line for line in xplearn.load(result.folder).scalars() if line["name"] == "core.grpo" and line["round"] == 1]
    assert last["trajectories"] == 8
    shown = [trajectory for trajectory in played(xplearn.load(result.folder), "eval/1") if trajectory.arm == "experience"]
    assert all("Related experience" in step.conditioning.messages[-1]["content"] for trajectory in shown for step in trajectory.steps)
    kinds = {trajectory.task.kind: trajectory.steps[0].completion.sampling.choices for trajectory in shown}
    assert kinds == {"arc_challenge": "free", "rec_movies": "rank"}
