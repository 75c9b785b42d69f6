"""What can be done in a state, and what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xplearn_alfworld import text
from xplearn_alfworld.world import NOTHING, PROCESSES, Action, Options, State, World, with_thing, without


def options(world: World, state: State) -> Options:
    """Everything that can be done now. Whatever else is typed, nothing happens."""
    found = dict(_anywhere(world, state.here))
    for place in world.at[state.here]:
        found.update(_with_receptacle(world, state, place))
        if world.accessible(state, place):
            found.update(_reaching_in(world, state, place))
    if state.holding != NOTHING:
        found.update(_with_hands_full(world, state))
    return found


def _anywhere(world: World, here: int) -> Options:
    """What depends on nothing but the location."""
    found = world.always.get(here)
    if found is None:
        found = {verb: Action(verb) for verb in ("help", "inventory", "look")}
        for place, where in enumerate(world.location):
            verb = "examine" if where == here else "go to"
            found[f"{verb} {world.places[place]}"] = Action(verb, place=place)
        world.always[here] = found
    return found


def _with_receptacle(world: World, state: State, place: int) -> Iterator[tuple[str, Action]]:
    receptacle, name, held = world.receptacles[place], world.places[place], state.holding
    if receptacle.openable:
        verb = "close" if place in state.opened else "open"
        yield f"{verb} {name}", Action(verb, place=place)
    for thing in state.contents[place]:
        if world.things[thing].toggleable:
            yield f"use {world.names[thing]}", Action("use", thing=thing)
    process = PROCESSES.get(receptacle.kind)
    if process is not None and held != NOTHING and world.able(held, process):
        yield f"{process} {world.names[held]} with {name}", Action(process, held, place)


def _reaching_in(world: World, state: State, place: int) -> Iterator[tuple[str, Action]]:
    name, held = world.places[place], state.holding
    if held == NOTHING:
        for thing in state.contents[place]:
            if world.things[thing].pickupable:
                yield f"take {world.names[thing]} from {name}", Action("take", thing, place)
    elif place in world.fits[held]:
        yield f"move {world.names[held]} to {name}", Action("move", held, place)


def _with_hands_full(world: World, state: State) -> Iterator[tuple[str, Action]]:
    held = world.names[state.holding]
    yield f"examine {held}", Action("examine", thing=state.holding)
    if state.holding in world.knives:
        for thing in state.spots[state.here]:
            if world.things[thing].sliceable:
                yield f"slice {world.names[thing]} with {held}", Action("slice", thing=thing)


def perform(world: World, state: State, action: Action) -> str:
    """Change the state as the action does, and say so."""
    match action.verb:
        case "help":
            return text.HELP
        case "inventory":
            return text.inventory(world, state)
        case "look":
            return text.look(world, state)
        case verb:
            return _AIMED[verb](world, state, action)


def _go(world: World, state: State, action: Action) -> str:
    state.here = world.location[action.place]
    return f"You arrive at {world.places[action.place]}. {text.receptacle(world, state, action.place)}"


def _open(world: World, state: State, action: Action) -> str:
    state.opened.add(action.place)
    return f"You open the {world.places[action.place]}. {text.receptacle(world, state, action.place)}"


def _close(world: World, state: State, action: Action) -> str:
    state.opened.discard(action.place)
    return f"You close the {world.places[action.place]}."


def _take(world: World, state: State, action: Action) -> str:
    thing, place = action.thing, action.place
    state.contents[place] = without(state.contents[place], thing)
    state.spots[state.here] = without(state.spots[state.here], thing)
    state.moved.add((thing, place))
    state.holding = thing
    return f"You pick up the {world.names[thing]} from the {world.places[place]}."


def _move(world: World, state: State, action: Action) -> str:
    thing, place = action.thing, action.place
    state.contents[place] = with_thing(state.contents[place], thing)
    state.spots[state.here] = with_thing(state.spots[state.here], thing)
    state.moved.discard((thing, place))
    state.holding = NOTHING
    return f"You move the {world.names[thing]} to the {world.places[place]}."


def _process(world: World, state: State, action: Action) -> str:
    if action.verb == "clean":
        state.clean.add(action.thing)
    else:
        hot = action.verb == "heat"
        (state.hot if hot else state.cool).add(action.thing)
        (state.cool if hot else state.hot).discard(action.thing)
    return f"You {action.verb} the {world.names[action.thing]} using the {world.places[action.place]}."


def _use(world: World, state: State, action: Action) -> str:
    state.lit.add(action.thing)
    return f"You turn on the {world.names[action.thing]}."


def _slice(world: World, state: State, action: Action) -> str:
    state.sliced.add(action.thing)
    return f"You sliced the {world.names[action.thing]} with the {world.names[state.holding]}."


def _examine(world: World, state: State, action: Action) -> str:
    held = action.place == NOTHING
    return text.thing(world, state, action.thing) if held else text.receptacle(world, state, action.place)


_AIMED: Mapping[str, Callable[[World, State, Action], str]] = {
    "go to": _go,
    "open": _open,
    "close": _close,
    "take": _take,
    "move": _move,
    "clean": _process,
    "heat": _process,
    "cool": _process,
    "use": _use,
    "slice": _slice,
    "examine": _examine,
}
