import pytest

from xplearn.errors import ConfigError
from xplearn.experiment.stream import domains, evenly, merge_plans, require_known, stages, take
from xplearn.interfaces import RolloutPlan
from xplearn.schema import EnvSpec, Experiment, PartSpec, StageConfig, TaskSlice
from xplearn.testing.samples import task

TASKS = [task(number) for number in range(12)]


def experiment(*stream, **fields):
    return Experiment(stream=list(stream), policy=PartSpec(name="core.random"), **fields)


def stage(name="toy", warmup=False, **fields):
    return StageConfig(env=EnvSpec(name=name, fields=fields), warmup=warmup)


def ids(**which):
    return [found.id for found in take(TASKS, TaskSlice(**which))]


def test_slice_takes_everything_by_default():
    assert take(TASKS, TaskSlice()) == TASKS


def test_slice_filters_by_id_and_kind_in_the_official_order():
    assert ids(ids=["paint-5", "boil-0"]) == ["boil-0", "paint-5"]
    assert ids(kinds=["fetch"]) == ["fetch-1", "fetch-4", "fetch-7", "fetch-10"]


def test_skip_leaves_out_the_first_of_each_kind():
    assert ids(skip=3) == ["boil-9", "fetch-10", "paint-11"]


def test_per_kind_and_limit_spread_evenly():
    assert ids(per_kind=2) == ["boil-0", "fetch-1", "paint-2", "boil-6", "fetch-7", "paint-8"]
    assert ids(limit=4) == ["boil-0", "paint-5", "fetch-7", "boil-9"]
    assert ids(skip=1, per_kind=1, limit=2) == ["boil-3", "fetch-4"]


def test_limit_takes_of_all_kinds_where_they_take_turns():
    for count in range(3, 12):
        kinds = [found.split("-")[0] for found in ids(limit=count)]
        assert {kinds.count(kind) for kind in ("boil", "fetch", "paint")} <= {count // 3, -(-count // 3)}


def test_evenly_starts_with_the_first_and_never_repeats():
    for count in range(1, 30):
        found = evenly(range(17), count)
        assert found[0] == 0
        assert len(found) == len(set(found)) == min(count, 17)
        assert found == sorted(found)


def test_unknown_id_and_kind_are_named_with_the_nearest():
    with pytest.raises(ConfigError, match=r"evaluate.tasks.kinds: no task has 'boyl'; did you mean 'boil'"):
        require_known(TASKS, TaskSlice(kinds=["boyl"]), "evaluate.tasks")
    with pytest.raises(ConfigError, match=r"stream.0.tasks.ids: no task has 'boil-1'; did you mean"):
        require_known(TASKS, TaskSlice(ids=["boil-1"]), "stream.0.tasks")


def test_warm_up_stages_are_neither_points_nor_domains():
    given = experiment(stage("warm", warmup=True), stage("a"), stage("b"))
    assert [(found.index, found.point) for found in stages(given)] == [(0, 0), (1, 1), (2, 2)]
    assert [domain.name for domain in domains(given)] == ["a", "b"]


def test_same_environment_is_one_domain_and_another_configuration_of_it_a_second():
    given = experiment(stage("a"), stage("b"), stage("a"), stage("a", size=3))
    assert [domain.name for domain in domains(given)] == ["a", "b", "a#2"]


def test_plans_merge_to_the_union_of_arms_and_the_largest_replica_count():
    plans = [("x", RolloutPlan(arms=("experience",), replicas=2)), ("y", RolloutPlan(arms=("plain",), needs_logprobs=True))]
    merged = merge_plans([*plans, ("z", RolloutPlan(indifferent=True, replicas=99))])
    assert merged == RolloutPlan(arms=("plain", "experience"), replicas=2, needs_logprobs=True)


def test_indifferent_learners_take_what_others_ask_for():
    merged = merge_plans([("record", RolloutPlan(indifferent=True)), ("clone", RolloutPlan(source="demonstration", arms=("plain",)))])
    assert (merged.source, merged.arms) == ("demonstration", ("plain",))
    assert merge_plans([("record", RolloutPlan(indifferent=True))]).source == "rollout"
    assert merge_plans([]).arms == ("experience",)


def test_learners_that_want_different_sources_are_both_named():
    with pytest.raises(ConfigError, match=r"learner: b wants rollouts; a, c want demonstrations"):
        merge_plans([("a", RolloutPlan(source="demonstration")), ("b", RolloutPlan()), ("c", RolloutPlan(source="demonstration"))])
