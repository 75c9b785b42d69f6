"""Warm-up stages with learners of their own, warm-ups that write the bank, and plans that end their experience arm."""

import pytest

from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError
from xplearn.experiment.build import build_parts, check_experiment
from xplearn.experiment.estimate import count
from xplearn.experiment.learn import require_movement
from xplearn.experiment.run import run_experiment
from xplearn.experiment.stream import merge_plans, stages
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import RolloutPlan
from xplearn.record.reader import load
from xplearn.testing.dial import DialPolicy, TurnLearner, dial_plugins

ERRANDS = {"env": "core.errands", "tasks": {"limit": 3}}
BASE = {
    "stream": [{**ERRANDS, "warmup": True}, {**ERRANDS, "rounds": 2}],
    "policy": "dial.policy",
    "store": "core.memory",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "warmup": {"name": "dial.turn", "source": "demonstration"},
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
}


def experiment(plugins=None, **changes):
    plugins = plugins or dial_plugins()
    found, given = load_experiment({**BASE, **changes}, [], plugins.registry)
    return found, given, plugins


def ran(tmp_path, plugins=None, **changes):
    found, given, plugins = experiment(plugins, **{**changes, "run": {"dir": str(tmp_path)}})
    return load(run_experiment(found, plugins=plugins, given=given).folder)


def learned(run):
    return [(line["learner"], line["stage"], line["round"]) for line in run.scalars()]


def test_a_warmup_has_its_own_learners_and_their_source(tmp_path):
    run = ran(tmp_path)
    assert learned(run) == [
        ("warmup.0", 0, 0), ("record.0", 1, 0), ("learner.0", 1, 0), ("record.0", 1, 1), ("learner.0", 1, 1)
    ]  # fmt: skip
    assert {item.source for item in run.trajectories("train/0/0")} == {"demonstration"}
    assert {(item.source, item.arm) for item in run.trajectories("train/1/0")} == {("rollout", "plain"), ("rollout", "experience")}


def test_without_them_the_learners_of_the_stream_warm_up_too(tmp_path):
    assert learned(ran(tmp_path, warmup=[]))[0] == ("learner.0", 0, 0)


def test_a_warmup_may_write_the_bank_from_what_it_learns_from(tmp_path):
    run = ran(tmp_path, stream=[{**ERRANDS, "warmup": True, "record": True}, ERRANDS])
    assert learned(run)[:2] == [("record.0", 0, 0), ("warmup.0", 0, 0)]
    first = next(iter(run.scalars()))
    assert (first["written"], first["bank"]) == (3.0, 3.0)


def test_a_stage_may_leave_the_bank_alone(tmp_path):
    run = ran(tmp_path, stream=[{**ERRANDS}, {**ERRANDS, "record": False}], warmup=[])
    assert [place for place in learned(run) if place[0] == "record.0"] == [("record.0", 0, 0)]


class Weighed(DialPolicy):
    """Has a weight that only a warm-up moves."""

    weight = None

    def parameters(self):
        yield "weight", Weighed.weight


class Half(TurnLearner):
    fails = True

    def learn(self, batch, agent):
        if batch[0].source == "demonstration":
            Weighed.weight.data += 1
        elif Half.fails:
            raise KeyboardInterrupt
        return super().learn(batch, agent)


def test_what_a_warmup_moved_does_not_speak_for_the_learners_after_it_killed_or_not(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(Weighed, "weight", torch.nn.Parameter(torch.ones(2)))

    class Own:
        @hookimpl
        def xplearn_register(self, registry):
            registry.add("policy", "policy", f"{__name__}:Weighed")
            registry.add("learner", "part", f"{__name__}:Half")

    plugins = dial_plugins()
    plugins.add("own", Own())
    parts = {"policy": "own.policy", "learner": "own.part", "warmup": {"name": "own.part", "source": "demonstration"}}
    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path, plugins, **parts)
    monkeypatch.setattr(Half, "fails", False)
    with pytest.raises(ContractError, match="policy: offers 1 trainable parameters and training moved none"):
        ran(tmp_path, plugins, **parts)


def test_learners_for_warmups_need_one():
    found, _, plugins = experiment(stream=[ERRANDS])
    with pytest.raises(ConfigError, match=r"warmup: is \[dial.turn\], and no stage is a warm-up; type stream.0.warmup=true"):
        check_experiment(found, plugins)


@pytest.mark.parametrize("changes", [{"warmup": "own.part"}, {"warmup": [], "learner": "own.part"}])
def test_who_takes_a_scaffold_away_in_the_stream_does_not_warm_up(changes):
    class Own:
        @hookimpl
        def xplearn_register(self, registry):
            registry.add("learner", "part", f"{__name__}:Scaffolded")

    plugins = dial_plugins()
    plugins.add("own", Own())
    found, _, _ = experiment(plugins, **changes)
    with pytest.raises(ConfigError, match=r"warmup: own.part takes its scaffold away .* say who learns there instead"):
        check_experiment(found, plugins)


