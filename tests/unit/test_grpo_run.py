"""``core.grpo`` in whole runs of a small policy: it learns, and a run that is killed and started again ends as if it had not been."""

import hashlib

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import xplearn  # noqa: E402
from xplearn.experiment.checkpoint import Progress  # noqa: E402

SETTINGS = {"group_size": 8, "lr": 3e-3, "beta": 0.0, "weight_decay": 0.0, "max_grad_norm": 1.0}


def experiment(folder, *, rounds, size=12, env=None, context=512, **learner):
    return {
        "stream": [{"env": env or {"name": "core.counting", "length": 3, "size": size}, "rounds": rounds}],
        "policy": {"name": "core.tiny", "layers": 1, "width": 64, "heads": 2, "vocabulary": 300, "context_tokens": context, "threads": 1},
        "store": "core.memory",
        "record": "core.record",
        "selector": {"name": "core.nearest", "k": 1},
        "conditioner": "core.prompt",
        "sampling": {"choices": "admissible", "temperature": 1.0},
        "learner": {"name": "core.grpo", **SETTINGS, **learner},
        "evaluate": {"tasks": {"limit": 4, "split": "test"}, "arms": ["plain"], "resamples": 100},
        "run": {"dir": str(folder), "batch": 64},
    }


def scalars(run):
    """What the learner told of each round, times aside."""
    rows = [row for row in run.scalars() if row["name"] == "core.grpo"]
    return [{name: value for name, value in row.items() if "second" not in name} for row in rows]


def weights(run):
    """Hash of the last checkpoint's policy."""
    last = max((run.path / "checkpoints").glob("[0-9]*"))
    return hashlib.sha256((last / "policy" / "weights" / "model.safetensors").read_bytes()).hexdigest()


def test_a_policy_from_scratch_learns_to_count_from_its_own_tries(tmp_path):
    run = xplearn.load(xplearn.run(experiment(tmp_path, rounds=7, size=8, arms="plain")).folder)
    returns = [row["reward_mean"] for row in scalars(run)]
    assert returns[0] == pytest.approx(1 / 3, abs=0.1), "three answers to choose from"
    assert min(returns[-2:]) > returns[0] + 0.15
    assert [row["policy_version"] for row in scalars(run)] == list(range(1, 8))
    assert all(row["ratio_mean"] == pytest.approx(1.0, abs=1e-4) for row in scalars(run))


class Killed(BaseException):
    """The end of a process."""


def killed_after(monkeypatch, count):
    """From now on, the process ends when progress has been saved so often."""
    save, left = Progress.save, [count]

    def once_more(self, state):
        save(self, state)
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    monkeypatch.setattr(Progress, "save", once_more)


def test_a_run_killed_in_the_middle_of_learning_ends_with_the_very_same_weights(tmp_path, monkeypatch):
    settings = {"rounds": 3, "size": 4, "arms": "both", "batch": 12, "epochs": 2, "total_steps": 18, "checkpoint_seconds": 0.0}
    whole = xplearn.load(xplearn.run(experiment(tmp_path / "whole", **settings)).folder)
    for count in (3, 6, 2, 1):  # each time from where the last one ended
        killed_after(monkeypatch, count)
        with pytest.raises(Killed):
            xplearn.run(experiment(tmp_path / "broken", **settings))
        monkeypatch.undo()
    broken = xplearn.load(xplearn.run(experiment(tmp_path / "broken", **settings)).folder)
    assert weights(broken) == weights(whole)
    assert scalars(broken) == scalars(whole)
    assert [row["steps"] for row in scalars(whole)] == [6.0] * 3
    assert {item.arm for item in whole.trajectories("train/0/1")} == {"experience", "plain"}


def test_options_for_many_turns_run_and_resume_on_errands(tmp_path, monkeypatch):
    settings = {
        "env": {"name": "core.errands", "per_kind": 1, "max_steps": 6}, "context": 1536, "rounds": 2, "arms": "both", "reward": "return",
        "invalid_penalty": 0.1, "unit": "step", "anchor_weight": 1.0, "drop_flat": True, "dual_clip": 3.0, "over": "arm", "epochs": 2,
        "batch": 12, "checkpoint_seconds": 0.0,
    }  # fmt: skip
    whole = xplearn.load(xplearn.run(experiment(tmp_path / "whole", **settings)).folder)
    for count in (2, 1):
        killed_after(monkeypatch, count)
        with pytest.raises(Killed):
            xplearn.run(experiment(tmp_path / "broken", **settings))
        monkeypatch.undo()
    broken = xplearn.load(xplearn.run(experiment(tmp_path / "broken", **settings)).folder)
    assert weights(broken) == weights(whole)
    assert scalars(broken) == scalars(whole)
    for row in scalars(whole):
        assert row["length_mean"] == 6.0
        assert row["steps"] > 0
        assert 0 < row["groups_dropped"] < 12, "both arms of six tasks"
