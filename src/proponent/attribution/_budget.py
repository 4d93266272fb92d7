"""The largest batch that keeps to a memory budget."""

from collections.abc import Callable

from proponent.memory import in_words

_PROBE = 8
# Shares of a budget: where a prediction is trusted unmeasured, up to where batches more than double, and
# what fills it well enough.
_SAFE, _NEAR, _ENOUGH = 1 / 8, 1 / 4, 0.8


def largest_batch(peak_of: Callable[[int], int], budget: int, limit: int, what: str) -> int:
    """Find the largest batch whose peak stays within a budget.

    The cheapest way to a score changes with the size of a batch, and its memory with it. So batches grow
    towards the budget in steps, each measured before the next, and what is tried exceeds it by little.

    Args:
        peak_of: Runs a batch of a size and gives the peak of its memory.
        budget: Bytes.
        limit: The largest batch that is of use.
        what: What a batch consists of, for the message.

    Raises:
        ValueError: One does not fit.
    """
    batch, peak = 1, peak_of(1)
    if peak > budget:
        raise ValueError(
            f"`memory_budget` must leave at least {in_words(peak)} for one {what}, but leaves "
            f"{in_words(max(budget, 0))}. Raise it, or use fewer `draws`."
        )
    bound, candidate = limit, min(_PROBE, limit)  # bound: the largest that may still fit
    while candidate > batch:
        found = peak_of(candidate)
        each = max((found - peak) / (candidate - batch), 1.0)
        if found > budget:
            bound = candidate - 1
            candidate = min(bound, batch + int((budget - peak) / each))
            continue
        batch, peak = candidate, found
        if peak + each * (bound - batch) <= budget * _SAFE:
            return bound
        if peak >= budget * _ENOUGH:
            return batch
        reach = batch + int((budget - peak) / each)
        safe = batch + int((budget * _NEAR - peak) / each)
        candidate = min(bound, reach, max(2 * batch, safe))
    return batch
