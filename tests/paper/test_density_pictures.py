from itertools import combinations

import pytest

from proponent.paper import (
    clusters_picture,
    density_figures,
    forms_picture,
    influence_picture,
    overview_picture,
    self_influence_picture,
)
from proponent.report import figure_png

FIGURES = density_figures()
PICTURES = (clusters_picture, self_influence_picture, influence_picture, forms_picture, overview_picture)


@pytest.fixture(scope="module", params=PICTURES, ids=lambda draw: draw.__name__)
def figure(request):
    figure = request.param(FIGURES)
    assert figure_png(figure, dpi=40).startswith(b"\x89PNG")
    figure.draw_without_rendering()
    return figure


def test_no_text_lies_on_another(figure):
    drawn = [text for ax in figure.axes for text in (*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label)]
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn if text.get_text()]
    assert [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)] == []


def test_nothing_is_cut_off(figure):
    page = figure.bbox.padded(2)
    for ax in figure.axes:
        for text in (*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label):
            box = text.get_window_extent()
            assert not text.get_text() or (page.x0 <= box.x0 and box.x1 <= page.x1), text.get_text()


def test_every_axis_says_its_unit(figure):
    labels = [ax.get_ylabel() for ax in figure.axes if "influence" in ax.get_ylabel()]
    assert all("nats" in label for label in labels)


@pytest.mark.parametrize("draw", [self_influence_picture, influence_picture, overview_picture])
def test_a_column_for_each_estimator(draw):
    titles = [ax.get_title(loc="center") for ax in draw(FIGURES).axes]
    names = [title for title in titles if title not in ("", "proponent")]
    assert names == [
        "k-NN, k = 10",
        "KDE, bandwidth 1",
        "spherical mixture",
    ]


def test_the_forms_of_the_mixture_share_their_axis():
    limits = {ax.get_ylim() for ax in forms_picture(FIGURES).axes}
    assert len(limits) == 1


def test_against_distance_the_clusters_that_can_not_be_told_apart_share_a_mark():
    (legend,) = influence_picture(FIGURES).legends
    assert [text.get_text() for text in legend.get_texts()] == ["query z", "cluster 0", "other clusters"]
