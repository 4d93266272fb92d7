"""The smallest distances to some candidates, by differences: exact, and the first of equal ones."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

# Distances in rising order and the positions of their samples, [q, count] both.
Found = tuple[Float[Tensor, "_ _"], Int[Tensor, "_ _"]]


def closest_of_all(
    samples: Float[Tensor, "n d"], queries: Float[Tensor, "q d"], count: int, room: int
) -> Found:
    """Find the samples nearest to each query among all.

    Args:
        samples: At least `count`.
        queries: The points.
        count: How many to find.
        room: The bytes that distances may take at a time.

    Returns:
        Distances in rising order, and the positions of their samples; among equal distances the lowest first.
    """
    candidate = 4 * queries.itemsize  # its distance, what selecting takes, and their copies
    step = max(1, min(len(samples), room // candidate))
    rows = max(1, room // (step * candidate))
    found = []
    for part in torch.split(queries, rows):
        best: Found | None = None
        for start in range(0, len(samples), step):
            distances = _distances(part, samples[start : start + step])
            positions = torch.arange(start, start + distances.shape[1], device=samples.device)
            best = _merged(best, (distances, positions.expand_as(distances)), count)
        assert best is not None
        found.append(best)
    return _stacked(found)


def closest_in_groups(
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    groups: Int[Tensor, "q t"],
    size: int,
    count: int,
    room: int,
) -> Found:
    """Find the samples nearest to each query among the members of some groups.

    Args:
        samples: All samples.
        queries: The points.
        groups: Those of each query, in rising order; together they have `count` members at least.
        size: How many consecutive samples make a group; the last may have fewer.
        count: How many to find.
        room: The bytes that their members may take at a time.

    Returns:
        As `closest_of_all`.
    """
    member = size * (samples.shape[1] + 3) * samples.itemsize  # and its position, distance and their copy
    step = max(1, min(groups.shape[1], room // member))
    rows = max(1, room // (step * member))
    offsets = torch.arange(size, device=samples.device)
    found = []
    for part, own in zip(torch.split(queries, rows), torch.split(groups, rows), strict=True):
        best: Found | None = None
        for some in torch.split(own, step, 1):
            positions = (some[..., None] * size + offsets).flatten(1)
            flat = positions.clamp(max=len(samples) - 1).flatten()
            members = samples.index_select(0, flat).view(*positions.shape, -1)  # indexing is slower
            distances = _distances(part[:, None], members)[:, 0]
            distances.masked_fill_(positions >= len(samples), torch.inf)
            best = _merged(best, (distances, positions), count)
        assert best is not None
        found.append(best)
    return _stacked(found)


def smallest(values: Float[Tensor, "q m"], count: int) -> Found:
    """Select the smallest of each row, in rising order; among equal ones the first.

    >>> smallest(torch.tensor([[3.0, 1.0, 2.0, 1.0, 2.0]]), 3)[1]
    tensor([[1, 3, 2]])
    """
    kept = values.topk(count, 1, largest=False)
    columns = kept.indices.sort(1).values
    crossing = (values <= kept.values[:, -1:]).sum(1) > count  # ties, of which some are left out
    if bool(crossing.any()):
        first = values[crossing].sort(dim=1, stable=True).indices[:, :count]
        columns[crossing] = first.sort(1).values
    ordered = values.gather(1, columns).sort(dim=1, stable=True)
    return ordered.values, columns.gather(1, ordered.indices)


def _distances(points: Tensor, others: Tensor) -> Tensor:
    """By differences: 0 for equal points, and the same for the same two wherever they stand."""
    return torch.cdist(points, others, compute_mode="donot_use_mm_for_euclid_dist")


def _merged(best: Found | None, more: Found, count: int) -> Found:
    """The best of what was found and of candidates that stand behind it."""
    distances, positions = more
    if best is not None:
        distances, positions = torch.cat([best[0], distances], 1), torch.cat([best[1], positions], 1)
    values, columns = smallest(distances, min(count, distances.shape[1]))
    return values, positions.gather(1, columns)


def _stacked(found: list[Found]) -> Found:
    distances, positions = zip(*found, strict=True)
    return torch.cat(distances), torch.cat(positions)
