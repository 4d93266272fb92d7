"""A mixture of spherical Gaussians that lie far apart, with its exact leave-one-out influence."""

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._cluster import Cluster
from proponent.density._density import Density, Writer
from proponent.density._input import plain
from proponent.density._labels import by_k_means, by_labels
from proponent.density._owners import owners
from proponent.density._place import Place
from proponent.density._spherical_influence import Sizes, columns, form_called, share_of_variance
from proponent.scores import FloatArray, IdArray, Positions

# From this share of a cluster's variance on, the cluster is fitted anew without the sample: the closed form
# divides by what is left. Shares sum to N₀ / (N₀ - 1), so one sample at most has as much, or both of two.
_DOMINANT = 3 / 4


class SphericalMixture(Density):
    r"""Spherical Gaussians, each fitted to a cluster of its own; the paper's "well-separated spherical GMM".

    $$p(z) = \frac{N_k}{N} \, \mathcal{N}(z; \mu_k, \sigma_k^2 I), \qquad
        \mu_k = \frac{1}{N_k} \sum_{x \in X_k} x, \quad
        \sigma_k^2 = \frac{1}{N_k d} \sum_{x \in X_k} \|x - \mu_k\|^2,$$

    where k is the cluster of the sample nearest to z. Clusters are given by labels or found by k-means, once:
    neither they nor the cluster of a query change when a sample is left out. Then the influence is known in
    closed form (see `docs/density.md`): on queries of other clusters it is $\log((N - 1) / N)$, and on those
    of the sample's own cluster

    $$S = \log\frac{N - 1}{N} - \log\frac{N_0 - 1}{N_0} + \frac d2 \log\rho
        + \frac{|z - \mu_0'|^2}{2 \rho \sigma_0^2} - \frac{|z - \mu_0|^2}{2 \sigma_0^2}$$

    with the mean $\mu_0'$ and the variance $\rho \sigma_0^2$ of the cluster without the sample.

    Where the others of a cluster all lie at one point, leaving the sample out makes the density infinite
    there and zero elsewhere: the influence is $-\infty$ on queries at that very point and $+\infty$ on all
    others of the cluster. So it is for both samples of a cluster of two.

    The clusters' Gaussians must not overlap much: p is then nearly a density. For those that do, use
    `GaussianMixture`.

    >>> X = [[-1.0], [0.0], [1.0], [99.0], [101.0], [103.0]]
    >>> mixture = SphericalMixture(labels=["a", "a", "a", "b", "b", "b"]).fit(X)
    >>> mixture.means_, mixture.variances_
    (array([[  0.], [101.]]), array([0.66666667, 2.66666667]))
    >>> mixture.influence([[2.0]]).values[1:4, 0]  # without 0 the variance is 1; log(5/6) from other clusters
    array([-0.57..., ..., -0.18232156])

    Args:
        n_clusters: How many clusters k-means is to find. Not looked at where there are labels.
        labels: The cluster of each sample: hashable values of any kind, ``[n]``.
        form: "exact", "expansion" (the first order in $1 / N_0$), or "paper" (that order as it is printed in
            the paper, which is wrong; kept for the record).
        random_state: Of k-means.
        device: Where to compute; the CPU unless given.
        precision: "float64" or "float32", of products and influences. Clusters are fitted in float64.
        memory_budget: What chunks may take at a time, such as ``"2GiB"``, beside samples, queries and the
            result; a share of what is free unless given.

    Attributes:
        labels_: The position of each sample's cluster, ``[n]``.
        clusters_: The label of each cluster, ``[k]``; positions where k-means found them.
        counts_: How many samples each has, ``[k]``.
        means_: ``[k, d]``.
        variances_: ``[k]``.
        weights_: ``[k]``, the shares of the samples.
    """

    labels_: Positions
    clusters_: IdArray
    counts_: Positions
    means_: FloatArray
    variances_: FloatArray
    weights_: FloatArray

    _clusters: tuple[Cluster, ...]
    _method: ClassVar[str] = "spherical mixture"

    def __init__(
        self,
        n_clusters: int = 1,
        *,
        labels: Iterable[Any] | None = None,
        form: str = "exact",
        random_state: Any = 0,
        device: torch.device | str | None = None,
        precision: str = "float64",
        memory_budget: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.labels = labels
        self.form = form
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.memory_budget = memory_budget

    def _estimate(self, place: Place) -> None:
        form_called(self.form)  # refused before any work
        if self.labels is None:
            self.labels_, self.clusters_ = by_k_means(self.samples_, self.n_clusters, self.random_state)
        else:
            self.labels_, self.clusters_ = by_labels(plain(self.labels), len(self.samples_))
        clusters = tuple(Cluster.of(self.samples_, members, place) for members in self._members())
        for name, cluster in zip(self.clusters_.tolist(), clusters, strict=True):
            _check_spread(name, cluster)
        self._clusters = clusters
        self.counts_ = np.array([cluster.count for cluster in clusters])
        self.means_ = np.stack([cluster.mean for cluster in clusters])
        self.variances_ = np.array([cluster.deviation**2 for cluster in clusters])
        self.weights_ = self.counts_ / len(self.samples_)

    def _bring(self, points: FloatArray, place: Place) -> Float[Tensor, "q d"]:
        """In float64 until they are seen from their clusters."""
        return torch.as_tensor(points, device=place.device)

    def _log_densities(self, queries: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        result = torch.empty(len(queries), dtype=torch.float64, device=place.device)
        for k, asked in _by_cluster(self._owners(queries, place)):
            for part in place.parts(len(asked), _bytes_of(queries)):
                values = self._clusters[k].log_densities(queries[asked[part]])
                result[asked[part]] = math.log(self.weights_[k]) + values
        return result

    def _check_removal(self) -> None:
        """Every cluster keeps a sample."""

    def _writer(self, queries: Float[Tensor, "q d"], place: Place) -> Writer:
        elsewhere = form_called(self.form).elsewhere(len(self.samples_))
        members, found, half = self._members(), self._owners(queries, place), place.share(1 / 2)

        def write(part: slice, out: Float[Tensor, "n _"]) -> None:
            out.fill_(elsewhere)
            for k, asked in _by_cluster(found[part]):
                for some in half.parts(len(asked), _bytes_of(queries)):
                    points = queries[part.start + asked[some]]
                    self._fill_cluster(k, members[k], points, asked[some], out, half)

        return write

    def _fill_cluster(
        self,
        k: int,
        members: Positions,
        points: Float[Tensor, "r d"],
        asked: Positions,
        out: Float[Tensor, "n q"],
        place: Place,
    ) -> None:
        """Write the influence of a cluster's samples on queries of the same cluster."""
        cluster, sizes, form = self._clusters[k], self._sizes(k), form_called(self.form)
        right = columns(cluster.whiten(points)).to(place.dtype)
        for rows in place.parts(len(members), _bytes_of(points) + 2 * len(asked) * place.itemsize):
            part = members[rows]
            offsets = cluster.whiten(self._at(part, place))
            squares = offsets.square().sum(1)
            left = form.inside(squares, sizes).rows(offsets).to(place.dtype)
            out[part[:, None], asked] = left @ right
            for i in part[self._dominant(squares, sizes)].tolist():
                out[i, asked] = self._without(i, k, members, points, place).to(place.dtype)

    def _self_influences(self, place: Place, report: Callable[[int], object]) -> Float[Tensor, " n"]:
        result = torch.empty(len(self.samples_), dtype=place.dtype, device=place.device)
        form = form_called(self.form)
        for k, members in enumerate(self._members()):
            cluster, sizes = self._clusters[k], self._sizes(k)
            for rows in place.share(1 / 2).parts(len(members), _bytes_of(self.samples_)):
                part = members[rows]
                squares = cluster.whiten(self._at(part, place)).square().sum(1)
                values = form.inside(squares, sizes).on_itself(squares)
                for j in np.flatnonzero(self._dominant(squares, sizes)):
                    itself = self._at(part[j : j + 1], place)
                    values[j : j + 1] = self._without(int(part[j]), k, members, itself, place)
                result[part] = values.to(place.dtype)
                report(len(part))
        return result

    def _facts(self, place: Place) -> dict[str, Any]:
        return {
            "form": self.form,
            "clusters": len(self._clusters),
            "device": str(place.device),
            "precision": self.precision,
        }

    def _sizes(self, k: int) -> Sizes:
        cluster = self._clusters[k]
        return Sizes(cluster.count, len(self.samples_), self.samples_.shape[1], cluster.deviation)

    def _members(self) -> list[Positions]:
        """The positions of each cluster's samples."""
        counts = np.bincount(self.labels_)
        return np.split(np.argsort(self.labels_, kind="stable"), np.cumsum(counts)[:-1])

    def _at(self, positions: Positions, place: Place) -> Float[Tensor, "m d"]:
        """Samples, in float64."""
        return torch.as_tensor(self.samples_[positions], device=place.device)

    def _owners(self, queries: Float[Tensor, "q d"], place: Place) -> Positions:
        """The clusters that hold the nearest sample of each query."""
        return owners(queries, self.samples_, self.labels_, self._clusters, place)

    def _dominant(self, squares: Float[Tensor, " m"], sizes: Sizes) -> npt.NDArray[np.bool_]:
        """Which samples hold so much of their cluster's variance that it must be fitted without them."""
        if self.form != "exact":
            return np.zeros(len(squares), dtype=bool)
        return np.asarray((share_of_variance(squares, sizes) > _DOMINANT).cpu())

    def _without(
        self, i: int, k: int, members: Positions, points: Float[Tensor, "r d"], place: Place
    ) -> Float[Tensor, " r"]:
        """The influence of a sample on queries of its cluster, by fitting the cluster without it."""
        n, N0, cluster = len(self.samples_), len(members), self._clusters[k]
        rest = Cluster.of(self.samples_, members[members != i], place)
        weights = math.log1p(-1 / n) - math.log1p(-1 / N0)
        return weights + cluster.log_densities(points) - rest.log_densities(points)


def _by_cluster(found: Positions) -> list[tuple[int, Positions]]:
    """The clusters that are there, and where."""
    return [(int(k), np.flatnonzero(found == k)) for k in np.unique(found)]


def _bytes_of(points: FloatArray | Tensor) -> int:
    """What is held of a point, in float64, while its factor is made: it, differences, offsets, products."""
    return 8 * (6 * points.shape[1] + 8)


def _check_spread(name: Any, cluster: Cluster) -> None:
    """Refuse a cluster whose variance is 0.

    Raises:
        ValueError: Names the cluster.
    """
    if cluster.deviation > 0:
        return
    found = "1 sample" if cluster.count == 1 else f"{cluster.count} samples, all the same"
    raise ValueError(
        f"Each cluster must have 2 different samples at least, but cluster {name!r} has {found}. "
        "Its variance would be 0. Join it with another cluster, or use `KernelDensity`."
    )
