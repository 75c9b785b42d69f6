"""The figures of a report: plain data in, one SVG drawing out, or None where there is nothing to draw.

Every function takes ``name``, the anchor and file name of its figure, which a page with several boards or runs keeps unique. The drawings
are coloured by the classes of ``kit.css`` (``stylesheet()``) alone, carry no script and no reference, and show every text as text.
"""

from xplearn.report.figures.axes import axes
from xplearn.report.figures.cells import grid
from xplearn.report.figures.curves import coverage
from xplearn.report.figures.differences import Versus, forest
from xplearn.report.figures.kept import retention
from xplearn.report.figures.kit import stylesheet
from xplearn.report.figures.matrices import forgetting, heatmap
from xplearn.report.figures.performance import profiles
from xplearn.report.figures.rounds import gain_and_bank, learning
from xplearn.report.figures.spendings import Cost, costs
from xplearn.report.figures.standings import leaderboard

__all__ = [
    "Cost",
    "Versus",
    "axes",
    "costs",
    "coverage",
    "forest",
    "forgetting",
    "gain_and_bank",
    "grid",
    "heatmap",
    "leaderboard",
    "learning",
    "profiles",
    "retention",
    "stylesheet",
]
