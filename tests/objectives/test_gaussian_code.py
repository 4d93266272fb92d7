import torch
from torch.distributions import Normal, kl_divergence

from asserts import assert_close
from proponent.objectives._gaussian_code import kl_to_prior, log_density, log_prior, reparameterise
from toys import normal

MEAN, LOG_VARIANCE, NOISE = normal(3, 4, key="mean"), normal(3, 4, key="variance"), normal(2, 4, key="noise")
Q = Normal(MEAN, (LOG_VARIANCE / 2).exp())


def test_divergence_agrees_with_the_distributions():
    assert_close(kl_to_prior(MEAN, LOG_VARIANCE), kl_divergence(Q, Normal(0.0, 1.0)).sum(1), 1e-12)


def test_codes_are_the_mean_and_deviations_times_draws():
    expected = torch.stack([Q.mean + Q.stddev * draw for draw in NOISE], 1)
    assert_close(reparameterise(MEAN, LOG_VARIANCE, NOISE), expected, 1e-12)
    own = normal(3, 2, 4, key="own")
    expected = torch.stack([Q.mean + Q.stddev * own[:, j] for j in range(2)], 1)
    assert_close(reparameterise(MEAN, LOG_VARIANCE, own), expected, 1e-12)


def test_the_log_ratio_agrees_with_the_distributions():
    z = normal(3, 2, 4)
    expected = [Q.log_prob(z[:, j]).sum(1) - Normal(0.0, 1.0).log_prob(z[:, j]).sum(1) for j in range(2)]
    assert_close(log_density(z, MEAN, LOG_VARIANCE) - log_prior(z), torch.stack(expected, 1), 1e-12)
