"""Two toy environments for tests and docs: no dependency, microseconds a step, fully deterministic."""

from xplearn.builtin.toys_counting import Counting
from xplearn.builtin.toys_errands import Errands

__all__ = ["Counting", "Errands"]
