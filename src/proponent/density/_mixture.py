"""Gaussian mixtures, fitted to a stationary point, and their influence by implicit differentiation."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from proponent.density._around import Around
from proponent.density._components import Mixture
from proponent.density._covariance_types import covariance_type_named
from proponent.density._curvature import Curvature, curvature
from proponent.density._density import ON_QUERIES, Density, Writer
from proponent.density._em import maximised
from proponent.density._implicit import fill_influences, self_influences
from proponent.density._place import Place
from proponent.density._refit import left_out, positions_among
from proponent.density._start import check_settings, check_spread, resumed, started
from proponent.progress import progress_bar
from proponent.scores import FloatArray, Scores


class GaussianMixture(Density):
    r"""A Gaussian mixture at a maximum of the likelihood.

    $$p(z) = \sum_k \pi_k \, \mathcal{N}(z; \mu_k, \Sigma_k).$$

    Leaving a sample out moves the maximum. To first order, by implicit differentiation at the maximum,

    $$S(x_i, z) = \frac{1}{n} G(z)^\top H^{-1} G(x_i), \qquad G = \nabla_\theta \log p, \qquad
    H = -\frac{1}{n} \sum_i \nabla_\theta^2 \log p(x_i).$$

    This is the same in every parametrisation $\theta$, as the gradient of the likelihood vanishes there. It
    is computed in one in which G and H have closed forms and no component and no direction is preferred; see
    docs/density.md. `leave_one_out` refits instead, without one sample each.

    The likelihood's gradient must vanish, so EM goes on where scikit-learn's ends, without its ``reg_covar``.

    >>> mixture = GaussianMixture().fit([[-1.0], [0.0], [1.0]])
    >>> mixture.influence([[0.0]]).values.round(4)  # ¹⁄ₙ (y_x y_z + ½ (y_x² − 1) (y_z² − 1))
    array([[-0.0833],
           [ 0.1667],
           [-0.0833]])

    Args:
        n_components: K.
        covariance_type: "full", "tied" (one for all components), "diag" or "spherical".
        tol: The norm of the gradient at which EM ends. One sample's gradient has a standard deviation of
            about 1 in every coordinate.
        max_iter: The most steps beyond scikit-learn's.
        n_init: How many starts scikit-learn makes, to go on from the best.
        init_params: How scikit-learn starts: "kmeans", "k-means++", "random" or "random_from_data".
        weights_init: Where to start, ``[K]``. With all three of these EM goes on from there, without
            scikit-learn's; one or two are handed to scikit-learn.
        means_init: Where to start, ``[K, d]``.
        precisions_init: Where to start: the inverses of covariances, in the shape of ``covariances_``.
        random_state: Of the starts.
        device: Where to compute; the CPU unless given.
        precision: "float64" or "float32", of products and influences. The fit and the gradients are computed
            in float64.
        memory_budget: What chunks may take at a time, such as ``"2GiB"``, beside samples, queries and the
            result; a share of what is free unless given. The curvature, P x P where there are P parameters,
            comes on top.

    Attributes:
        weights_: ``[K]``.
        means_: ``[K, d]``.
        covariances_: ``[K, d, d]``, ``[d, d]``, ``[K, d]`` or ``[K]``, by type.
        converged_: Whether the gradient is within the tolerance.
        n_iter_: The steps beyond scikit-learn's.
        gradient_norm_: Of the mean log-likelihood.
        lower_bound_: The mean log-likelihood of the samples.
        moved_: How far it went from its start: the root mean square change of the samples' log densities.
    """

    weights_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    converged_: bool
    n_iter_: int
    gradient_norm_: float
    lower_bound_: float
    moved_: float

    _centre: FloatArray
    _components: Mixture
    _curved: Curvature | None
    _method: ClassVar[str] = "Gaussian mixture"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float | int = 1e-10,
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: npt.ArrayLike | None = None,
        means_init: npt.ArrayLike | None = None,
        precisions_init: npt.ArrayLike | None = None,
        random_state: Any = 0,
        device: torch.device | str | None = None,
        precision: str = "float64",
        memory_budget: int | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.memory_budget = memory_budget

    def score(self, X: npt.ArrayLike, y: Any = None) -> float:
        """Compute the mean log-likelihood of points, ``[q, d]``, as scikit-learn's `GaussianMixture` does.

        Other estimators of this room give the total, as scikit-learn's `KernelDensity` does.

        Args:
            X: The points.
            y: Not used.
        """
        return float(self.score_samples(X).mean())

    def leave_one_out(
        self, queries: npt.ArrayLike, samples: npt.ArrayLike | None = None, *, progress: bool = True
    ) -> Scores:
        """Score samples' influence on queries by refits without each, which start from the fit to all.

        A refit that collapses has no maximum, and its scores are NaN. The positions of such samples are in
        `facts`, as are those of samples whose refits did not converge, or jumped: the log densities of the
        other samples changed over three times as much as they do to first order.

        Args:
            queries: Points, ``[q, d]``.
            samples: Positions of the m samples to leave out; all unless given.
            progress: Whether to show progress when it takes longer than two seconds.

        Returns:
            `Scores` ``[m, q]``; the ids are positions.

        Raises:
            ValueError: The queries or positions can't be used, or the fit is not at a strict maximum.
        """
        points, place = self._points(queries), _exact(self._place())
        self._check_removal()
        positions = positions_among(samples, len(self.samples_))
        around = Around(self._mixture(place), self._curvature(), self._bring(self.samples_, place), place)
        which, z = torch.as_tensor(positions, device=place.device), self._bring(points, place)
        with progress_bar(len(positions), " refits", progress) as bar:
            refits = left_out(around, which, z, self.tol, self.max_iter, bar.update)
        return Scores(
            refits.influences.numpy(),
            positions,
            method=f"{self._method}, refitted",
            facts=self._facts(place) | refits.facts(positions, self.tol),
            meaning=ON_QUERIES,
        )

    def _estimate(self, place: Place) -> None:
        place, (n, d) = _exact(place), self.samples_.shape
        kept, K = covariance_type_named(self.covariance_type), self.n_components
        check_settings(n, K, self.tol, self.max_iter)
        self._centre = self.samples_.mean(0)
        check_spread(self.samples_ - self._centre, kept)
        samples, start = self._bring(self.samples_, place), self._start(place)
        found = maximised(start, samples, place, self.tol, self.max_iter)
        mixture = found.mixture
        if not found.is_stationary:
            warnings.warn(
                f"EM did not converge within `max_iter`={self.max_iter} steps: the gradient's norm is "
                f"{found.gradient_norm:.1g}, above `tol`={self.tol:g}. Densities are those of the last step; "
                "there is no influence away from a maximum. Raise `max_iter`, or use fewer components.",
                ConvergenceWarning,
                stacklevel=3,
            )
        changes = mixture.log_densities(samples, place) - start.log_densities(samples, place)
        self._components = mixture.to(dataclasses.replace(place, device=torch.device("cpu")))
        self._curved = None
        self.weights_ = self._components.weights.numpy()
        self.means_ = self._components.means.numpy() + self._centre
        self.covariances_ = kept.shown(self._components.covariances(), K, d)
        self.converged_ = found.is_stationary
        self.n_iter_ = found.n_iter
        self.gradient_norm_ = found.gradient_norm
        self.lower_bound_ = found.log_likelihood
        self.moved_ = float(changes.square().mean().sqrt())

    def _log_densities(self, queries: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        return self._mixture(place).log_densities(queries, place)

    def _check_removal(self) -> None:
        if not self.converged_:
            raise ValueError(
                "The mixture must be at a maximum of the likelihood for its influence, but the norm of the "
                f"gradient is {self.gradient_norm_:.1g}, above `tol`={self.tol:g}. Raise `max_iter`, or use "
                "fewer components."
            )
        self._curvature()

    def _writer(self, queries: Float[Tensor, "q d"], place: Place) -> Writer:
        mixture, samples = self._mixture(place), self._bring(self.samples_, place)
        curved = self._curvature()
        return lambda part, out: fill_influences(mixture, curved, samples, queries[part], out, place)

    def _self_influences(self, place: Place, report: Callable[[int], object]) -> Float[Tensor, " n"]:
        mixture, samples = self._mixture(place), self._bring(self.samples_, place)
        return self_influences(mixture, self._curvature(), samples, place, report).to(place.dtype)

    def _facts(self, place: Place) -> dict[str, Any]:
        return {
            "components": len(self.weights_),
            "covariance_type": self.covariance_type,
            "log_likelihood": self.lower_bound_,
            "gradient_norm": self.gradient_norm_,
            "smallest_curvature": self._curvature().smallest,
            "moved": self.moved_,
            "precision": self.precision,
            "device": str(place.device),
        }

    def _bring(self, points: FloatArray, place: Place) -> Float[Tensor, "m d"]:
        """In float64 until they are seen from the components, and with the mean of the samples as origin."""
        return _exact(place).tensor(points - self._centre)

    def _mixture(self, place: Place) -> Mixture:
        """The mixture in float64, with the mean of the samples as origin."""
        return self._components.to(_exact(place))

    def _curvature(self) -> Curvature:
        """The curvature, computed once a fit."""
        place = _exact(self._place())
        if self._curved is None:
            self._curved = curvature(self._mixture(place), self._bring(self.samples_, place), place)
        return self._curved.on(place.device)

    def _start(self, place: Place) -> Mixture:
        kept, K, d = covariance_type_named(self.covariance_type), self.n_components, len(self._centre)
        means = (
            None if self.means_init is None else np.asarray(self.means_init, dtype=np.float64) - self._centre
        )
        given: dict[str, Any] = {
            "weights_init": self.weights_init,
            "means_init": means,
            "precisions_init": self.precisions_init,
        }
        if all(value is not None for value in given.values()):
            return resumed(given, K, d, kept, place)
        options = {"n_init": self.n_init, "init_params": self.init_params, "random_state": self.random_state}
        return started(self.samples_ - self._centre, K, kept, place, **given, **options)


def _exact(place: Place) -> Place:
    """The same place in float64."""
    return dataclasses.replace(place, dtype=torch.float64)
