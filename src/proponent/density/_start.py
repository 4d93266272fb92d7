"""Where EM starts: at what scikit-learn finds, or at what is given."""

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from proponent.density._components import Mixture
from proponent.density._covariance_types import CovarianceType
from proponent.density._place import Place
from proponent.scores import FloatArray

_REGULAR = 1e-6  # what scikit-learn's steps add to covariances, relative to the variance of the features
_SHOWN = 20
_SUMS = 1e-6  # by which weights may miss a sum of 1


def check_settings(n: int, n_components: Any, tol: Any, max_iter: Any) -> None:
    """Refuse settings that can't be used with n samples.

    Raises:
        ValueError: Says which.
    """
    if not isinstance(n_components, Integral) or isinstance(n_components, bool) or int(n_components) < 1:
        raise ValueError(f"`n_components` must be a whole number of at least 1, got {n_components!r}.")
    if n < 2:
        raise ValueError(f"`X` must have at least 2 samples for a mixture, got {n} sample.")
    if n < int(n_components):
        raise ValueError(f"`n_components` must be at most the {n} samples, got {n_components}.")
    if not isinstance(tol, Real) or not float(tol) > 0:
        raise ValueError(f"`tol` must be a number above 0, got {tol!r}.")
    if not isinstance(max_iter, Integral) or isinstance(max_iter, bool) or int(max_iter) < 1:
        raise ValueError(f"`max_iter` must be a whole number of at least 1, got {max_iter!r}.")


def check_spread(samples: FloatArray, covariance_type: CovarianceType) -> None:
    """Refuse samples that leave every covariance of a type singular.

    Args:
        samples: ``[n, d]``, around 0.
        covariance_type: The type.

    Raises:
        ValueError: Says what is missing.
    """
    n, d = samples.shape
    name, is_constant = covariance_type.name, np.ptp(samples, axis=0) == 0
    if name == "spherical":
        if is_constant.all():
            raise ValueError(f"`X` must have samples that differ, but all {n} are the same.")
        return
    advice = 'Use `covariance_type="diag"` or "spherical", or fewer features.'
    if covariance_type.is_dense and n <= d:
        raise ValueError(
            f'`X` must have more samples than features for `covariance_type="{name}"`, got {n} samples of '
            f"{d} features: every covariance would be singular. {advice}"
        )
    if is_constant.any():
        raise ValueError(
            f'`X` must vary in every feature for `covariance_type="{name}"`, but '
            f"{_constant(np.flatnonzero(is_constant))}."
        )
    if not covariance_type.is_dense:
        return
    scaled = samples / samples.std(0)
    if np.linalg.eigvalsh(scaled.T @ scaled / n)[0] < d * n**0.5 * np.finfo(float).eps:
        raise ValueError(
            f'`X` must have linearly independent features for `covariance_type="{name}"`, but one is a '
            f"combination of the others. {advice}"
        )


def _constant(features: npt.NDArray[np.intp]) -> str:
    shown = ", ".join(map(str, features[:_SHOWN])) + (", …" if len(features) > _SHOWN else "")
    if len(features) == 1:
        return f"feature {shown} is constant. Drop it"
    return f"{len(features)} features are constant: {shown}. Drop them"


def started(
    samples: FloatArray, components: int, covariance_type: CovarianceType, place: Place, **options: Any
) -> Mixture:
    """Let scikit-learn fit a mixture; it adds a little to every covariance, which keeps its steps regular.

    Args:
        samples: ``[n, d]``, around 0.
        components: K.
        covariance_type: Of the components.
        place: Where the mixture goes.
        options: Of scikit-learn's `GaussianMixture`.

    Raises:
        ValueError: It can't.
    """
    variances = samples.var(0)
    scale = variances.mean() if covariance_type.name == "spherical" else variances.min()
    estimator = GaussianMixture(
        components, covariance_type=covariance_type.name, reg_covar=_REGULAR * float(scale), **options
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it goes on from there
            estimator.fit(samples)
    except ValueError as error:
        raise ValueError(f"The mixture must have a start, but scikit-learn finds none: {error}") from error
    given = {
        "weights_init": estimator.weights_,
        "means_init": estimator.means_,
        "precisions_init": estimator.precisions_,
    }
    return resumed(given, components, samples.shape[1], covariance_type, place)


def resumed(
    given: Mapping[str, npt.ArrayLike],
    components: int,
    dimension: int,
    covariance_type: CovarianceType,
    place: Place,
) -> Mixture:
    """Take a mixture as it is given.

    Args:
        given: ``weights_init``, ``means_init`` and ``precisions_init`` in scikit-learn's shapes.
        components: K.
        dimension: d.
        covariance_type: Of the components.
        place: Where the mixture goes.

    Raises:
        ValueError: They are no mixture's.
    """
    weights, means = (
        np.array(given[name], dtype=np.float64, order="C") for name in ("weights_init", "means_init")
    )
    if weights.shape != (components,) or not (weights > 0).all() or abs(weights.sum() - 1) > _SUMS:
        raise ValueError(
            f"`weights_init` must be {components} positive numbers that sum to 1, got {weights.tolist()}."
        )
    if means.shape != (components, dimension) or not np.isfinite(means).all():
        raise ValueError(
            f"`means_init` must be finite numbers of the shape {(components, dimension)}, got numbers of the "
            f"shape {means.shape}."
        )
    kind = covariance_type.kind(dimension)
    precisions = covariance_type.held(given["precisions_init"], components, dimension, "precisions_init")
    roots, is_positive = kind.roots(place.tensor(precisions))
    if not is_positive.all():
        raise ValueError("`precisions_init` must be positive definite, but at least one of them is not.")
    inverse = kind.inverse_roots(roots)
    covariances = kind.product(kind.transposed(inverse), inverse)
    return Mixture(
        kind, place.tensor(weights / weights.sum()), place.tensor(means), kind.roots(covariances)[0]
    )
