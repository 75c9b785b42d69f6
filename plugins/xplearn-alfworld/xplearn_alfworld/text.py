"""What the player reads, to the letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xplearn_alfworld.world import NOTHING, State, World

NOTHING_HAPPENS = "Nothing happens."

HELP = """\
Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


def intro(world: World, state: State, goal: str) -> str:
    """The first observation."""
    facing = bool(world.at[state.here])
    return f"-= Welcome to TextWorld, ALFRED! =-\n\n{look(world, state) if facing else room(world.places)}\n\nYour task is to: {goal}."


def room(places: Iterable[str]) -> str:
    """The middle of the room with all its furniture; with none when looked at again, as the original has it."""
    return f"You are in the middle of a room. Looking quickly around you, you see {listed(places)}."


def look(world: World, state: State) -> str:
    """Around oneself. ``Next to`` what one faces lies whatever was taken out of a receptacle here and put into another."""
    here = world.at[state.here]
    if not here:
        return room(())
    astray = [world.names[thing] for thing in state.spots[state.here] for place in here if (thing, place) in state.moved]
    return f"You are facing the {enumerated([world.places[place] for place in here])}. Next to it, you see {listed(astray)}."


def receptacle(world: World, state: State, place: int) -> str:
    """A receptacle, and what is in or on it unless it is shut."""
    name = world.places[place]
    if not world.accessible(state, place):
        return f"The {name} is closed."
    things = listed(world.names[thing] for thing in state.contents[place])
    return f"The {name} is open. In it, you see {things}." if world.receptacles[place].openable else f"On the {name}, you see {things}."


def thing(world: World, state: State, number: int) -> str:
    """A thing in the hands."""
    name, kind = world.names[number], world.things[number]
    if kind.container:
        return f"This is a normal {name}. In it, you see {listed(world.names[inner] for inner in world.inside[number])}."
    clean, sliced = number in state.clean, number in state.sliced
    warmth = "hot" if number in state.hot else "cool" if number in state.cool else ""
    if warmth == "cool" and not clean and not sliced:
        return f"This is a cold {name}."
    if warmth or clean:
        found = " and ".join(filter(None, (warmth, "clean" if clean else "")))
        return f"This is a {found} {'sliced ' if sliced else ''}{name}."
    if kind.toggleable and number in state.lit:
        return f"This {name} is on."
    return f"This is a sliced {name}." if sliced else f"There's nothing special about {name}."


def inventory(world: World, state: State) -> str:
    """What one carries."""
    return "You are not carrying anything." if state.holding == NOTHING else f"You are carrying: a {world.names[state.holding]}."


def listed(names: Iterable[str]) -> str:
    """``a mug 1, and a pen 2``; two are parted by a comma as well."""
    return enumerated([f"a {name}" for name in names])


def enumerated(items: Sequence[str]) -> str:
    """``bed 1, desk 1, and drawer 2``; nothing for none."""
    return "nothing" if not items else items[0] if len(items) == 1 else f"{', '.join(items[:-1])}, and {items[-1]}"
