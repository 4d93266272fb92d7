"""A small VAE-like model and what else the tests of training share."""

import torch
from torch import nn

from proponent.objectives import objective
from proponent.randomness import keyed_normal
from proponent.training import fit


class Coder(nn.Module):
    """Encodes, adds noise, decodes; its layers are of every kind that a step treats apart."""

    def __init__(self, seed=0):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
        self.decoder = nn.Linear(2, 5, bias=False)
        self.scale = nn.Parameter(torch.ones(()))
        self.frozen = nn.Parameter(torch.full((5,), 0.5), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(2))
        self.double()
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.endswith(("weight", "bias")):
                    parameter.copy_(keyed_normal(tuple(parameter.shape), seed, name, dtype=torch.float64) / 2)


def code_and_decode(model, x, noise):
    code = model.encoder(x)[:, None] + noise
    return ((model.decoder(code) * model.scale + model.frozen - x[:, None]).square()).sum(2).mean(1)


own_noise = objective(code_and_decode, noise_shape=(2,), per_sample_noise=True)
shared_noise = objective(code_and_decode, noise_shape=(2,))
samples = keyed_normal((23, 5), "samples", dtype=torch.float64)


def fit_coder(**changes):
    settings = {
        "objective": own_noise,
        "samples": samples,
        "steps": 40,
        "checkpoints": 4,
        "batch_size": 6,
        "learning_rate": 0.02,
        "draws": 2,
        "log_every": 7,
        "progress": False,
    }
    return fit(**({"model": Coder()} if "model" not in changes else {}), **(settings | changes))


def assert_same_tensors(a, b):
    assert a.keys() == b.keys()
    assert all(torch.equal(a[key], b[key]) for key in a)


def assert_same_runs(a, b):
    assert a.trajectory.fingerprint() == b.trajectory.fingerprint()
    assert (a.losses == b.losses).all()
    assert (a.loss_steps == b.loss_steps).all()
    assert_same_tensors(dict(a.model.state_dict()), dict(b.model.state_dict()))
