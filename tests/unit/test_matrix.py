"""The matrix of a run on a terminal, and a whole two-stage run whose matrix is known beforehand."""

import io
from dataclasses import dataclass

import numpy as np
import pytest
from rich.console import Console

import xplearn
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, RecordError
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.continual import Matrix, final_retention, order_spread
from xplearn.record.reader import load
from xplearn.report.matrix import pieces
from xplearn.report.text import render
from xplearn.testing.dial import DialPolicy, TurnLearner, dial_plugins
from xplearn.types import Completion


@dataclass(kw_only=True)
class TurnPolicy(DialPolicy):
    """Counts up for its first turns, one more with experience, and then says nothing more of use."""

    skill: int = 1

    def _complete(self, conditioning, key, choices, sampling):
        text = "\n".join(message["content"] for message in conditioning.messages)
        turn = sum(message["role"] == "assistant" for message in conditioning.messages)
        chosen = choices[-1] if turn < self.now + ("Related experience" in text) else choices[1]
        return Completion(text=chosen, sampling=sampling, policy_version=self.version)


@dataclass(kw_only=True)
class ForgetfulLearner(TurnLearner):
    """Learns two turns in the first stage and forgets one in the second."""

    def learn(self, batch, agent):
        with agent.policy.training():
            agent.policy.now += (2, -1)[agent.position[0]]
        return {"batch": float(len(batch))}


class OwnPlugin:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "policy", f"{__name__}:TurnPolicy")
        registry.add("learner", "learner", f"{__name__}:ForgetfulLearner")


FOUR, TWO = {"name": "core.counting", "length": 4}, {"name": "core.counting", "length": 2}
TWO_STAGES = {
    "stream": [{"env": FOUR, "tasks": {"part": "1/2"}}, {"env": TWO, "tasks": {"part": "2/2"}}],
    "policy": "own.policy",
    "store": "core.memory",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": "own.learner",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
}


def start(tmp_path, observer=None, **changes):
    plugins = dial_plugins()
    plugins.add("own", OwnPlugin())
    given = {**TWO_STAGES, **changes, "run": {"dir": str(tmp_path)}}
    experiment, given = load_experiment(given, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given, observer=observer).folder


def shown(run, width=100):
    stream = io.StringIO()
    render(run, Console(file=stream, width=width))
    return stream.getvalue()


def means(figures):
    return {name: None if value is None else value.mean for name, value in figures.items()}


def test_two_stage_run_has_the_matrix_worked_out_by_hand(tmp_path):
    """Half the tasks count down and are never right. Right turns are 1, 3 and 2 of 4, and 1, 2 and 2 of 2; with experience one more."""
    run = xplearn.load(start(tmp_path))
    plain, experience = run.matrix("plain"), run.matrix("experience")
    assert plain.domains == ("core.counting", "core.counting#2") == plain.stream
    np.testing.assert_allclose(plain.values, [[12.5, 25], [37.5, 50], [25, 50]])
    np.testing.assert_allclose(experience.values, [[25, 50], [50, 50], [37.5, 50]])
    assert means(plain.figures()) == {
        "final": 37.5,
        "average": (37.5 + 37.5) / 2,
        "forgetting": -12.5,
        "chaudhry_forgetting": 12.5,
        "bwt": -12.5,
        "fwt": 25.0,
    }
    assert final_retention(plain, experience).mean == pytest.approx(100 * 37.5 / 43.75)
    with pytest.raises(ConfigError, match="arm: is 'both'"):
        run.matrix("both")


def test_stages_of_parts_learn_from_disjoint_tasks(tmp_path):
    run = load(start(tmp_path, stream=[{"env": TWO, "tasks": {"part": f"{part}/3"}} for part in (1, 2)]))
    first, second = ({result.task for result in run.episodes() if result.phase == f"train/{stage}/0"} for stage in (0, 1))
    assert (len(first), len(second)) == (7, 7)
    assert not first & second
    assert run.matrix("plain").stream == ("core.counting", "core.counting")


