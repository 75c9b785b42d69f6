"""Whether a game is won."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xplearn_alfworld.problem import TaskType
from xplearn_alfworld.world import State, World

PROCESS: Mapping[TaskType, str] = {
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
}
"""What is to be done with the thing before it is placed."""


def won(world: World, state: State) -> bool:
    """Whether the goal holds."""
    if world.problem.goal.type == "look_at_obj_in_light":
        return state.holding in world.wanted and any(lamp in state.lit for lamp in lamps_here(world, state))
    count = needed(world)
    done = [thing for thing in world.wanted if ready(world, state, thing)]
    return any(sum(thing in state.contents[place] for thing in done) >= count for place in world.targets)


def needed(world: World) -> int:
    """How many things must be in one target."""
    return 2 if world.problem.goal.type == "pick_two_obj_and_place" else 1


def ready(world: World, state: State, thing: int) -> bool:
    """Whether a thing is as clean, hot or cool as the goal wants it; then it only needs to be placed."""
    process = PROCESS.get(world.problem.goal.type)
    return process is None or (world.able(thing, process) and thing in processed(state, process))


def processed(state: State, process: str) -> Collection[int]:
    """The things that are as a process leaves them."""
    return {"clean": state.clean, "heat": state.hot, "cool": state.cool}[process]


def lamps_here(world: World, state: State) -> list[int]:
    """Lamps of the kind asked for that stand where the agent is."""
    return [thing for place in world.at[state.here] for thing in state.contents[place] if thing in world.lamps]
