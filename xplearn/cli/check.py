"""``xplearn check``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command, add_experiment, split_experiment

if TYPE_CHECKING:
    from xplearn.schema import Experiment, PartSpec

EXAMPLES = """  xplearn check demo
  xplearn check my.yaml selector=core.nearest conditioner=core.prompt
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "check", "say whether a mix is sound, without loading anything heavy", EXAMPLES)
    add_experiment(parser)
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print the parts; an unsound mix raises ``IncompatibleError``."""
    from xplearn.config import load_experiment
    from xplearn.errors import IncompatibleError
    from xplearn.experiment.build import check_experiment
    from xplearn.experiment.opening import check_tasks
    from xplearn.plugins import installed

    source, overrides = split_experiment(args.overrides)
    plugins = installed()
    experiment, _ = load_experiment(source, overrides, plugins.registry)
    print_parts(experiment)
    problems = check_experiment(experiment, plugins)
    if problems:
        raise IncompatibleError(problems)
    check_tasks(experiment, plugins)
    print("sound: every part finds what it requires")
    return 0


def print_parts(experiment: Experiment) -> None:
    """One line per part, with the fields that were given."""
    from xplearn.config import parts_of

    for index, stage in enumerate(experiment.stream):
        kind = "warm-up" if stage.warmup else "stage"
        print(f"{kind} {index}: {_spec(stage.env)}, {_slice(stage.tasks)}, {stage.rounds} round{'s' if stage.rounds > 1 else ''}")
    for path, _, spec in parts_of(experiment):
        print(f"{path}: {_spec(spec)}")
    print(
        f"evaluate: {_slice(experiment.evaluate.tasks)}, arms {', '.join(experiment.evaluate.arms)}, choices {experiment.sampling.choices}"
    )


def _spec(spec: PartSpec) -> str:
    fields = ", ".join(f"{key}={value!r}" for key, value in spec.fields.items())
    return f"{spec.name}({fields})" if fields else spec.name


def _slice(tasks: object) -> str:
    shown = {key: value for key, value in vars(tasks).items() if value not in (None, [], 0)}
    return "tasks " + ", ".join(f"{key}={value}" for key, value in shown.items())
