# SPDX-License-Identifier: Apache-2.0
"""The device on which a rank computes."""

from __future__ import annotations

import collections
import contextlib
import copy
import os

import torch


def device_of_rank() -> torch.device:
    """Where the pieces of this rank are.

    What is emulated is memory of the host, which is none of PyTorch's devices.
    """
    number = os.environ.get("TESSERA_CUDA_DEVICE")
    if number is None or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(number))
    torch.cuda.set_device(device)
    return device


def warm_up(device: torch.device, optimizer: torch.optim.Optimizer) -> None:
    """Lets a GPU load what a first step would wait for, and all ranks with the one that joins: the
    library of matrix products, kernels, and the thread that runs backward()."""
    if device.type != "cuda":
        return
    # A GPU may have no bf16, and an optimizer may need more than its options.
    with contextlib.suppress(Exception):
        weight = torch.nn.Parameter(torch.zeros(16, 16, device=device))
        for dtype in (torch.float32, torch.bfloat16):
            value = weight.to(dtype)
            torch.autograd.backward((value @ value).float().softmax(1).square().mean())
        weight.grad = torch.zeros_like(weight)
        other = copy.copy(optimizer)
        other.state = collections.defaultdict(dict)
        other.param_groups = [{**optimizer.param_groups[0], "params": [weight]}]
        other.step()
    torch.cuda.synchronize(device)
