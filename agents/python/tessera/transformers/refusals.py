# SPDX-License-Identifier: Apache-2.0
"""What of a Trainer cannot be part of a job. Each is refused before the job starts."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.optim.lr_scheduler import LambdaLR

from tessera._library import TesseraError

# Arguments, the values that a job can have, and why not others.
_ARGUMENTS: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("parallelism_config", (None,), "a Trainer has every parameter on each rank of a job"),
    ("torch_compile", (False,), "the program changes with the mesh"),
    ("fp16", (False,), "the state of the gradient scaler is not in the job; use bf16"),
    ("auto_find_batch_size", (False,), "the batch is the same on any mesh"),
    ("load_best_model_at_end", (False,), "the state is that of the last step"),
    ("push_to_hub", (False,), "the Trainer writes no checkpoints in a job"),
    ("enable_jit_checkpoint", (False,), "the Trainer writes no checkpoints in a job"),
    ("include_num_input_tokens_seen", ("no", False), "a rank that joins would not know the number"),
    ("average_tokens_across_devices", (True,), "the loss would depend on the mesh"),
    ("train_sampling_strategy", ("random",), "the job draws the order of the samples"),
)


def check_arguments(trainer: Any, device: torch.device) -> None:
    """`device`: of the rank. Raises TesseraError naming the argument and the value."""
    args = trainer.args
    if dist.is_initialized() or args.world_size > 1:
        raise TesseraError(
            "torch.distributed is initialised already: import tessera.transformers before "
            "TrainingArguments is made"
        )
    for name, allowed, why in _ARGUMENTS:
        value = getattr(args, name, allowed[0])
        if value not in allowed:
            raise TesseraError(f"{name}={value} cannot be part of a job: {why}")
    for name in ("deepspeed", "fsdp"):
        if getattr(trainer, f"is_{name}_enabled", False):
            raise TesseraError(
                f"{name} cannot be part of a job: a Trainer has every parameter on each rank"
            )
    if args.device != device or args.n_gpu > 1:
        raise TesseraError(
            "use_cpu=True cannot be part of this job: its state lies on GPUs"
            if args.use_cpu
            else f"the Trainer uses {args.device}, and the rank {device}: import "
            "tessera.transformers before TrainingArguments is made"
        )
    if getattr(trainer, "model_init", None) is not None:
        raise TesseraError("model_init cannot be part of a job: pass the model as model=")
    if getattr(trainer, "is_distributed_loading_by_transformers", False):
        raise TesseraError("a model that from_pretrained has cut cannot be part of a job")
    data = trainer.train_dataset
    if data is None:
        raise TesseraError("the Trainer has no train_dataset")
    if not hasattr(data, "__len__") or isinstance(data, torch.utils.data.IterableDataset):
        raise TesseraError(
            f"train_dataset is a {type(data).__name__} without length and indices, so a rank that "
            "joins could not find its place"
        )
    if len(data) == 0:
        raise TesseraError("train_dataset is empty")


def check_call(resume_from_checkpoint: Any, trial: Any) -> None:
    """Of the arguments of Trainer.train()."""
    if resume_from_checkpoint:
        raise TesseraError(
            f"resume_from_checkpoint={resume_from_checkpoint} cannot be part of a job: it would "
            "replace the state of the job"
        )
    if trial is not None:
        raise TesseraError("a trial of hyperparameters cannot be part of a job")


def factor_of(scheduler: Any) -> Any:
    """The function of a schedule, from the number of steps that were made.

    Raises TesseraError if it is none, or not the same for all parameters.
    """
    if not isinstance(scheduler, LambdaLR):
        raise TesseraError(
            f"{type(scheduler).__name__} cannot be part of a job: learning rates must follow a "
            "function of the step (LambdaLR), which a rank that joins can compute"
        )
    factors = scheduler.lr_lambdas
    if any(factor is not factors[0] for factor in factors):
        raise TesseraError("the groups of the optimizer have different schedules; a job has one")
    return factors[0]
