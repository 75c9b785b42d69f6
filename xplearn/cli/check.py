"""``xplearn check``."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from xplearn.cli.arguments import Commands, add_command, add_experiment, split_experiment

if TYPE_CHECKING:
    from xplearn.schema import EvaluateConfig, Experiment, PartSpec, TaskSlice

EXAMPLES = """  xplearn check demo
  xplearn check my.yaml selector=core.nearest conditioner=core.prompt
  xplearn check --estimate demo                                                parameters, memory and episodes, nothing loaded
  xplearn check --estimate paper/hamo_indomain preset=[backbone.qwen3-14b]     the same for a model that is not here
"""

LONG = 4
"""Most items of a list that are printed in full."""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "check", "say whether a mix is sound, without loading anything heavy", EXAMPLES)
    add_experiment(parser)
    parser.add_argument("--estimate", action="store_true", help="also count parameters, memory and episodes, without loading the model")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Print the parts; an unsound mix raises ``IncompatibleError``."""
    from xplearn.config import load_experiment
    from xplearn.errors import IncompatibleError
    from xplearn.experiment.build import check_experiment
    from xplearn.experiment.opening import check_tasks
    from xplearn.plugins import installed
    from xplearn.report.printable import printable

    source, overrides = split_experiment(args.overrides)
    plugins = installed()
    experiment, _ = load_experiment(source, overrides, plugins.registry)
    # the tasks are listed in this process: starting workers for that would take longer than all the rest
    experiment.run = dataclasses.replace(experiment.run, workers=0)
    print_parts(experiment)
    problems = check_experiment(experiment, plugins)
    if problems:
        raise IncompatibleError(problems)
    for line in check_tasks(experiment, plugins):
        print(printable(f"warning: {line}"))
    print("sound: every part finds what it requires")
    if args.estimate:
        from xplearn.cli.estimated import print_estimate

        print_estimate(experiment, plugins)
    return 0


def print_parts(experiment: Experiment) -> None:
    """One line per stage, part and block, with the fields that were given, each under its path in an override."""
    from xplearn.config import parts_of
    from xplearn.schema import ReplayConfig, SamplingConfig

    before = None
    for index, stage in enumerate(experiment.stream):
        env = "same environment" if stage.env == before else _spec(stage.env)
        rounds = f"{stage.rounds} round{'s' if stage.rounds > 1 else ''}{f' of {stage.per_round}' if stage.per_round else ''}"
        bank = "" if stage.record is None else f", bank {'written' if stage.record else 'left alone'}"
        print(f"{experiment.stage_path(index)}: {'warm-up, ' if stage.warmup else ''}{env}, {_slice(stage.tasks)}, {rounds}{bank}")
        before = stage.env
    for path, _, spec in parts_of(experiment):
        print(f"{path}: {_spec(spec)}")
    for name, block, usual in [("replay", experiment.replay, ReplayConfig()), ("sampling", experiment.sampling, SamplingConfig())]:
        changed = {key: value for key, value in vars(block).items() if value != getattr(usual, key)}
        if changed:
            print(f"{name}: {_fields(changed)}")
    print(f"evaluate: {_evaluation(experiment.evaluate)}")


def _evaluation(evaluate: EvaluateConfig) -> str:
    found = [_slice(evaluate.tasks), f"arms {', '.join(evaluate.arms)}", f"choices {evaluate.sampling.choices}"]
    found += [f"{evaluate.replicas} replicas"] if evaluate.replicas > 1 else []
    found += [f"temperature {evaluate.sampling.temperature:g}"] if evaluate.sampling.temperature else []
    return ", ".join(found)


def _spec(spec: PartSpec) -> str:
    return f"{spec.name}({_fields(spec.fields)})" if spec.fields else spec.name


def _slice(tasks: TaskSlice) -> str:
    shown = {key: value for key, value in vars(tasks).items() if value not in (None, [], 0)}
    return "tasks " + ", ".join(f"{key}={value if isinstance(value, str) else _value(value)}" for key, value in shown.items())


def _fields(fields: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_value(value)}" for key, value in fields.items())


def _value(value: Any) -> str:
    """A value on one line; of a long list its beginning and how long it is."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list) and len(value) > LONG:
        return f"[{value[0]!r}, {value[1]!r}, … {len(value)} in all]"
    return repr(value)
