"""``xplearn check``."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from xplearn.cli.arguments import Commands, add_command, add_experiment, split_experiment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xplearn.experiment.estimate import Counts, StageCount
    from xplearn.plugins import Plugins
    from xplearn.policies.estimate import Footprint
    from xplearn.schema import Experiment, PartSpec

EXAMPLES = """  xplearn check demo
  xplearn check my.yaml selector=core.nearest conditioner=core.prompt
  xplearn check --estimate demo                                                parameters, memory and episodes, nothing loaded
  xplearn check --estimate paper/hamo_indomain preset=[backbone.qwen3-14b]     the same for a model that is not here
"""

GIB = 2**30


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

    source, overrides = split_experiment(args.overrides)
    plugins = installed()
    experiment, _ = load_experiment(source, overrides, plugins.registry)
    # the tasks are listed in this process: starting workers for that would take longer than all the rest
    experiment = dataclasses.replace(experiment, run=dataclasses.replace(experiment.run, workers=0))
    print_parts(experiment)
    problems = check_experiment(experiment, plugins)
    if problems:
        raise IncompatibleError(problems)
    check_tasks(experiment, plugins)
    print("sound: every part finds what it requires")
    if args.estimate:
        print_estimate(experiment, plugins)
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


def print_estimate(experiment: Experiment, plugins: Plugins) -> None:
    """Parameters, memory and episodes."""
    from xplearn.experiment.build import build_parts
    from xplearn.experiment.estimate import count, tokens_at_once

    parts = build_parts(experiment, plugins.registry)
    policy = parts.one("policy")
    print("\nestimate (nothing was loaded or played)")
    print_counts(count(experiment, plugins))
    if "policy.train" not in policy.provides:
        print("no local weights: the policy needs no memory here")
    else:
        from xplearn.policies.estimate import footprint

        found = footprint(policy)
        print_memory(found, tokens_at_once(parts)) if found else print("this policy's memory is known to its plugin alone")


def print_memory(found: Footprint, tokens: int | None) -> None:
    """Exact parameters and estimated bytes."""
    kind = "a LoRA adapter" if found.lora else "all of them"
    print(f"parameters       {found.backbone:,}, trained {found.trainable:,} ({kind}); sizes from {found.origin}")
    rows = [
        ("weights", found.weights, found.dtype),
        ("adapter", found.adapter, "float32"),
        ("cache", found.cached * found.cache_tokens, f"keys and values of {found.cache_tokens:,} tokens, all live conversations together"),
        ("acting", found.acting, "weights, adapter, cache"),
    ]
    if tokens:
        most = max(tokens, found.context)
        rows += [
            ("optimiser", found.states, "gradients, two moments, copies to go back to"),
            ("activations", found.kept * tokens, f"{tokens:,} tokens at once"),
            ("training", found.training(tokens), "weights, adapter, optimiser, activations"),
            ("training, most", found.training(most), f"if one trajectory alone fills the context of {found.context:,} tokens"),
        ]
    for name, size, what in rows:
        print(f"{name:<15}{size / GIB:>8.1f} GiB  {what}")
    print("memory is an estimate; how close it comes and what is not in it: docs/how-to/backbones.md")


def print_counts(counts: Counts) -> None:
    """Episodes by stage, and of evaluation."""
    head = ("stage", "", "shown", "played", "steps", "written", "studied", "replayed")
    rows = [head, *(_stage(stage) for stage in counts.stages)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))
    print("shown by the expert; steps at max_steps an episode; written: handed to record; studied and replayed: at most, an epoch")
    replicas = f" × {counts.replicas} replicas" if counts.replicas > 1 else ""
    tasks = " + ".join(f"{number:,} {name}" for name, number in counts.panels.items())
    print(f"evaluation: {len(counts.points)} points × {counts.arms} arms{replicas} × ({tasks}) = {counts.evaluated:,} episodes, ", end="")
    print(f"{_known(counts.steps)} steps at max_steps")


def _stage(stage: StageCount) -> Sequence[str]:
    numbers = (stage.shown, stage.played, stage.steps, stage.recorded, stage.studied, stage.replayed)
    return (f"{stage.index}{' warm-up' if stage.warmup else ''}", stage.env, *map(_known, numbers))


def _known(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _spec(spec: PartSpec) -> str:
    fields = ", ".join(f"{key}={value!r}" for key, value in spec.fields.items())
    return f"{spec.name}({fields})" if fields else spec.name


def _slice(tasks: object) -> str:
    shown = {key: value for key, value in vars(tasks).items() if value not in (None, [], 0)}
    return "tasks " + ", ".join(f"{key}={value}" for key, value in shown.items())
