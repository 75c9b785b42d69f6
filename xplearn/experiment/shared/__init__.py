"""Work that several runs have in common, done once: what one run played, showed or learned is taken by another with the same inputs."""

from xplearn.experiment.shared.memo import Shared

__all__ = ["Shared"]
