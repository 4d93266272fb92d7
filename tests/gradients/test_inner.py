"""Products of gradients equal the dense ones, by each of the ways that an operation count chooses from."""

import pytest
import torch
from gradient_cases import factors, gathered, gradients_of, matrix, numbers, positive, rows

from asserts import assert_close, assert_symmetric
from proponent.gradients import (
    Dense,
    Gradients,
    OuterProducts,
    Rows,
    inner_products,
    paired_products,
    prepare_queries,
    squared_norms,
)
from proponent.gradients._gradients import matched
from proponent.gradients._inner import _chunk, _factors_pay, _factors_pay_in_pairs
from toys import TOYS

WEIGHT = ("weight",)
# Pairs of blocks, five samples and four queries, and whether their factors cost less than their numbers.
PAIRS = {
    "one-term": (lambda: (factors(5, 1, 8, 7, "a"), factors(4, 1, 8, 7, "b")), True),
    "one-term-without-bias": (
        lambda: (factors(5, 1, 8, 7, "a", WEIGHT), factors(4, 1, 8, 7, "b", WEIGHT)),
        True,
    ),
    "few-terms": (lambda: (factors(5, 3, 12, 15, "a"), factors(4, 2, 12, 15, "b")), True),
    "many-terms": (lambda: (factors(5, 30, 3, 4, "a"), factors(4, 20, 3, 4, "b")), False),
    "many-terms-without-bias": (
        lambda: (factors(5, 30, 3, 4, "a", WEIGHT), factors(4, 20, 3, 4, "b", WEIGHT)),
        False,
    ),
    "few-rows": (lambda: (rows(5, 3, 4, 30, "a"), rows(4, 2, 4, 30, "b")), True),
    "repeated-rows": (lambda: (rows(5, 6, 9, 12, "a"), rows(4, 4, 9, 12, "b")), True),
    "many-rows": (lambda: (rows(5, 40, 3, 4, "a"), rows(4, 30, 3, 4, "b")), False),
}


def terms(block):
    """Each sample's gradient in the order of its parameters, written as sums over terms."""
    if isinstance(block, Rows):
        table = torch.zeros(block.samples, block.count, block.left.shape[2], dtype=block.left.dtype)
        for i in range(block.samples):
            for t in range(block.terms):
                table[i, block.index[i, t]] += block.left[i, t]
        return table.flatten(1)
    if isinstance(block, Dense):
        return block.values
    weight = torch.einsum("nto,nti->noi", block.left, block.right).flatten(1)
    return torch.cat([weight, block.left.sum(1)], 1) if len(block.names) == 2 else weight


