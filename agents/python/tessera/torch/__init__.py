# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs that keep their state in Tessera.

    import tessera.torch

    job = tessera.torch.attach()

    def build(mesh):  # a DeviceMesh with the axes pp, dp, ep, cp, tp
        model = Net()
        return model, torch.optim.AdamW(model.parameters(), lr=3e-4)

    job.bind(build)
    batch = job.sampler(len(data), global_batch=32)
    for step in job.steps(until=1000):
        loss = job.model(data[batch()].to(job.device)).mean()
        loss.backward()
        job.step(loss)

`tesseractl job start train.py` starts it. `torchrun train.py` and `python train.py` run the same
program without Tessera.
"""

from __future__ import annotations

import os
import sys

import torch

from tessera._library import TesseraError
from tessera.describe import FOLDER, MESH
from tessera.torch import check as _check
from tessera.torch import describe as _describe
from tessera.torch.alone import Alone
from tessera.torch.device import device_of_rank
from tessera.torch.job import Attached, Sampler, TorchJob
from tessera.torch.program import Build
from tessera.torch.seeds import note_splits, set_seeds

_OLDEST = (2, 10)  # since then FSDP2 leaves a short shard where it is
if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _OLDEST:
    raise TesseraError(f"torch {torch.__version__} is too old: 2.10 or later is needed")

set_seeds()
note_splits()

__all__ = ["Sampler", "TesseraError", "TorchJob", "attach"]


class _Described(TorchJob):
    """`job start` asks what the program has."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder

    def bind(self, build: Build) -> None:
        build = self._parts.prepare(build)
        if MESH in os.environ:
            _check.check_stages(build, self._folder)
        else:
            _describe.write(build, self._folder)
        sys.exit(0)


def attach() -> TorchJob:
    """The job of this process: of Tessera if an agent has started it, else of torchrun or alone."""
    if folder := os.environ.get(FOLDER):
        return _Described(folder)
    if "TESSERA_RANK_SOCKET" in os.environ:
        return Attached(device_of_rank())
    return Alone()
