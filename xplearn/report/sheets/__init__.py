"""The tables of a report: plain data in, one ``Sheet`` out, and a sheet as Markdown, CSV, LaTeX or HTML."""

from xplearn.report.sheets.boards import differences_sheet, environments_sheet, leaderboard_sheet
from xplearn.report.sheets.formats import sheet_html, to_csv, to_latex, to_markdown
from xplearn.report.sheets.reported import reported_sheet
from xplearn.report.sheets.runs import config_sheet, continual_sheet, costs_sheet

__all__ = [
    "config_sheet",
    "continual_sheet",
    "costs_sheet",
    "differences_sheet",
    "environments_sheet",
    "leaderboard_sheet",
    "reported_sheet",
    "sheet_html",
    "to_csv",
    "to_latex",
    "to_markdown",
]
