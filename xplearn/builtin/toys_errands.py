"""The toy environment ``core.errands``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xplearn.errors import ConfigError, ContractError, DataError
from xplearn.interfaces import Environment
from xplearn.seeding import derive, shuffled
from xplearn.types import Observation, Outcome, Task, Trajectory

NAME = "core.errands"
ROOMS = ("attic", "bathroom", "bedroom", "cellar", "garage", "garden", "kitchen", "study", "workshop")
SPOTS = ("shelf", "drawer")
"""What every room has; a drawer is closed at first."""
KINDS = {
    "fetch-lantern": "lantern",
    "fetch-letter": "letter",
    "fetch-rope": "rope",
    "fetch-scissors": "scissors",
    "wash-bowl": "bowl",
    "wash-shirt": "shirt",
}
"""Object of each kind of task."""
CLUTTER = ("book", "brush", "candle", "clock", "coin", "glove", "hammer", "pencil")
SINK = "bathroom"
_SPLITS = ("train", "dev", "test")
_PER_KIND_MOST = 28


@dataclass(slots=True)
class _House:
    """The state of an episode."""

    kind: str
    destination: str
    room: str
    things: dict[str, tuple[str, str]]
    """Room and spot of everything that nobody carries; the spot is ``floor`` once it has been put down."""
    open_drawers: set[str] = field(default_factory=set)
    carried: str = ""
    taken: bool = False
    washed: bool = False
    steps: int = 0
    ended: bool = False

    @property
    def wanted(self) -> str:
        return KINDS[self.kind]

    @property
    def delivered(self) -> bool:
        clean = self.washed or not self.kind.startswith("wash")
        return clean and self.things.get(self.wanted) == (self.destination, "floor")

    def score(self) -> float:
        """In [0, 1]: finding it is worth a third, washing it (where asked) another, bringing it the rest."""
        if self.delivered:
            return 1.0
        return (self.taken + (self.washed and self.kind.startswith("wash"))) / 3

    def visible(self) -> list[str]:
        """Things in this room that can be taken, by name."""
        here = [(name, spot) for name, (room, spot) in self.things.items() if room == self.room]
        return sorted(name for name, spot in here if spot != "drawer" or self.room in self.open_drawers)

    def describe(self) -> str:
        """What is seen."""
        drawer = "an open drawer" if self.room in self.open_drawers else "a closed drawer"
        seen = ", ".join(f"a {name}" for name in self.visible()) or "nothing else"
        return f"You are in the {self.room}. There are a shelf and {drawer}. You see {seen}. You carry {self._hands()}."

    def actions(self) -> tuple[str, ...]:
        """What can be done, sorted."""
        found = [f"go to {room}" for room in ROOMS if room != self.room]
        if self.room not in self.open_drawers:
            found.append("open drawer")
        if self.carried:
            found.append(f"put down {self.carried}")
        else:
            found += [f"take {name}" for name in self.visible()]
        if self.carried and self.room == SINK:
            found.append(f"wash {self.carried}")
        return tuple(sorted(found))

    def act(self, action: str) -> None:
        """Carry out an admissible action."""
        if action.startswith("go to "):
            self.room = action.removeprefix("go to ")
        elif action == "open drawer":
            self.open_drawers.add(self.room)
        elif action.startswith("take "):
            self.carried = action.removeprefix("take ")
            del self.things[self.carried]
            self.taken = self.taken or self.carried == self.wanted
        elif action.startswith("put down "):
            self.things[self.carried], self.carried = (self.room, "floor"), ""
        else:
            self.washed = self.washed or self.carried == self.wanted

    def _hands(self) -> str:
        return f"the {self.carried}" if self.carried else "nothing"


@dataclass(kw_only=True)
class Errands(Environment):
    """Fetch a thing in a house of nine rooms and bring it to another room; some things must be washed on the way.

    Where a thing lies depends on the kind of task alone, and nothing in a task says it: who remembers an earlier errand of the kind walks
    there, who does not must search. Splits have different combinations of start and destination. The seed scatters the other things.
    """

    per_kind: int = 12
    """Training tasks of each of the six kinds; half as many (rounded up) in dev and test."""
    world: int = 0
    """Number of the house: another number, other places."""
    max_steps: int = 12
    """Steps after which an episode is truncated."""

    def __post_init__(self) -> None:
        if not 1 <= self.per_kind <= _PER_KIND_MOST:
            raise ConfigError("per_kind", f"is {self.per_kind}, want 1 to {_PER_KIND_MOST}")
        if self.max_steps < 1:
            raise ConfigError("max_steps", f"is {self.max_steps}, want at least 1")
        self._house: _House | None = None

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"env.replay", "env.actions", "env.demos"})

    @property
    def version(self) -> str:
        return f"errands 1, world {self.world}, {self.max_steps} steps"

    @property
    def instructions(self) -> str:
        return (
            "You run errands in a house. Answer each turn with one action and nothing else: "
            f"go to ROOM, open drawer, take THING, put down THING, or wash THING (in the {SINK}). You carry one thing at a time. "
            f"Rooms: {', '.join(ROOMS)}."
        )

    def splits(self) -> tuple[str, ...]:
        return _SPLITS

    def tasks(self, split: str) -> Sequence[Task]:
        if split not in _SPLITS:
            raise ConfigError("split", f"no split is called '{split}' (known: {', '.join(_SPLITS)})")
        return [self._task(split, kind, index, *pair) for kind in KINDS for index, pair in enumerate(self._pairs(kind, split))]

    def reset(self, task: Task, *, seed: int) -> Observation:
        start, destination = task.meta.get("start"), task.meta.get("destination")
        if task.env != NAME or task.kind not in KINDS or start not in ROOMS or destination not in ROOMS:
            raise DataError(task.id, f"is not a task of {NAME}")
        things = {name: _somewhere(seed, task.id, name) for name in CLUTTER}
        things[KINDS[task.kind]] = self._place(task.kind)
        self._house = _House(kind=task.kind, destination=destination, room=start, things=things)
        return self._observed(self._house.describe())

    def step(self, action: str) -> Outcome:
        house = self._playing()
        before, wish = house.score(), " ".join(action.lower().split())
        valid = wish in house.actions()
        if valid:
            house.act(wish)
        house.steps += 1
        terminated = house.delivered
        truncated = not terminated and house.steps >= self.max_steps
        house.ended = terminated or truncated
        text = house.describe() if valid else f"You can't do that. {house.describe()}"
        info = {"valid": valid, "score": house.score(), "success": terminated}
        reward = house.score() - before
        return Outcome(observation=self._observed(text), reward=reward, terminated=terminated, truncated=truncated, info=info)

    def admissible(self) -> tuple[str, ...]:
        return self._playing().actions()

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        return self.replay(task, self._plan(task), seed=seed)

    def _plan(self, task: Task) -> Iterator[str]:
        """The shortest way."""
        thing, (room, spot) = KINDS[task.kind], self._place(task.kind)
        if task.meta["start"] != room:
            yield f"go to {room}"
        if spot == "drawer":
            yield "open drawer"
        yield f"take {thing}"
        if task.kind.startswith("wash"):
            if room != SINK:
                yield f"go to {SINK}"
            yield f"wash {thing}"
            room = SINK
        if room != task.meta["destination"]:
            yield f"go to {task.meta['destination']}"
        yield f"put down {thing}"

    def _place(self, kind: str) -> tuple[str, str]:
        return _somewhere(self.world, "place", kind)

    def _pairs(self, kind: str, split: str) -> list[tuple[str, str]]:
        """Start and destination of the tasks of a kind: one shuffled list of all pairs, cut into the splits."""
        room, _ = self._place(kind)
        others = [other for other in ROOMS if other != room]
        pairs = shuffled([(start, goal) for start in others for goal in others if start != goal], self.world, "pairs", kind)
        held_out = (self.per_kind + 1) // 2
        begin, end = {
            "train": (0, self.per_kind),
            "dev": (self.per_kind, self.per_kind + held_out),
            "test": (self.per_kind + held_out, self.per_kind + 2 * held_out),
        }[split]
        return pairs[begin:end]

    def _task(self, split: str, kind: str, index: int, start: str, destination: str) -> Task:
        thing = KINDS[kind]
        wash = f"Wash the {thing}, then bring it" if kind.startswith("wash") else f"Bring the {thing}"
        goal = f"{wash} to the {destination} and put it down there."
        meta = {"start": start, "destination": destination}
        return Task(id=f"{split}/{kind}/{index}", env=NAME, split=split, goal=goal, kind=kind, meta=meta)

    def _playing(self) -> _House:
        if self._house is None or self._house.ended:
            raise ContractError(NAME, "no episode is in progress; call reset")
        return self._house

    def _observed(self, text: str) -> Observation:
        house = self._house
        return Observation(text=text, actions=house.actions() if self.listing and house is not None and not house.ended else None)


def _somewhere(seed: int, *key: str) -> tuple[str, str]:
    number = derive(seed, "errands", *key)
    return ROOMS[number % len(ROOMS)], SPOTS[number // len(ROOMS) % len(SPOTS)]
