# SPDX-License-Identifier: Apache-2.0
"""What `accelerate` sees of this process.

accelerate sees a world of one process. It would otherwise wrap the model and build groups of
its own. The index of the process is that of the rank, so that one rank prints logs.
"""

from __future__ import annotations

import os
import random
from typing import Any

import numpy
import torch
import torch.distributed as dist

from tessera.describe import FOLDER

_OF_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
_SEED = 42  # that of TrainingArguments


def is_of_tessera() -> bool:
    """Whether this process is a rank of a job, or one that describes the program of a job."""
    return "TESSERA_RANK_SOCKET" in os.environ or FOLDER in os.environ


def prepare() -> None:
    """Must run before TrainingArguments is made, which lets accelerate read the environment.

    All ranks must make the model with the same values, and scripts often make it before the Trainer
    sets its seed. So seeds are set here.
    """
    if not is_of_tessera():
        return
    for name in _OF_TORCHRUN:
        os.environ.pop(name, None)
    random.seed(_SEED)
    numpy.random.seed(_SEED)
    torch.manual_seed(_SEED)


def show(trainer: Any) -> None:
    """Gives this rank's index in the present mesh to the Trainer, accelerate and callbacks."""
    index = dist.get_rank()
    for state in (trainer.args.distributed_state, trainer.accelerator.state):
        state.process_index = state.local_process_index = index
    trainer.state.is_world_process_zero = trainer.state.is_local_process_zero = index == 0
