"""What pytest must know of the whole tree."""

from importlib.util import find_spec

# Kernels are written in Triton, which comes with builds of torch for GPUs alone.
if find_spec("triton") is None:
    collect_ignore = [
        f"src/proponent/kernels/_{name}.py"
        for name in (
            *("bernoulli", "convolution", "correlation", "gaussian_code", "gram", "halves", "linear"),
            *("group_minima", "half_points", "log_sum", "near_groups", "near_samples", "nearest"),
            "round_points",
        )
    ]
