"""Mixes of several plugins' parts: those that would train or show nothing are refused, with what is missing; their neighbours are not."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("xplearn_expweaver")
pytest.importorskip("xplearn_edge")
pytest.importorskip("xplearn_hamo")

from xplearn import ConfigError
from xplearn.config import load_experiment
from xplearn.experiment.build import check_experiment
from xplearn.plugins import installed

FREE = {"stream": [{"env": "core.errands", "rounds": 2}], "policy": "core.tiny"}
LATENT = {
    **FREE,
    "record": {"name": "expweaver.summaries", "writer": "rules"},
    "selector": "core.all",
    "conditioner": "expweaver.latent",
    "learner": "core.grpo",
}
ASKING = {**FREE, "record": "core.record", "selector": "core.all", "conditioner": "expweaver.search", "learner": "core.grpo"}
CARDS = {**FREE, "record": {"name": "hamo.cards", "writer": "rules"}, "selector": "core.nearest", "conditioner": "core.prompt"}
EVOLVE = {"name": "edge.evolve", "writer": "rules"}
PRINCIPLES = {**FREE, "record": EVOLVE, "selector": "edge.retrieve", "conditioner": "core.prompt", "learner": "edge.distill"}
SERVER = {"policy": {"name": "core.openai", "url": "http://127.0.0.1:9", "model": "m"}}


def problems(mix, **changes):
    experiment, _ = load_experiment({**mix, **changes}, [], installed().registry)
    return {f"{problem.slot} {problem.capability}" for problem in check_experiment(experiment, installed())}


@pytest.mark.parametrize(
    ("mix", "changes", "found"),
    [
        (LATENT, {}, set()),
        (LATENT, {"learner": "core.clone"}, set()),
        (LATENT, {"learner": {"name": "core.grpo", "arms": "both"}}, set()),
        (LATENT, {"learner": {"name": "core.grpo", "arms": "plain"}}, {"conditioner learner.conditioned"}),
        (LATENT, {"learner": {"name": "core.clone", "arms": "plain"}}, {"conditioner learner.conditioned"}),
        (LATENT, {"selector": "core.none"}, {"conditioner selector.selects"}),
        (LATENT, {"conditioner": {"name": "expweaver.latent", "carry": True}, "learner": "core.clone"}, {"conditioner learner.drawn"}),
        (
            LATENT,
            {"conditioner": {"name": "expweaver.latent", "carry": True}, "learner": {"name": "core.grpo", "arms": "plain"}},
            {"conditioner learner.conditioned"},
        ),
        (LATENT, {"conditioner": "expweaver.hybrid"}, set()),
        (
            LATENT,
            {"conditioner": "expweaver.hybrid", "selector": "core.none", "learner": {"name": "core.grpo", "arms": "plain"}},
            set(),
        ),
        (ASKING, {}, set()),
        (ASKING, {"sampling": {"choices": "admissible"}}, {"conditioner sampling.words"}),
        (ASKING, {"selector": "core.none"}, {"conditioner selector.selects"}),
        (ASKING, {"selector": {"name": "hamo.gate", "test": "probe"}}, {"selector conditioner.shows"}),
        (CARDS, {"selector": {"name": "hamo.gate", "test": "probe"}}, set()),
        (PRINCIPLES, {}, set()),
        (PRINCIPLES, {"record": {**EVOLVE, "new_per_step": 0}}, {"selector store.filled", "selector store.space:key"}),
        (PRINCIPLES, {"record": {**EVOLVE, "new_per_step": 0, "seeds_per_kind": 1}}, set()),
        (PRINCIPLES, {"selector": "core.none", "learner": "core.grpo"}, set()),
        (CARDS, {**SERVER}, set()),
        (CARDS, {**SERVER, "learner": "core.grpo"}, {f"learner policy.{what}" for what in ("reference", "score", "train")}),
        (CARDS, {**SERVER, "encoder": {"name": "core.policy", "weights": "current"}}, {"encoder policy.encode"}),
    ],
)
def test_what_would_show_or_train_nothing_is_refused_and_nothing_else(mix, changes, found):
    assert problems(mix, **changes) == found


@pytest.mark.parametrize("arms", ["plain", "experience"])
def test_pairs_of_trajectories_teach_text_and_no_latent_memory(arms):
    pytest.importorskip("trl")
    pytest.importorskip("xplearn_baselines")
    eto = {"learner": {"name": "baselines.eto", "arms": arms}}
    assert problems(CARDS, **eto) == set()
    assert problems(LATENT, **eto) == {"conditioner learner.conditioned"}


def test_who_scores_demonstrations_comes_after_they_are_studied():
    release = {"record": [CARDS["record"], "hamo.release"]}
    with pytest.raises(ConfigError, match=r"^record.1: hamo.release scores tokens, .*; put it under learner$"):
        problems(CARDS, **release, learner="core.clone")
    assert problems(CARDS, **release, learner="core.grpo") == set()
    assert problems(CARDS, learner=["core.clone", "hamo.release"]) == set()
