"""Which sample belongs to which cluster: by labels of any kind, or by k-means."""

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from proponent.scores import FloatArray, IdArray, Positions

_STARTS = 10


def by_labels(labels: Iterable[Any], count: int) -> tuple[Positions, IdArray]:
    """Number the labels.

    >>> by_labels(["b", "a", "b"], 3)
    (array([1, 0, 1]), array(['a', 'b'], dtype=object))

    Args:
        labels: One a sample, hashable.
        count: How many samples there are.

    Returns:
        The position of each sample's label among the labels, ``[n]``, and the labels, each once: in their
        order, or as they first come where they have none.

    Raises:
        ValueError: They aren't labels of the samples.
    """
    values = list(labels)
    if len(values) != count:
        raise ValueError(f"`labels` must be one for each of the {count} samples, got {len(values)}.")
    plain = (value.item() if isinstance(value, np.generic) else value for value in values)
    array = np.fromiter(plain, dtype=object, count=count)
    try:
        positions, names = pd.factorize(array)
    except TypeError as error:
        raise ValueError(
            f"`labels` must be one hashable value a sample, such as a number or a text: {error}."
        ) from error
    if (positions < 0).any():
        first = int(np.argmax(positions < 0))
        raise ValueError(
            f"`labels` must not have gaps, but that of sample {first} is {array[first]!r}. "
            "Leave such samples out, or give them a label of their own."
        )
    try:
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
    except TypeError:
        return positions, names
    return np.argsort(order)[positions], names[order]


def by_k_means(samples: FloatArray, n_clusters: int, random_state: Any) -> tuple[Positions, IdArray]:
    """Find clusters by scikit-learn's `KMeans`, the best of ten starts, and number them.

    Raises:
        ValueError: There can't be so many clusters.
    """
    n = len(samples)
    if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool) or n_clusters < 1:
        raise ValueError(f"`n_clusters` must be a whole number of at least 1, got {n_clusters!r}.")
    if n_clusters > n:
        raise ValueError(f"`n_clusters` must be at most the {n} samples, got {n_clusters}.")
    if n_clusters == 1:
        return np.zeros(n, dtype=np.intp), np.zeros(1, dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer points than clusters: refused below
        positions = KMeans(n_clusters, n_init=_STARTS, random_state=random_state).fit_predict(samples)
    found = len(np.unique(positions))
    if found < n_clusters:
        raise ValueError(
            f"`n_clusters` must be at most the {found} different points among the samples, got {n_clusters}."
        )
    return positions.astype(np.intp), np.arange(n_clusters)
