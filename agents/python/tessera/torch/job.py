# SPDX-License-Identifier: Apache-2.0
"""The loop of a training program, with Tessera and without it."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import random
import sys
import time
import traceback
import weakref
import zlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from tessera._library import PAUSE_DONE, TesseraError, TransientError, exit_status
from tessera.job import LEAVE, RESUME, Decision, Job, Record, View
from tessera.metrics import Metrics
from tessera.torch.agreement import SETTINGS_SIZE, Settings, check_equal, checksum_of
from tessera.torch.binding import Binding, Gradient, Program
from tessera.torch.check import check_here, check_in_child
from tessera.torch.device import warm_up
from tessera.torch.groups import Groups, alone, first_ranks, pretended
from tessera.torch.intercept import check_samples, watch_over
from tessera.torch.objects import ROOM, Stateful
from tessera.torch.parts import AfterUpdate, OnModel, Parts, Prepared
from tessera.torch.program import (
    Build,
    StateOfOptimizer,
    call,
    has_axis,
    local_of,
    memory_of,
    parameters,
    persistent_buffers,
)
from tessera.torch.sampler import Sampler
from tessera.torch.scheduling import MakeScheduler
from tessera.torch.seeds import checksum_of_splits
from tessera.torch.unsaved import Unsaved

__all__ = ["Attached", "Sampler", "TorchJob"]

FINISH_UPDATE = "TESSERA_FINISH_UPDATE"
_TWO_SCHEDULES = "job.schedule and job.scheduler both set learning rates: call one of them"
StatefulT = TypeVar("StatefulT", bound=Stateful)
OnModelT = TypeVar("OnModelT", bound=OnModel)
AfterUpdateT = TypeVar("AfterUpdateT", bound=AfterUpdate)


def _find_room(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """What an optimizer takes on GPUs beside its state, for all parameters of a group at once.

    If it is missing inside of an update, half of that is made.
    """
    groups = [group for group in optimizer.param_groups if group.get("foreach") is not False]
    sizes = [sum(memory_of(p).nbytes for p in group["params"]) for group in groups]
    if sizes:
        torch.empty(max(sizes), dtype=torch.uint8, device=device)


class TorchJob:
    """One rank of a training job. attach() makes it."""

    mesh: DeviceMesh  # pp, dp, ep, cp, tp: all axes, also those of one rank

    def __init__(self) -> None:
        self.coming_step = 1
        self.last: Decision | None = None  # of the last step
        self._program: Program | None = None
        self._pause = 0
        self._stepped = True
        self._is_made = False  # the step of the loop that is in its body
        self._wants_end = False  # finish() was called, and no step was made since
        self._ends = False  # after the step that was made last: a rank has called finish()
        self._left: int | None = None  # the step after which the loop was left
        self._factor: Callable[[int], float] | None = None
        self._seed = 0
        self._share: float | None = None  # of the global batch that its dp coordinate has read
        self._read = range(0)  # those samples, counted through the whole run
        self._sampler: Sampler | None = None
        self._splits = 0  # a checksum of the parts of the data that were dealt before the loop
        self._other_sampler: str | None = None  # of torch, that this step has read to train
        self._parts = Parts()
        self._unsaved = Unsaved()
        self._device = torch.device("cpu")
        self._metrics = Metrics()
        self._began = time.monotonic()

    # ---- for programs

    def bind(self, build: Build) -> None:
        """Makes the model and the optimizer of `build(mesh)` those of the job.

        `build` is called again after each change of the mesh, then on the meta device. It may
        return a third value, such as the schedule of a pipeline: `job.pipeline`.
        """
        raise NotImplementedError

    @property
    def model(self) -> nn.Module:
        """The one of the present mesh. After a change of the mesh it is another object."""
        return self._bound().model

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        return self._bound().optimizer

    @property
    def device(self) -> torch.device:
        """Where the parameters are and where the inputs of the model belong."""
        return self._device

    @property
    def pipeline(self) -> Any:
        """The third value of `build`, of the present mesh; None if it makes two."""
        return self._bound().pipeline

    def sampler(
        self,
        num_samples: int,
        global_batch: int,
        seed: int = 0,
        axes: tuple[str, ...] = ("dp",),
    ) -> Sampler:
        """Deals the samples of a data set over the ranks along `axes`: ("dp",) or ("dp", "cp").

        A job has one sampler. It is called at the beginning of a step, and gives that step's
        samples.
        """
        return Sampler(self, num_samples, global_batch, seed, axes)

    def dropout(self, x: torch.Tensor, probability: float, site: int) -> torch.Tensor:
        """Drops elements of `x`, of shape [samples of this rank in this step, ...], and scales the
        others.

        Which ones depends on the seed of `build`, `site` (a number of the operation in the model),
        the sample of the run and the element, so it is the same on any mesh. Ordinary dropout of
        torch draws per step and dp coordinate.
        """
        if not 0 <= probability < 1:
            raise TesseraError(f"a probability of dropout is from 0 to below 1, not {probability}")
        if len(x) != len(self._read):
            raise TesseraError(
                f"dropout of {len(x)} rows, and this rank has read {len(self._read)} samples"
            )
        if probability == 0:
            return x
        masks = [
            self._dropout_mask(site, sample, x[0].numel(), probability) for sample in self._read
        ]
        if not masks:
            return x
        return x * torch.stack(masks).view(x.shape).to(x)

    def schedule(self, factor: Callable[[int], float]) -> None:
        """Multiplies the learning rates of `build` by `factor(step)` in each step.

        The factor has to be equal on all ranks: job.step raises TesseraError if it is not. A
        schedule with a state of its own would begin anew in each process that joins: job.scheduler
        takes those of torch, and job.register other state. The factor is computed after the ranks
        have taken the saved buffers of the first rank of their stage.
        """
        if self._parts.scheduler is not None:
            raise TesseraError(_TWO_SCHEDULES)
        self._factor = factor

    def scheduler(self, make: MakeScheduler) -> None:
        """Learning rates follow a scheduler of torch: `job.scheduler(lambda optimizer:
        CosineAnnealingLR(optimizer, 1000))`.

        `make` is called with the optimizer of each mesh. job.step(loss) makes one step of the
        scheduler after each update, also after one that is skipped, and gives ReduceLROnPlateau the
        loss of the whole batch. The state of the scheduler, and what it has set of the optimizer,
        are a part of the job. Before job.bind(build), once. Raises TesseraError otherwise.
        """
        if self._factor is not None:
            raise TesseraError(_TWO_SCHEDULES)
        self._parts.set_scheduler(make)

    def scaler(self, scaler: torch.amp.GradScaler) -> torch.amp.GradScaler:
        """Makes a scaler of losses that of the job, for float16: `scaler =
        job.scaler(torch.amp.GradScaler("cuda"))`.

        The loop calls scaler.scale(loss).backward() and job.step(loss), which divides the gradients
        by the scale, skips the update on all ranks if a gradient of any is not finite, and updates
        the scale: there is no unscale_, step and update of the scaler in the loop. Its state is a
        part of the job. Returns `scaler`. Before job.bind(build), once. Raises TesseraError
        otherwise.
        """
        self._parts.set_scaler(scaler)
        return scaler

    def register(self, name: str, value: StatefulT, room: int = ROOM) -> StatefulT:
        """Makes the state of an object with state_dict() and load_state_dict() a part of the job:
        `curriculum = job.register("curriculum", Curriculum())`.

        It is saved in checkpoints, and loaded by ranks that join or start again. The loop may
        change it before job.step(loss), equally on all ranks, which is checked in each step. `room`
        is the size in bytes that its state may have as text: 64 KiB unless given. The state has
        numbers, texts, bytes, tensors, arrays of NumPy, and containers of these. Returns `value`.
        Before job.bind(build). Raises TesseraError naming what cannot be held.
        """
        self._parts.register(name, value, room)
        return value

    def on_model(self, change: OnModelT) -> OnModelT:
        """Calls `change(model)` after each `build(mesh)`: for hooks and settings that scripts set
        on a model after it is made. Also as a decorator. Before job.bind(build).
        """
        self._parts.add_on_model(change)
        return change

    def after_update(self, change: AfterUpdateT) -> AfterUpdateT:
        """Calls `change(model, decision)` after the optimizer in each update, on all ranks, without
        gradients: for limits of weights, averages in saved buffers or frozen parameters, and
        objects of job.register.

        `decision` is what job.step(loss) returns: its loss is that of the whole batch, and its skip
        says that the optimizer has made no update. It must contain no collective. Also as a
        decorator. Before job.bind(build).
        """
        self._parts.add_after_update(change)
        return change

    def freeze(self, *names: str) -> None:
        """Stops the training of parameters, by their names or those of modules, from the coming
        forward() on.

        All ranks call it in the same step, before job.step(loss). What is frozen is a part of the
        job. The first call, with the names that begin frozen, if any, comes before job.bind(build).
        Raises TesseraError naming what is not trained by `build`, which has no gradient in the job.
        """
        self._change_frozen(names, True)

    def unfreeze(self, *names: str) -> None:
        """Trains them again, as job.freeze stops it."""
        self._change_frozen(names, False)

    def _change_frozen(self, names: tuple[str, ...], is_frozen: bool) -> None:
        self._parts.freeze(names, is_frozen)
        if self._program is not None:
            self._parts.note_frozen(self._program)

    def steps(self, until: int | None = None) -> Iterator[int]:
        """The steps from the coming one, each up to its step().

        Under Tessera a job that has made step `until` is paused, and its state stays. A rank whose
        GPU leaves the job ends here.
        """
        if (watch := self._bound().watch) is not None:
            watch.check_before_loop()
        self._splits = checksum_of_splits()
        self._left = None
        self._begin()
        self._begin_parts()
        while True:
            if until is not None and self.coming_step > until:
                if not self._finish():
                    return
                continue
            self._stepped, self._other_sampler = False, None
            self._seed_step()
            try:
                yield self.coming_step
            except GeneratorExit:  # by `break`, an error or the end of the process
                self._leave_loop()
                raise
            if not self._stepped:
                raise TesseraError(
                    f"step {self.coming_step} ended without job.step(loss), such as by `continue`, "
                    "for which the other ranks would wait: call it in each step; it makes no "
                    "update if the gradient of any rank is not finite, several backward() before "
                    "it add up, and a rank without samples calls job.step(0.0)"
                )
            self._is_made = False
            if (watch := self._bound().watch) is not None:
                watch.check_after_step()
            self._unsaved.check_after_step()
            self._parts.objects.check_after_step()
            self.coming_step += 1
            if self._pause:
                # A rank that joins here has not heard of the end: it does so in the next step.
                self._wants_end |= self._ends
                self._boundary(self._pause)
            elif self._ends and not self._finish():
                return

    def finish(self) -> None:
        """Ends the job after the coming job.step(), as if that were step `until` of steps().

        A call of one rank is enough. Under Tessera the job is then paused, and its state stays.
        Without Tessera the loop ends. `break` also ends the job if all ranks leave the loop after
        the same step; the job is paused when the script has ended.
        """
        self._wants_end = True

    def step(self, loss: Any, *, max_norm: float = 0.0, tokens: int = 0) -> Decision:
        """Ends a step, after backward(): reduces gradients, limits their norm, makes the update.

        `loss` is the mean over this rank's samples, None on a pipeline stage that has none.
        `tokens` are those of this rank's samples; ranks that read the same samples count once.
        `max_norm` (0: no limit) has to be equal on all ranks.
        Returns what all ranks have agreed on, with the loss and the norm of the whole batch. If a
        change of the mesh begins before the update of this step, steps() makes it, in the new mesh.
        """
        if self._stepped:
            raise TesseraError("job.step(loss) was called twice in one step, or outside of steps()")
        if self._device.type == "cuda":  # what backward() has begun
            torch.cuda.current_stream(self._device).synchronize()
        busy = time.monotonic() - self._began
        program = self._bound()
        check_samples(self)
        if program.watch is not None:
            program.watch.check_before_update()
        program.take_gradients()
        self._parts.unscale(program)
        share = self._share if self._share is not None else 1 / program.axes["dp"].size
        self._reduce(program, share)
        norm2 = program.norm2()
        copies = program.num_ranks // program.axes["dp"].size
        if program.is_pipelined:
            copies //= program.axes["pp"].size  # the others have no loss
        value = _value_of(loss)
        counts = all(
            of.rank == 0 for axis, of in program.axes.items() if axis not in self._sample_axes()
        )
        mine = Record(loss=value * share / copies, norm2=norm2, tokens=tokens if counts else 0)
        if norm2 != norm2 or norm2 == float("inf"):
            mine.norm2, mine.found_inf = 0.0, 1
        program.share_buffers()  # a schedule may read them
        factor = self._set_rates(program)
        decision = self._decide(mine, self._settings(factor, max_norm), busy)
        self._wants_end = False
        if decision.waits_before_update:
            program.mark_unused_gradients()
        else:
            self._update(program, decision)
        program.clear_gradients()
        program.note_values()
        self._share = None
        self._stepped = self._is_made = True
        self._pause = decision.pause
        self.last = decision
        self._began = time.monotonic()
        return decision

    def log(self, **metrics: Any) -> None:
        """Reports numbers of the program, such as its accuracy: `job.log(accuracy=0.9)`.

        They go with the coming job.step(), or with the last one when all steps are made, and the
        history records them per step. Only calls of rank 0 count. A number may be NaN, which is a
        gap, or a tensor of one element. A job has at most 16 names, [A-Za-z_][A-Za-z0-9_./-]* of at
        most 40 characters; those that are no identifiers are given as
        `job.log(**{"eval/loss": 0.5})`. Raises TesseraError naming what cannot be reported. Without
        Tessera it does nothing else.
        """
        for name, value in self._metrics.checked(metrics).items():
            self._report(name, value)

    def checkpoint(self) -> None:
        """Requests a checkpoint of the job, as `tesseractl checkpoint save` does.

        Returns at once. The state is saved that the job has after the step that is being made, or
        soon after it, while the job trains on. Only calls of rank 0 count, once per step. The
        folder is that of the job's schedule or of its newest checkpoint. The outcome is an event of
        the job, also if there is no such folder. Without Tessera it does nothing.
        """

    # ---- the parts of a step

    def _seed_step(self) -> None:
        """Random numbers of torch, NumPy and Python belong to the step and the samples'
        coordinate, on any mesh."""
        at = 0
        for axis in self._sample_axes():
            of = self._bound().axes[axis]
            at = at * of.size + of.rank
        seed = (self._seed * 1_000_003 + self.coming_step) * 65_537 + at & (2**63 - 1)
        torch.manual_seed(seed)
        random.seed(seed)
        if (numpy := sys.modules.get("numpy")) is not None:
            numpy.random.seed(seed & (2**32 - 1))

    def _set_rates(self, program: Program) -> float:
        """Returns the factor of the schedule, 1 without one."""
        program.check_options()
        if self._factor is None:
            return 1.0
        factor = self._factor(self.coming_step)
        program.scale_rates(factor)
        return float(factor)

    def _settings(self, factor: float, max_norm: float) -> Settings:
        objects = self._parts.objects.checksum()
        if self._sampler is None:  # ranks may have data of their own
            return Settings(factor, float(max_norm), 0, 0, objects)
        sampler = checksum_of(self._sampler.arguments())
        return Settings(factor, float(max_norm), sampler, self._splits, objects)

    def _sample_axes(self) -> tuple[str, ...]:
        """Along which ranks read other samples."""
        return ("dp",) if self._sampler is None else self._sampler.axes

    def _bound(self) -> Program:
        if self._program is None:
            raise TesseraError("job.bind(build) comes first")
        return self._program

    def _reduce(self, program: Program, share: float) -> None:
        """Averages the gradients that nobody else does, over dp and cp."""
        # Along cp ranks have read other samples, or have cut those that they share.
        for axis in ("dp", "cp"):
            of = program.axes[axis]
            part = share if axis == "dp" else 1 / of.size
            held = [one.value for one in program.gradients if axis not in one.averaged]
            if part != 1 and held:
                torch._foreach_mul_(held, part)
            if of.size > 1:
                waits = [
                    dist.all_reduce(value, group=of.group, async_op=True)
                    for value in held
                    if value.numel() > 0
                ]
                for wait in waits:
                    wait.wait()
        if program.is_pipelined:
            self._reduce_over_stages(program)
        if self._device.type == "cuda":
            self._agree(program)

    def _agree(self, program: Program) -> None:
        """Takes one of the gradients that several ranks have computed from the same samples.

        On GPUs some kernels add in any order, so these gradients may differ by rounding.
        """
        for axis in ("pp", "ep", "tp"):
            of = program.axes[axis]
            if of.size == 1 or (axis == "pp" and program.is_pipelined):
                continue
            waits = [
                dist.broadcast(one.value, group=of.group, group_src=0, async_op=True)
                for one in program.gradients
                if one.value.numel() > 0 and not has_axis(one.parameter, axis)
            ]
            for wait in waits:
                assert wait is not None
                wait.wait()

    def _reduce_over_stages(self, program: Program) -> None:
        """Sums the gradients of parameters that several stages have used, such as tied ones."""
        pp = program.axes["pp"]
        shared = [one for one in program.gradients if len(one.stages) > 1]
        for gradient in sorted(shared, key=lambda one: one.name):
            if len(gradient.stages) == pp.size:
                dist.all_reduce(gradient.value, group=pp.group)
                continue
            other = next(stage for stage in gradient.stages if stage != pp.rank)
            theirs = torch.empty_like(gradient.value)
            # In turn: with NCCL, what two ranks both send first waits for what both receive later.
            for sends in (pp.rank < other, pp.rank > other):
                if sends:
                    dist.send(gradient.value, group=pp.group, group_dst=other)
                else:
                    dist.recv(theirs, group=pp.group, group_src=other)
            gradient.value.add_(theirs)

    def _apply(self, program: Program, decision: Decision) -> None:
        if not decision.skip:
            program.clip_gradients(decision.clip)
            program.update()
        self._parts.follow_update(program, decision)
        program.keep_buffers()
        program.step_value.fill_(decision.step)

    # ---- what differs without Tessera

    def _report(self, name: str, value: float) -> None:
        """Of a metric, with the coming step."""

    def _begin(self) -> None:
        """Before the first step."""

    def _begin_parts(self) -> None:
        self._parts.begin(self._bound())

    def _leave_loop(self) -> None:
        """The loop of steps() is left in its body."""
        self._left = self.coming_step if self._is_made else self.coming_step - 1

    def _is_last_step(self) -> bool:
        """Whether the job ends after the step that was made, because a rank has called finish()."""
        return self._ends and not self._pause

    def _decide(self, mine: Record, settings: Settings, busy: float) -> Decision:
        raise NotImplementedError

    def _update(self, program: Program, decision: Decision) -> None:
        raise NotImplementedError

    def _boundary(self, request: int) -> None:
        raise NotImplementedError

    def _finish(self) -> bool:
        """After the last step. Whether the job may go on later."""
        raise NotImplementedError

    def _samples(self, seed: int, position: int, num: int, batch: int) -> tuple[list[int], int]:
        """The numbers of this rank's samples, and the place of the first one in the batch."""
        raise NotImplementedError

    def _dropout_mask(self, site: int, sample: int, num: int, probability: float) -> torch.Tensor:
        raise NotImplementedError


