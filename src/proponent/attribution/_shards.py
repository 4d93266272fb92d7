"""Shards: how the samples of a job are divided, by their number alone."""

# Samples of one task. Enough tasks for a restart to lose little, and enough samples to fill a GPU.
_TASKS, _LEAST, _MOST = 16, 256, 4096


def shards_of(samples: int, size: int | None = None) -> tuple[slice, ...]:
    """Divide positions 0 to n-1 into shards.

    They don't depend on the machine or its memory, so that a job can move to another.

    >>> shards_of(10, size=4)
    (slice(0, 4, None), slice(4, 8, None), slice(8, 10, None))

    Args:
        samples: How many samples there are, n.
        size: The samples of a shard; without it n/16, but at least 256 and at most 4,096.

    Raises:
        ValueError: `size` is under 1.
    """
    if size is None:
        size = min(max(-(-samples // _TASKS), _LEAST), _MOST)
    if size < 1:
        raise ValueError(f"`shard_size` must be at least 1, got {size}.")
    return tuple(slice(start, min(start + size, samples)) for start in range(0, samples, size))


def part_of(shards: tuple[slice, ...], part: tuple[int, int]) -> range:
    """Select the shards of one part of a job: which of them, as positions in `shards`.

    >>> part_of(shards_of(10, size=2), (1, 2))
    range(2, 5)

    Args:
        shards: All shards.
        part: ``(k, of)``: part k, from 0, of so many. Parts are runs of neighbouring shards.

    Raises:
        ValueError: There is no such part.
    """
    k, of = part
    if not 0 <= k < of:
        raise ValueError(f"`part` must be (k, of) with k from 0 to of - 1, got {part}.")
    if of > len(shards):
        raise ValueError(
            f"`part` must divide the job's shards, of which there are {len(shards)}, into at most as many "
            f"parts, got {of}. Set a smaller `shard_size`."
        )
    return range(k * len(shards) // of, (k + 1) * len(shards) // of)