@pytest.mark.parametrize("name", PAIRS)
def test_inner_products_equal_the_dense_ones_by_both_ways(name):
    build, by_factors = PAIRS[name]
    a, b = build()
    assert _factors_pay(a, b) is by_factors
    expected = terms(a) @ terms(b).T
    assert_close(inner_products(gathered(a), gathered(b)), expected, 1e-12)
    assert_close(inner_products(gathered(b), gathered(a)), expected.T, 1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_prepared_queries_give_the_same_products(name):
    build, by_factors = PAIRS[name]
    a, b = build()
    prepared = prepare_queries(gathered(b))
    assert type(prepared.blocks[0]) is (type(b) if by_factors else Dense)
    assert_close(inner_products(gathered(a), prepared), terms(a) @ terms(b).T, 1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_a_metric_multiplies_number_by_number(name):
    a, b = PAIRS[name][0]()
    metric = positive(gathered(b))
    M = torch.cat([metric[part] for part in b.names])
    expected = (terms(a) * M) @ terms(b).T
    assert_close(inner_products(gathered(a), gathered(b), metric), expected, 1e-12)
    prepared = prepare_queries(gathered(b), metric)
    assert isinstance(prepared.blocks[0], Dense)
    assert_close(inner_products(gathered(a), prepared), expected, 1e-12)
    assert_close(squared_norms(gathered(a), metric), (terms(a).square() * M).sum(1), 1e-12)
    c = a.select(0, b.samples)
    assert_close(paired_products(gathered(c), gathered(b), metric), (terms(c) * terms(b) * M).sum(1), 1e-12)


# Pairs of four samples with themselves, or with four others.
TWOS = {
    "few-terms": (lambda: (factors(4, 2, 12, 15, "a"), factors(4, 3, 12, 15, "b")), True),
    "few-terms-without-bias": (
        lambda: (factors(4, 2, 12, 15, "a", WEIGHT), factors(4, 3, 12, 15, "b", WEIGHT)),
        True,
    ),
    "many-terms": (lambda: (factors(4, 300, 2, 3, "a"), factors(4, 200, 2, 3, "b")), False),
    "rows": (lambda: (rows(4, 3, 4, 30, "a"), rows(4, 2, 4, 30, "b")), None),
    "numbers": (lambda: (numbers(4, 6, "a"), numbers(4, 6, "b")), None),
}


@pytest.mark.parametrize("name", TWOS)
def test_paired_products_equal_the_dense_ones_by_both_ways(name):
    build, by_factors = TWOS[name]
    a, b = build()
    if by_factors is not None:
        assert _factors_pay_in_pairs(a, b) is by_factors
        assert _factors_pay_in_pairs(a, a) is by_factors
    assert_close(paired_products(gathered(a), gathered(b)), (terms(a) * terms(b)).sum(1), 1e-12)
    assert_close(squared_norms(gathered(a)), terms(a).square().sum(1), 1e-12)


def test_blocks_of_every_kind_add_up():
    def both(key, n):
        return gathered(
            factors(n, 2, 9, 8, key),
            rows(n, 3, 4, 20, key),
            factors(n, 40, 2, 3, key, ("w",)),
            numbers(n, 6, key),
        )

    a, b = both("a", 5), both("b", 5)
    G, H = (torch.cat([terms(block) for block in part.blocks], 1) for part in (a, b))
    assert_close(inner_products(a, b.select(0, 3)), G @ H[:3].T, 1e-12)
    assert_close(inner_products(a, prepare_queries(b)), G @ H.T, 1e-12)
    assert_close(paired_products(a, b), (G * H).sum(1), 1e-12)


@pytest.mark.parametrize("kind", [factors, rows])
def test_samples_beyond_one_chunk(kind):
    """The Gram matrices of many samples don't fit a chunk; those of each chunk land in its rows."""
    arguments = (2, 16, 16) if kind is factors else (2, 4, 50)
    a, b = kind(70, *arguments, "a"), kind(1200, *arguments, "b")
    assert _factors_pay(a, b)
    assert 35 < _chunk(2 * 1200 * 2, torch.device("cpu")) < 70
    assert_close(inner_products(gathered(a), gathered(b)), terms(a) @ terms(b).T, 1e-12)


def test_a_chunk_holds_at_least_one_sample():
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    assert [_chunk(row, cpu) for row in (1 << 30, 1 << 17, 3)] == [1, 2, (1 << 18) // 3]
    assert _chunk(1 << 17, gpu) == 1 << 10


def test_more_queries_favour_the_gradients_of_a_narrow_layer():
    sample = factors(1, 4, 6, 10, "a")
    assert _factors_pay(sample, factors(1, 4, 6, 10, "b"))
    assert not _factors_pay(sample, factors(1000, 4, 6, 10, "b"))


def test_operation_counts():
    """Pinned at the break-even: t s (o + i + 32) against p + p (t + 32) / q."""
    sample, width = factors(1, 3, 10, 19, "a"), 10 + 19 + 32
    assert sample.size == 200
    breaks = {s: (3 * s * width - 200) / (200 * (3 + 32)) for s in (2, 4, 8)}  # 1 / q
    for s, share in breaks.items():
        below, above = int(1 / share), int(1 / share) + 1
        assert _factors_pay(sample, factors(below, s, 10, 19, "b"))
        assert not _factors_pay(sample, factors(above, s, 10, 19, "b"))
    looked_up, width = rows(1, 3, 10, 20, "a"), 10 + 32
    for s in (4, 8):
        share = (3 * s * width - 200) / (200 * (3 + 32))
        assert _factors_pay(looked_up, rows(int(1 / share), s, 10, 20, "b"))
        assert not _factors_pay(looked_up, rows(int(1 / share) + 1, s, 10, 20, "b"))
    # t s (o + i) against (t + s + 32) p: with t = 10, 290 s against (42 + s) 200
    ten = factors(1, 10, 10, 19, "a")
    assert _factors_pay_in_pairs(ten, factors(1, 93, 10, 19, "b"))
    assert not _factors_pay_in_pairs(ten, factors(1, 94, 10, 19, "b"))


def test_gradients_of_different_captures_are_matched_by_parameter():
    whole = factors(4, 2, 3, 4, "a")
    weight, bias = whole.gradients()
    cut = gathered(Dense(("bias",), bias, (3,)), Dense(("weight",), weight, (12,)))
    turned = gathered(Dense(("bias", "weight"), torch.cat([bias, weight], 1), (3, 12)))
    other = gathered(factors(3, 2, 3, 4, "b"))
    expected = terms(other.blocks[0]) @ terms(whole).T
    for queries in (gathered(whole), cut, turned):
        assert_close(inner_products(other, queries), expected, 1e-12)
        assert_close(inner_products(queries, other), expected.T, 1e-12)
        metric = positive(queries)
        M = torch.cat([metric["weight"], metric["bias"]])
        scaled = terms(other.blocks[0]) * M @ terms(whole).T
        assert_close(inner_products(other, queries, metric), scaled, 1e-12)
        assert_close(inner_products(other, prepare_queries(queries, metric)), scaled, 1e-12)


def test_a_parameter_that_one_side_lacks_adds_nothing():
    both, one = gathered(numbers(4, 5, "a"), numbers(4, 2, "b", ("more",))), gathered(numbers(3, 5, "c"))
    expected = both.blocks[0].values @ one.blocks[0].values.T
    assert_close(inner_products(both, one), expected, 1e-12)
    assert_close(inner_products(one, both), expected.T, 1e-12)
    assert matched(one, gathered(numbers(3, 2, "b", ("more",)))) == []
    assert_close(inner_products(one, gathered(numbers(2, 2, "b", ("more",)))), torch.zeros(3, 2))
    assert_close(paired_products(one, gathered(numbers(3, 2, "b", ("more",)))), torch.zeros(3))


@pytest.mark.parametrize(
    "name", ["linear", "mlp-vae", "conv-vae", "tied-embedding", "embedding", "loose-parameter", "group-norm"]
)
def test_products_of_a_models_gradients(name):
    samples, queries = gradients_of(name), gradients_of(name, slice(1, 3))
    G, H = matrix(samples), matrix(queries)
    assert_close(inner_products(samples, queries), G @ H.T)
    assert_close(inner_products(samples, prepare_queries(queries)), G @ H.T)
    assert_close(squared_norms(samples), G.square().sum(1))
    assert_symmetric(inner_products(samples, samples))
    metric = {key: value.view(shape(name, key)) for key, value in positive(samples).items()}
    M = torch.cat([metric[key].flatten() for key in sorted(samples.by_parameter())])
    assert_close(inner_products(samples, queries, metric), (G * M) @ H.T)
    assert_close(squared_norms(samples, metric), (G.square() * M).sum(1))


def shape(toy, parameter):
    return TOYS[toy].model().get_parameter(parameter).shape


# --- Half precision ------------------------------------------------------------------------------------


def ones(n, t, size):
    return torch.ones(n, t, size, dtype=torch.bfloat16)


@pytest.mark.parametrize(("count", "by_factors"), [(17, True), (400, False)])
def test_sums_of_half_precision_products_are_made_in_float32(count, by_factors):
    """With ones alone, every product is exact in bfloat16, and no sum of theirs is."""
    block = OuterProducts(WEIGHT, ones(1, count, 64), ones(1, count, 32))
    assert _factors_pay(block, block) is by_factors
    whole = gathered(block, dtype=torch.float32, precision="bfloat16")
    expected = torch.full((1,), float(count * count * 64 * 32))
    assert_close(inner_products(whole, whole)[0], expected, 1e-7)
    assert inner_products(whole, whole).dtype == torch.float32
    assert_close(squared_norms(whole), expected, 1e-7)


def test_rows_in_half_precision_are_summed_in_float32():
    table = Rows(("table",), ones(1, 17, 64), torch.zeros(1, 17, dtype=torch.long), 9)
    assert _factors_pay(table, table)
    whole = gathered(table, dtype=torch.float32, precision="bfloat16")
    assert_close(inner_products(whole, whole), torch.full((1, 1), 17.0 * 17 * 64), 1e-7)


def test_losses_in_half_precision_leave_sums_in_float32():
    whole = Gradients((numbers(2, 3, "a"),), torch.zeros(2, dtype=torch.bfloat16), {"numbers": 3}, "bfloat16")
    assert inner_products(whole, whole).dtype == paired_products(whole, whole).dtype == torch.float32