def _value_of(loss: Any) -> float:
    if loss is None:
        return 0.0
    return float(loss.detach() if isinstance(loss, torch.Tensor) else loss)


def _keep_imports() -> None:
    """Later collections leave out what there is now, which takes longest to look through.

    It is collected when the process ends: triton prints what it finds uncollected then.
    """
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


def _return_memory() -> None:
    """Of the first build, which glibc would keep."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _compare_values(tensors: dict[str, torch.Tensor], device: torch.device) -> None:
    """That all ranks have made the same. Raises TesseraError naming the first that differs."""
    named = sorted((name, value) for name, value in tensors.items() if not value.is_meta)
    if not named or dist.get_world_size() == 1:
        return
    sums = torch.tensor([_checksum(value) for _, value in named], dtype=torch.float64)
    bounds = torch.cat([sums, -sums]).to(device)
    dist.all_reduce(bounds, op=dist.ReduceOp.MAX)
    highest, lowest = bounds.chunk(2)
    for (name, _), high, low in zip(named, highest.tolist(), (-lowest).tolist()):
        if high != low:
            raise TesseraError(
                f"'{name}' begins with other values on other ranks: set a seed before the model is "
                "made, such as torch.manual_seed(1) in build(mesh), and compute what comes from "
                "data, such as a mean, from the same samples in the same order on each rank"
            )


def _checksum(value: torch.Tensor) -> int:
    local = local_of(value.detach()).cpu().contiguous()
    size = local.numel() * local.dtype.itemsize
    return zlib.crc32((ctypes.c_ubyte * size).from_address(local.data_ptr())) if size else 0


def _parts_of(program: Program) -> list[weakref.ref[Any]]:
    parts = [*program.model.modules(), program.optimizer, *program.gradients]
    return [weakref.ref(part) for part in parts]


def _refuse(part: Any, now: set[int]) -> None:
    """Lets a part of the program on the mesh of before say so if the program uses it."""
    if part is None or id(part) in now:
        return
    if isinstance(part, Gradient):
        part.leave()
        return

    def say(*_: Any) -> None:
        raise TesseraError(
            f"this {type(part).__name__} is of a mesh that the job has left: use job.model and "
            "job.optimizer in the loop, not variables from before"
        )

    if isinstance(part, nn.Module):
        part.register_forward_pre_hook(say, prepend=True)
    else:
        part.register_step_pre_hook(say)


def _end_at_errors(job: Attached) -> None:
    """Makes an exception that nobody catches end the process, once it is printed.

    Otherwise the groups of torch are torn down first, with threads that other ranks may have left
    in the middle. If one of them aborts the process, that is the last line of its log, and what
    `job start` gives as the reason. An exit with a text or a status needs no other reason.
    """
    shown, leave = sys.excepthook, sys.exit

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown(kind, error, trace)
        job._is_ended = True
        if job._program is not None and "meta" in str(error):
            _explain_meta(job._program.model)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(exit_status(error))

    def exit_noted(status: Any = None) -> NoReturn:
        job._is_ended |= status not in (None, 0)
        leave(status)

    sys.excepthook, sys.exit = end, exit_noted


def _explain_meta(model: nn.Module) -> None:
    """Names a tensor that a module has as an attribute. Only parameters and buffers get values
    after `build`, which runs on the meta device."""
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_meta:
                print(
                    f"'{key}' of {name or 'the model'} is a tensor without values, because it is "
                    f"neither parameter nor buffer: self.register_buffer('{key}', …, "
                    "persistent=False) in its __init__ keeps them",
                    file=sys.stderr,
                    flush=True,
                )
                return


class Attached(TorchJob):
    """A rank that an agent has started."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._is_ended = False  # or an error ends the process
        self._process = os.getpid()
        _end_at_errors(self)
        self._device = device
        self._job = Job()
        self._groups = Groups(self._job, device)
        self._build: Prepared | None = None
        self._buffers: dict[str, torch.Tensor] = {}
        self._state_of_optimizer: StateOfOptimizer | None = None  # as soon as it is known
        self._refusal: TesseraError | None = None  # of the mesh that this process was started for
        self._unchecked: Binding | None = None  # until the first step
        self._unfinished: Decision | None = None
        self._waits = False  # for the boundary before the first step
        self._world = contextlib.ExitStack()  # pretended, if there are no other ranks
        if device.type == "cuda":  # the others do not collect in a pause
            _keep_imports()

    def bind(self, build: Build) -> None:
        self._build = build = self._parts.prepare(build)
        if FINISH_UPDATE in os.environ:
            self._bind_alone()
            return
        # Before the groups are built, so that the others train on meanwhile: imports, the first use
        # of everything, and what only a real model has.
        with alone() as mesh, self._on_the_host():
            first = call(build, mesh)
        warm_up(self._device, first[1])
        self._seed = torch.initial_seed()
        saved = persistent_buffers(first[0])
        self._buffers = {
            name: buffer.to(self._device)
            for name, buffer in first[0].named_buffers()
            if name not in saved
        }
        is_needed = self._job.pieces() and self._job.must_initialise
        initial = first[:2] if is_needed else None
        del first
        try:
            view = self._job.view
            for rank in first_ranks(view.sizes) if view.rank == 0 else (view.rank,):
                found = check_here(build, view.sizes, rank).state_of_optimizer
                if self._state_of_optimizer is None:
                    self._state_of_optimizer = found
                else:
                    self._state_of_optimizer.learn(found)
        except TesseraError as error:
            self._refusal = error
        if initial is None:
            _return_memory()  # while nobody waits for this rank
        self._job.connect(self._connect)
        if self._job.pieces():
            binding = self._rebuild(self._job.view)
            if initial is not None:
                tensors = {name: value for name, (value, _) in parameters(initial[0]).items()}
                values = {**tensors, **persistent_buffers(initial[0])}
                _compare_values(values, self._device)
                binding.initialise(*initial)
                del initial
                _return_memory()
        if self._job.pieces() and not self._job.must_initialise:
            # All ranks start again: their boundary is where the first of them may be, in steps().
            self._unfinished = self._job.unfinished()
            self.coming_step = int(self._bound().step_value) + 1 + bool(self._unfinished)
            self._waits = True
            self._begin_watch()
        else:
            self._wait(0, step=-1)  # an update that is left comes with the loop
        self._job.on_check(self._check)
        watch_over(self)
        atexit.register(self._at_exit)

    @contextlib.contextmanager
    def _on_the_host(self) -> Iterator[None]:
        """A model that is not cut may not fit on a GPU."""
        own, self._device = self._device, torch.device("cpu")
        try:
            yield
        finally:
            self._device = own

    def _bind_alone(self) -> None:
        """To make one update that an earlier rank of this device has left out, and end."""
        self._unfinished = self._job.unfinished()
        if self._unfinished is None:
            raise TransientError("this device is not one update behind its decision")
        view = self._job.view
        world = pretended(view.sizes, view.rank, self._device.type)
        self.mesh = self._world.enter_context(world)
        self._program = binding = self._make(None)
        binding.check()
        if binding.buffers:
            raise TransientError(
                "buffers of the step that is to be finished have died with its rank"
            )

    def _begin(self) -> None:
        """The program has its schedule now."""
        self._make_update_left()
        if FINISH_UPDATE in os.environ:
            self._is_ended = True
            self._job.detach()
            self._world.close()
            sys.exit(0)
        if self._waits:
            self._waits = False
            self._boundary(0, step=-1)

    def _make_update_left(self) -> None:
        """Makes an update before which the ranks have paused, or that an earlier one left out."""
        decision, self._unfinished = self._unfinished, None
        if decision is None:
            return
        program = self._bound()
        self.coming_step = decision.step
        for gradient in program.gradients:
            gradient.recover()
        self._set_rates(program)
        self._update(program, decision)
        program.clear_gradients()
        program.note_values()
        self.coming_step += 1
        self._began = time.monotonic()

    def _connect(self, view: View) -> None:
        """On a thread of the library, also for a coming view while this rank trains."""
        if self._refusal is not None:
            raise self._refusal
        self._check_change(view.sizes)
        # A rank that joins has looked whether the program can do this mesh. If none does, or to see
        # all stages:
        is_change = self._program is not None and view.rank == 0
        if is_change and (view.world <= self.mesh.size() or view.sizes["pp"] > 1):
            check_in_child(view.sizes, lambda: self._job.abandoned(view))
        self._groups.build(view)

    def _check(self, sizes: dict[str, int]) -> None:
        """Raises what _connect and ranks that join would refuse. On a thread of the library."""
        self._check_change(sizes)
        check_in_child(sizes, self._job.check_abandoned)

    def _check_change(self, sizes: dict[str, int]) -> None:
        if self._sampler is not None:
            self._sampler.check(sizes)
        self._unsaved.check_change()

    def _rebuild(self, view: View) -> Binding:
        old = [] if self._program is None else _parts_of(self._program)
        self._program = None
        if self._device.type == "cuda":  # NCCL takes memory beside that of torch
            gc.collect()
            torch.cuda.empty_cache()
        self.mesh = self._groups.use(view)
        self._program = self._unchecked = binding = self._make(self._buffers)
        now = {id(part()) for part in _parts_of(binding)}
        for part in old:
            _refuse(part(), now)
        _compare_values(self._buffers, self._device)
        return binding

    def _make(self, buffers: dict[str, torch.Tensor] | None) -> Binding:
        assert self._build is not None
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)  # scripts may choose another one
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            made = call(self._build, self.mesh)
        binding = Binding(
            *made,
            self.mesh,
            self._job.pieces(),
            self._job.memory_end,
            self._device,
            buffers,
            self._state_of_optimizer,
            self._parts.objects.tensors(),
        )
        self._state_of_optimizer = binding.state_of_optimizer
        self._parts.attach(binding, binding.places_of_objects())
        return binding

    def _boundary(self, request: int, step: int | None = None) -> None:
        self._wait(request, step)
        self._make_update_left()

    def _wait(self, request: int, step: int | None = None) -> None:
        if isinstance(self._program, Binding):
            self._program.check()  # before it moves
        at = int(self._bound().step_value) if step is None else step
        stays = True
        while stays:
            command = self._job.wait(at, request)
            stays = False
            if command == LEAVE:
                self._end()
            if command == RESUME:
                break
            view = self._job.adopt()
            self._rebuild(view)
            stays = not self._job.attached()
            self._groups.end_left()
            request = 0
        # What has moved may have used their place, also in a change that was rolled back.
        self._bound().clear_gradients()
        self._begin_watch()
        self.coming_step = int(self._bound().step_value) + 1
        self._pause = 0
        self._unfinished = self._job.unfinished()
        self._began = time.monotonic()

    def _begin_watch(self) -> None:
        self._bound().begin_watch(self._build is not None and self._build.keeps_modules)
        self._unsaved.begin(self._bound().model)

    def _at_exit(self) -> None:
        """The process ends by itself. If it has left the loop, so have the other ranks, and the job
        ends. Otherwise its log and the event say why the ranks are started again."""
        if self._is_ended or os.getpid() != self._process:
            return
        if self._left is not None:
            try:
                self._pause_for_good()
            except SystemExit:  # the device has left the job, or the job has ended
                return
            except BaseException as error:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(exit_status(error))
        print(
            f"the program has ended in step {self.coming_step}, and its job has not, so it may "
            "be started again: call job.finish() in the loop, or give job.steps(until=…)",
            file=sys.stderr,
            flush=True,
        )

    def _leave_loop(self) -> None:
        super()._leave_loop()
        assert self._left is not None
        self._groups.note_left(self._left)

    def _pause_for_good(self) -> NoReturn:
        """Ends the job after the step in which all ranks have left the loop.

        Raises TesseraError if another rank has not left it there.
        """
        assert self._left is not None
        sys.stdout.flush()
        sys.stderr.flush()
        finishes = self._ends  # on all ranks, also if only one leaves the loop
        if not finishes and (rank := self._groups.find_other(self._left)) is not None:
            raise TesseraError(
                f"this rank has left the loop after step {self._left}, and rank {rank} has not: "
                "leave it on all ranks after the same step, or call job.finish() in the loop on "
                "one of them"
            )
        mesh = self.mesh
        if self._pause:
            self._boundary(self._pause)
            if finishes or self.mesh is not mesh:  # other ranks make another step
                raise TransientError(
                    "a change of the mesh came after the step in which this program left its loop, "
                    "so the ranks start again and end the job later"
                )
        while True:
            self._finish()

    def _end(self) -> None:
        self._is_ended = True
        if dist.is_initialized():
            dist.destroy_process_group()
        self._job.detach()
        sys.exit(0)

    def _finish(self) -> bool:
        self._boundary(PAUSE_DONE)
        return True

    def _decide(self, mine: Record, settings: Settings, busy: float) -> Decision:
        program = self._bound()
        flags = bytes([self._wants_end]) + program.used()

        def gather(record: bytes) -> bytes:
            """Gathers beside the records the settings of the ranks, whether they want to end, and
            which parameters they have used."""
            sent = record + settings.packed() + flags
            got = self._groups.gather(sent)
            parts = [got[at : at + len(sent)] for at in range(0, len(got), len(sent))]
            size = len(record)
            end = size + SETTINGS_SIZE
            check_equal(self.coming_step, [part[size:end] for part in parts])
            of_all = bytes(map(max, *(part[end:] for part in parts))) if len(parts) > 1 else flags
            self._ends = bool(of_all[0])
            program.settle_gradients(of_all[1:])
            return b"".join(part[:size] for part in parts)

        self._job.busy(busy)
        return self._job.decide(self.coming_step, mine, settings.max_norm, gather)

    def _update(self, program: Program, decision: Decision) -> None:
        if self._device.type == "cuda":
            _find_room(program.optimizer, self._device)
        with self._job.update(decision.step), torch.no_grad():
            self._apply(program, decision)
        if self._unchecked is not None:
            self._unchecked.check()
            self._unchecked = None

    def _report(self, name: str, value: float) -> None:
        self._job.log(name, value)

    def checkpoint(self) -> None:
        self._job.checkpoint()

    def _samples(self, seed: int, position: int, num: int, batch: int) -> tuple[list[int], int]:
        return self._job.samples(seed, position, num, batch)

    def _dropout_mask(self, site: int, sample: int, num: int, probability: float) -> torch.Tensor:
        values = self._job.dropout_mask(self._seed, site, sample, 0, num, probability)
        return torch.frombuffer(values, dtype=torch.float32)
