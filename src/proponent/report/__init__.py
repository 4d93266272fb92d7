"""Reports: records first, pictures and pages made from them.

Drawing needs matplotlib, the extra ``proponent[figures]``; the records and the page do not.
"""

from proponent.report._html import Picture, figure_png, render_html, write_html
from proponent.report._numbers import count, plain, signed
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

__all__ = [
    "DetectionTable",
    "Entry",
    "Picture",
    "QueryRow",
    "RankingRow",
    "Summary",
    "as_pictures",
    "compare_rankings",
    "count",
    "figure_png",
    "plain",
    "render_html",
    "signed",
    "summarise",
    "verdict",
    "write_html",
]