def test_show_prints_the_matrix_of_each_arm_and_the_figures(tmp_path):
    text = shown(load(start(tmp_path)))
    lines = [line.split() for line in text.splitlines()]
    assert ["after", "2", "core.counting#2", "25.0", "50.0"] in lines
    assert ["after", "2", "core.counting#2", "37.5", "50.0"] in lines
    assert "plain arm" in text
    assert "experience arm" in text
    assert "-12.5 [-35.5, +0.0]" in text, (
        "forgetting by Student's t(0.975, 3) 3.18 and 7.2, the error of 25, 0, 25 and 0, but never above 0"
    )
    assert "-12.5 [-35.5, +10.5]" in text, "BWT"
    assert "forgetting: final minus best so far" in " ".join(text.split())


def test_run_of_one_stage_has_no_matrix(tmp_path):
    text = shown(load(start(tmp_path, stream=TWO_STAGES["stream"][:1])))
    assert "Model-only" in text
    assert "forgetting" not in text


def test_orders_of_the_stages_are_runs_of_their_own_and_have_a_spread(tmp_path):
    errands = {"env": "core.errands", "tasks": {"limit": 2}}
    stages = [TWO_STAGES["stream"][0], errands]
    runs = [load(start(tmp_path, stream=order)) for order in (stages, stages[::-1])]
    found = order_spread([run.matrix("plain") for run in runs])
    assert set(found.disparity) == {"core.counting", "core.errands"}
    assert found.mean == pytest.approx(sum(found.finals) / 2)


def test_header_without_the_streams_domains_is_told_damaged(tmp_path):
    run = load(start(tmp_path))
    del run.header.panels["core.counting"]
    with pytest.raises(RecordError, match=r"run\.json: damaged \(a stream of 2 domains, 1 evaluated\)"):
        run.matrix("plain")


class Stopping(Silent):
    """Ctrl-C when a phase begins."""

    def __init__(self, phase):
        self.phase = phase

    def phase_start(self, name, total):
        if name == self.phase:
            raise KeyboardInterrupt


def test_unfinished_run_shows_a_dash_for_what_is_missing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, observer=Stopping("eval/2/core.counting#2"))
    run = load(next(path for path in tmp_path.iterdir() if (path / "run.json").exists()))
    text = shown(run)
    lines = [line.split() for line in text.splitlines()]
    assert ["after", "2", "core.counting#2", "25.0", "–"] in lines
    assert "plain arm, after 1 of 2" in text
    assert "not finished" in text


def test_run_stopped_before_its_first_evaluation_shows_no_matrix(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, observer=Stopping("eval/0/core.counting"))
    text = shown(load(next(tmp_path.iterdir())))
    assert "not finished" in text
    assert "forgetting" not in text
    assert "before" not in text


def matrix(arm="plain", domains=("scienceworld.text", "alfworld.text", "[red]webshop.text", "core.errands"), seed=0):
    rng = np.random.default_rng(seed)
    points = [(point, domain) for point in range(len(domains) + 1) for domain in domains]
    scores = {place: {f"{task}": 100 * rng.uniform() for task in range(20)} for place in points}
    return Matrix(arm=arm, domains=domains, stream=domains, scores=scores, bootstrap=Bootstrap(resamples=100))


def drawn(found, width):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for piece in found:
        console.print(piece)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_value_is_cut_whatever_the_width(width):
    plain, experience = matrix(), matrix("experience", seed=1)
    text = drawn(pieces(plain, experience, width), width)
    assert max(map(len, text.splitlines())) <= width
    assert "after 3 [red]webshop.text" in text
    for one in (plain, experience):
        assert all(f"{value:.1f}" in text for value in one.values.flat)
        assert all(value.text(signed=name not in ("final", "average")) in text
                   for name, value in one.figures().items() if name != "chaudhry_forgetting")  # fmt: skip
    assert final_retention(plain, experience).text() in text


def test_one_domain_is_not_named_on_every_line():
    text = drawn(pieces(matrix(domains=("core.errands",)), matrix("experience", domains=("core.errands",)), 100), 100)
    assert text.count("core.errands") == 2


def test_arm_that_was_not_evaluated_is_left_out():
    nothing = Matrix(arm="experience", domains=("core.errands",), stream=("core.errands",), scores={}, bootstrap=Bootstrap())
    text = drawn(pieces(matrix(domains=("core.errands",)), nothing, 100), 100)
    assert "experience" not in text
    assert drawn(pieces(nothing, nothing, 100), 100) == ""
