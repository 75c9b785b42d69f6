"""Running programs that a policy wrote: isolated, not secure."""

from xplearn_expbench.runner.program import Ending, Outcome, Program
from xplearn_expbench.runner.runner import Runner

__all__ = ["Ending", "Outcome", "Program", "Runner"]
