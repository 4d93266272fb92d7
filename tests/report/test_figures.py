import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from proponent import Scores
from proponent.report import figure_png, summarise
from proponent.report.figures import (
    Tile,
    draw_against_loss,
    draw_detection,
    draw_gallery,
    draw_overview,
    draw_proponents,
    draw_ranking,
    draw_tiles,
    figure_style,
)

N = 60
GENERATOR = np.random.default_rng(0)
FOREIGN = np.arange(N) < 8
VALUES = GENERATOR.gamma(1.0, size=N) + 9 * FOREIGN
IDS = np.array([f"s{i}" for i in range(N)])
SAMPLES = {str(id_): GENERATOR.random((4, 4)) for id_ in IDS}
QUERIES = {f"q{i}": GENERATOR.random((4, 4)) for i in range(3)}
SUMMARY = summarise(
    "t",
    Scores(VALUES, IDS),
    Scores(GENERATOR.normal(size=(N, 3)), IDS, query_ids=np.array(list(QUERIES))),
    FOREIGN,
)


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_axes_are_given_back(ax):
    assert draw_tiles(ax, [Tile(np.zeros((2, 2)), 0.0, 0.0)]) is ax
    assert draw_ranking(ax, VALUES) is ax
    assert draw_detection(ax, {"x": VALUES}, FOREIGN) is ax
    assert draw_against_loss(ax, VALUES, VALUES) is ax
    assert draw_gallery(ax, SUMMARY.highest, SAMPLES) is ax
    assert draw_proponents(ax, SUMMARY.queries, QUERIES, SAMPLES) is ax


def test_the_ranking_falls_and_marks_the_planted(ax):
    draw_ranking(ax, VALUES, FOREIGN, unit="nats")
    drawn = ax.lines[0].get_ydata()
    assert (np.diff(drawn) <= 0).all()
    marked = ax.collections[0].get_offsets()
    np.testing.assert_allclose(np.sort(marked[:, 1]), np.sort(VALUES[FOREIGN]))
    assert ax.get_ylabel() == "self-influence (nats)"


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (np.linspace(1, 2, N), "linear"),
        (np.geomspace(1, 1e4, N), "log"),
        (np.r_[-1.0, np.geomspace(1, 1e4, N - 1)], "symlog"),
        (np.zeros(N), "linear"),
    ],
)
def test_the_scale_follows_the_spread(ax, values, scale):
    draw_ranking(ax, values)
    assert ax.get_yscale() == scale
    figure_png(ax.figure, dpi=40)


def test_detection_names_each_ranking_with_its_area(ax):
    draw_detection(ax, {"self-influence": VALUES, "loss": -VALUES}, FOREIGN)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["self-influence (1.000)", "loss (0.000)"]
    assert ax.lines[2].get_ydata()[-1] == FOREIGN.sum()


def test_a_dot_for_each_sample(ax):
    draw_against_loss(ax, -VALUES, VALUES, FOREIGN, loss_unit="bits")
    others, planted = (dots.get_offsets() for dots in ax.collections)
    assert (len(others), len(planted)) == (N - 8, 8)
    assert ax.get_xlabel() == "loss (bits)"


def test_every_tile_has_its_sign_and_colour(ax):
    draw_proponents(ax, SUMMARY.queries[:1], QUERIES, SAMPLES, "digit")
    row = SUMMARY.queries[0]
    captions = [text for text in texts(ax) if text[0] in "+−"]
    assert len(captions) == len(row.proponents) + len(row.opponents) == 10
    assert captions[0].startswith("+")
    assert captions[-1].startswith("−")
    assert "digit" in texts(ax)


def test_colour_images_are_drawn_as_they_are(ax):
    image = np.random.default_rng(0).random((4, 4, 3))
    draw_tiles(ax, [Tile(image, 0.0, 0.0, caption="a")])
    np.testing.assert_array_equal(ax.images[0].get_array(), image)


def test_tiles_lie_inside_the_axes(ax):
    draw_tiles(ax, [Tile(np.zeros((2, 2)), c, r, "x") for c in (0.0, 1.0, 2.0) for r in (0.0, 1.0)])
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for image in ax.images:
        x0, x1, y1, y0 = image.get_extent()
        assert left <= x0 < x1 <= right
        assert top <= y0 < y1 <= bottom


def test_the_overview_draws_without_and_with_planted_samples():
    for foreign in (None, FOREIGN):
        figure = draw_overview(SUMMARY, VALUES, SAMPLES, QUERIES, foreign, rows=2, neighbours=3)
        assert figure_png(figure, dpi=30).startswith(b"\x89PNG")
    words = " ".join(text.get_text() for text in figure.texts)
    assert "lowered (+) or raised (−) the loss of the query, in nats" in words
    assert "the 24 with the highest self-influence: 8 planted" in words


def test_no_text_of_the_overview_lies_on_another():
    figure = draw_overview(SUMMARY, VALUES, SAMPLES, QUERIES, FOREIGN)
    figure_png(figure, dpi=50)
    drawn = [*figure.texts, *(text for ax in figure.axes for text in ax.texts)]
    boxes = [text.get_window_extent() for text in drawn if text.get_text()]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.overlaps(b)]


def test_the_style_ends_with_its_block():
    before = mpl.rcParams["axes.spines.top"]
    with figure_style():
        assert mpl.rcParams["axes.spines.top"] is False
    assert mpl.rcParams["axes.spines.top"] == before


def test_no_tiles_are_refused(ax):
    with pytest.raises(ValueError, match="`tiles` must hold at least one image"):
        draw_tiles(ax, [])


def test_no_queries_are_refused(ax):
    with pytest.raises(ValueError, match="`rows` must hold at least one query"):
        draw_proponents(ax, (), QUERIES, SAMPLES)
