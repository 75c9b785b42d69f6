import dataclasses

import pytest

from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError
from xplearn.experiment.stream import domains, evenly, in_turn, merge_plans, require_known, stages, take
from xplearn.interfaces import RolloutPlan
from xplearn.plugins import installed
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


def test_plans_for_demonstrations_beside_rollouts_merge_to_the_earliest_rollouts():
    plans = [("a", RolloutPlan(source="both", rollouts_from=2)), ("b", RolloutPlan(source="both", rollouts_from=1))]
    merged = merge_plans([*plans, ("record", RolloutPlan(indifferent=True))])
    assert (merged.source, merged.shows) == ("both", True)
    assert [merged.plays(round) for round in range(3)] == [False, True, True]
    with pytest.raises(ConfigError, match=r"learner: c wants demonstrations; a, b want demonstrations beside rollouts: one round"):
        merge_plans([*plans, ("c", RolloutPlan(source="demonstration"))])


@pytest.mark.parametrize(("source", "first"), [("rollout", 1), ("demonstration", 1), ("both", -1)])
def test_rollouts_from_goes_with_both(source, first):
    with pytest.raises(ContractError, match=r"RolloutPlan: rollouts_from=-?1 with source"):
        RolloutPlan(source=source, rollouts_from=first)


SCIENCE = [120] * 8 + [90, 80, 60, 50, 40, 30, 30, 25, 24, 22, 20, 18, 14, 10, 6, 4]


def skewed(*sizes):
    """As many tasks of each kind as asked for, kinds one after the other."""
    return [
        dataclasses.replace(task(number), id=f"{kind}/{number}", kind=str(kind))
        for kind, size in enumerate(sizes)
        for number in range(size)
    ]


def parts(tasks, count, **which):
    return [take(tasks, TaskSlice(part=f"{number}/{count}", **which)) for number in range(1, count + 1)]


def test_parts_are_disjoint_in_the_official_order_and_together_the_slice():
    tasks = skewed(*SCIENCE)
    found = parts(tasks, 4, limit=1000, skip=1)
    slice = take(tasks, TaskSlice(limit=1000, skip=1))
    assert sorted(chosen.id for part in found for chosen in part) == sorted(chosen.id for chosen in slice)
    for part in found:
        assert part == [chosen for chosen in tasks if chosen in part]


@pytest.mark.parametrize("sizes", [[120] * 8 + [523], SCIENCE, [1483], [1] * 7, [2, 3, 2, 3, 4]])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_parts_differ_by_one_task_at_most_in_all_and_in_each_kind(sizes, count):
    found = parts(skewed(*sizes), count)
    assert max(map(len, found)) - min(map(len, found)) <= 1
    for kind, size in enumerate(sizes):
        shares = [sum(chosen.kind == str(kind) for chosen in part) for part in found]
        assert {size // count, -(-size // count)} >= set(shares), "so a kind with as many tasks as parts is in every one"


def test_scienceworlds_tasks_make_parts_of_371_371_371_and_370():
    sizes = [120] * 8 + [40] * 12 + [18, 10, 11, 4]
    assert sum(sizes) == 1483
    found = parts(skewed(*sizes), 4)
    assert [len(part) for part in found] == [371, 371, 371, 370]
    assert all(len({chosen.kind for chosen in part}) == 24 for part in found)


def test_a_part_is_not_every_fourth_of_a_list_that_enumerates_combinations():
    (first, *_) = parts(skewed(120), 4)
    remainders = [int(chosen.id.split("/")[1]) % 4 for chosen in first]
    assert all(4 <= remainders.count(rest) <= 12 for rest in range(4))
    assert parts(skewed(120), 4)[0] == first


def test_more_parts_than_tasks_leave_the_last_ones_empty():
    assert [len(part) for part in parts(TASKS, 4, limit=2)] == [1, 1, 0, 0]


@pytest.mark.parametrize("part", ["5/4", "0/4", "1/0", "2", "", "2 / 4", "-1/4", "a/b", "1/4/2", "1/" + "9" * 5000, "٢/٤"])
def test_bad_part_is_one_line_with_an_example(part):
    with pytest.raises(ConfigError, match=r"^part: is '.*'; want which of how many, e.g. 2/4$"):
        TaskSlice(part=part)


def test_part_of_a_stage_is_told_with_its_path():
    given = {"policy": "core.random", "sampling": {"choices": "admissible"}, "stream": [{"env": "core.errands", "tasks": {"part": 0.5}}]}
    with pytest.raises(ConfigError, match=r"^stream\.0\.tasks\.part: is '0.5'; want which of how many"):
        load_experiment(given, [], installed().registry)
    experiment, _ = load_experiment(given, [("stream.0.tasks.part", "1/2")], installed().registry)
    assert experiment.stream[0].tasks.part == "1/2"


def rounds(count, number, tasks=TASKS, seed=0, key=("round", 0)):
    return [[found.id for found in in_turn(tasks, count, round, seed, *key)] for round in range(number)]


@pytest.mark.parametrize("count", range(1, 12))
def test_rounds_take_turns_and_meet_every_task_once_a_pass(count):
    found = rounds(count, 60)
    assert all(len(set(taken)) == count for taken in found)
    met = [id for taken in found for id in taken]
    for passed in range(1, len(met) // len(TASKS)):
        seen = [met[: passed * len(TASKS)].count(task.id) for task in TASKS]
        assert max(seen) - min(seen) <= 2, "a round that straddles two passes may lead by one"
    whole = [met[: number * count] for number in range(61) if number * count % len(TASKS) == 0]
    assert all(taken.count(task.id) == len(taken) // len(TASKS) for taken in whole for task in TASKS)


def test_a_round_that_straddles_two_passes_leaves_what_it_has_to_the_next():
    tasks = TASKS[:5]
    for seed in range(40):
        first, second, third, fourth, fifth = rounds(3, 5, tasks, seed)
        assert set(first) | set(second[:2]) == {task.id for task in tasks}
        assert set(second[2:]) | set(third) | set(fourth[:1]) == {task.id for task in tasks}
        assert set(fourth[1:]) | set(fifth) == {task.id for task in tasks}
        assert [len(set(taken)) for taken in (first, second, third, fourth, fifth)] == [3] * 5


def test_each_pass_has_an_order_of_its_own_that_the_key_alone_decides():
    tasks = [task(number) for number in range(100)]
    met = [id for taken in rounds(10, 20, tasks) for id in taken]
    first, second = met[:100], met[100:]
    assert sorted(first) == sorted(second)
    assert first != second
    assert first != [found.id for found in tasks]
    assert rounds(10, 20, tasks)[:10] == rounds(10, 10, tasks)
    assert rounds(10, 3, tasks, seed=1) != rounds(10, 3, tasks)
    assert rounds(10, 3, tasks, key=("round", 1)) != rounds(10, 3, tasks)


@pytest.mark.parametrize("count", [None, 12, 13, 1000])
def test_as_many_as_there_are_or_more_is_all_in_the_official_order(count):
    assert in_turn(TASKS, count, 3, 0, "round", 0) == TASKS
