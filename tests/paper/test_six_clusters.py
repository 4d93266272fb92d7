import numpy as np
import pytest

from proponent.paper import six_clusters


def test_sizes_and_deviations_are_those_of_the_paper():
    clusters = six_clusters()
    assert clusters.sizes.tolist() == [25, 15, 20, 25, 10, 5]
    assert clusters.deviations.tolist() == [0.5, 0.5, 0.4, 0.4, 0.5, 1.0]
    assert clusters.points.shape == (100, 2)
    assert clusters.labels.tolist() == sorted(clusters.labels)


def test_samples_are_drawn_about_their_centres_with_their_deviations():
    drawn = [six_clusters(seed) for seed in range(200)]
    standard = np.stack([(c.points - c.centres[c.labels]) / c.deviations[c.labels, None] for c in drawn])
    for k in range(6):
        mine = standard[:, drawn[0].labels == k]
        assert mine.mean() == pytest.approx(0, abs=0.1)
        assert mine.std() == pytest.approx(1, abs=0.05)


def test_the_seed_is_all_they_come_from():
    np.testing.assert_array_equal(six_clusters(3).points, six_clusters(3).points)
    assert not np.array_equal(six_clusters(3).points, six_clusters(4).points)


@pytest.mark.parametrize("seed", range(20))
def test_clusters_are_well_separated(seed):
    clusters = six_clusters(seed)
    distances = np.linalg.norm(clusters.points[:, None] - clusters.points, axis=-1)
    same = clusters.labels[:, None] == clusters.labels
    assert distances[~same].min() > distances[same].max()


def test_samples_lie_about_the_means_of_their_clusters():
    clusters = six_clusters()
    for k in range(6):
        mine = clusters.labels == k
        np.testing.assert_allclose(clusters.from_means[mine].mean(0), 0, atol=1e-14)
        np.testing.assert_allclose(
            np.diff(clusters.from_means[mine], axis=0), np.diff(clusters.points[mine], axis=0), atol=1e-14
        )