@pytest.mark.parametrize("changes", [{}, {"warmup": []}, {"stream": [{**ERRANDS, "warmup": True, "record": True}, ERRANDS]}])
def test_the_estimate_counts_what_a_run_does(tmp_path, changes):
    found, _, plugins = experiment(**changes)
    counted = count(found, plugins)
    run = ran(tmp_path, **changes)
    played = {}
    for result in run.episodes():
        played[result.phase] = played.get(result.phase, 0) + 1
    assert counted.phases == played
    assert counted.points == sorted(int(point) for point in run.header.bank)
    recorded = [stage.recorded for stage in counted.stages]
    told = [sum(line["written"] + line["left_out"] for line in run.scalars() if line["learner"] == "record.0" and line["stage"] == index)
            for index in range(len(counted.stages))]  # fmt: skip
    assert recorded == told


# the end of the scaffold


def test_a_plan_whose_scaffold_is_gone_plays_as_many_without_experience():
    plan = RolloutPlan(arms=("plain", "experience"), replicas=4, plain_from=2, grouped=True)
    assert plan.at(1) is plan
    assert (plan.at(2).arms, plan.at(2).replicas, plan.at(2).grouped) == (("plain",), 8, True)
    with pytest.raises(ContractError, match="plain_from=-1"):
        RolloutPlan(plain_from=-1)


def test_the_earliest_end_holds_and_who_names_none_leaves_it_to_the_others():
    both = RolloutPlan(arms=("plain", "experience"))
    plans = [("a", both), *((name, RolloutPlan(arms=("plain", "experience"), plain_from=end)) for name, end in (("b", 5), ("c", 3)))]
    assert merge_plans(plans).plain_from == 3
    assert merge_plans([("a", both)]).plain_from is None


def test_who_learns_with_experience_alone_is_told_that_there_will_be_none():
    plans = [("a", RolloutPlan(arms=("plain", "experience"), plain_from=5)), ("b", RolloutPlan())]
    with pytest.raises(ConfigError, match="learner: b learns with experience alone, and from round 5 on there is none"):
        merge_plans(plans)


class Scaffolded(TurnLearner):
    def plan(self):
        return RolloutPlan(arms=("plain", "experience"), replicas=1, plain_from=3)


def test_rounds_are_counted_through_the_stream_and_warmups_are_none_of_them(tmp_path):
    class Own:
        @hookimpl
        def xplearn_register(self, registry):
            registry.add("learner", "part", f"{__name__}:Scaffolded")

    plugins = dial_plugins()
    plugins.add("own", Own())
    stream = [{**ERRANDS, "warmup": True}, {**ERRANDS, "rounds": 2}, {**ERRANDS, "rounds": 3}]
    run = ran(tmp_path, plugins, stream=stream, learner="own.part")
    arms = {phase: [item.arm for item in run.trajectories(phase)].count("experience") for phase in ("train/1/1", "train/2/0", "train/2/1")}
    assert arms == {"train/1/1": 3, "train/2/0": 3, "train/2/1": 0}
    assert len(list(run.trajectories("train/2/1"))) == 6
    found, _, _ = experiment(plugins, stream=stream, learner="own.part")
    assert [stage.before for stage in stages(found)] == [0, 0, 2]
    assert build_parts(found, plugins.registry).plan.plain_from == 3


def test_who_does_not_write_in_a_stage_has_no_say_in_what_it_plays():
    class Both(TurnLearner):
        def plan(self):
            return RolloutPlan(arms=("plain", "experience"))

    class Own:
        @hookimpl
        def xplearn_register(self, registry):
            registry.add("learner", "part", f"{__name__}:Both")

    globals()["Both"] = Both
    plugins = dial_plugins()
    plugins.add("own", Own())
    found, _, _ = experiment(
        plugins,
        stream=[ERRANDS, {**ERRANDS, "record": False}],
        warmup=[],
        record="own.part",
        learner={"name": "dial.turn", "arms": ["plain"]},
    )
    parts = build_parts(found, plugins.registry)
    assert [parts.plan_of(stage).arms for stage in stages(found)] == [("plain", "experience"), ("plain",)]


def test_a_warmup_that_cannot_reach_every_part_must_move_something():
    before = {"policy": {"w": (1.0, 1.0)}, "conditioner": {"gate": (0.5, 0.25)}}
    moved = {"policy": {"w": (2.0, 4.0)}, "conditioner": {"gate": (0.5, 0.25)}}
    require_movement(before, moved, whole=False)
    with pytest.raises(ContractError, match="conditioner: offers 1 trainable parameters"):
        require_movement(before, moved)
    with pytest.raises(ContractError, match="policy: offers 1"):
        require_movement(before, before, whole=False)
