"""What each choice in HaMo is worth: the same stream with one choice changed at a time, or with every combination.

The paper leaves open how far its gains come from replay, from the choice of anchors, from showing experience while training, and from how
answers are drawn. Each setting is a run with a folder of its own, so the same command goes on after a stop, and
all stand in one table, paired on the same tasks.

    python benchmarks/hamo_ablations.py                              one choice at a time on tiny/hamo_cross: 8 runs of some minutes
    python benchmarks/hamo_ablations.py --factors replay anchors     these choices only
    python benchmarks/hamo_ablations.py --full --list                the whole grid, only listed
    python benchmarks/hamo_ablations.py mini/hamo_indomain run.seed=1    another experiment that has hamo.coverage and core.clone
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence

from xplearn.cli import main as xplearn

FACTORS: dict[str, dict[str, list[str]]] = {
    "replay": {"1": [], "0": ["replay.ratio=0"], "0.5": ["replay.ratio=0.5"], "2": ["replay.ratio=2"]},
    "anchors": {"coverage": [], "random": ["curriculum.draw=random"], "all": ["curriculum=core.all"]},
    "conditioning": {"experience": [], "plain": ["learner.0.arms=plain"]},
    "temperature": {"0": [], "1": ["evaluate.sampling.temperature=1"]},
}
"""Settings of each choice and what they override; the first is HaMo's own. ``random`` draws as many anchors as coverage would keep."""

DEFAULT = "tiny/hamo_cross"

Setting = tuple[str, ...]
"""One level of each factor, in their order."""


def settings(factors: Sequence[str], *, full: bool) -> list[Setting]:
    """HaMo's own setting and each other level of the factors alone, or every combination of their levels."""
    levels = [list(known) if factor in factors else list(known)[:1] for factor, known in FACTORS.items()]
    grid = list(itertools.product(*levels))
    return grid if full else [setting for setting in grid if sum(map(_changed, FACTORS, setting)) <= 1]


def name(setting: Setting) -> str:
    """What differs from HaMo, e.g. ``replay-0_anchors-all``."""
    return "_".join(f"{factor}-{level}" for factor, level in zip(FACTORS, setting, strict=True) if _changed(factor, level)) or "hamo"


def overrides(setting: Setting) -> Iterator[str]:
    """What the command line is given for a setting."""
    for factor, level in zip(FACTORS, setting, strict=True):
        yield from FACTORS[factor][level]


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is not finished, and print all settings side by side; the exit status is that of the first command that failed, or 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="FILE|PRESET key=value", help=f"an experiment, {DEFAULT} if left out, and overrides")
    parser.add_argument("--factors", nargs="+", choices=FACTORS, default=list(FACTORS), help="which choices to change; default all")
    parser.add_argument("--full", action="store_true", help="every combination instead of one change at a time")
    parser.add_argument("--dir", default="runs/hamo-ablations", help="folder of the runs; default %(default)s")
    parser.add_argument("--list", action="store_true", help="only say what would be run")
    args = parser.parse_intermixed_args(argv)
    given = args.words if args.words and "=" not in args.words[0] else [DEFAULT, *args.words]
    chosen = settings(args.factors, full=args.full)
    if args.list:
        print("\n".join(map(name, chosen)))
        return 0
    for number, setting in enumerate(chosen, start=1):
        print(f"{number} of {len(chosen)}: {name(setting)}", file=sys.stderr, flush=True)
        status = xplearn(["run", *given, *overrides(setting), f"run.dir={args.dir}", f"run.name={name(setting)}"])
        if status:
            return status
    return xplearn(["show", args.dir])


def _changed(factor: str, level: str) -> bool:
    return level != next(iter(FACTORS[factor]))


if __name__ == "__main__":
    sys.exit(main())
