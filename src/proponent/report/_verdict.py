"""What a table of rankings means, said in words, also where it speaks against self-influence."""

from proponent.report._records import DetectionTable, RankingRow

# A smaller difference of two ROC areas is not worth a word: another seed would turn it round.
_MATTERS = 0.01


def verdict(table: DetectionTable) -> str:
    """Say which way to rank found the planted samples best.

    Args:
        table: The ways, self-influence first.
    """
    own, *rivals = table.rows
    if not rivals:
        return f"By {own.name}, {_found(own)}."
    best = max(rivals, key=lambda row: row.detection.roc_area)
    difference = own.detection.roc_area - best.detection.roc_area
    numbers = f"{_found(best)} by {best.name}, {own.detection.found:.0f} by {own.name}"
    if difference < -_MATTERS:
        return (
            f"Here sorting by {best.name} finds the planted samples better than {own.name}: {numbers}. "
            "That is common. Self-influence says on which samples the model leans, not which are foreign; "
            "use it beside the cheaper rankings, not in their place."
        )
    if difference > _MATTERS:
        return (
            f"Here {own.name} finds the planted samples better than any cheaper ranking: {numbers}. "
            "That is not the rule: on other data and models sorting by loss often wins."
        )
    return (
        f"Here {own.name} and sorting by {best.name} find the planted samples about equally well: {numbers}."
    )


def _found(row: RankingRow) -> str:
    planted = row.detection.foreign_count
    return f"{row.detection.found:.0f} of the {planted} planted samples are among the first {planted}"
