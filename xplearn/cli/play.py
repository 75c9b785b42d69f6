"""``xplearn play``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, cast

from xplearn.cli.arguments import Commands, add_command
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.interfaces import Environment
    from xplearn.rollout.watched import WatchedEnvironment
    from xplearn.types import Outcome, Task

EXAMPLES = """  xplearn play core.errands
  xplearn play scienceworld.text --task boil/0
  xplearn play scienceworld.text --split test --oracle
  xplearn play scienceworld.text simplifications=easy kinds='[boil]'
  xplearn play webshop.text --html

while playing: an action, or  :actions  :task  :quit
"""
COMMANDS = (":actions", ":task", ":quit")
"""What a player may type that is no action."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "play", "play a task of an environment yourself", EXAMPLES)
    parser.add_argument("env", help="registered name of the environment")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="fields of the environment")
    parser.add_argument("--task", help="task id; left out, the first of the split")
    parser.add_argument("--split", help="left out, the environment's first")
    parser.add_argument("--seed", type=int, default=0)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--oracle", action="store_true", help="watch the expert instead")
    ways.add_argument("--html", action="store_true", help="play in a browser; the page is served to this machine only")
    parser.add_argument("--port", type=int, default=0, help="of --html; left out, a free one")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Play, or replay the expert's path."""
    from xplearn.api import make
    from xplearn.compose import compose
    from xplearn.plugins import installed
    from xplearn.rollout.watched import WatchedEnvironment

    fields = compose(None, args.overrides, installed().registry)
    env = WatchedEnvironment(args.env, lambda: cast("Environment", make("environment", args.env, **fields)))
    try:
        task = _task(env, args.split, args.task)
        print(printable(f"{env.version}\ntask {task.id} ({task.split})\n"))
        if args.html:
            return _serve(env, task, args.seed, args.port)
        return _watch(env, task, args.seed) if args.oracle else _play(env, task, args.seed)
    finally:
        env.close()


def _task(env: WatchedEnvironment, split: str | None, wanted: str | None) -> Task:
    from xplearn.errors import DataError, nearest

    splits = [split] if split else list(env.splits())
    tasks = [task for name in splits for task in env.tasks(name)]
    if not tasks:
        raise DataError("tasks", f"split {', '.join(splits)} has none with these fields")
    if wanted is None:
        return tasks[0]
    by_id = {task.id: task for task in tasks}
    if wanted not in by_id:
        hint = nearest(wanted, by_id)
        raise DataError(
            wanted, "no such task" + (f"; did you mean '{hint}'?" if hint else "") + f" ({len(by_id)} tasks in {', '.join(splits)})"
        )
    return by_id[wanted]


def _watch(env: WatchedEnvironment, task: Task, seed: int) -> int:
    trajectory = env.demonstrate(task, seed=seed)
    print(printable(trajectory.steps[0].query.messages[-1]["content"] if trajectory.steps else trajectory.final))
    for step, after in zip(trajectory.steps, [*trajectory.steps[1:], None], strict=True):
        print(f"\n> {printable(step.action)}")
        print(printable(after.query.messages[-1]["content"] if after else trajectory.final))
    print(f"\nscore {100 * trajectory.score:.0f} of 100 after {len(trajectory.steps)} steps, {_verdict(trajectory.success)}")
    return 0


def _serve(env: WatchedEnvironment, task: Task, seed: int, port: int) -> int:
    from xplearn.cli.browser import Episode
    from xplearn.cli.serving import Server

    server = Server(Episode(env, task, seed), port=port)
    print(f"{server.address}/  (Ctrl-C ends)", flush=True)
    try:
        server.serve()
    except KeyboardInterrupt:
        print()
    return 0


def _play(env: WatchedEnvironment, task: Task, seed: int) -> int:
    env.listing = False
    observation = env.reset(task, seed=seed)
    print(f"(say an action, or {', '.join(COMMANDS)})\n")
    print(printable(env.opening(task, observation)[-1]["content"]))
    for line in iter(_ask, None):
        if line == ":quit":
            break
        if line in COMMANDS:
            print(printable("\n".join(env.admissible()) if line == ":actions" else task.goal))
        elif line.startswith(":") and line[1:].isalpha():
            print(f"no such command; there are {', '.join(COMMANDS)}")
        elif line:
            outcome = env.step(line)
            _tell(outcome)
            if outcome.terminated or outcome.truncated:
                break
    return 0


def _ask() -> str | None:
    print("\n> ", end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        print()
        return None
    return line.strip()


def _tell(outcome: Outcome) -> None:
    print(printable(outcome.observation.text))
    reason = str(outcome.info.get("reason") or "")
    if outcome.info.get("valid") is False and reason and reason not in outcome.observation.text:
        print(printable(f"[{reason}]"))
    score = 100 * float(outcome.info.get("score", 0.0))
    ending = ""
    if outcome.terminated or outcome.truncated:
        ending = f", {_verdict(bool(outcome.info.get('success')))}" + (" (out of steps)" if outcome.truncated else "")
    print(f"[score {score:.0f} of 100{ending}]")


def _verdict(success: bool) -> str:
    return "solved" if success else "not solved"
