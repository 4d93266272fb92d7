from pathlib import Path

import pytest
import torch

from proponent.memory import _free_memory, default_budget, for_tensors, parse_bytes


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
    table = Path(tmp_path / "meminfo")
    assert _free_memory(table) == 4 << 30
    table.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    assert _free_memory(table) == 2048 * 1024


def test_a_part_is_left_to_the_c_library():
    assert for_tensors(1000, torch.device("cpu")) == 750
    assert for_tensors(1000, torch.device("cuda")) == 1000
