"""Reports: records first, pictures and pages made from them.

Drawing needs matplotlib, the extra ``proponent[figures]``; the records and the page do not.
"""

from proponent.report._gather import gather_report
from proponent.report._html import Picture, figure_png, render_html, write_html
from proponent.report._numbers import count, plain, signed
from proponent.report._offline_page import render_report
from proponent.report._offline_record import Report
from proponent.report._pictures import as_pictures
from proponent.report._records import (
    DetectionTable,
    Entry,
    QueryRow,
    RankingRow,
    Summary,
    compare_rankings,
    summarise,
)
from proponent.report._verdict import verdict
from proponent.report._write_report import write_report

__all__ = [
    "DetectionTable",
    "Entry",
    "Picture",
    "QueryRow",
    "RankingRow",
    "Report",
    "Summary",
    "as_pictures",
    "compare_rankings",
    "count",
    "figure_png",
    "gather_report",
    "plain",
    "render_html",
    "render_report",
    "signed",
    "summarise",
    "verdict",
    "write_html",
    "write_report",
]
