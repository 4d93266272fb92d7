"""Density estimators whose influences are known: k nearest neighbours, kernels, Gaussian mixtures."""

__all__: list[str] = []
