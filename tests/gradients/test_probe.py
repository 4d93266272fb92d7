"""A probe refuses losses that can't be taken apart, and says where to look."""

import pytest
import torch
import torch.nn.functional as F
from gradient_cases import captured, made
from torch import nn

from proponent.data import take
from proponent.gradients import GradientCapture
from proponent.objectives import Objective, objective
from toys import COUPLED, TOYS, normal, per_sample, plain, tanh_network, tokens, x4

LAST = r"The coupling lies after the last layer, in the loss itself\."
REFUSALS = {
    "batch-norm-training": (
        r"`1` normalises by the batch \(batch norm in training mode\), so samples have no gradients of their "
        r"own\. It holds 28\.6% of the parameters\. Call `model\.eval\(\)` or replace the layer\."
    ),
    "subtracts-batch-mean": LAST,
    "divides-by-batch-maximum": LAST,
    "attention-along-samples": r"The coupling lies before `head`\.",
    "contrastive-loss": LAST,
    "reweighted-loss": LAST,
}


def prepare(model, loss, samples=x4, noise=None, **options):
    capture = GradientCapture(model, loss, precision="float64", **options)
    capture.prepare(samples, noise)
    return capture


@pytest.mark.parametrize("name", COUPLED)
@pytest.mark.parametrize("prepared", [True, False])
def test_coupled_samples_are_refused(name, prepared):
    toy = COUPLED[name]
    capture = captured(toy)
    with pytest.raises(ValueError, match=REFUSALS[name]):
        (capture.prepare if prepared else capture)(toy.samples, toy.noise)
    assert capture.facts == {}


def test_the_message_tells_both_losses_and_what_must_not_be():
    toy = COUPLED["reweighted-loss"]
    with pytest.raises(ValueError, match=r"a sample's loss is 1 alone and \S+ in a batch of 3\..*no terms"):
        captured(toy).prepare(toy.samples, toy.noise)


def centred(m, x):
    hidden = m.first(x)
    return m.second(torch.tanh(hidden - hidden.mean(0)))


def centred_draws_first(model, x, noise):
    hidden = model.first((x + noise[:, None]).flatten(0, 1))
    hidden = hidden.unflatten(0, (len(noise), -1))
    output = model.second(torch.tanh(hidden - hidden.mean(1, keepdim=True)))
    return per_sample(output.transpose(0, 1))


def pair():
    return made(centred, first=nn.Linear(4, 3), second=nn.Linear(3, 2))


def test_the_message_tells_between_which_layers_samples_meet():
    with pytest.raises(ValueError, match=r"The coupling lies between `first` and `second`\."):
        prepare(pair(), plain)
    with pytest.raises(ValueError, match=r"The coupling lies between `first` and `second`\."):
        prepare(pair(), objective(centred_draws_first, (4,)), noise=normal(2, 4, key="noise"))


def test_samples_that_see_those_before_them_alone_are_refused():
    """The first one is as it is alone."""

    def sums(m, x):
        return m.second(torch.tanh(m.first(x)).cumsum(0))

    model = made(sums, first=nn.Linear(4, 3), second=nn.Linear(3, 2))
    with pytest.raises(ValueError, match=r"couples the samples.*between `first` and `second`\."):
        prepare(model, plain)
    recurrent = made(lambda m, x: m.layer(x)[0], layer=nn.LSTM(4, 3))  # `batch_first` forgotten
    with pytest.raises(ValueError, match=r"couples the samples"):
        prepare(recurrent, plain)


def test_a_mean_over_the_batch_is_refused():
    loss = objective(lambda model, x, noise: per_sample(model(x)) / len(x))
    with pytest.raises(ValueError, match=r"no division by the batch size"):
        prepare(tanh_network().double(), loss)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_batch_that_samples_do_not_see_is_served(size):
    toy = TOYS["as-many-draws-as-samples"]
    captured(toy).prepare(take(toy.samples, slice(0, size)), toy.noise)


# --- Layers that have no gradient of a sample ----------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "why"),
    [
        (lambda: nn.Embedding(7, 4, scale_grad_by_freq=True), r"`scale_grad_by_freq=True`"),
        (lambda: nn.Embedding(7, 4, max_norm=1.0), r"`max_norm`"),
    ],
)
def test_embeddings_without_gradients_of_a_sample(layer, why):
    model = made(lambda m, x: m.head(m.table(x)), table=layer(), head=nn.Linear(4, 2))
    with pytest.raises(ValueError, match=rf"`table` .*{why}.*73\.7% of the parameters"):
        prepare(model, plain, tokens(5, 3))


