import pytest
import torch

from proponent.training import Stream


@pytest.fixture(params=[(10, 3), (7, 7), (1000, 4), (5, 2)], ids=str)
def stream(request):
    count, size = request.param
    return Stream(seed=3, sample_count=count, batch_size=size, noise_shape=(2, 3))


def all_steps(stream, blocks=3):
    drawn = [stream.block(number) for number in range(blocks)]
    return torch.cat([positions for positions, _ in drawn]), torch.cat([noise for _, noise in drawn])


def test_every_epoch_deals_without_replacement_and_drops_the_rest(stream):
    positions, _ = all_steps(stream)
    batches = stream.sample_count // stream.batch_size
    epochs = positions[: len(positions) // batches * batches].reshape(-1, batches * stream.batch_size)
    assert all(len(set(epoch.tolist())) == batches * stream.batch_size for epoch in epochs)
    assert positions.min() >= 0
    assert positions.max() < stream.sample_count


def test_epochs_differ_and_every_sample_is_seen():
    positions, _ = all_steps(Stream(seed=0, sample_count=10, batch_size=3, noise_shape=(1,)))
    epochs = positions[:255].reshape(-1, 9)
    assert len({tuple(epoch.tolist()) for epoch in epochs}) == len(epochs)
    assert (positions.flatten().bincount() > 0.8 * positions.numel() / 10).all()


def test_noise_is_standard_normal_and_new_at_every_step(stream):
    _, noise = all_steps(stream, blocks=20)
    assert abs(float(noise.mean())) < 0.03
    assert abs(float(noise.std()) - 1) < 0.03
    assert len({tuple(draw.tolist()) for draw in noise.flatten(1)}) == len(noise)


def test_any_step_can_be_drawn_by_itself(stream):
    positions, noise = all_steps(stream)
    for step in (0, 5, stream.block_length, 2 * stream.block_length + 17):
        own_positions, own_noise = stream.step(step)
        assert torch.equal(own_positions, positions[step])
        assert torch.equal(own_noise, noise[step])


def test_the_seed_changes_both():
    one, other = (all_steps(Stream(seed, 10, 3, (2,))) for seed in (0, 1))
    assert not torch.equal(one[0], other[0])
    assert not torch.equal(one[1], other[1])


def test_a_description_gives_the_stream_back(stream):
    assert Stream.from_description(stream.describe()) == stream
    silent = Stream(1, 4, 2, dtype=torch.float64)
    assert Stream.from_description(silent.describe()) == silent


def test_precisions_see_the_same_noise():
    single, double = (
        Stream(0, 4, 2, (3,), dtype=dtype).block(0)[1] for dtype in (torch.float32, torch.float64)
    )
    assert torch.equal(double.float(), single)


def test_large_noise_comes_in_short_blocks():
    assert Stream(0, 64, 64, (64, 1, 128)).block_length == 256
    assert Stream(0, 64, 64, (64, 3, 64, 64)).block_length == 8
    assert Stream(0, 64, 64, (2**25,)).block_length == 1


def test_no_noise_is_none():
    assert Stream(0, 4, 2).step(300)[1] is None
