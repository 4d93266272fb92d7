"""What self-influence adds to the other rankings of a run, said as it is."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proponent.evaluation import Rankings

_SAME, _ALIKE = 0.9, 0.6
_EXPERIENCE = (
    "Where foreign samples were planted to be found, it found them less well than loss did (mean ROC area "
    "0.69 against 0.83)"
)


def what_self_influence_adds(rankings: "Rankings") -> str:
    """Say in a line how far self-influence goes with loss here, and what it has been worth elsewhere.

    Args:
        rankings: Rankings with `loss` and `self-influence`.
    """
    r = float(rankings.correlations()["loss"].to_dict()["self-influence"])
    if abs(r) >= _SAME:
        here = f"Self-influence sorts nearly as loss does here (Spearman's correlation {r:.2f})."
    elif r >= _ALIKE:
        here = f"Self-influence goes largely with loss here (Spearman's correlation {r:.2f})."
    else:
        here = f"Self-influence sorts otherwise than loss here (Spearman's correlation {r:.2f})."
    return (
        f"{here} {_EXPERIENCE}: it says on what the model leans, not what is foreign. Begin with "
        f"`{rankings.default}`, and look at where the two disagree."
    )
