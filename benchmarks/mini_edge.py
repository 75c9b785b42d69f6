"""EDGE and plain GRPO side by side, a core each, seed after seed: what ``tox run -e mini-edge`` runs, within an hour on two cores.

Interrupted, the same command goes on where it was.
"""

from __future__ import annotations

import subprocess
import sys

PRESETS = ("mini/edge_alfworld", "mini/edge_alfworld_grpo")
SEEDS = (0, 1, 2)


def pair(seed: int, overrides: list[str]) -> bool:
    """Whether both runs of a seed came to their end."""
    command = [sys.executable, "-m", "xplearn", "run"]
    runs = [subprocess.Popen([*command, preset, f"run.seed={seed}", *overrides]) for preset in PRESETS]
    try:
        return not sum(run.wait() != 0 for run in runs)
    finally:
        for run in runs:
            run.terminate()


if __name__ == "__main__":
    sys.exit(not all(pair(seed, sys.argv[1:]) for seed in SEEDS))
