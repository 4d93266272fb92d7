import torch
from training_toys import Coder, own_noise, samples

from proponent.training import Optimizer, Stream
from proponent.training._learner import SingleModel
from proponent.training._ledger import Ledger
from proponent.training._rules import make_rule
from proponent.training._runner import Eager, run_steps
from proponent.training._samples import Samples
from proponent.training._step import Step


def make_step(optimizer="adam", split=False):
    learner = SingleModel(Coder(), own_noise, torch.device("cpu"), torch.float64, channels_last=False)
    rule = make_rule(learner.parameters, Optimizer(optimizer), torch.tensor(0.02, dtype=torch.float64))
    ledger = Ledger(torch.device("cpu"), lanes=2) if split else None
    if ledger is not None:
        learner.split_layers(ledger)
    return Step(learner, rule, "float64", ledger)


def test_what_a_graph_captures_is_what_single_steps_do():
    positions, noise = Stream(0, 23, 6, (6, 2, 2), dtype=torch.float64).block(0)
    data = Samples(samples, channels_last=False)
    one, other = make_step(), make_step()
    losses = Eager(one, data, seed=0)(0, positions[:8], noise[:8])
    again = torch.cat(
        [run_steps(other, data, positions[:5], noise[:5]), run_steps(other, data, positions[5:8], noise[5:8])]
    )
    assert torch.equal(losses, again)
    for ours, theirs in zip(one.changed(), other.changed(), strict=True):
        assert torch.equal(ours, theirs)


def test_every_changing_tensor_stays_where_it_is_and_can_be_put_back():
    """What a warm-up before a capture relies on."""
    positions, noise = Stream(0, 23, 6, (6, 2, 2), dtype=torch.float64).block(0)
    data = Samples(samples, channels_last=False)
    for optimizer, split in [("adam", False), ("sgd", True), ("adam", True)]:
        step = make_step(optimizer, split)
        run_steps(step, data, positions[:2], noise[:2])
        addresses = [tensor.data_ptr() for tensor in step.changed()]
        before = [tensor.clone() for tensor in step.changed()]
        first = run_steps(step, data, positions[2:5], noise[2:5])
        with torch.no_grad():
            for tensor, value in zip(step.changed(), before, strict=True):
                tensor.copy_(value)
        assert torch.equal(run_steps(step, data, positions[2:5], noise[2:5]), first)
        assert [tensor.data_ptr() for tensor in step.changed()] == addresses


def test_images_with_channels_last_are_the_same_images():
    images = torch.rand(7, 3, 4, 5)
    positions = torch.tensor([[0, 3], [6, 6]])
    batch = {"images": images, "numbers": torch.arange(7.0)}
    for ours, theirs in zip(
        Samples(batch, True).batches(positions), Samples(batch, False).batches(positions), strict=True
    ):
        assert torch.equal(ours["images"], theirs["images"])
        assert torch.equal(ours["numbers"], theirs["numbers"])
        assert ours["images"].is_contiguous(memory_format=torch.channels_last)
