"""Where kernels can run: on a GPU with Triton, or through Triton's interpreter on the CPU.

Importing this skips the test module where neither is there. `TRITON_INTERPRET=1` chooses the interpreter.
"""

import os

import pytest
import torch

pytest.importorskip("triton")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED and (not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0)):
    pytest.skip("needs a Hopper GPU, or TRITON_INTERPRET=1", allow_module_level=True)

DEVICE = "cpu" if INTERPRETED else "cuda"
# Triton's interpreter computes with numpy, which warns where a GPU gives zero or infinity.
QUIET = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton.*")
PRODUCTS_OF_BFLOAT16 = pytest.mark.skipif(INTERPRETED, reason="the interpreter has no bfloat16 product")
# What ten bits leave of a product of sums.
ROUNDED = 1e-3


def normal(*shape, key=0):
    generator = torch.Generator().manual_seed(1000 * key + sum(shape))
    return torch.randn(*shape, generator=generator).to(DEVICE)


def whole(*shape, key=0):
    """Powers of two with a sign, and zeros: ten bits hold them, their products and small sums exactly."""
    values = torch.tensor([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])
    generator = torch.Generator().manual_seed(1000 * key + sum(shape))
    return values[torch.randint(7, shape, generator=generator)].to(DEVICE)


# Exact numbers show every wrong term, ordinary ones the rounding.
DRAWS = [(whole, 1e-6), (normal, ROUNDED)]
EITHER = pytest.mark.parametrize(("draw", "tolerance"), DRAWS, ids=["exact", "rounded"])
