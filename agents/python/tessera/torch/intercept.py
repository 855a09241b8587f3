# SPDX-License-Identifier: Apache-2.0
"""Refuses parts of torch that a loop around job.step(loss) cannot have.

They work without the job, so nothing else of it sees them. Each looks up the job when it is used.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.utils.data import (
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from tessera._library import TesseraError

if TYPE_CHECKING:
    from tessera.torch.job import TorchJob

_job: weakref.ref[TorchJob] | None = None  # the one that is bound
_steps: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
_is_installed = False
_builds = False  # whether build(mesh) of a job is running
_WRAPPERS = {
    DistributedDataParallel: "delete it, because job.step(loss) averages gradients over the ranks",
    DataParallel: "delete it, because each rank computes on its own job.device",
    FullyShardedDataParallel: "call fully_shard(module, mesh=mesh['dp']) in place of it",
}


def watch_over(job: TorchJob | None) -> None:
    """From now on these parts are refused in the loop of `job`; None: in no loop."""
    global _is_installed, _job
    _job = None if job is None else weakref.ref(job)
    if job is None or _is_installed:
        return
    _is_installed = True
    for kind in (GradScaler, ShardedGradScaler):
        _before(kind, "scale", _refuse_scaler)
    _before(DistributedSampler, "__iter__", _refuse_distributed_sampler)
    for sampler in (RandomSampler, SubsetRandomSampler, WeightedRandomSampler, SequentialSampler):
        _in_each(sampler, _refuse_sampler)
    _in_each(DistributedSampler, _note_sampler)
    _keep_gradients_without_limit()
    sys.modules["torch.optim.optimizer"].register_optimizer_step_pre_hook(_refuse_optimizer)
    for tensor in (nn.Parameter, torch.Tensor):  # DTensors are no Parameter
        _before(tensor, "__deepcopy__", _refuse_copy)


@contextlib.contextmanager
def building() -> Iterator[None]:
    """Encloses a call of build(mesh), which cannot have wrappers of torch for several ranks."""
    global _builds
    before, _builds = _builds, True
    try:
        yield
    finally:
        _builds = before


def _check_wrapper(kind: Any, remedy: str) -> None:
    """Refuses wrappers that are made in build(mesh), or of a model of the job."""
    make = kind.__init__

    @functools.wraps(make)
    def checked(self: Any, module: nn.Module, *arguments: Any, **options: Any) -> None:
        if _builds or _is_of_job(module):
            raise TesseraError(f"a model of a job is not wrapped in {kind.__name__}: {remedy}")
        make(self, module, *arguments, **options)

    kind.__init__ = checked


def _is_of_job(module: nn.Module) -> bool:
    job = None if _job is None else _job()
    watch = None if job is None or job._program is None else job._program.watch
    return watch is not None and any(watch.has(one) for one in module.parameters())


for _kind, _remedy in _WRAPPERS.items():
    _check_wrapper(_kind, _remedy)


def _before(kind: Any, name: str, check: Callable[[TorchJob, Any], None]) -> None:
    """Calls `check` with the job and the object before each call of a method."""
    method = kind.__dict__[name]

    @functools.wraps(method)
    def checked(self: Any, *arguments: Any, **options: Any) -> Any:
        job = None if _job is None else _job()
        if job is not None:
            check(job, self)
        return method(self, *arguments, **options)

    setattr(kind, name, checked)


def _in_each(kind: Any, check: Callable[[TorchJob, Any], None]) -> None:
    """Calls `check` before each number of a sampler: workers of a DataLoader read the first ones
    before the loop."""
    method = kind.__iter__

    @functools.wraps(method)
    def checked(self: Any) -> Iterator[int]:
        for number in method(self):
            job = None if _job is None else _job()
            if job is not None:
                check(job, self)
            yield number

    kind.__iter__ = checked


def _keep_gradients_without_limit() -> None:
    """clip_grad_norm_ returns the norm, and many loops limit it by infinity to log it: gradients
    would be multiplied by 1, which looks like a change."""
    module: Any = sys.modules["torch.nn.utils.clip_grad"]
    limit = getattr(module, "_clip_grads_with_norm_", None)
    if limit is None:
        return

    @functools.wraps(limit)
    def limited(parameters: Any, max_norm: float, *arguments: Any, **options: Any) -> None:
        if float(max_norm) != math.inf:
            limit(parameters, max_norm, *arguments, **options)

    module._clip_grads_with_norm_ = limited


def _refuse_optimizer(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Refuses an optimizer of other parameters in its second step.

    One that works in a single step, such as on the inputs, has no state that could be lost. One
    without gradients, such as below a scheduler, updates nothing.
    """
    job = None if _job is None else _job()
    if job is None or job._program is None or optimizer is job._program.optimizer:
        return
    if all(one.grad is None for group in optimizer.param_groups for one in group["params"]):
        return
    if _steps.setdefault(optimizer, job.coming_step) != job.coming_step:
        raise TesseraError(
            f"{type(optimizer).__name__} updates parameters that are none of the job's: each rank "
            "has others, and a rank that joins begins with new ones. Make their module a part of "
            "the model in build(mesh), and give the optimizer that it returns a group of them"
        )


