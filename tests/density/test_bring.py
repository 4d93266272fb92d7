"""Arrays are brought to a device as they are; on a GPU, see tests/kernels/test_density_on_gpu.py."""

import numpy as np
import torch

from proponent.density._bring import bring


def test_on_the_cpu_nothing_is_copied():
    array = np.arange(6.0).reshape(2, 3)
    brought = bring(array, torch.device("cpu"))
    array[0, 0] = 7
    assert brought.tolist() == array.tolist()
