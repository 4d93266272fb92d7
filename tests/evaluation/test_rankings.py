import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import proponent as pp
from proponent.evaluation import (
    Rankings,
    compute_rankings,
    default_ranking,
    gradient_norms,
    half_losses,
    latent_means,
    principal_components,
)

GENERATOR = np.random.default_rng(0)
IMAGES = GENERATOR.uniform(size=(24, 6)).astype(np.float32)


def make_vae(generator=None):
    return pp.models.MLPVAE(6, 2, generator=generator or torch.Generator().manual_seed(0))


def make_rankings():
    return Rankings(
        np.array(["a", "b", "c", "d"]),
        {
            "loss": np.array([1.0, 4.0, 2.0, 3.0]),
            "same": np.ones(4),
            "reverse": -np.array([1.0, 4.0, 2.0, 3.0]),
        },
        "loss",
        {"draws": 3},
    )


def test_the_highest_comes_first():
    rankings = make_rankings()
    assert list(rankings.first()) == ["b", "d", "c", "a"]
    assert list(rankings.first("same", 2)) == ["a", "b"]
    assert list(rankings.order("reverse")) == [0, 2, 3, 1]
    assert len(rankings) == 4


def test_correlations_are_spearmans():
    table = make_rankings().correlations()
    assert table.loc["loss", "reverse"] == pytest.approx(-1)
    assert table.loc["loss", "loss"] == pytest.approx(1)
    assert np.isnan(table.loc["loss", "same"])


def test_disagreement_is_a_share_of_all():
    assert_allclose(make_rankings().disagreement("loss", "reverse"), [-0.75, 0.75, -0.25, 0.25])


def test_rankings_are_saved_and_read(tmp_path):
    read = Rankings.load(make_rankings().save(tmp_path / "rankings.parquet"))
    assert read.to_pandas().equals(make_rankings().to_pandas())
    assert (read.default, dict(read.facts)) == ("loss", {"draws": 3})
    with pytest.raises(ValueError, match=r"Rankings go to a `.parquet` file, got `rankings.csv`"):
        read.save(tmp_path / "rankings.csv")
    pp.Scores(np.ones(3)).save(tmp_path / "scores.parquet")
    with pytest.raises(ValueError, match="holds no rankings"):
        Rankings.load(tmp_path / "scores.parquet")


@pytest.mark.parametrize(
    ("columns", "default", "message"),
    [
        ({"loss": np.ones(2)}, "other", "`default` must be one of loss, got 'other'"),
        ({"loss": np.ones(3)}, "loss", "must have a number for each of the 2 samples, got shape"),
    ],
)
def test_rankings_that_do_not_fit(columns, default, message):
    with pytest.raises(ValueError, match=message):
        Rankings(np.arange(2), columns, default)


def test_a_ranking_that_is_not_there():
    with pytest.raises(ValueError, match="must be one of loss, same, reverse, got 'nothing'"):
        make_rankings().order("nothing")


def test_a_kind_that_costs_much_is_excused_a_quarter():
    # two kinds far apart; the dear kind costs 8 more
    features = (
        np.concatenate([np.zeros((50, 1)), np.full((50, 1), 9.0)]) + GENERATOR.normal(size=(100, 1)) / 9
    )
    loss = np.repeat([2.0, 10.0], 50)
    assert_allclose(default_ranking(loss, features), np.repeat([1.5, 7.5], 50))
    steadier = default_ranking(loss, features, loss + 4, loss + 2)
    assert_allclose(steadier, np.repeat([3.5 * 0.75, 11.5 * 0.75], 50))


def test_components_are_those_of_the_whole_decomposition():
    x = GENERATOR.normal(size=(40, 12)) * np.arange(1, 13)
    found = principal_components(x.reshape(40, 3, 4), 5)
    left, values, _ = np.linalg.svd(x - x.mean(0))
    assert_allclose(np.abs(found), np.abs(left[:, :5] * values[:5]), rtol=1e-3, atol=1e-3)
    assert principal_components(x[:3], 60).shape == (3, 3)
    assert (principal_components(x, 5) == found).all()