def _refuse_scaler(job: TorchJob, scaler: Any) -> None:
    own = job._parts.scaler
    if scaler.is_enabled() and (own is None or own.scaler is not scaler):
        raise TesseraError(
            f"job.step(loss) would take the gradients that {type(scaler).__name__} has scaled: "
            "give it to the job before job.bind(build), as scaler = job.scaler(GradScaler(…)), or "
            "delete it, and compute in torch.autocast(…, dtype=torch.bfloat16)"
        )


def _refuse_distributed_sampler(job: TorchJob, sampler: Any) -> None:
    """It keeps the mesh that it was made on, and each process begins anew with it."""
    name = type(sampler).__name__
    if job._sampler is None:
        raise TesseraError(
            f"{name} begins anew in each rank that joins, and keeps the number of ranks: use "
            "job.sampler(len(data), global_batch=…)"
        )
    dp = job.mesh["dp"]
    if (sampler.num_replicas, sampler.rank) != (dp.size(), dp.get_local_rank()):
        raise TesseraError(
            f"{name} deals over {sampler.num_replicas} ranks as rank {sampler.rank}, and this rank "
            f"is {dp.get_local_rank()} of dp={dp.size()}: make it anew before each pass, with "
            "num_replicas=job.mesh['dp'].size() and rank=job.mesh['dp'].get_local_rank()"
        )


def _trains(job: TorchJob) -> bool:
    """Whether what is read now is to train. To evaluate, and outside of a step, such as for a mean
    of the data, each rank may read all of its data."""
    program = job._program
    if job._stepped or program is None:
        return False
    return torch.is_grad_enabled() and program.model.training


def _refuse_sampler(job: TorchJob, sampler: Any) -> None:
    """Of a DataLoader, which knows no ranks."""
    if job._sampler is not None:
        _note_sampler(job, sampler)
    elif _trains(job):
        raise TesseraError(
            f"{_of_loader(type(sampler).__name__)}: use job.sampler(len(data), global_batch=…)"
        )


def _note_sampler(job: TorchJob, sampler: Any) -> None:
    """Notes it for check_samples: the step may call job.sampler later, and read this data beside
    its samples."""
    if _trains(job):
        job._other_sampler = type(sampler).__name__


def check_samples(job: TorchJob) -> None:
    """When job.step(loss) begins. Raises TesseraError if the step has read a DataLoader, and no
    samples of job.sampler."""
    name, job._other_sampler = job._other_sampler, None
    if name is not None and job._share is None:
        raise TesseraError(
            f"step {job.coming_step} has not called job.sampler, and {_of_loader(name)}: read the "
            "samples whose numbers job.sampler gives, such as data[batch()]"
        )


def _of_loader(name: str) -> str:
    return (
        f"a DataLoader with {name} begins anew in each rank that joins, and does not know the ranks"
    )


def _refuse_copy(job: TorchJob, value: Any) -> None:
    program = job._program
    if program is not None and program.watch is not None and program.watch.has(value):
        raise TesseraError(
            "a copy of job.model is not in the state of the job, so a rank that joins would begin "
            "with another one: make averages of the weights and models to compare with in "
            "build(mesh), as frozen parts of the model, and update them in a function that "
            "job.after_update(…) calls; to export, copy job.model.state_dict()"
        )
