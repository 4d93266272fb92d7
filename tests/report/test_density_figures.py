import numpy as np
import pytest
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from proponent.report import figure_png
from proponent.report.figures import (
    Scored,
    draw_against_distance,
    draw_against_log_likelihood,
    draw_by_cluster,
    draw_clusters,
    draw_influence_map,
    draw_self_influence_map,
    figure_style,
)
from proponent.report.figures._density_scale import influence_scale, self_influence_scale

GENERATOR = np.random.default_rng(0)
N = 30
POINTS = GENERATOR.normal(size=(N, 2))
LABELS = np.repeat([0, 1, 2], [12, 10, 8])
OWN = GENERATOR.gamma(2.0, size=N)
INFLUENCE = GENERATOR.normal(size=N)
QUERY = np.array([0.1, -0.2])


@pytest.fixture
def ax():
    with figure_style():
        yield Figure().subplots()


def texts(ax):
    return [text.get_text() for text in ax.texts]


def bar_of(ax):
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    return bar


def test_axes_are_given_back(ax):
    assert draw_clusters(ax, POINTS, LABELS) is ax
    assert draw_self_influence_map(ax, POINTS, Scored(OWN)) is ax
    assert draw_influence_map(ax, POINTS, Scored(INFLUENCE), QUERY) is ax
    assert draw_against_log_likelihood(ax, -OWN, Scored(OWN)) is ax
    assert draw_against_distance(ax, OWN, Scored(INFLUENCE)) is ax
    assert draw_by_cluster(ax, OWN, LABELS) is ax
    figure_png(ax.figure, dpi=40)


def test_every_cluster_has_its_colour_its_form_and_its_name(ax):
    draw_clusters(ax, POINTS, LABELS, {1: "10 samples"}, QUERY)
    *clusters, query = ax.collections
    assert [len(dots.get_offsets()) for dots in clusters] == [12, 10, 8]
    assert len({tuple(dots.get_facecolor()[0]) for dots in clusters}) == 3
    assert len({len(dots.get_paths()[0].vertices) for dots in clusters}) == 3
    assert texts(ax) == ["cluster 0", "cluster 1\n10 samples", "cluster 2", "z"]
    np.testing.assert_array_equal(query.get_offsets(), [QUERY])


def test_a_map_shows_every_sample_the_strongest_on_top(ax):
    draw_self_influence_map(ax, POINTS, Scored(OWN, LABELS))
    (dots,) = ax.collections
    order = np.argsort(np.abs(OWN))
    np.testing.assert_array_equal(dots.get_array(), OWN[order])
    np.testing.assert_array_equal(dots.get_offsets(), POINTS[order])
    assert texts(ax) == ["0", "1", "2"]
    assert bar_of(ax).get_ylabel() == "self-influence (nats)"
    assert ax.get_aspect() == 1


def test_influences_are_coloured_about_0(ax):
    draw_influence_map(ax, POINTS, Scored(INFLUENCE, unit="bits"), QUERY)
    dots, query = ax.collections
    limit = np.abs(INFLUENCE).max()
    assert (dots.norm.vmin, dots.norm.vmax) == (-limit, limit)
    zero = dots.cmap(dots.norm(0.0))
    assert max(zero[:3]) - min(zero[:3]) < 0.02  # grey
    proponent, opponent = dots.cmap(dots.norm(limit / 2)), dots.cmap(dots.norm(-limit / 2))
    assert proponent[2] > proponent[0]  # blue
    assert opponent[0] > opponent[2]  # red
    assert bar_of(ax).get_ylabel() == "influence on z (bits)"
    assert query.get_label() == "query z"
    assert (bar_of(ax).get_title(), bar_of(ax).get_xlabel()) == ("proponent", "opponent")


def test_a_long_tail_is_drawn_on_a_logarithmic_scale_that_says_so(ax):
    values = np.r_[np.geomspace(0.1, 1, N - 1), 1e4]
    draw_self_influence_map(ax, POINTS, Scored(values))
    norm = ax.collections[0].norm
    assert isinstance(norm, SymLogNorm)
    assert norm.linthresh == np.median(values)
    assert (norm.vmin, norm.vmax) == (0, 1e4)
    assert bar_of(ax).get_ylabel() == "self-influence (nats, symmetric log scale)"
    figure_png(ax.figure, dpi=40)


