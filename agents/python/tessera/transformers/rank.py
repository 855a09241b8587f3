# SPDX-License-Identifier: Apache-2.0
"""What `transformers` and `accelerate` see of this process.

They see a world of one process. accelerate would otherwise wrap the model and build groups of
its own. The index of the process is that of the rank, so that one rank prints logs.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

import torch
import torch.distributed as dist

from tessera.describe import FOLDER
from tessera.torch.device import device_of_rank

_OF_LAUNCHERS = (
    *("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    *("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"),
)


def is_of_tessera() -> bool:
    """Whether this process is a rank of a job, or one that describes the program of a job."""
    return "TESSERA_RANK_SOCKET" in os.environ or FOLDER in os.environ


def prepare() -> None:
    """Must run before TrainingArguments is made, which lets accelerate read the environment."""
    if not is_of_tessera():
        return
    for name in _OF_LAUNCHERS:
        os.environ.pop(name, None)
    _give_device()


def _give_device() -> None:
    """TrainingArguments would take all GPUs of the machine, and a Trainer put its model on the
    first, where the state of another rank may be."""
    arguments: Any = importlib.import_module("transformers").TrainingArguments
    set_up = getattr(arguments.__dict__["_setup_devices"], "func", None)
    if set_up is None:  # transformers 4, which the callback refuses
        return
    own = torch.device("cpu") if FOLDER in os.environ else device_of_rank()

    def give(self: Any) -> torch.device:
        wants_cpu, self.use_cpu = self.use_cpu, True
        try:
            set_up(self)
        finally:
            self.use_cpu = wants_cpu
        device = torch.device("cpu") if wants_cpu else own
        if device.type == "cpu":
            self.dataloader_pin_memory = False  # that would use a GPU
        self.distributed_state.device = device
        self.distributed_state._cpu = device.type == "cpu"
        self._n_gpu = int(device.type == "cuda")
        return device

    arguments._setup_devices = functools.cached_property(give)
    arguments._setup_devices.__set_name__(arguments, "_setup_devices")
    arguments.place_model_on_device = False  # the job has the parameters
    if own.type == "cpu":
        # bf16 would need use_cpu=True here, which the ranks of the same script on GPUs refuse.
        module: Any = importlib.import_module("transformers.training_args")
        module.is_torch_bf16_gpu_available = lambda: True


def show(trainer: Any) -> None:
    """Gives this rank's index in the present mesh to the Trainer, accelerate and callbacks."""
    index = dist.get_rank()
    for state in (trainer.args.distributed_state, trainer.accelerator.state):
        state.process_index = state.local_process_index = index
    trainer.state.is_world_process_zero = trainer.state.is_local_process_zero = index == 0
