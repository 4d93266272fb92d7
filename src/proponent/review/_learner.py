"""A classifier of samples into keep and discard that grows with the answers: kernel logistic regression."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from proponent.review._blocks import FloatArray
from proponent.review._kernel import Float32Array, Kernel
from proponent.review._mode import posterior_mode

_FEW = 100  # answers up to which the mode is looked for with more steps
_ROOM = 1.25  # of the most answers
_AFTER_DROPPING = 0.8  # of the most answers are kept, so that dropping is rare


@dataclass(frozen=True)
class Trust:
    """How far a learner trusts what it is told.

    Attributes:
        wrong: The share of answers that are a slip. Some doubt costs nothing where there are none.
        most: Answers to compute with. Beyond it the keeps that say least are dropped, a discard never.
    """

    wrong: float = 0.02
    most: int = 1000


class Learner:
    """The log odds that a person would discard each sample, from the answers so far.

    They are a Gaussian process whose mean is where the ranking to begin with puts a sample, so without an
    answer they have its order. What a learner knows is a function of the answers it was told, in the steps
    it was told them.

    Attributes:
        log_odds: The log odds now, ``[n]``.
        expected: The probability of each answered sample before its answer was known.
    """

    def __init__(self, kernel: Kernel, mean: FloatArray, trust: Trust | None = None) -> None:
        """Begin without answers.

        Args:
            kernel: How much a sample says about another.
            mean: The log odds to begin with, ``[n]``.
            trust: How far to trust the answers.
        """
        self.log_odds = mean.copy()
        self.expected: dict[int, float] = {}
        self._kernel = kernel
        self._mean = mean
        self._trust = trust or Trust()
        self._samples = np.zeros(0, np.intp)
        self._answers = np.zeros(0, np.bool_)
        self._dropped: set[int] = set()
        # Room for all that will be needed: what isn't written to takes no memory.
        self._columns = self._room(int(_ROOM * self._trust.most))

    def __len__(self) -> int:
        """How many answers are computed with."""
        return len(self._samples)

    def learn(self, answers: Mapping[int, bool]) -> None:
        """Take in what stands now, and find the log odds again, starting from those before.

        Args:
            answers: All answers that stand: whether each sample is to be discarded. One that was there
                before and is missing is forgotten; one that changed is changed.
        """
        self._dropped = {i for i in self._dropped if answers.get(i) is False}
        self._stay(np.array([i in answers for i in self._samples.tolist()], np.bool_))
        self._answers = np.array([answers[i] for i in self._samples.tolist()], np.bool_)
        known = {*self._samples.tolist(), *self._dropped}
        self._add({i: answer for i, answer in answers.items() if i not in known})
        m = len(self)
        if m == 0:
            self.log_odds = self._mean.copy()
            return
        columns = self._columns[:, :m]
        _, a = posterior_mode(
            columns[self._samples].astype(np.float64),
            self._mean[self._samples],
            self._answers,
            self.log_odds[self._samples],
            self._trust.wrong,
            steps=6 if m < _FEW else 2,
        )
        self.log_odds = self._mean + columns @ a.astype(np.float32)
        if m > self._trust.most:
            self._drop(np.abs(a))

    def _add(self, answers: Mapping[int, bool]) -> None:
        """Compute the columns of samples that weren't answered before."""
        if not answers:
            return
        samples = np.fromiter(answers, np.intp, len(answers))
        for i, probability in zip(samples.tolist(), expit(self.log_odds[samples]).tolist(), strict=True):
            self.expected.setdefault(i, probability)
        m, total = len(self), len(self) + len(samples)
        if total > self._columns.shape[1]:  # so many discards, which are never dropped
            wider = self._room(int(_ROOM * total))
            wider[:, :m] = self._columns[:, :m]
            self._columns = wider
        self._columns[:, m:total] = self._kernel.columns(samples)
        self._samples = np.concatenate([self._samples, samples])
        self._answers = np.concatenate([self._answers, np.fromiter(answers.values(), np.bool_)])

    def _room(self, count: int) -> Float32Array:
        return np.empty((len(self._mean), count), np.float32, order="F")

    def _drop(self, weight: FloatArray) -> None:
        """Leave out the keeps without which the log odds would change least."""
        keeps = np.flatnonzero(~self._answers)
        surplus = len(self) - int(_AFTER_DROPPING * self._trust.most)
        least = keeps[np.argsort(weight[keeps], kind="stable")][:surplus]
        self._dropped.update(self._samples[least].tolist())
        stays = np.ones(len(self), np.bool_)
        stays[least] = False
        self._stay(stays)

    def _stay(self, stays: npt.NDArray[np.bool_]) -> None:
        if stays.all():
            return
        kept = int(stays.sum())
        self._columns[:, :kept] = self._columns[:, : len(self)][:, stays]
        self._samples, self._answers = self._samples[stays], self._answers[stays]
