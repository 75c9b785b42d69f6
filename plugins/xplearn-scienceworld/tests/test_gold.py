from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from xplearn_scienceworld.environment import ScienceWorld
from xplearn_scienceworld.gold import closest

AT_THE_BOX = ("look around", "move blue jay to inventory", "move blue jay to red box", "move orange to red box")


@pytest.mark.parametrize(
    ("action", "admissible", "meant"),
    [
        ("look around", AT_THE_BOX, "look around"),
        ("move egg blue jay egg in inventory to red box", AT_THE_BOX, "move blue jay to red box"),
        ("examine steam", ("look at steam", "look in steam"), "look at steam"),
        ("drop metal pot", ("put down metal pot", "put down orange"), "put down metal pot"),
        ("pour cup in jug", ("pour jug into cup", "pour cup into jug"), "pour cup into jug"),
        (
            "connect battery anode to wire",
            ("connect anode in battery to wire", "connect wire to buzzer"),
            "connect anode in battery to wire",
        ),
        ("pick up metal pot", ("pick up table", "pick up cup"), "pick up metal pot"),
        ("focus on adult turtle in outside", ("focus on outside",), "focus on adult turtle in outside"),
    ],
)
def test_an_action_takes_the_admissible_wording_that_names_nothing_else(action, admissible, meant):
    assert closest(action, admissible) == meant


def ends_of_all_kinds(env):
    train, test = env.tasks("train"), env.tasks("test")
    first = {task.kind: task for task in reversed(train)}
    last = {task.kind: task for task in test}
    return [task for kind in first for task in (first[kind], last[kind])]


def replayed(tasks):
    env = ScienceWorld(demonstrations="gold")
    env.listing = False
    shown = {task.id: env.demonstrate(task, seed=0) for task in tasks}
    env.close()
    return shown


def seen(trajectory):
    return [step.query.messages[-1]["content"] for step in trajectory.steps] + [trajectory.final]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_gold_paths_of_all_thirty_tasks_reach_the_full_score_twice_with_identical_observations():
    """Both ends of each kind, two simulators at a time, then in another order in two others."""
    tasks = ends_of_all_kinds(ScienceWorld())
    assert len(tasks) == 60
    first, last = tasks[::2], tasks[1::2]
    with ThreadPoolExecutor(2) as pool:
        parts = [*pool.map(replayed, [first, last, first[::-1], last[::-1]])]
    once, again = parts[0] | parts[1], parts[2] | parts[3]
    solved = [task.id for task in tasks if once[task.id].score == again[task.id].score == 1.0 and once[task.id].success]
    equal = [task.id for task in tasks if seen(once[task.id]) == seen(again[task.id])]
    observations = sum(len(seen(trajectory)) for trajectory in once.values())
    print(f"\n{len(solved)} of {len(tasks)} gold paths reach 100, {len(equal)} with identical observations ({observations} in all)")
    assert solved == equal == [task.id for task in tasks]
