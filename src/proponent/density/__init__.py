"""Density estimators whose influences are known: k nearest neighbours, kernels, Gaussian mixtures."""

from proponent.density._from_sklearn import from_sklearn
from proponent.density._kde import KernelDensity
from proponent.density._knn import KNNDensity
from proponent.density._mixture import GaussianMixture
from proponent.density._spherical import SphericalMixture

__all__ = ["GaussianMixture", "KNNDensity", "KernelDensity", "SphericalMixture", "from_sklearn"]
