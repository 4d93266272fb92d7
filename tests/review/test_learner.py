"""The learner: its mode against a general optimiser, its columns against the formula, what it forgets."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from proponent.review._blocks import blocks_of, gaussian_ranks
from proponent.review._kernel import Kernel
from proponent.review._learner import Learner, Trust
from proponent.review._mode import posterior_mode


def make_kernel(n=60, seed=0):
    random = np.random.default_rng(seed)
    start = gaussian_ranks(random.normal(size=n))
    features = {"pixels": random.normal(size=(n, 4)), "latents": random.normal(size=(n, 3))}
    return Kernel(blocks_of({"loss": start}, features), start), start - 3


def answers_of(n, seed=1):
    random = np.random.default_rng(seed)
    return {int(i): bool(random.random() < 0.4) for i in random.permutation(60)[:n]}


@pytest.mark.parametrize("wrong", [0.0, 0.02, 0.2])
def test_mode_is_that_of_a_general_optimiser(wrong):
    random = np.random.default_rng(2)
    root = random.normal(size=(12, 12))
    K, mean, y = root @ root.T / 6 + 0.1 * np.eye(12), random.normal(size=12), random.random(12) < 0.5
    precision = np.linalg.inv(K)

    def cost(f):
        q = wrong + (1 - 2 * wrong) * expit(f)
        return 0.5 * (f - mean) @ precision @ (f - mean) - np.log(np.where(y, q, 1 - q)).sum()

    best = minimize(cost, mean, method="BFGS", options={"gtol": 1e-8})
    f = mean
    for _ in range(200):  # a step at a time, since steps that change little end it
        f, a = posterior_mode(K, mean, y, f, wrong, steps=1)
    assert cost(f) == pytest.approx(best.fun, abs=1e-9)
    np.testing.assert_allclose(f, mean + K @ a, atol=1e-6)


def test_mode_comes_back_from_afar():
    K = 16 * np.eye(3)
    y = np.array([True, False, True])
    f, _ = posterior_mode(K, np.zeros(3), y, np.array([60.0, 60.0, -60.0]), steps=100)
    near, _ = posterior_mode(K, np.zeros(3), y, np.zeros(3), steps=100)
    np.testing.assert_allclose(f, near, atol=0.1)


def test_columns_are_a_covariance():
    kernel, _ = make_kernel()
    K = kernel.columns(np.arange(60)).astype(float)
    np.testing.assert_allclose(K, K.T, atol=1e-5)
    assert np.linalg.eigvalsh(K)[0] > 0
    np.testing.assert_array_equal(K[:, [7, 3]], kernel.columns(np.array([7, 3])))


def test_columns_follow_the_formula():
    start = np.array([0.5, -1.0, 0.25])
    blocks = {
        "scores": np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]], np.float32),
        "latents": np.array([[1.0], [0.5], [0.0]], np.float32),
        "hands": np.array([[1.0], [1.5], [3.0]], np.float32),
    }

    def bump(x, sharpness, variance):
        return variance * np.exp(-sharpness * ((x - x[1]) ** 2).sum(1))

    expected = (
        4 + 0.5 * start * start[1]
        + 2 * blocks["scores"] @ blocks["scores"][1]
        + bump(blocks["scores"], 0.3, 2.0)
        + bump(blocks["latents"], 0.7, 2.0)
        + bump(blocks["hands"], 0.7, 2.0)
    )  # fmt: skip
    np.testing.assert_allclose(Kernel(blocks, start).columns(np.array([1]))[:, 0], expected, rtol=1e-6)


def test_blocks_have_norm_one_and_leave_out_what_says_nothing():
    random = np.random.default_rng(0)
    features = {"pixels": 100 * random.normal(size=(50, 3)) + 7, "latents": np.full((50, 2), 3.0)}
    blocks = blocks_of({"loss": random.normal(size=50)}, features | {"residuals": np.zeros((50, 0))})
    assert sorted(blocks) == ["pixels", "scores", "whitened"]
    for block in blocks.values():
        assert (block.astype(float) ** 2).sum(1).mean() == pytest.approx(1, abs=1e-5)
        np.testing.assert_allclose(block.mean(0), 0, atol=1e-6)


def test_each_kind_of_block_has_its_spread():
    features = np.random.default_rng(0).normal(size=(5000, 2)) * [1.0, 10.0]
    names = {"pixels": features, "residuals": features, "latents": features}
    blocks = blocks_of({"loss": features[:, 0]}, names)
    ratio = {
        name: block[:, 1].std() / block[:, 0].std() for name, block in blocks.items() if name != "scores"
    }
    assert ratio["pixels"] == ratio["residuals"] == pytest.approx(10, rel=0.05)
    assert ratio["whitened"] == pytest.approx(1, abs=0.2)
    assert ratio["latents"] == pytest.approx(1.6, abs=0.2)  # a tenth of the whole spread is added


def test_without_answers_the_start():
    kernel, mean = make_kernel()
    learner = Learner(kernel, mean)
    learner.learn({})
    np.testing.assert_array_equal(learner.log_odds, mean)
    assert len(learner) == 0


def test_learns_in_steps_what_it_learns_at_once():
    kernel, mean = make_kernel()
    answers = answers_of(40)
    steps, once = Learner(kernel, mean), Learner(kernel, mean)
    for end in range(10, 50, 10):
        steps.learn(dict(list(answers.items())[:end]))
    for _ in range(3):
        once.learn(answers)
        steps.learn(answers)
    np.testing.assert_allclose(steps.log_odds, once.log_odds, atol=0.02)


def test_forgets_what_was_taken_back():
    kernel, mean = make_kernel()
    answers = answers_of(30)
    learner, never = Learner(kernel, mean), Learner(kernel, mean)
    first = next(iter(answers))
    rest = {i: answer for i, answer in answers.items() if i != first}
    learner.learn(answers)
    learner.learn({**answers, first: not answers[first]})
    for _ in range(4):
        learner.learn(rest)
        never.learn(rest)
    np.testing.assert_allclose(learner.log_odds, never.log_odds, atol=0.02)
    assert len(learner) == 29
    learner.learn({})
    np.testing.assert_array_equal(learner.log_odds, mean)


def test_an_answer_changes_those_like_it():
    kernel, mean = make_kernel()
    learner = Learner(kernel, mean)
    before = learner.log_odds[5]
    learner.learn({5: True})
    assert learner.log_odds[5] > before + 1
    learner.learn({5: False})
    assert learner.log_odds[5] < before


def test_remembers_what_it_expected():
    kernel, mean = make_kernel()
    learner = Learner(kernel, mean)
    learner.learn({3: True})
    expected = expit(learner.log_odds[4])
    learner.learn({3: True, 4: True})
    assert learner.expected == {3: pytest.approx(expit(mean[3])), 4: pytest.approx(expected)}


def test_drops_keeps_beyond_its_most_and_no_discard():
    kernel, mean = make_kernel()
    learner = Learner(kernel, mean, Trust(most=30))
    answers = answers_of(50)
    for end in range(10, 60, 10):
        learner.learn(dict(list(answers.items())[:end]))
    assert 24 <= len(learner) <= 30
    discards = [i for i, answer in answers.items() if answer]
    assert (learner.log_odds[discards] > mean[discards]).mean() > 0.8
    dropped = next(i for i in answers if i not in learner._samples and not answers[i])
    before = learner.log_odds[dropped]
    learner.learn({**answers, dropped: True})  # what was dropped as a keep is a discard after all
    assert learner.log_odds[dropped] > before


def test_whole_of_discards_stays():
    kernel, mean = make_kernel()
    learner = Learner(kernel, mean, Trust(most=10))
    learner.learn(dict.fromkeys(range(20), True))
    assert len(learner) == 20
