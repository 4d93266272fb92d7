"""What a review says of every sample, as one table: the verdict, whether to keep it, the rankings."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.review._decisions import Decision
from proponent.review._items import ReviewItems

if TYPE_CHECKING:
    import pandas as pd

# How good a sample is by a person's word; nobody's word leaves it to the default ranking.
_WORD = {"keep": 1.0, "discard": 0.0}


def verdict_columns(ids: npt.NDArray[Any], verdicts: Mapping[str, Decision]) -> dict[str, Any]:
    """Id, verdict and whether to keep, for each sample.

    Only what was discarded goes: who is unsure keeps, and so does who has not looked.

    >>> columns = verdict_columns(np.array(["a", "b"]), {"b": Decision(1, "b", "discard")})
    >>> columns["verdict"], columns["keep"]
    (['', 'discard'], [True, False])

    Args:
        ids: The samples.
        verdicts: The decisions that stand, by id.
    """
    texts = [str(id_) for id_ in ids.tolist()]
    words = [verdicts[id_].verdict if id_ in verdicts else "" for id_ in texts]
    return {"id": texts, "verdict": words, "keep": [word != "discard" for word in words]}


def review_table(items: ReviewItems, verdicts: Mapping[str, Decision]) -> "pd.DataFrame":
    """One row a sample, with columns as cleanlab has them.

    ``is_review_issue`` says that a person discarded the sample. ``review_score`` lies in [0, 1], lower is
    worse: 0 where it was discarded, 1 where it was kept, else by its rank in the default ranking. Each
    ranking has a ``NAME_score`` too, by rank, and its numbers as they are under its name, where higher is
    more suspect.

    Args:
        items: The samples.
        verdicts: The decisions that stand, by id.
    """
    import pandas as pd

    columns = verdict_columns(items.ids, verdicts)
    by_rank = rank_scores(items.rankings[items.default])
    columns["caption"] = [str(caption) for caption in items.captions]
    columns["is_review_issue"] = [word == "discard" for word in columns["verdict"]]
    columns["review_score"] = [
        _WORD.get(word, score) for word, score in zip(columns["verdict"], by_rank.tolist(), strict=True)
    ]
    for name, values in items.rankings.items():
        column = column_name(name, columns)
        columns[f"{column}_score"] = rank_scores(values)
        columns[column] = np.asarray(values)
    return pd.DataFrame(columns)


def rank_scores(ranking: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The share of samples that are more suspect, half of those that are as suspect included.

    >>> rank_scores(np.array([3.0, 1.0, 2.0, 2.0]))
    array([0.125, 0.875, 0.5  , 0.5  ])

    Args:
        ranking: Numbers, ``[n]``; high is suspect.
    """
    rising = np.sort(ranking)
    under, upto = (np.searchsorted(rising, ranking, side=side) for side in ("left", "right"))
    return np.asarray(1 - (under + upto) / (2 * len(ranking)))


def column_name(ranking: str, taken: Mapping[str, Any]) -> str:
    """A ranking's name as a column's, different from those that are taken.

    >>> column_name("Self-influence (Adam)", {})
    'self_influence_adam'
    >>> column_name("id", {"id": 0})
    'id_2'
    """
    plain = re.sub(r"\W+", "_", ranking.lower()).strip("_") or "ranking"
    name, k = plain, 1
    while name in taken or f"{name}_score" in taken:
        k += 1
        name = f"{plain}_{k}"
    return name