def test_an_axis_with_a_long_tail_says_so_too(ax):
    values = np.r_[np.geomspace(0.1, 1, N - 1), 1e4]
    draw_against_log_likelihood(ax, -OWN, Scored(values, LABELS))
    assert ax.get_yscale() == "symlog"
    assert ax.get_ylabel() == "self-influence (nats, symmetric log scale)"
    assert ax.get_xlabel() == "log-likelihood (nats)"


def test_clusters_may_have_names(ax):
    names = np.where(LABELS == 1, "the middle", "others")
    draw_against_distance(ax, OWN, Scored(INFLUENCE, names))
    assert ax.get_legend_handles_labels()[1] == ["others", "the middle"]


def test_a_short_tail_is_drawn_linearly(ax):
    draw_against_log_likelihood(ax, -OWN, Scored(OWN, LABELS))
    assert ax.get_yscale() == "linear"
    assert ax.get_ylabel() == "self-influence (nats)"


@pytest.mark.parametrize("scale", [self_influence_scale, influence_scale])
@pytest.mark.parametrize(
    ("infinite", "extend"),
    [([], "neither"), ([np.inf], "max"), ([-np.inf], "min"), ([np.inf, -np.inf], "both")],
)
def test_a_colour_bar_points_to_where_scores_are_infinite(scale, infinite, extend):
    made = scale(np.array([-1.0, 2.0, *infinite]))
    assert made.extend == extend
    assert np.isfinite([made.norm.vmin, made.norm.vmax]).all()


@pytest.mark.parametrize("values", [np.zeros(N), np.full(N, np.inf), np.full(N, -np.inf), np.full(N, -2.0)])
def test_scores_that_are_all_alike_are_drawn(ax, values):
    draw_self_influence_map(ax, POINTS, Scored(values))
    figure_png(ax.figure, dpi=40)


def test_infinite_scores_lie_at_the_edge_as_hollow_marks(ax):
    values, likelihoods = OWN.copy(), -OWN
    values[3], likelihoods[4], values[20] = np.inf, np.inf, -np.inf
    draw_against_log_likelihood(ax, likelihoods, Scored(values, LABELS))
    assert [len(dots.get_offsets()) for dots in ax.collections] == [10, 9, 8, 3]
    edge = ax.collections[-1].get_offsets()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    np.testing.assert_allclose(edge[0], [likelihoods[3], top])
    np.testing.assert_allclose(edge[1], [right, values[4]])
    np.testing.assert_allclose(edge[2], [likelihoods[20], bottom])
    assert ax.collections[-1].get_label() == "infinite"
    assert left < likelihoods[np.isfinite(likelihoods)].min()
    figure_png(ax.figure, dpi=40)


@pytest.mark.parametrize(
    ("distances", "scale", "label"),
    [
        (np.linspace(1, 5, N), "linear", "distance to z"),
        (np.geomspace(0.1, 50, N), "log", "distance to z (log scale)"),
        (np.r_[0.0, np.geomspace(0.1, 50, N - 1)], "linear", "distance to z"),
    ],
)
def test_distances_of_several_orders_are_drawn_logarithmically(ax, distances, scale, label):
    draw_against_distance(ax, distances, Scored(INFLUENCE, LABELS))
    assert ax.get_xscale() == scale
    assert ax.get_xlabel() == label
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    np.testing.assert_array_equal(drawn, np.column_stack([distances, INFLUENCE]))


def test_every_cluster_has_a_bar_at_its_median(ax):
    draw_by_cluster(ax, OWN, LABELS)
    bars = [lines.get_segments()[0][0, 1] for lines in ax.collections[1::2]]
    np.testing.assert_allclose(bars, [np.median(OWN[k == LABELS]) for k in range(3)])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0\n12", "1\n10", "2\n8"]


@pytest.mark.parametrize("draw", [draw_clusters, draw_self_influence_map])
def test_points_outside_the_plane_are_refused(ax, draw):
    with pytest.raises(ValueError, match=r"`points` must lie in the plane, \[n, 2\], got shape \(30, 3\)"):
        draw(ax, np.zeros((N, 3)), LABELS if draw is draw_clusters else Scored(OWN))
