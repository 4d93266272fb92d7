"""What every density estimator shares: scikit-learn's manner, the two verbs of influence, and chunks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from proponent.density._input import plain, writable
from proponent.density._place import Place
from proponent.progress import progress_bar
from proponent.scores import FloatArray, Scores, check_ids
from proponent.top_scores import Extremes, TopScores, beside, extremes_in, ranking_of

_Fitted = TypeVar("_Fitted", bound="Density")  # `Self` is refused where the tests check types
Ids = Sequence[Any] | npt.NDArray[Any]
# Writes the influence of every sample on some of the queries, [n, part].
Writer = Callable[[slice, Tensor], None]

# What the scores of every estimator say.
ON_QUERIES = "positive: with the sample the query is likelier"
ON_THEMSELVES = "high: without this very sample it would be much less likely"

# Of the budget: what scores that pass by take, and what is left to write them, and then to select from them.
_SCORES, _WORK = 1 / 2, 1 / 2
# What selecting takes of a score that is kept: values and positions in the orders on the way.
_BYTES_KEPT = 128


class Density(DensityMixin, BaseEstimator, ABC):  # type: ignore[misc]
    r"""A density estimator that says what each of its samples did to the density of each query.

    The influence of a sample $x_i$ on a query $z$ is what leaving it out takes from the log-likelihood,

    $$S(x_i, z) = \log p(z; X) - \log p(z; X_{-i}),$$

    exactly or to first order, as the estimator says. A positive score is a proponent, as everywhere in this
    library; the unit is nats.

    Attributes:
        samples_: The samples that it was fitted to, ``[n, d]``.
        n_features_in_: d.
    """

    samples_: FloatArray
    n_features_in_: int
    device: torch.device | str | None
    precision: str
    memory_budget: int | str | None

    _method: ClassVar[str]

    def fit(self: _Fitted, X: npt.ArrayLike, y: Any = None) -> _Fitted:
        """Fit to samples, ``[n, d]``.

        Args:
            X: The samples.
            y: There are no labels; it is here as scikit-learn's pipelines hand it over.

        Raises:
            ValueError: The samples can't be used.
        """
        self._take(X)
        self._estimate(self._place())
        return self

    def score_samples(self, X: npt.ArrayLike) -> FloatArray:
        """Compute the log density of points, ``[q, d]``, in nats: higher is likelier.

        Raises:
            ValueError: The points can't be used.
        """
        points, place = self._points(X), self._place()
        return np.asarray(self._log_densities(self._bring(points, place), place).double().cpu().numpy())

    def score(self, X: npt.ArrayLike, y: Any = None) -> float:
        """Compute the total log-likelihood of points, ``[q, d]``, as scikit-learn's `KernelDensity` does.

        Args:
            X: The points.
            y: Not used.
        """
        return float(self.score_samples(X).sum())

    @overload
    def influence(
        self,
        queries: npt.ArrayLike,
        *,
        top: None = ...,
        ids: Ids | None = ...,
        query_ids: Ids | None = ...,
        progress: bool = ...,
    ) -> Scores: ...

    @overload
    def influence(
        self,
        queries: npt.ArrayLike,
        *,
        top: int,
        ids: Ids | None = ...,
        query_ids: Ids | None = ...,
        progress: bool = ...,
    ) -> TopScores: ...

    def influence(
        self,
        queries: npt.ArrayLike,
        *,
        top: int | None = None,
        ids: Ids | None = None,
        query_ids: Ids | None = None,
        progress: bool = True,
    ) -> Scores | TopScores:
        """Score every sample's influence on every query.

        Args:
            queries: Points, ``[q, d]``. One that is itself a sample is treated as any other point.
            top: Keep only so many of the strongest proponents and opponents of each query. The n x q scores
                are then never held.
            ids: Of the samples; positions unless given.
            query_ids: Of the queries; positions unless given.
            progress: Whether to show progress when it takes longer than two seconds.

        Returns:
            `Scores` ``[n, q]``, or `TopScores` with `top`.

        Raises:
            ValueError: The queries, ids or options can't be used, or leaving a sample out leaves no estimate.
        """
        points, place = self._points(queries), self._place()
        self._check_removal()
        n, q = len(self.samples_), len(points)
        if top is not None and (not isinstance(top, Integral) or isinstance(top, bool)):
            raise ValueError(f"`top` must be a whole number, got {top!r}.")
        if top is not None and not 1 <= top <= n:
            raise ValueError(f"`top` must be between 1 and the {n} samples, got {top}.")
        names, query_names = check_ids(ids, n), check_ids(query_ids, q, "query_ids")
        here, facts = self._bring(points, place), self._facts(place)
        with progress_bar(q, " queries", progress) as bar:
            if top is None:
                values = self._all(here, place, bar.update)
                return Scores(
                    values, names, query_names, method=self._method, facts=facts, meaning=ON_QUERIES
                )
            highest, lowest = self._strongest(here, top, place, bar.update)
        return TopScores(
            ranking_of(highest, 1, names, query_names),
            ranking_of(lowest, -1, names, query_names),
            count=n,
            method=self._method,
            facts=facts,
            meaning=ON_QUERIES,
        )

    def self_influence(self, *, ids: Ids | None = None, progress: bool = True) -> Scores:
        """Score every sample's influence on itself.

        Args:
            ids: Of the samples; positions unless given.
            progress: Whether to show progress when it takes longer than two seconds.

        Raises:
            ValueError: The ids can't be used, or leaving a sample out leaves no estimate.
            sklearn.exceptions.NotFittedError: `fit` was not called.
        """
        check_is_fitted(self)
        place = self._place()
        self._check_removal()
        n = len(self.samples_)
        names = check_ids(ids, n)
        with progress_bar(n, " samples", progress) as bar:
            values = self._self_influences(place, bar.update)
        return Scores(
            values.cpu().numpy(),
            names,
            method=self._method,
            facts=self._facts(place),
            meaning=ON_THEMSELVES,
        )

    @abstractmethod
    def _estimate(self, place: Place) -> None:
        """Learn what there is to learn beside the samples, which are in `samples_`.

        Raises:
            ValueError: A parameter can't be used with these samples.
        """

    @abstractmethod
    def _log_densities(self, queries: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        """Compute log p(z; X)."""

    @abstractmethod
    def _check_removal(self) -> None:
        """Refuse to score where no estimate is left without a sample.

        Raises:
            ValueError: Says what is needed.
        """

    @abstractmethod
    def _writer(self, queries: Float[Tensor, "q d"], place: Place) -> Writer:
        """Prepare the samples, and what all queries need, to write influences a few queries at a time.

        Args:
            queries: All of them.
            place: Its budget is what writing may take, beside where it writes to.
        """

    @abstractmethod
    def _self_influences(self, place: Place, report: Callable[[int], object]) -> Float[Tensor, " n"]:
        """Compute the influence of every sample on itself, and report how many are done."""

    @abstractmethod
    def _facts(self, place: Place) -> dict[str, Any]:
        """What belongs to the scores and fits in JSON."""

    def _take(self, X: npt.ArrayLike) -> None:
        """Check the samples, and keep them."""
        self.samples_ = writable(validate_data(self, plain(X), dtype=np.float64, order="C"))

    def _points(self, X: npt.ArrayLike) -> FloatArray:
        """Check points to be asked about."""
        check_is_fitted(self)
        return writable(validate_data(self, plain(X), dtype=np.float64, order="C", reset=False))

    def _bring(self, points: FloatArray, place: Place) -> Float[Tensor, "q d"]:
        """Hand checked points to the hooks, in the numbers of the place unless an estimator needs others."""
        return place.tensor(points)

    def _place(self) -> Place:
        return Place.asked_for(self.device, self.precision, self.memory_budget)

    def _all(
        self, queries: Float[Tensor, "q d"], place: Place, report: Callable[[int], object]
    ) -> FloatArray:
        """The whole matrix of scores, in the memory of the process; columns are made in place on a CPU."""
        values = place.empty(len(self.samples_), len(queries))
        whole, write = torch.from_numpy(values), self._writer(queries, place.share(_WORK))
        for part, out in self._chunks(whole, place):
            write(part, out)
            if place.device.type != "cpu":
                whole[:, part] = out
            report(part.stop - part.start)
        return values

    def _chunks(self, whole: Float[Tensor, "n q"], place: Place) -> Iterator[tuple[slice, Tensor]]:
        """Where to write the columns of a matrix: there, or, for a GPU, to where they are copied from."""
        if place.device.type == "cpu":
            return ((part, whole[:, part]) for part in self._parts(whole.shape[1], place))
        return self._passing(whole.shape[1], place)

    def _strongest(
        self, queries: Float[Tensor, "q d"], k: int, place: Place, report: Callable[[int], object]
    ) -> tuple[Extremes, Extremes]:
        """The highest and the lowest scores of each query, a few queries at a time."""
        sides: tuple[list[Extremes], list[Extremes]] = ([], [])
        work = place.share(_WORK)
        write = self._writer(queries, work)
        for part, out in self._passing(len(queries), place):
            write(part, out)
            for some in work.parts(out.shape[1], _BYTES_KEPT * k):
                for largest, side in zip((True, False), sides, strict=True):
                    side.append(extremes_in(out[:, some], k, largest=largest))
            report(part.stop - part.start)
        highest, lowest = (beside(side) for side in sides)
        return highest, lowest

    def _passing(self, count: int, place: Place) -> Iterator[tuple[slice, Tensor]]:
        """Room for the scores of some queries at a time, always the same."""
        n, parts = len(self.samples_), [*self._parts(count, place)]
        room = torch.empty(n * parts[0].stop, dtype=place.dtype, device=place.device)
        for part in parts:
            q = part.stop - part.start
            yield part, room[: n * q].view(n, q)

    def _parts(self, count: int, place: Place) -> Iterator[slice]:
        """Few enough queries at a time for their scores."""
        return place.share(_SCORES).parts(count, len(self.samples_) * place.itemsize)