def test_gradient_norms_are_autograds():
    vae, elbo = make_vae().double(), pp.Elbo()
    found = gradient_norms(vae, elbo, IMAGES[:3], draws=4, chunk=2)
    noise = torch.as_tensor(
        pp.randomness.keyed_normal((4, 2), 0, "gradient norms", dtype=torch.float32), dtype=torch.float64
    )
    for value, image in zip(found, IMAGES, strict=False):
        loss = elbo(vae, torch.as_tensor(image[None]).double(), noise).sum()
        gradients = torch.autograd.grad(loss, list(vae.parameters()))
        assert value == pytest.approx(float(sum(g.square().sum() for g in gradients)) ** 0.5, rel=1e-4)


def test_latent_means_are_the_encoders():
    vae = make_vae()
    with torch.no_grad():
        assert_allclose(latent_means(vae, IMAGES), vae.encode(torch.as_tensor(IMAGES))[0].numpy(), rtol=1e-6)


def test_every_sample_is_unseen_by_half_of_the_models(tmp_path):
    def found():
        return half_losses(
            make_vae, pp.Elbo(), IMAGES, steps=3, pairs=2, draws=2, directory=tmp_path, progress=False
        )

    halves = found()
    assert halves.unseen.shape == halves.seen.shape == (24,)
    assert np.isfinite(halves.unseen).all()
    again = found()
    assert (again.unseen == halves.unseen).all()
    assert len(list(tmp_path.glob("member-*"))) == 4


def test_what_was_seen_is_explained_better():
    halves = half_losses(
        make_vae, pp.Elbo(), IMAGES, steps=400, draws=4, optimizer="adam", learning_rate=1e-2, progress=False
    )
    assert halves.unseen.mean() > halves.seen.mean() + 0.05


@pytest.mark.parametrize(
    ("samples", "pairs", "message"),
    [
        (IMAGES, 0, "`pairs` must be at least 1, got 0"),
        (IMAGES[:3], 1, "at least 4 to be divided into halves, got 3"),
    ],
)
def test_halves_that_can_not_be(samples, pairs, message):
    with pytest.raises(ValueError, match=message):
        half_losses(make_vae, pp.Elbo(), samples, steps=1, pairs=pairs)


def test_all_rankings_stand_side_by_side():
    vae, elbo, told = make_vae(), pp.Elbo(beta=2.0), []
    halves = half_losses(make_vae, pp.Elbo(), IMAGES, steps=2, draws=2, progress=False)
    own = pp.Scores(np.arange(24.0), np.array(list("abcdefghijklmnopqrstuvwx")))
    rankings = compute_rankings(vae, elbo, IMAGES, own, halves, draws=3, ids=own.ids, tell=told.append)
    assert list(rankings.columns) == [
        "combined",
        "loss",
        "reconstruction",
        "divergence",
        "unseen loss",
        "loss gap",
        "distance to neighbours",
        "distance to latent neighbours",
        "gradient norm",
        "self-influence",
    ]
    columns = rankings.columns
    assert rankings.default == "combined"
    assert_allclose(columns["loss"], columns["reconstruction"] + columns["divergence"], rtol=1e-5)
    assert told == ["losses", "neighbours", "gradient norms"]
    plain = compute_rankings(vae, pp.Elbo(), IMAGES, draws=2)
    assert plain.default == "loss"
    assert "combined" not in plain.columns
    with pytest.raises(ValueError, match="`own` must be of the same samples in the same order"):
        compute_rankings(vae, pp.Elbo(), IMAGES, own)


def test_a_loss_of_ones_own_has_fewer():
    net = torch.nn.Linear(6, 6)
    loss = pp.objective(lambda model, batch, noise: (model(batch) - batch).square().sum(1))
    assert list(compute_rankings(net, loss, IMAGES).columns) == [
        "loss",
        "distance to neighbours",
        "gradient norm",
    ]


@pytest.mark.parametrize("name", ["draws", "chunk"])
def test_norms_of_nothing(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1, got 0"):
        gradient_norms(make_vae(), pp.Elbo(), IMAGES, **{name: 0})
