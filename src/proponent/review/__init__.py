"""The review: a person looks, decides, and leaves with a cleaner data set.

The page needs starlette and uvicorn, the extra ``proponent[review]``; the log of decisions and all that is
made from it do not.
"""

from proponent.review._apply import apply, write_manifest
from proponent.review._decisions import Decision, Decisions, standing
from proponent.review._exports import (
    write_csv,
    write_image_folder,
    write_label_studio,
    write_parquet,
)
from proponent.review._from_run import items_of
from proponent.review._items import ReviewItems
from proponent.review._serve import serve
from proponent.review._table import review_table

__all__ = [
    "Decision",
    "Decisions",
    "ReviewItems",
    "apply",
    "items_of",
    "review_table",
    "serve",
    "standing",
    "write_csv",
    "write_image_folder",
    "write_label_studio",
    "write_manifest",
    "write_parquet",
]
