"""The slow truth of Gaussian mixtures: plain EM, and a Hessian by autograd in a naive parametrisation."""

import math

import numpy as np
import torch
from scipy.special import logsumexp
from torch.autograd.functional import hessian, jacobian

TYPES = ("full", "tied", "diag", "spherical")


def make_components(count, dimension=2, components=3, apart=3.0, seed=12):
    """Samples of components that overlap, each stretched in its own way."""
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % components
    centres = apart * generator.normal(size=(components, dimension))
    shapes = generator.normal(size=(components, dimension, dimension)) / 2 + np.eye(dimension)
    return centres[labels] + np.einsum(
        "nij,nj->ni", shapes[labels], generator.normal(size=(count, dimension))
    )


def dense(covariances, covariance_type, components, dimension):
    """Covariances of any type as full matrices, ``[K, d, d]``."""
    eye = np.eye(dimension)
    if covariance_type == "spherical":
        return covariances[:, None, None] * eye
    if covariance_type == "diag":
        return covariances[:, None] * eye
    return np.broadcast_to(covariances, (components, dimension, dimension))


def log_joint(samples, weights, means, covariances):
    """The log density of each component times its weight, ``[n, K]``."""
    d = samples.shape[1]
    columns = []
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        differences = samples - mean
        squares = (differences @ np.linalg.inv(covariance) * differences).sum(1)
        volume = np.linalg.slogdet(covariance)[1] + d * math.log(2 * math.pi)
        columns.append(math.log(weight) - (squares + volume) / 2)
    return np.stack(columns, 1)


def em(samples, weights, means, covariances, covariance_type, steps):
    """Plain steps of EM on full matrices; the result is weights, means and full matrices again."""
    n, d = samples.shape
    K = len(weights)
    for _ in range(steps):
        joint = log_joint(samples, weights, means, covariances)
        r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        counts = r.sum(0)
        weights, means = counts / n, r.T @ samples / counts[:, None]
        scatters = [(r[:, k, None] * (samples - means[k])).T @ (samples - means[k]) for k in range(K)]
        if covariance_type == "tied":
            covariances = np.broadcast_to(sum(scatters) / n, (K, d, d))
        else:
            covariances = np.stack([scatter / count for scatter, count in zip(scatters, counts, strict=True)])
        if covariance_type == "diag":
            covariances = covariances * np.eye(d)
        if covariance_type == "spherical":
            covariances = np.trace(covariances, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    return weights, means, covariances


def log_densities(samples, weights, means, covariances):
    """The log density of each sample."""
    return logsumexp(log_joint(samples, weights, means, covariances), axis=1)


def influence(samples, queries, weights, means, covariances, covariance_type):
    """Implicit influence, by autograd with free log weights, means and Cholesky factors."""
    n, d = samples.shape
    K = len(weights)
    rows, columns = np.tril_indices(d)
    roots = np.linalg.cholesky(covariances)
    own = {
        "full": lambda: roots[:, rows, columns],
        "tied": lambda: roots[0, rows, columns],
        "diag": lambda: np.log(np.diagonal(roots, axis1=1, axis2=2)),
        "spherical": lambda: np.log(roots[:, 0, 0]),
    }[covariance_type]()
    logits = np.log(weights[1:] / weights[0])
    parameters = torch.as_tensor(np.concatenate([logits, means.ravel(), own.ravel()]))

    def densities(parameters, points):
        logits, middle, rest = parameters.split([K - 1, K * d, len(parameters) - K + 1 - K * d])
        log_weights = torch.cat([logits.new_zeros(1), logits]).log_softmax(0)
        middle = middle.view(K, d)
        if covariance_type in ("full", "tied"):
            lower = rest.view(-1, len(rows)).expand(K, -1)
            L = torch.zeros(K, d * d, dtype=rest.dtype)
            L = L.index_copy(1, torch.as_tensor(rows * d + columns), lower).view(K, d, d)
        else:
            L = torch.diag_embed(rest.view(K, -1).expand(K, d).exp())
        y = torch.linalg.solve_triangular(L, (points - middle[:, None]).mT, upper=False)
        volume = L.diagonal(dim1=1, dim2=2).log().sum(1) + d / 2 * math.log(2 * math.pi)
        return ((log_weights - volume)[:, None] - y.square().sum(1) / 2).logsumexp(0)

    X, Z = torch.as_tensor(samples), torch.as_tensor(queries)
    H = hessian(lambda p: -densities(p, X).mean(), parameters)
    G_X, G_Z = (jacobian(lambda p, points=points: densities(p, points), parameters) for points in (X, Z))
    return (G_X @ torch.linalg.solve(H, G_Z.T) / n).numpy()


def start_of(mixture):
    """Where a fitted mixture lies, as a start."""
    return {
        "weights_init": mixture.weights_,
        "means_init": mixture.means_,
        "precisions_init": np.linalg.inv(mixture.covariances_),
    }
