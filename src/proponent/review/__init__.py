"""The review: a person looks, decides, and leaves with a cleaner data set.

The page needs starlette and uvicorn, the extra ``proponent[review]``; the log of decisions and all that is
made from it do not.
"""

from proponent.review._decisions import Decision, Decisions, standing
from proponent.review._items import ReviewItems

__all__ = ["Decision", "Decisions", "ReviewItems", "standing"]
