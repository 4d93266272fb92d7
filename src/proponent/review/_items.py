"""What is reviewed: the samples of a run as a page shows them, wherever they came from."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Kind = Literal["images", "rows", "arrays"]
# The bytes of a picture and their MIME type.
Encoded = tuple[bytes, str]

# A browser shows these and executes nothing in them as the page sends them.
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml")


@dataclass(frozen=True, eq=False)
class ReviewItems:
    """Samples to look at, in the order of the data; a sample is known by its position there.

    Attributes:
        ids: The ids, ``[n]``, texts that differ; decisions are kept by them.
        captions: What a person reads beside each.
        kind: ``"images"``, ``"rows"`` or ``"arrays"``.
        rankings: Numbers for each sample, ``[n]``, by the name that a person reads; those with a high one
            are to be looked at first.
        default: The ranking to begin with.
        features: What the queue learns from, ``[n, f]``, or several such by name, as `Queue` takes them.
        thumbnail: Gives a small picture of a sample, at most 128 pixels wide and high.
        full: Gives the picture of a sample to look at closely.
        details: Gives what else is known of a sample, by name.
        title: What was looked at.
    """

    ids: npt.NDArray[Any]
    captions: Sequence[str]
    kind: str
    rankings: Mapping[str, npt.NDArray[np.floating[Any]]]
    default: str
    features: npt.NDArray[np.floating[Any]] | Mapping[str, npt.NDArray[np.floating[Any]]]
    thumbnail: Callable[[int], Encoded]
    full: Callable[[int], Encoded]
    details: Callable[[int], Mapping[str, str | float]]
    title: str

    def __post_init__(self) -> None:
        n = len(self)
        if n == 0:
            raise ValueError("`ids` must hold at least one sample to review, got none.")
        _check_ids(self.ids)
        if self.kind not in get_args(Kind):
            raise ValueError(f"`kind` must be one of {', '.join(get_args(Kind))}, got {self.kind!r}.")
        if len(self.captions) != n:
            raise ValueError(f"`captions` must be {n}, one for each id, got {len(self.captions)}.")
        if self.default not in self.rankings:
            raise ValueError(
                f"`default` must be one of the rankings {', '.join(self.rankings)}, got {self.default!r}."
            )
        for name, values in self.rankings.items():
            if np.shape(values) != (n,) or np.isnan(values).any():
                raise ValueError(
                    f"`rankings` must hold {n} numbers each, one for each id and none of them NaN, but "
                    f"{name!r} does not. Leave out a ranking that is not known for every sample."
                )
        blocks = self.features if isinstance(self.features, Mapping) else {"": self.features}
        for values in blocks.values():
            if np.ndim(values) != 2 or len(values) != n or not np.isfinite(values).all():
                raise ValueError(f"`features` must be finite numbers [{n}, f], got shape {np.shape(values)}.")

    def __len__(self) -> int:
        return len(self.ids)


def _check_ids(ids: npt.NDArray[Any]) -> None:
    """Refuse ids that can't name a sample for good.

    Raises:
        ValueError: One is no text, occurs twice, or can't be written.
    """
    texts = ids.tolist()
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError("`ids` must be texts that are not empty, so that decisions can be kept by them.")
    value, count = Counter(texts).most_common(1)[0]
    if count > 1:
        raise ValueError(f"`ids` must be different, but {value!r} occurs {count} times.")
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"`ids` must be texts that can be written as UTF-8, got {text!a}. Rename the sample."
            ) from error
