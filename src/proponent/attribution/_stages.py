"""The stages of a score: which checkpoints, with which weight and metric."""

from collections.abc import Sequence

from proponent.attribution._source import Stage
from proponent.training import Trajectory

METRICS = ("trained", "identity", "adam")


def stages_of(
    trajectories: Sequence[Trajectory], weights: str, metric: str, checkpoints: Sequence[int] | None
) -> tuple[Stage, ...]:
    r"""List the stages in the order in which they are summed.

    The scores of T trajectories are averaged, so a stage weighs $w_c / T$. A checkpoint of weight 0,
    such as the one before the first step, is left out.

    Args:
        trajectories: The trajectories.
        weights: ``physical`` or ``unit``.
        metric: ``trained``, ``identity`` or ``adam``.
        checkpoints: Positions to restrict each trajectory to, or none.

    Raises:
        ValueError: The metric has no such name, a checkpoint lacks what it needs, or nothing is left.
        IndexError: There is no such checkpoint.
    """
    if metric not in METRICS:
        raise ValueError(f"`metric` must be one of {', '.join(METRICS)}, got {metric!r}.")
    stages = []
    for t, trajectory in enumerate(trajectories):
        kept = trajectory if checkpoints is None else trajectory.select(checkpoints)
        steps = {checkpoint.step for checkpoint in kept}
        name = metric_of(trajectory, metric)
        for c, weight in enumerate(trajectory.weights(weights)):
            if trajectory[c].step in steps and weight != 0:
                stages.append(Stage(t, c, trajectory[c].step, weight / len(trajectories), name))
    if not stages:
        raise ValueError(
            "`trajectory` must have a checkpoint whose weight isn't 0, but no training step was made before "
            'any of those chosen. Choose later ones, or use `weights="unit"`.'
        )
    for stage in stages:
        trajectory = trajectories[stage.trajectory]
        if stage.metric == "adam" and trajectory[stage.index].moments is None:
            trajectory.metric(stage.index, "adam")  # says what is missing
    return tuple(stages)


def metric_of(trajectory: Trajectory, metric: str) -> str:
    """The metric by its own name: the optimiser's where it is asked for ``trained``."""
    if metric != "trained":
        return metric
    return "adam" if trajectory.optimizer.name == "adam" else "identity"
