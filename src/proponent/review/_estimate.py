"""What the decisions so far say of the rest, as a record with words for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proponent.review._control import draws_of, first_arms
from proponent.review._decisions import Decision, standing
from proponent.review._left import answers_needed, interval, licence
from proponent.review._likely import likely

ERROR = 0.1  # of the interval, both sides together; the licence errs on one side alone, with half of it


@dataclass(frozen=True)
class QueueEstimate:
    """What was found and what is left, in numbers of samples that this person would discard.

    Attributes:
        found: How many were discarded.
        looked_at: How many have a decision.
        left: How many have none.
        learnt_from: How many answers the order of the queue rests on.
        control: How many decisions are on samples that chance brought.
        expected_left: How many more would likely be discarded if all were looked at: a guess. None while
            chance has brought no sample.
        low: The lower end of its 90% interval, from the control arm alone.
        high: The upper end.
        at_most: A bound that holds with 95% even if one stops because it looks done.
        check: How many random samples, none of them discarded, would show that at most a hundredth of those
            left would be.
        precision_queue: The share discarded of what the queue brought; none where it brought nothing.
        precision_control: The share discarded of what chance brought.
        words: All of it in a sentence or two.
    """

    found: int
    looked_at: int
    left: int
    learnt_from: int
    control: int
    expected_left: int | None
    low: int | None
    high: int | None
    at_most: int | None
    check: int
    precision_queue: float | None
    precision_control: float | None
    words: str


def estimate_of(
    log: Sequence[Decision], places: Mapping[str, int], learnt_from: int = 0, guess: float | None = None
) -> QueueEstimate:
    """Estimate what is left.

    >>> log = [Decision(1, "a", "discard", "queue"), Decision(2, "b", "keep", "control")]
    >>> print(estimate_of(log, {id_: i for i, id_ in enumerate("abcdef")}).words)
    You would discard between 0 and 4 more of the 4 you have not looked at
    (90% interval from 1 random sample).

    Args:
        log: The decisions.
        places: The samples by id.
        learnt_from: How many answers the queue has learnt from.
        guess: How many more the learner expects; none where nothing learns.
    """
    stands = {id_: each for id_, each in standing(log).items() if id_ in places}
    draws = draws_of(log, places)
    found = sum(each.verdict == "discard" for each in stands.values())
    left = len(places) - len(stands)
    low = high = at_most = expected = None
    if len(draws):
        low, high = interval(draws, found, left, ERROR)
        at_most = licence(draws, found, left, ERROR / 2)
        expected = min(max(likely(draws, found, left, guess), low), high)
    arms = first_arms(log, places)
    queue = [each.verdict == "discard" for id_, each in stands.items() if arms[id_] == "queue"]
    return QueueEstimate(
        found=found,
        looked_at=len(stands),
        left=left,
        learnt_from=learnt_from,
        control=len(draws),
        expected_left=expected,
        low=low,
        high=high,
        at_most=at_most,
        check=answers_needed(left, left // 100, ERROR / 2),
        precision_queue=sum(queue) / len(queue) if queue else None,
        precision_control=float(draws.hits.mean()) if len(draws) else None,
        words=_words(left, len(draws), low, high, at_most),
    )


def _words(left: int, control: int, low: int | None, high: int | None, at_most: int | None) -> str:
    if not left:
        return "You have looked at all samples."
    if low is None or high is None or at_most is None:
        return "Nothing can be said of what is left until chance has brought a sample."
    samples = "1 random sample" if control == 1 else f"{control:,} random samples"
    between = f"{low:,}" if low == high else f"between {low:,} and {high:,}"
    rest = f"{left:,} you have not looked at (90% interval from {samples})."
    said = f"You would discard {between} more of the {rest}"
    if high < at_most < left:
        said += f" Stop whenever you like: with 95% it is at most {at_most:,}."
    return said
