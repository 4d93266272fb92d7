"""Every method on every toy."""

from functools import partial

import numpy as np
import pytest
import torch

import reference
from asserts import (
    assert_close,
    assert_order_equivariant,
    assert_same_bits,
    assert_symmetric,
)
from proponent.attribution import TracIn
from proponent.data import take
from proponent.training import Trajectory
from toys import COUPLED, TOYS

QUERIES = slice(1, 4)


def states(toy, count=2):
    return [toy.model(seed).state_dict() for seed in range(1, count + 1)]


def trajectory(toy, **more):
    return Trajectory.from_state_dicts(
        states(toy), steps=[10, 30], learning_rates=[0.5, 0.25], sample_count=40, **more
    )


WEIGHTS = (0.5 * 10 / 40, 0.25 * 20 / 40)


def tracin(toy, draws=4, model=None, **options):
    return TracIn(
        model or toy.model(),
        toy.objective,
        trajectory(toy),
        draws=draws,
        seed=3,
        precision="float64",
        **options,
    )


def influence(method, samples, queries, **options):
    return method.influence(samples, queries, progress=False, **options).values


def noises(method, *roles):
    return [tuple(method.noise(checkpoint, role) for role in roles) for checkpoint in range(2)]


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_influence_is_the_dense_truth(toy):
    method = tracin(toy)
    queries = take(toy.samples, QUERIES)
    expected = reference.influence(
        toy.model(),
        toy.objective,
        states(toy),
        WEIGHTS,
        toy.samples,
        queries,
        noises(method, "train", "query"),
    )
    scores = method.influence(toy.samples, queries)
    assert scores.values.shape == (5, 3)
    assert scores.unit == toy.objective.unit
    assert scores.facts["check"]["relative_error"] < 1e-8
    assert_close(scores.values, expected)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
@pytest.mark.parametrize("biased", [False, True])
def test_self_influence_is_the_dense_truth(toy, biased):
    method = tracin(toy)
    pairs = []
    for (noise,) in noises(method, "train"):
        whole = noise is None or biased
        pairs.append((noise, noise) if whole else tuple(noise.chunk(2)))
    expected = reference.self_influence(toy.model(), toy.objective, states(toy), WEIGHTS, toy.samples, pairs)
    assert_close(method.self_influence(toy.samples, biased=biased).values, expected)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_scores_do_not_depend_on_batches_or_order(toy):
    queries = take(toy.samples, QUERIES)
    whole = tracin(toy, batch_size=64)
    expected, own = influence(whole, toy.samples, queries), whole.self_influence(toy.samples).values
    for size in (1, 2):
        method = tracin(toy, batch_size=size)
        assert_close(influence(method, toy.samples, queries), expected)
        assert_close(method.self_influence(toy.samples).values, own)
    assert_order_equivariant(partial(influence, whole, queries=queries), toy.samples)
    swapped = influence(whole, toy.samples, take(queries, torch.tensor([2, 0, 1])))
    assert_close(swapped, expected[:, [2, 0, 1]])


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_scores_of_samples_on_each_other_are_symmetric_where_there_is_no_noise(toy):
    scores = influence(tracin(toy), toy.samples, toy.samples)
    if toy.noise is None:
        assert_symmetric(scores)
        assert_close(tracin(toy).self_influence(toy.samples).values, np.diag(scores))
    else:
        assert abs(scores - scores.T).max() > 1e-6  # independent draws


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_a_resumed_job_gives_the_same_bits(toy, tmp_path):
    queries = take(toy.samples, QUERIES)
    options = {"directory": tmp_path / "job", "shard_size": 2}
    expected = influence(tracin(toy), toy.samples, queries, shard_size=2)
    assert_same_bits(influence(tracin(toy), toy.samples, queries, **options), expected)
    for path in sorted((tmp_path / "job" / "tasks").iterdir())[1::2]:
        path.unlink()
    assert_same_bits(influence(tracin(toy), toy.samples, queries, **options), expected)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_adams_metric_is_the_dense_truth(toy):
    model = toy.model()
    generator = torch.Generator().manual_seed(5)
    second = [
        {
            name: torch.rand(p.shape, generator=generator, dtype=p.dtype) + 0.1
            for name, p in model.named_parameters()
        }
        for _ in range(2)
    ]
    metrics = [
        {name: 1 / ((v / (1 - 0.999**step)).sqrt() + 1e-8) for name, v in each.items()}
        for each, step in zip(second, (10, 30), strict=True)
    ]
    path = trajectory(toy, second_moments=second, optimizer="adam")
    method = TracIn(model, toy.objective, path, draws=4, precision="float64")
    queries = take(toy.samples, QUERIES)
    pairs = noises(method, "train", "query")
    expected = reference.influence(
        model, toy.objective, states(toy), WEIGHTS, toy.samples, queries, pairs, metrics
    )
    assert_close(influence(method, toy.samples, queries), expected)
    halves = [(None, None) if train is None else tuple(train.chunk(2)) for train, _ in pairs]
    expected = reference.self_influence(
        model, toy.objective, states(toy), WEIGHTS, toy.samples, halves, metrics
    )
    assert_close(method.self_influence(toy.samples).values, expected)


@pytest.mark.parametrize("name", ["linear-gaussian-vae", "noise-draw-by-draw"])
def test_standard_errors_leave_the_scores_alone(name):
    toy = TOYS[name]
    method = tracin(toy, draws=8, batch_size=64)
    queries = take(toy.samples, QUERIES)
    scores = method.influence(toy.samples, queries, standard_errors=True)
    assert scores.standard_errors.shape == (5, 3)
    assert (scores.standard_errors > 0).all()
    assert_close(scores.values, influence(method, toy.samples, queries))
    for biased in (False, True):
        own = method.self_influence(toy.samples, biased=biased, standard_errors=True)
        assert (own.standard_errors > 0).all()
        assert_close(own.values, method.self_influence(toy.samples, biased=biased).values)


@pytest.mark.parametrize("toy", COUPLED.values(), ids=COUPLED)
def test_coupled_samples_are_refused(toy):
    with pytest.raises(ValueError, match="samples"):
        tracin(toy).influence(toy.samples, toy.samples)
