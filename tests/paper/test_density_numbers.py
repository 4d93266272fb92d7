import json
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

from proponent.paper import density_figures, density_statements

figures_of = cache(density_figures)


def without(array, i):
    return np.delete(array, i, axis=0)


def mixture_density(points, labels, query, cluster):
    mine = points[labels == cluster]
    mean = mine.mean(0)
    variance = ((mine - mean) ** 2).sum() / mine.size
    gauss = -np.log(2 * np.pi * variance) - ((query - mean) ** 2).sum() / (2 * variance)
    return np.log(len(mine) / len(points)) + gauss


def kde_density(points, query, bandwidth):
    squares = ((points - query) ** 2).sum(1) / bandwidth**2
    return logsumexp(-squares / 2) - np.log(len(points) * 2 * np.pi * bandwidth**2)


def knn_density(points, query, k):
    radius = np.sort(np.linalg.norm(points - query, axis=1))[k - 1]
    return np.log(k / (len(points) * np.pi * radius**2))


@pytest.mark.parametrize("name", ["k-NN", "KDE", "spherical mixture"])
def test_scores_are_what_leaving_a_sample_out_takes(name):
    figures = density_figures(seed=1, k=7, bandwidth=0.8)
    points, labels = figures.clusters.points, figures.clusters.labels

    def log_density(points, labels, query, cluster):
        if name == "k-NN":
            return knn_density(points, query, 7)
        if name == "KDE":
            return kde_density(points, query, 0.8)
        return mixture_density(points, labels, query, cluster)

    estimate = figures.estimates[name]
    for i in (0, 30, 99):
        whole = log_density(points, labels, points[i], labels[i])
        assert estimate.log_likelihoods[i] == pytest.approx(whole, abs=1e-10)
        left = log_density(without(points, i), without(labels, i), points[i], labels[i])
        assert estimate.self_influence.values[i] == pytest.approx(whole - left, abs=1e-10)
        on_z = [
            log_density(x, y, figures.query, 0)
            for x, y in ((points, labels), (without(points, i), without(labels, i)))
        ]
        assert estimate.influence.values[i, 0] == pytest.approx(on_z[0] - on_z[1], abs=1e-10)


def test_self_influence_is_the_diagonal_of_what_samples_do_to_each_other():
    for estimate in [*figures_of().estimates.values(), *figures_of().forms.values()]:
        np.testing.assert_allclose(estimate.self_influence.values, np.diag(estimate.among.values), atol=1e-10)


def test_samples_have_names_that_say_their_cluster():
    figures = figures_of()
    for estimate in figures.estimates.values():
        assert estimate.self_influence.ids.tolist() == estimate.influence.ids.tolist()
        clusters = [int(name.split("-")[0]) for name in estimate.self_influence.ids]
        assert clusters == figures.clusters.labels.tolist()
        assert estimate.influence.query_ids.tolist() == ["z"]


def test_the_query_lies_near_the_centre_of_cluster_0_and_is_no_sample():
    figures = figures_of()
    off = np.linalg.norm(figures.query - figures.clusters.centres[0])
    assert 0 < off < figures.clusters.deviations[0]
    assert figures.distances.min() > 0
    assert figures.clusters.labels[figures.distances.argmin()] == 0


def test_settings_fit_in_json():
    figures = density_figures(seed=2, k=5, bandwidth=0.7)
    settings = json.loads(json.dumps(figures.settings()))
    assert (settings["seed"], settings["k"], settings["bandwidth"]) == (2, 5, 0.7)
    assert settings["query"] == figures.query.tolist()


def test_statements_fit_in_json():
    records = [each.to_dict() for each in density_statements(figures_of())]
    assert json.loads(json.dumps(records)) == records
    assert {"name", "method", "where", "text", "instead", "measured", "numbers", "outcome"} <= set(records[0])


def test_parameters_that_cannot_be_used_are_refused():
    with pytest.raises(ValueError, match="bandwidth"):
        density_figures(bandwidth=0.0)
    with pytest.raises(ValueError, match="`k`"):
        density_figures(k=100)
