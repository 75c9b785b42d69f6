"""Conversations of the shape that text games have: instructions, then observation and action in turn."""

from __future__ import annotations

from xplearn.seeding import derive
from xplearn.types import Conditioning, Message

INSTRUCTIONS = """You are acting in a house of many rooms by typing one short command per turn. You are told what you see after each.
Commands: look around; look at OBJECT; look in CONTAINER; open OBJECT; close OBJECT; go to ROOM; pick up OBJECT; put OBJECT in CONTAINER;
pour SUBSTANCE in CONTAINER; use TOOL on OBJECT; activate DEVICE; deactivate DEVICE; read OBJECT; focus on OBJECT; wait; inventory.
Rooms are joined by doors, which may be closed. A container must be open before something can be put in it or taken from it.
You can carry several things at once. Focusing on an object says that it is what the task asks for: a wrong one fails the task.
Work step by step: find what is needed, bring it to where it is needed, change it as asked, and focus on the result at the end.
Answer with the next command alone, on one line, without an explanation. Do not invent objects that you have not been shown."""

PLACES = ["kitchen", "workshop", "greenhouse", "hallway", "bedroom", "art studio", "foundry", "bathroom"]
THINGS = [
    "a metal pot",
    "a glass cup",
    "a blue paint can",
    "an orange",
    "a thermometer",
    "a steel table",
    "a red wire",
    "a seed jar",
    "a lighter",
]


def opening(episode: int) -> list[Message]:
    """System message, task and first observation of an episode."""
    task = f"Task: find {_pick(THINGS, episode, 'goal')} and bring it to the {_pick(PLACES, episode, 'end')}, then focus on it."
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": f"{task}\n\n{observation(episode, 0)}"}]


def observation(episode: int, turn: int) -> str:
    """What is seen in a turn: about 60 tokens, different everywhere."""
    seen = ", ".join(_pick(THINGS, episode, turn, index) for index in range(6))
    place, door = _pick(PLACES, episode, turn), _pick(PLACES, episode, turn, "door")
    return f"This room is called the {place}. In it you see: the agent, {seen}, and a substance called air. A door to the {door} is open."


def answered(messages: list[Message], said: str, episode: int, turn: int) -> list[Message]:
    """The conversation after the agent's words and the next observation."""
    return [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": observation(episode, turn)}]


def conditioning(messages: list[Message]) -> Conditioning:
    return Conditioning(messages=tuple(messages))


def _pick(options: list[str], *key: str | int) -> str:
    return options[derive(0, "conversation", *key) % len(options)]
