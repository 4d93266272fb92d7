import json

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import proponent as pp
from proponent.evaluation import Change, Comparison, compare_without
from proponent.evaluation._comparison import _crossed, _paired

GENERATOR = np.random.default_rng(0)
PULL = pp.objective(lambda model, batch, noise: (model.weight - batch).square().sum(1) / 2)
TRAINING = {"steps": 60, "learning_rate": 0.05, "batch_size": 16, "progress": False}


def make_mean(generator):
    """A model of one number, whose optimum is the mean of the samples."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.normal_(model.weight, generator=generator)
    return model


def make_samples(shift):
    samples = GENERATOR.normal(size=(200, 1)).astype(np.float32)
    samples[:20] += shift
    return samples


def test_leaving_out_what_is_foreign_helps():
    samples = make_samples(12.0)
    found = compare_without(make_mean, PULL, samples, range(20), seeds=3, held_out=0.5, **TRAINING)
    # The mean of all lies 12 · 20 / 110 above that of the rest, and costs half of its square.
    assert found.discarded.mean == pytest.approx(-((12 * 20 / 110) ** 2) / 2, rel=0.25)
    assert found.difference.is_told
    assert found.difference.high < 0
    assert "explain held-out samples better" in found.verdict()
    assert abs(found.at_random.mean) < abs(found.discarded.mean) / 4
    assert set(found.losses["arm"]) == {"all", "discarded", "at random 0", "at random 1", "at random 2"}
    assert json.loads(json.dumps(found.to_dict()))["facts"]["discarded"] == 20


def test_leaving_out_what_is_like_the_rest_does_not():
    found = compare_without(make_mean, PULL, make_samples(0.0), range(20), seeds=3, **TRAINING)
    assert not found.difference.is_told
    assert "can't be told apart with 3 seeds" in found.verdict()


def test_a_comparison_is_taken_up(tmp_path):
    def found():
        return compare_without(
            make_mean,
            PULL,
            make_samples_once,
            [1, 2],
            seeds=2,
            random_choices=2,
            directory=tmp_path,
            **TRAINING,
        )

    make_samples_once = make_samples(3.0)
    first = found()
    assert len(list(tmp_path.glob("member-*"))) == 8
    assert found().losses.equals(first.losses)


def test_worse_is_said():
    worse = Change(0.5, 0.1, 0.9)
    found = Comparison(worse, worse, worse, pd.DataFrame(), {"discarded": 1200, "seeds": 3})
    assert found.verdict() == (
        "Without these 1,200 samples models explain held-out samples worse than without 1,200 at random: "
        "by +0.5 (+0.1 to +0.9)."
    )


def test_students_interval():
    change = _paired(np.array([1.0, 2.0, 3.0]), 0.95)
    assert change.mean == 2
    assert change.high - change.mean == pytest.approx(4.3027 / 3**0.5, rel=1e-4)


def test_the_crossed_interval_covers_both_sources():
    generator, covered = np.random.default_rng(0), 0
    for _ in range(400):
        D = 1 + generator.normal(size=(4, 1)) + generator.normal(size=5) + generator.normal(size=(4, 5)) / 2
        change = _crossed(D, 0.9)
        covered += change.low <= 1 <= change.high
    assert covered / 400 > 0.88


@pytest.mark.parametrize(
    ("discarded", "options", "message"),
    [
        ([], {}, "`discarded` must name at least one sample, got none"),
        ([3, 200], {}, "positions from 0 to 199, got 200"),
        ([-1], {}, "positions from 0 to 199, got -1"),
        (range(150), {}, "must be fewer than what is left to train on, but 150 of 200"),
        ([1], {"seeds": 1}, "`seeds` must be at least 2 for an interval, got 1"),
        ([1], {"random_choices": 1}, "`random_choices` must be at least 2 for an interval, got 1"),
        ([1], {"held_out": 1.0}, r"`held_out` must be between 0 and 1, got 1\.0"),
        ([1], {"confidence": 0.0}, r"`confidence` must be between 0 and 1, got 0\.0"),
    ],
)
def test_what_can_not_be_compared(discarded, options, message):
    with pytest.raises(ValueError, match=message):
        compare_without(make_mean, PULL, torch.zeros(200, 1), discarded, **TRAINING, **options)
