"""Takes over estimators that scikit-learn has fitted."""

from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.mixture
import sklearn.neighbors
import sklearn.pipeline
import torch
from scipy.sparse import issparse
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.utils.validation import check_is_fitted

from proponent.density._density import Density
from proponent.density._kde import KernelDensity
from proponent.density._knn import KNNDensity
from proponent.density._mixture import GaussianMixture
from proponent.scores import FloatArray


def from_sklearn(
    estimator: Any,
    samples: npt.ArrayLike | None = None,
    *,
    device: torch.device | str | None = None,
    precision: str = "float64",
    memory_budget: int | str | None = None,
) -> Density:
    """Ask a fitted estimator of scikit-learn which of its samples made it what it is.

    >>> from sklearn.neighbors import KernelDensity
    >>> fitted = KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [5.0]])
    >>> from_sklearn(fitted).influence([[0.1]]).proponents(1).ids
    array([[0]])

    Args:
        estimator: A fitted ``KernelDensity`` with a Gaussian kernel, ``NearestNeighbors`` (its
            ``n_neighbors`` is the k of the density) or ``GaussianMixture``, the metric Euclidean. Of a
            pipeline, its last step; of a search, its ``best_estimator_``.
        samples: What it was fitted to. The first two keep their samples; a mixture does not, and needs them.
            Of a pipeline's last step, as the steps before it give them; so are queries.
        device: As for the estimators of this room.
        precision: Likewise.
        memory_budget: Likewise.

    Returns:
        The estimator of this room with the same samples and parameters. A mixture is moved from where
        scikit-learn's steps ended to the optimum nearby, without ``reg_covar``, as the influence is that of
        an optimum; its ``moved_`` says how far. How it was found, such as ``random_state`` and ``tol``, is
        not taken over.

    Raises:
        TypeError: It is another kind of estimator.
        ValueError: Its kernel or metric is another one, or the samples are missing or do not fit.
    """
    place = {"device": device, "precision": precision, "memory_budget": memory_budget}
    if isinstance(estimator, sklearn.neighbors.KernelDensity):
        return _from_kernels(estimator, samples, place)
    if isinstance(estimator, sklearn.neighbors.NearestNeighbors):
        return _from_neighbours(estimator, samples, place)
    if isinstance(estimator, sklearn.mixture.GaussianMixture):
        return _from_mixture(estimator, samples, place)
    raise TypeError(
        "`estimator` must be scikit-learn's KernelDensity, NearestNeighbors or GaussianMixture, got "
        f"{type(estimator).__name__}.{_inside(estimator)}"
    )


def _inside(estimator: Any) -> str:
    """Where what can be taken over may be found in it."""
    if isinstance(estimator, sklearn.pipeline.Pipeline):
        return (
            " Hand over its last step, `pipeline[-1]`, and samples and queries as the steps before it give "
            "them, `pipeline[:-1].transform(queries)`."
        )
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return " Hand over what it found, its `best_estimator_`."
    return ""


def _from_kernels(
    fitted: sklearn.neighbors.KernelDensity, samples: npt.ArrayLike | None, place: dict[str, Any]
) -> KernelDensity:
    check_is_fitted(fitted)
    if fitted.kernel != "gaussian":
        raise ValueError(f'The kernel of `estimator` must be "gaussian", got "{fitted.kernel}".')
    _check_euclidean(fitted.metric, fitted.metric_params or {})
    kept = _kept(np.asarray(fitted.tree_.data), samples)
    weights = fitted.tree_.sample_weight
    return KernelDensity(fitted.bandwidth_, **place).fit(
        kept, sample_weight=None if weights is None else np.asarray(weights)
    )


def _from_neighbours(
    fitted: sklearn.neighbors.NearestNeighbors, samples: npt.ArrayLike | None, place: dict[str, Any]
) -> KNNDensity:
    check_is_fitted(fitted)
    _check_euclidean(fitted.effective_metric_, fitted.effective_metric_params_)
    return KNNDensity(fitted.n_neighbors, **place).fit(_kept(fitted._fit_X, samples))


def _from_mixture(
    fitted: sklearn.mixture.GaussianMixture, samples: npt.ArrayLike | None, place: dict[str, Any]
) -> GaussianMixture:
    check_is_fitted(fitted)
    if samples is None:
        raise ValueError(
            "`samples` must be those that the mixture was fitted to: it has not kept them. Hand them over."
        )
    _check_features(samples, fitted.n_features_in_)
    return GaussianMixture(
        fitted.n_components,
        covariance_type=fitted.covariance_type,
        weights_init=fitted.weights_,
        means_init=fitted.means_,
        precisions_init=fitted.precisions_,
        **place,
    ).fit(samples)


def _check_features(samples: npt.ArrayLike, d: int) -> None:
    """Refuse samples of another width; what is no table at all is refused by `fit`."""
    shape = np.shape(samples)
    if len(shape) == 2 and shape[1] != d:
        raise ValueError(
            f"`samples` must have {d} features, got {shape[1]}. Hand over those that `estimator` was "
            "fitted to."
        )


def _kept(kept: Any, samples: npt.ArrayLike | None) -> FloatArray:
    """What the estimator kept; samples that are handed over too must be the same."""
    if issparse(kept):
        raise ValueError(
            "`estimator` must hold dense samples, got a sparse matrix. Fit it to `samples.toarray()`."
        )
    if samples is not None and not np.array_equal(kept, np.asarray(samples)):
        raise ValueError(
            f"`samples` must be those that `estimator` was fitted to, {kept.shape[0]} of {kept.shape[1]} "
            "features, but they differ. Leave them out, as it has kept its own."
        )
    return np.asarray(kept)


def _check_euclidean(metric: str, parameters: dict[str, Any]) -> None:
    """Refuse distances that the formulas are not about."""
    if metric == "minkowski" and parameters.get("p", 2) == 2:
        metric, parameters = "euclidean", {key: value for key, value in parameters.items() if key != "p"}
    if metric not in ("euclidean", "l2") or any(value is not None for value in parameters.values()):
        shown = f'"{metric}"' + (f" with {parameters}" if parameters else "")
        raise ValueError(f'The metric of `estimator` must be "euclidean", got {shown}.')
