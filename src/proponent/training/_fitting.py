"""Whether named tensors fit a model, and what to say where they don't."""

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

# What wrappers put before every key: DistributedDataParallel, torch.compile, a Lightning module.
PREFIXES = ("module.", "_orig_mod.", "model.", "net.")


Shapes = Mapping[str, tuple[int, ...]]


def shapes_of(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """The shapes of named tensors."""
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def misfits(shapes: Shapes, wanted: Shapes) -> str:
    """Say which keys are missing, extra or of another shape than wanted; nothing where all is well."""
    missing = [key for key in wanted if key not in shapes]
    extra = [key for key in shapes if key not in wanted]
    misshaped = [
        f"{key} {shapes[key]} instead of {wanted[key]}"
        for key in wanted
        if key in shapes and shapes[key] != wanted[key]
    ]
    problems = {"missing": missing, "extra": extra, "of another shape": misshaped}
    return "; ".join(f"{what}: {_listed(keys)}" for what, keys in problems.items() if keys)


def check_shapes_fit(shapes: Shapes, model: nn.Module, name: str) -> None:
    """Refuse tensors that the model would not load.

    Args:
        shapes: The tensors' names and shapes.
        model: The model.
        name: What the message calls their holder.

    Raises:
        ValueError: Names missing, extra and mis-shaped keys, and a prefix that would explain them.
    """
    wanted = shapes_of(model.state_dict())
    found = misfits(shapes, wanted)
    if found:
        raise ValueError(f"{name} must fit the model, but these keys are {found}. {_advice(shapes, wanted)}")


def check_moments_fit(shapes: Shapes, model: nn.Module, name: str) -> None:
    """Refuse second moments that are not those of the model's trainable parameters.

    Those of frozen parameters may be there, too: nothing is asked of them.

    Args:
        shapes: The moments' names and shapes.
        model: The model.
        name: What the message calls their holder.

    Raises:
        ValueError: Names missing, extra and mis-shaped keys.
    """
    wanted = {key: tuple(each.shape) for key, each in model.named_parameters() if each.requires_grad}
    idle = model.state_dict().keys() - wanted.keys()
    found = misfits({key: shape for key, shape in shapes.items() if key not in idle}, wanted)
    if found:
        raise ValueError(
            f"{name} must have a second moment of Adam's for each number that the model trains, but these "
            f"keys are {found}. Give the names in the order in which the optimiser got the parameters; a "
            "parameter that Adam didn't train has none: set its `requires_grad` to False."
        )


def _advice(shapes: Iterable[str], wanted: Shapes) -> str:
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
