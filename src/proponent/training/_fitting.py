"""Whether named tensors fit a model, and what to say where they don't."""

from collections.abc import Iterable, Mapping

from torch import nn

# What wrappers put before every key: DistributedDataParallel, torch.compile, a Lightning module.
PREFIXES = ("module.", "_orig_mod.", "model.", "net.")


def check_shapes_fit(shapes: Mapping[str, tuple[int, ...]], model: nn.Module, name: str) -> None:
    """Refuse tensors that the model would not load.

    Args:
        shapes: The tensors' names and shapes.
        model: The model.
        name: What the message calls their holder.

    Raises:
        ValueError: Names missing, extra and mis-shaped keys, and a prefix that would explain them.
    """
    wanted = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    missing = [key for key in wanted if key not in shapes]
    extra = [key for key in shapes if key not in wanted]
    misshaped = [
        f"{key} {shapes[key]} instead of {wanted[key]}"
        for key in wanted
        if key in shapes and shapes[key] != wanted[key]
    ]
    problems = {"missing": missing, "extra": extra, "of another shape": misshaped}
    found = [f"{what}: {_listed(keys)}" for what, keys in problems.items() if keys]
    if found:
        raise ValueError(
            f"{name} must fit the model, but these keys are {'; '.join(found)}. {_advice(shapes, wanted)}"
        )


def _advice(shapes: Iterable[str], wanted: Mapping[str, tuple[int, ...]]) -> str:
    keys = list(shapes)
    for prefix in PREFIXES:
        under = {key.removeprefix(prefix) for key in keys if key.startswith(prefix)}
        if under >= set(wanted):
            return (
                f"Its keys begin with `{prefix}`: pass `prefix={prefix!r}` to `Trajectory.from_files`, or "
                "strip it from the keys."
            )
    if any(f"{prefix}{key}" in wanted for prefix in PREFIXES for key in keys):
        return "The model's own keys have a prefix: pass the module that lies inside its wrapper."
    return "Build the model with the sizes it was trained with, or pass the state dict of this model alone."


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return ", ".join(keys[:8]) + more
