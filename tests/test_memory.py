from pathlib import Path

import pytest
import torch
from torch import nn

from proponent.memory import (
    _free_in_group,
    _free_in_system,
    default_budget,
    for_tensors,
    free_memory,
    measure_memory,
    parse_bytes,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GiB", 2 << 30),
        ("512 MB", 512_000_000),
        (" 1.5 kib ", 1536),
        ("7", 7),
        (12, 12),
        ("3tb", 3 * 10**12),
    ],
)
def test_sizes_are_read(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["much", "2 gigs", "-1", "i", "2 i", "1e9"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="`memory_budget` must be a number of bytes, or a text"):
        parse_bytes(text)


@pytest.mark.parametrize("size", [0, -3, "0 GB"])
def test_no_memory_is_refused(size):
    with pytest.raises(ValueError, match="`memory_budget` must be at least 1 byte"):
        parse_bytes(size)


def test_the_default_is_a_share_of_what_is_free(tmp_path):
    assert 0 < default_budget(torch.device("cpu")) <= 1 << 30
    assert default_budget(torch.device("cpu")) <= free_memory(torch.device("cpu"))
    table = Path(tmp_path / "meminfo")
    assert _free_in_system(table) == 4 << 30
    table.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    assert _free_in_system(table) == 2048 * 1024


@pytest.mark.parametrize(
    ("limit", "used", "line"),
    [
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_a_container_may_leave_less(tmp_path, limit, used, line):
    assert _free_in_group(tmp_path) is None
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text("max\n")
    assert _free_in_group(tmp_path) is None
    (tmp_path / limit).write_text("9000\n")
    (tmp_path / used).write_text("5000\n")
    counts = (tmp_path / limit).with_name("memory.stat")
    counts.write_text("anon 1\n")
    assert _free_in_group(tmp_path) == 4000
    counts.write_text(f"anon 1\n{line} 700\n")
    assert _free_in_group(tmp_path) == 4700
    (tmp_path / used).write_text("10000\n")
    assert _free_in_group(tmp_path) == 0


def test_a_part_is_left_to_the_c_library():
    assert for_tensors(1000, torch.device("cpu")) == 750
    assert for_tensors(1000, torch.device("cuda")) == 1000


def test_only_what_lives_at_a_time_counts():
    here = torch.zeros(1000)

    def work():
        for _ in range(10):
            torch.zeros(1000)
        here.add_(1)
        return here.view(10, 100)[2:], torch.zeros(100)[:10]

    memory = measure_memory(work)
    assert memory.peak == 4000
    assert memory.kept == 400


def test_backward_passes_count():
    net = nn.Sequential(nn.Linear(10, 100), nn.Tanh(), nn.Linear(100, 1))
    gradients = 4 * sum(p.numel() for p in net.parameters())

    def work():
        return torch.autograd.grad(net(torch.ones(64, 10)).sum(), list(net.parameters()))

    memory = measure_memory(work)
    assert memory.kept == gradients
    assert memory.peak >= gradients + 64 * 100 * 4