def test_a_parameter_of_the_model_itself_is_named():
    model = made(
        lambda m, x: F.embedding(x, m.table, max_norm=1.0),
        table=nn.Parameter(torch.ones(7, 2)),
    )
    with pytest.raises(ValueError, match=r"`table` changes its weight in every call"):
        prepare(model, plain, tokens(5, 3))


def test_an_input_that_changed_after_its_layer_ran():
    def changes(m, x):
        hidden = torch.tanh(x)
        output = m.layer(hidden)
        hidden.mul_(2)
        return output + hidden

    model = made(changes, layer=nn.Linear(4, 4))
    with pytest.raises(
        ValueError, match=r"The input of `layer` was changed in place.*Replace the in-place operation"
    ):
        prepare(model, plain)


# --- Losses that are no function, or not one for each sample --------------------------------------------


def test_dropout_in_training_mode_is_named():
    layers = [nn.Linear(4, 5), nn.Dropout(), nn.Linear(5, 5), nn.Dropout1d(), nn.Linear(5, 2)]
    model = nn.Sequential(*layers).double()
    with pytest.raises(
        ValueError,
        match=r"must be a function.*Dropout is in training mode at `1`, `3`: call `model.eval\(\)`\.",
    ):
        prepare(model, plain)
    prepare(model.eval(), plain)
    model[1].train()
    with pytest.raises(ValueError, match=r"Dropout is in training mode at `1`: call"):
        prepare(model, plain)


def test_dropout_that_does_nothing_is_served():
    prepare(nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.0)).double(), plain)


def test_an_objective_that_draws_by_itself():
    loss = objective(lambda model, x, noise: per_sample(model(x + torch.randn_like(x))))
    with pytest.raises(
        ValueError,
        match=r"two calls on the same batch and noise gave \S+ and \S+ .*from the `noise` argument\.",
    ):
        prepare(tanh_network().double(), loss)


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (lambda model, x, noise: model(x).square().mean(), r"got \(\)\."),
        (lambda model, x, noise: model(x).square(), r"got \(3, 2\)\."),
        (lambda model, x, noise: model(x).square().sum(1, keepdim=True), r"got \(3, 1\)\."),
    ],
)
def test_losses_of_another_shape(loss, found):
    with pytest.raises(ValueError, match=rf"one loss for each of the 3 samples.* shape \(3,\), {found}"):
        prepare(tanh_network().double(), objective(loss))


def test_losses_that_are_no_tensor():
    class Numbers(Objective):
        per_sample_noise = False

        def __call__(self, model, batch, noise):
            return model(batch).square().sum(1).tolist()

        def noise_shape(self, model):
            return None

        def describe(self):
            return {}

    with pytest.raises(ValueError, match=r"shape \(3,\), got list\. .*`reduction='none'`"):
        prepare(tanh_network().double(), Numbers())


def test_a_loss_of_another_shape_in_a_later_batch():
    loss = objective(lambda model, x, noise: per_sample(model(x))[:3])
    capture = GradientCapture(tanh_network(), loss)
    capture.prepare(x4[:3], None)
    with pytest.raises(ValueError, match=r"one loss for each of the 5 samples.*got \(3,\)"):
        capture(x4, None)


def test_losses_in_half_precision():
    loss = objective(lambda model, x, noise: per_sample(model(x)).half())
    with pytest.raises(ValueError, match=r"losses in float32 or float64, got torch\.float16\. Sum them"):
        prepare(tanh_network().double(), loss)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_losses_that_are_not_finite(place, value):
    samples = x4.clone()
    samples[place, 1] = value
    with pytest.raises(ValueError, match=r"The losses must be finite, got \[.*(nan|inf).*\] for a few"):
        prepare(nn.Linear(4, 3).double(), plain, samples)


@pytest.mark.parametrize(
    "loss",
    [
        lambda model, x, noise: x.sum(1),
        lambda model, x, noise: per_sample(model(x).detach()),
        lambda model, x, noise: per_sample(torch.no_grad()(model)(x)),
    ],
)
@pytest.mark.parametrize("prepared", [True, False])
def test_losses_that_depend_on_no_parameter(loss, prepared):
    capture = GradientCapture(tanh_network(), objective(loss))
    with pytest.raises(ValueError, match=r"don't depend on any tracked parameter\. Look for `torch\.no_grad"):
        (capture.prepare if prepared else capture)(x4, None)


def test_layers_that_the_loss_leaves_out():
    toy = TOYS["mlp-vae-kl"]
    with pytest.raises(ValueError, match=r"don't depend on any tracked parameter"):
        captured(toy, layers=["decoder"]).prepare(toy.samples, toy.noise)
