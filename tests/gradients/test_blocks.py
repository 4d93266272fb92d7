"""What each way to hold gradients says of itself."""

import torch
from gradient_cases import factors, numbers, rows

from asserts import assert_close
from proponent.gradients import Correlation, Rows
from proponent.gradients._dense import densify
from proponent.kernels import Window
from toys import normal


def blocks():
    window = Window((3, 2), (2, 1), (1, 0), (1, 1), 2)
    return {
        "outer products": (factors(5, 2, 3, 4, "a"), (12, 3)),
        "outer products without bias": (factors(5, 2, 3, 4, "a", ("weight",)), (12,)),
        "correlation": (
            Correlation(("weight",), normal(5, 2, 6, 3, 4), normal(5, 2, 4, 6, 5), window),
            (6 * 4 // 2 * 6,),
        ),
        "rows": (rows(5, 3, 2, 7, "a"), (14,)),
        "numbers": (numbers(5, 9, "a", ("weight", "bias"), (5, 4)), (5, 4)),
    }


def test_sizes_and_parts():
    for name, (block, sizes) in blocks().items():
        parts = block.gradients()
        assert (block.samples, block.size) == (5, sum(sizes)), name
        assert [tuple(part.shape) for part in parts] == [(5, size) for size in sizes], name
        dense = densify(block)
        assert (dense.names, dense.sizes, dense.size) == (block.names, sizes, sum(sizes)), name
        assert_close(dense.values, torch.cat(parts, 1))
        assert densify(dense) is dense
        for part, whole in zip(block.select(1, 3).gradients(), parts, strict=True):
            assert_close(part, whole[1:3], 1e-14)


def test_terms():
    kinds = blocks()
    assert [kinds[name][0].terms for name in ("outer products", "rows")] == [2, 3]
    assert [kinds[f"outer products{end}"][0].has_bias for end in ("", " without bias")] == [True, False]


def test_rows_looked_up_twice_add_up():
    left = torch.tensor([[[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]])
    block = Rows(("table",), left, torch.tensor([[2, 0, 2]]), 4)
    assert block.gradients()[0].view(4, 2).tolist() == [[10, 20], [0, 0], [101, 202], [0, 0]]
