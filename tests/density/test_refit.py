import dataclasses

import mixture_reference as reference
import numpy as np
import pytest
import torch

from asserts import assert_close
from proponent.density._around import Around
from proponent.density._covariance_types import covariance_type_named
from proponent.density._curvature import curvature
from proponent.density._em import maximised
from proponent.density._place import Place
from proponent.density._refit import left_out, refitted
from proponent.density._start import started

PLACE = Place.asked_for(None, "float64", None)
SAMPLES = reference.make_components(90)
SAMPLES -= SAMPLES.mean(0)
QUERIES = np.random.default_rng(5).normal(size=(7, 2)) * 3
WHICH = torch.tensor([3, 0, 89, 41])


def around(covariance_type="full", samples=SAMPLES, place=PLACE, components=3):
    kept, X = covariance_type_named(covariance_type), torch.as_tensor(samples)
    mixture = maximised(
        started(samples, components, kept, place, random_state=0), X, place, 1e-12, 1000
    ).mixture
    return Around(mixture, curvature(mixture, X, place), X, place)


def as_arrays(mixture, covariance_type):
    kept, (K, d) = covariance_type_named(covariance_type), mixture.means.shape
    covariances = reference.dense(kept.shown(mixture.covariances(), K, d), covariance_type, K, d)
    return mixture.weights.numpy(), mixture.means.numpy(), covariances


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_refits_are_those_of_plain_em(covariance_type):
    fit = around(covariance_type)
    start = as_arrays(fit.mixture, covariance_type)
    found = left_out(fit, WHICH, torch.as_tensor(QUERIES), 1e-10, 1000, lambda count: None)
    for row, i in zip(found.influences, WHICH.tolist(), strict=True):
        refit = reference.em(np.delete(SAMPLES, i, 0), *start, covariance_type, 400)
        truth = reference.log_densities(QUERIES, *start) - reference.log_densities(QUERIES, *refit)
        assert_close(row, truth, 1e-5)
    assert (found.gradient_norms <= 1e-10).all()
    assert not found.is_singular.any()
    assert not found.is_jump.any()


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_gradients_are_those_of_autograd(covariance_type):
    fit = around(covariance_type)
    points = 0.05 * torch.randn(
        4, fit.at.total, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    rest = [torch.cat([fit.samples[:i], fit.samples[i + 1 :]]) for i in WHICH.tolist()]
    seen = fit.seen(points, WHICH)
    for b in range(4):
        mean = lambda point, b=b: fit.log_densities(rest[b], point[None]).mean()  # noqa: E731
        assert_close(seen.log_likelihood[b], mean(points[b]))
        step = 1e-6 * torch.eye(fit.at.total, dtype=torch.float64)
        slopes = torch.stack([(mean(points[b] + h) - mean(points[b] - h)) / 2e-6 for h in step])
        assert_close(seen.gradient[b], slopes, 1e-7)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_the_target_is_a_step_of_plain_em(covariance_type):
    fit = around(covariance_type)
    target = fit.seen(torch.zeros(1, fit.at.total, dtype=torch.float64), WHICH[:1]).target[0]
    start = as_arrays(fit.mixture, covariance_type)
    truth = reference.em(np.delete(SAMPLES, WHICH[0], 0), *start, covariance_type, 1)
    for found, true in zip(as_arrays(fit.mixture_at(target), covariance_type), truth, strict=True):
        assert_close(found, true)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_a_point_is_a_mixture(covariance_type):
    fit = around(covariance_type)
    point = fit.seen(torch.zeros(1, fit.at.total, dtype=torch.float64), WHICH[:1]).target[0]
    mixture, x = fit.mixture_at(point), torch.as_tensor(QUERIES)
    assert_close(fit.log_densities(x, point[None])[:, 0], mixture.log_densities(x, PLACE))
    assert_close(fit.log_densities(x, fit.point_of(mixture)[None])[:, 0], mixture.log_densities(x, PLACE))


def test_small_chunks_and_batches_give_the_same():
    whole, X = around(), torch.as_tensor(QUERIES)
    small = dataclasses.replace(whole, place=Place.asked_for(None, "float64", 40_000))
    done = []
    found = left_out(small, WHICH, X, 1e-10, 1000, done.append)
    assert_close(found.influences, left_out(whole, WHICH, X, 1e-10, 1000, done.append).influences, 1e-8)
    assert done == [3, 1, 4]


def test_refits_that_need_many_steps_go_on_alone():
    generator, thirds = np.random.default_rng(21), np.arange(30)[:, None] % 3
    samples = generator.normal(size=(30, 1)) * np.where(thirds, 1, 0.5) + np.where(thirds, 0, 2)
    fit = around("full", samples.round(2), components=2)
    found = refitted(fit, torch.tensor([0]), 1e-10, 1000)
    assert found.steps > 60
    assert found.gradient_norms <= 1e-10
    for most in (50, 60, 62):
        stopped = refitted(fit, torch.tensor([0]), 1e-10, most)
        assert stopped.steps == most
        assert stopped.gradient_norms > 1e-10
    ends = as_arrays(fit.mixture_at(found.points[0]), "full")
    for before, after in zip(
        ends, reference.em(np.delete(fit.samples.numpy(), 0, 0), *ends, "full", 1), strict=True
    ):
        assert_close(before, after, 1e-8)


def test_refits_that_do_not_arrive_say_so():
    found = left_out(around(), WHICH, torch.as_tensor(QUERIES), 1e-10, 1, lambda count: None)
    assert (found.gradient_norms > 1e-10).all()
    assert found.facts(WHICH.numpy(), 1e-10)["not_converged"] == WHICH.tolist()


def test_refits_that_collapse_have_no_influence():
    near = np.random.default_rng(0).normal(size=(30, 2))
    samples = np.concatenate([near, [[9.0, 9.0], [9.5, 9.0], [9.0, 9.7]]])
    samples -= samples.mean(0)
    fit = around("full", samples, components=2)
    found = left_out(
        fit, torch.tensor([0, 31, 32]), torch.as_tensor(QUERIES), 1e-10, 1000, lambda count: None
    )
    assert found.is_singular.tolist() == [False, True, True]
    assert found.influences.isnan().all(1).tolist() == [False, True, True]
    facts = found.facts(np.array([0, 31, 32]), 1e-10)
    assert facts["collapsed"] == [31, 32]
    assert facts["jumped"] == facts["not_converged"] == []
