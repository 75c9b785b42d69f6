"""The tables of a report: plain data in, one ``Sheet`` out, and a sheet as Markdown, CSV, LaTeX or HTML."""

from xplearn.report.sheets.axes import axes_sheet
from xplearn.report.sheets.boards import contest_sheet, differences_sheet
from xplearn.report.sheets.formats import sheet_html, to_csv, to_markdown
from xplearn.report.sheets.leaderboard import detectable, leaderboard_sheet
from xplearn.report.sheets.reported import reported_sheet
from xplearn.report.sheets.runs import continual_sheet, costs_sheet
from xplearn.report.sheets.settings import config_sheet, labels_sheet
from xplearn.report.sheets.tex import to_latex

__all__ = [
    "axes_sheet",
    "config_sheet",
    "contest_sheet",
    "continual_sheet",
    "costs_sheet",
    "detectable",
    "differences_sheet",
    "labels_sheet",
    "leaderboard_sheet",
    "reported_sheet",
    "sheet_html",
    "to_csv",
    "to_latex",
    "to_markdown",
]
