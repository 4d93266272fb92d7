import pytest
from torch import nn

import toy_models
from proponent.models import MLPVAE, VAE, ConvVAE, check_vae


@pytest.mark.parametrize("model", [MLPVAE(4, 2), ConvVAE(2, size=16), toy_models.mlp_vae()])
def test_a_vae_passes_as_it_is(model):
    assert check_vae(model) is model
    assert isinstance(model, VAE)


def test_what_is_missing_is_named():
    model = toy_models.mlp_vae()
    del model.latent_dim
    with pytest.raises(
        TypeError, match=r"must be a VAE .* the ToyVAE has no `latent_dim`\. Add .*pp\.objective"
    ):
        check_vae(model)
    with pytest.raises(TypeError, match=r"the Linear has no `encode` and no `decode` and no `latent_dim`"):
        check_vae(nn.Linear(2, 2))
