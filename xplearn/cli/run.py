"""``xplearn run``."""

from __future__ import annotations

import argparse

from xplearn.cli.arguments import Commands, add_command, add_experiment, split_experiment

EXAMPLES = """  xplearn run demo
  xplearn run demo run.seed=1 evaluate.tasks.per_kind=4
  xplearn run my.yaml learner.0.lr=1e-4
  xplearn run stream='[{env: core.errands}]' policy=core.random sampling.choices=admissible
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "run", "run an experiment, or go on with it where it stopped", EXAMPLES)
    add_experiment(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, only the table and the run folder")
    parser.set_defaults(call=call)


def call(args: argparse.Namespace) -> int:
    """Run, print the table, and last the run folder."""
    from xplearn.cli.ending import terminable
    from xplearn.cli.progress import observer
    from xplearn.cli.terminal import console
    from xplearn.config import load_experiment
    from xplearn.experiment.run import run_experiment
    from xplearn.plugins import installed
    from xplearn.record.reader import load
    from xplearn.report.text import render

    source, overrides = split_experiment(args.overrides)
    plugins = installed()
    experiment, given = load_experiment(source, overrides, plugins.registry)
    with terminable(), observer(args.quiet) as watching:
        result = run_experiment(experiment, plugins=plugins, given=given, observer=watching)
    render(load(result.folder), console())
    print(result.folder, flush=True)
    return 0
