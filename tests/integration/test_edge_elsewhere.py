"""EDGE's parts among those of other methods: each mix runs, and what it trains moves, or is refused with the reason."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("xplearn_edge")
pytest.importorskip("xplearn_expweaver")

from safetensors.torch import load_file

import xplearn
from xplearn import ConfigError, IncompatibleError

TINY = {"name": "core.tiny", "layers": 1, "width": 64, "heads": 2, "vocabulary": 300, "context_tokens": 1024, "threads": 1}
DISTILL = {"name": "edge.distill", "group_size": 8, "lr": 3e-3, "coefficient": 1.0}


def mix(folder, **changes):
    return {
        "stream": [{"env": {"name": "core.counting", "length": 3, "size": 8}, "rounds": 4}],
        "policy": TINY,
        "store": "core.memory",
        "record": {"name": "edge.evolve", "writer": "rules", "expand_below": 1.0},
        "selector": {"name": "edge.retrieve", "k": 2},
        "conditioner": "core.prompt",
        "learner": [DISTILL],
        "sampling": {"choices": "admissible", "temperature": 1.0},
        "evaluate": {"tasks": {"limit": 4, "split": "test"}, "before": False, "resamples": 100},
        "run": {"dir": str(folder), "batch": 64},
        **changes,
    }


def figures(run, name):
    return [line for line in xplearn.load(run.folder).scalars() if line["name"] == name]


@pytest.mark.parametrize("conditioner", ["core.prompt", "edge.prompt"])
def test_the_method_itself_gains_teaches_and_fills_its_bank(tmp_path, conditioner):
    run = xplearn.run(mix(tmp_path, conditioner=conditioner))
    learned = figures(run, "edge.distill")
    assert sum(line["taught"] for line in learned) > 0
    assert figures(run, "edge.evolve")[-1]["bank"] > 0
    assert all(line["divergence"] != 0 for line in learned if line["taught"])


def test_distillation_from_latent_memory_trains_the_adapter_where_groups_gain(tmp_path):
    from xplearn_expweaver.latent import LatentConditioner

    latent = {
        "record": {"name": "expweaver.summaries", "writer": "rules"},
        "selector": "core.all",
        "conditioner": {"name": "expweaver.latent", "k": 2},
        "learner": [{**DISTILL, "lr_groups": {"sites.*": 1e-2}}],
    }
    run = xplearn.run(mix(tmp_path, **latent))
    learned = figures(run, "edge.distill")
    assert sum(line["taught"] for line in learned) > 0
    first = LatentConditioner(k=2).adapter(TINY["width"], xplearn.derive(0, "expweaver.latent")).state_dict()
    latest = max(run.folder.glob("checkpoints/*/policy/**/sites.safetensors"))
    after = load_file(latest)
    assert {"pooling.u", "gate.lambda_"} <= {name for name, value in first.items() if not value.equal(after[f"0.norm.{name}"])}


def test_a_bank_that_evolves_under_plain_grpo(tmp_path):
    run = xplearn.run(mix(tmp_path, learner=[{"name": "core.grpo", "arms": "both", "group_size": 4, "beta": 0.0, "lr": 1e-3}]))
    assert figures(run, "edge.evolve")[-1]["bank"] > 0
    assert {line["groups"] for line in figures(run, "edge.evolve")} == {8.0}


def test_the_policy_learns_from_hamos_cards_too(tmp_path):
    pytest.importorskip("xplearn_hamo")
    run = xplearn.run(mix(tmp_path, record={"name": "hamo.cards", "writer": "rules"}, selector="core.nearest"))
    assert len(figures(run, "edge.distill")) == 4


def test_evolution_under_cloning_is_refused_for_it_has_no_arms_to_compare(tmp_path):
    with pytest.raises(ConfigError, match=r"edge\.evolve wants rollouts; core\.clone wants demonstrations: one round has one source"):
        xplearn.run(mix(tmp_path, learner=["core.clone"], stream=[{"env": "core.errands"}]))
    assert not list(tmp_path.iterdir())


def test_evolution_beside_a_warmup_that_clones_seeds_the_bank(tmp_path):
    errands = {"env": "core.errands", "tasks": {"limit": 4}}
    stream = [{**errands, "warmup": True, "record": True}, {**errands, "rounds": 2}]
    seeding = {"name": "edge.evolve", "writer": "rules", "seeds_per_kind": 2}
    run = xplearn.run(mix(tmp_path, stream=stream, warmup=[{"name": "core.clone", "arms": "both"}], record=[seeding]))
    first = figures(run, "edge.evolve")[0]
    assert (first["learner"], first["stage"]) == ("record.0", 0)
    assert first["bank"] > 0


@pytest.mark.parametrize("conditioner", ["core.none", "expweaver.search"])
def test_what_shows_nothing_has_no_teacher(tmp_path, conditioner):
    with pytest.raises(IncompatibleError, match=r"conditioner\.shows"):
        xplearn.run(mix(tmp_path, conditioner=conditioner))


def test_a_selector_that_never_selects_has_none_either(tmp_path):
    with pytest.raises(IncompatibleError, match=r"selector\.selects"):
        xplearn.run(mix(tmp_path, selector="core.none"))
    assert not list(tmp_path.iterdir())


def test_a_policy_behind_a_server_cannot_be_distilled(tmp_path):
    server = {"name": "core.openai", "url": "http://127.0.0.1:9", "model": "m"}
    with pytest.raises(IncompatibleError) as caught:
        xplearn.run(mix(tmp_path, policy=server))
    assert {problem.capability for problem in caught.value.problems} >= {"policy.score", "policy.train"}
