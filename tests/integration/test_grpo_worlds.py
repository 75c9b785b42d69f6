"""Multi-turn GRPO with credit by step in the three worlds: what it is told about invalid actions, groups and anchors is true there."""

import pytest

pytest.importorskip("torch")

import xplearn

TINY = {"name": "core.tiny", "layers": 1, "width": 32, "heads": 2, "vocabulary": 600, "context_tokens": 4096, "threads": 1}
WORLDS = {
    "alfworld": {"name": "alfworld.text", "kinds": ["look_at_obj_in_light"], "max_steps": 5},
    "webshop": {"name": "webshop.text", "max_steps": 4},
    "scienceworld": {"name": "scienceworld.text", "kinds": ["find-living-thing"], "step_caps": "papers"},
}
ROUNDS = {"alfworld": 2, "webshop": 2, "scienceworld": 1}


def mix(folder, world, **changes):
    grpo = {"name": "core.grpo", "arms": "plain", "group_size": 4, "beta": 0.0, "lr": 1e-3, "invalid_penalty": 0.1, "unit": "step"}
    return {
        "stream": [{"env": WORLDS[world], "tasks": {"limit": 2}, "rounds": ROUNDS[world]}],
        "policy": TINY,
        "learner": [{**grpo, "anchor_weight": 1.0, "drop_flat": True, "dual_clip": 3.0, **changes.pop("learner", {})}],
        "sampling": {"choices": "admissible", "max_new_tokens": 12, **changes.pop("sampling", {})},
        "evaluate": {"tasks": {"split": "valid_seen" if world == "alfworld" else "test", "limit": 1}, "before": False, "resamples": 100},
        "run": {"dir": str(folder), "max_steps": 4, "batch": 1 if world == "scienceworld" else 8},  # each of a batch has its own Java
        **changes,
    }


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_admissible_actions_are_valid_and_openings_are_anchors(tmp_path, world):
    pytest.importorskip(f"xplearn_{world}")
    run = xplearn.load(xplearn.run(mix(tmp_path, world)).folder)
    for line in run.scalars():
        assert line["invalid_share"] == 0.0
        assert line["length_mean"] <= 4
        assert line["groups_dropped"] <= 2
    openings: dict[str, set[str]] = {}
    for item in run.trajectories("train/0/0"):
        openings.setdefault(item.group, set()).add(item.steps[0].query.messages[-1]["content"])
    assert [len(found) for found in openings.values()] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_what_the_world_does_not_understand_costs_the_step_that_said_it(tmp_path, world):
    pytest.importorskip(f"xplearn_{world}")
    run = xplearn.load(xplearn.run(mix(tmp_path, world, sampling={"choices": "free"})).folder)
    played = [item for round in range(ROUNDS[world]) for item in run.trajectories(f"train/0/{round}")]
    steps = [step for item in played for step in item.steps]
    invalid = sum(not step.valid for step in steps)
    assert invalid > len(steps) / 2, "an untrained policy babbles"
    told = sum(line["invalid_share"] * line["length_mean"] * line["trajectories"] for line in run.scalars())
    assert told == pytest.approx(invalid)
