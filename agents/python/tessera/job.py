# SPDX-License-Identifier: Apache-2.0
"""The interface of the rank library, typed. `tessera.torch` is built on it.

All calls come from one thread, except the function that Job.connect gets.
"""

from __future__ import annotations

import ctypes
import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_float, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any, Callable

from tessera import _library as lib
from tessera._library import AXES, PAUSE_BEFORE_UPDATE, PAUSE_DATA, TesseraError, check

_WIDTHS = {
    "bool": 1, "u8": 1, "i8": 1, "f8e4m3": 1, "f8e5m2": 1, "u16": 2, "i16": 2, "f16": 2,
    "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "f64": 8, "c64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """A layout as one rank sees it."""

    epoch: int
    attempt: int  # distinguishes attempts to reach the same epoch
    rank: int  # -1: this device is not in the mesh
    world: int
    sizes: dict[str, int]  # by axis: pp, dp, ep, cp, tp
    coordinates: dict[str, int]
    micro_batch: int  # samples of one forward and backward pass; 0: the job chooses
    nodes: tuple[int, ...]  # of each rank
    hosts: tuple[int, ...]  # ranks with equal hosts can share memory
    addresses: tuple[str, ...]  # for groups that cross hosts


def _view(c: Any) -> View:
    ranks = range(c.world)
    return View(
        epoch=c.epoch,
        attempt=c.attempt,
        rank=c.rank,
        world=c.world,
        sizes={axis: c.axis_size[i] for i, axis in enumerate(AXES)},
        coordinates={axis: c.axis_coord[i] for i, axis in enumerate(AXES)},
        micro_batch=c.micro_batch,
        nodes=tuple(c.node_of_rank[r] for r in ranks),
        hosts=tuple(c.host_of_rank[r] for r in ranks),
        addresses=tuple(c.address_of_rank[r].decode() for r in ranks),
    )


class CudaArray:
    """Bytes of a CUDA device in the form that array libraries take over without a copy."""

    def __init__(self, address: int, num_bytes: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (num_bytes,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


@dataclass(frozen=True)
class Piece:
    """One box of one tensor, in the memory of this rank's device."""

    name: str
    dtype: str  # "f32", "bf16", …
    role: str  # "param", "exp_avg", …
    shape: tuple[int, ...]  # of the uncut tensor
    begin: tuple[int, ...]  # the box
    end: tuple[int, ...]
    address: int
    gradient_address: int | None  # of the same shape, for parameters
    device: int | None = None  # number of the CUDA device with both; None: host memory

    @property
    def local_shape(self) -> tuple[int, ...]:
        return tuple(e - b for b, e in zip(self.begin, self.end))

    @property
    def num_elements(self) -> int:
        count = 1
        for size in self.local_shape:
            count *= size
        return count

    @property
    def num_bytes(self) -> int:
        return self.num_elements * _WIDTHS[self.dtype]

    @property
    def box(self) -> tuple[slice, ...]:
        """Where the piece is in the uncut tensor."""
        return tuple(slice(b, e) for b, e in zip(self.begin, self.end))

    def buffer(self, gradient: bool = False) -> memoryview:
        """The bytes of the piece or its gradient in host memory. Valid until the next Job.adopt."""
        address = self.address_of(gradient)
        if self.device is not None:
            raise TesseraError(
                f"'{self.name}' is in the memory of CUDA device {self.device}: use cuda_array()"
            )
        return memoryview((ctypes.c_ubyte * self.num_bytes).from_address(address)).cast("B")

    def address_of(self, gradient: bool = False) -> int:
        if not gradient:
            return self.address
        if self.gradient_address is None:
            raise TesseraError(f"'{self.name}' has no gradient: its role is {self.role}")
        return self.gradient_address

    def cuda_array(self, gradient: bool = False, num_bytes: int | None = None) -> CudaArray:
        """The bytes of the piece or its gradient on a CUDA device, for torch.as_tensor.

        `num_bytes` reads on behind the piece. Valid until the next Job.adopt.
        """
        if self.device is None:
            raise TesseraError(f"'{self.name}' is in host memory: use array()")
        return CudaArray(self.address_of(gradient), num_bytes or self.num_bytes)

    def array(self, gradient: bool = False) -> Any:
        """The piece as a NumPy array of its box. bf16 and 8-bit floats are unsigned integers."""
        import numpy

        names = {"bool": "bool", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8"}
        kind = names.get(self.dtype) or (
            self.dtype[0] + str(_WIDTHS[self.dtype])
            if self.dtype[0] in "ui"
            else f"u{_WIDTHS[self.dtype]}"
        )
        flat = numpy.frombuffer(self.buffer(gradient), dtype=kind)
        return flat.reshape(self.local_shape)


@dataclass
class Record:
    """The contribution of a rank to the step decision."""

    loss: float = 0.0  # this rank's share: shares add up to the loss
    norm2: float = 0.0  # this rank's share of the squared gradient norm
    found_inf: int = 0
    tokens: int = 0  # this rank's share of the tokens of the step
    request: int = 0  # 0 or PAUSE_DATA


@dataclass(frozen=True)
class Decision:
    """What all ranks have agreed on for a step."""

    step: int
    loss: float
    norm2: float
    found_inf: int
    tokens: int
    clip: float  # coefficient for the gradients; 1 without clipping
    skip: bool  # no update in this step
    pause: int  # not 0: the ranks wait at the boundary after this step, or before its update

    @property
    def waits_before_update(self) -> bool:
        """Whether the ranks wait with the gradients of the step, after the step before it.

        After the wait Job.unfinished() says whether the update is to be made.
        """
        return self.pause != PAUSE_DATA and self.pause & PAUSE_BEFORE_UPDATE != 0


def _decision(c: Any) -> Decision:
    return Decision(
        c.step, c.loss, c.norm2, c.found_inf, c.tokens, c.clip, c.skip != 0, c.pause
    )  # fmt: skip


RESUME, ADOPT, LEAVE = 1, 2, 3
Connect = Callable[[View], None]
# All-gathers the bytes of a record from every rank, in rank order.
Gather = Callable[[bytes], bytes]


class Job:
    """The job of this process: one rank on one device."""

    def __init__(self) -> None:
        """Attaches to the device of this process, in the environment that the agent has set."""
        self._lib = lib.library()
        self._job = c_void_p()
        check(self._lib.tessera_attach(byref(self._job)))
        # The library calls it later on, so it must live as long.
        self._connect: Any = lib.ConnectFunction()
        self._check: Any = lib.CheckFunction()

    def detach(self) -> None:
        if self._job:
            self._lib.tessera_detach(self._job)
            self._job = c_void_p()

    @property
    def settings(self) -> dict[str, Any]:
        """What `job start` has recorded."""
        text = self._lib.tessera_settings(self._job)
        return dict(json.loads(text)) if text else {}

    @property
    def view(self) -> View:
        """The current one; adopt() replaces it."""
        return _view(self._lib.tessera_current_view(self._job).contents)

    @property
    def must_initialise(self) -> bool:
        """Whether this process starts the job: its pieces hold zeros."""
        return bool(self._lib.tessera_must_initialise(self._job) == 1)

    def pieces(self) -> list[Piece]:
        """Those of the current epoch, in order of (name, box). Valid until the next adopt()."""
        first = ctypes.POINTER(lib.CPiece)()
        count = c_size_t()
        check(self._lib.tessera_pieces(self._job, byref(first), byref(count)))
        out = []
        for i in range(count.value):
            c = first[i]
            dims = range(c.rank)
            out.append(
                Piece(
                    name=c.name.decode(),
                    dtype=c.dtype.decode(),
                    role=c.role.decode(),
                    shape=tuple(c.shape[d] for d in dims),
                    begin=tuple(c.begin[d] for d in dims),
                    end=tuple(c.end[d] for d in dims),
                    address=c.data or 0,
                    gradient_address=c.gradient,
                    device=c.device if c.memory == lib.CUDA else None,
                )
            )
        return out

    @property
    def memory_end(self) -> int:
        """The address behind the memory that all pieces lie in."""
        return self._lib.tessera_memory_end(self._job) or 0

    def loading(self, done: int, total: int) -> None:
        """Reports bytes read of what is needed before connect(). Any thread."""
        self._lib.tessera_loading(self._job, done, total)

    # ---- groups

    def connect(self, build: Connect | None = None) -> None:
        """Builds the groups of the current view, and later those of coming views.

        `build` is called for each view, on a thread of the library. If it raises, the start or the
        change of the mesh ends with that reason. Without it the library builds groups of its own,
        for all_reduce_sum() and decide().
        """
        if build is None:
            self._connect = lib.ConnectFunction()
        else:
            call = build

            def run(_context: Any, _job: Any, view: Any) -> int:
                try:
                    call(_view(view.contents))
                except Exception as error:
                    if not isinstance(error, TesseraError):
                        traceback.print_exc(file=sys.stderr)
                    reason = str(error) or type(error).__name__
                    self._lib.tessera_connect_reason(self._job, reason.encode(errors="replace"))
                    return -1
                return 0

            self._connect = lib.ConnectFunction(run)
        check(self._lib.tessera_connect(self._job, self._connect, None))

    def on_check(self, can_run: Callable[[dict[str, int]], None]) -> None:
        """Lets users ask whether the program can run on a mesh, without a change.

        `can_run` is called with the sizes by axis, on a thread of the library, one call at a time.
        It raises TesseraError if the program cannot; after another exception it is not known.
        """

        def run(_context: Any, _job: Any, sizes: Any) -> int:
            try:
                can_run({axis: int(sizes[i]) for i, axis in enumerate(lib.AXES)})
            except Exception as error:
                reason = str(error) or type(error).__name__
                self._lib.tessera_check_reason(self._job, reason.encode(errors="replace"))
                return 1 if isinstance(error, TesseraError) else -1
            return 0

        self._check = lib.CheckFunction(run)
        check(self._lib.tessera_on_check(self._job, self._check, None))

    def check_abandoned(self) -> bool:
        """Whether the answer of the running check is no longer wanted. In `can_run` only."""
        return bool(self._lib.tessera_check_abandoned(self._job) == 1)

    def abandoned(self, view: View) -> bool:
        """Whether the groups of the view are no longer wanted. Any thread."""
        return bool(self._lib.tessera_abandoned(self._job, view.epoch, view.attempt) == 1)

    def store_set(self, view: View, key: str, value: bytes) -> None:
        """Any thread."""
        check(
            self._lib.tessera_store_set(
                self._job, view.epoch, view.attempt, key.encode(), value, len(value)
            )
        )

    def store_get(self, view: View, key: str, seconds: float = 60.0) -> bytes:
        """Waits until the key is set, the attempt is abandoned or time is up. Any thread."""
        value, size = c_void_p(), c_size_t()
        check(
            self._lib.tessera_store_get(
                self._job,
                view.epoch,
                view.attempt,
                key.encode(),
                byref(value),
                byref(size),
                int(seconds * 1000),
            )
        )
        try:
            return ctypes.string_at(value.value or 0, size.value) if size.value else b""
        finally:
            self._lib.tessera_free(value)

    def all_reduce_sum(self, values: Any, axis: str | None = None) -> None:
        """Sums a contiguous float32 NumPy array over the ranks of an axis (None: all), in place.

        Needs connect() without a function.
        """
        if values.dtype != "float32" or not values.flags["C_CONTIGUOUS"]:
            raise TesseraError("all_reduce_sum needs a contiguous array of float32")
        data = values.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        name = axis.encode() if axis else None
        check(self._lib.tessera_all_reduce_sum(self._job, name, data, values.size))

    # ---- steps

    def decide(
        self, step: int, mine: Record, max_norm: float = 0.0, gather: Gather | None = None
    ) -> Decision:
        """Makes the decision of `step`, from 1. Every rank gets equal values.

        The reduced gradients must be in the pieces. `max_norm` limits the global norm, 0: no limit.
        `gather` is needed if connect() got a function.
        """
        record = lib.CRecord(mine.loss, mine.norm2, mine.found_inf, mine.tokens, mine.request)
        decision = lib.CDecision()
        failure: list[BaseException] = []
        call = lib.GatherFunction()
        if gather is not None:
            all_gather = gather

            def run(_context: Any, own: Any, everybody: Any) -> int:
                try:
                    got = all_gather(ctypes.string_at(own, ctypes.sizeof(lib.CRecord)))
                    ctypes.memmove(everybody, got, len(got))
                except BaseException as error:
                    failure.append(error)
                    return -1
                return 0

            call = lib.GatherFunction(run)
        result = self._lib.tessera_decide(
            self._job, step, byref(record), max_norm, call, None, byref(decision)
        )
        if failure:
            raise failure[0]
        check(result)
        return _decision(decision)

    def busy(self, seconds: float) -> None:
        """How long this rank computed for the coming decision, without waiting for others."""
        self._lib.tessera_busy(self._job, seconds)

    def log(self, name: str, value: float) -> None:
        """Reports a number of the program with the next decision. Only calls of rank 0 count.

        The history records it under its name, [A-Za-z_][A-Za-z0-9_./-]* of at most 40 characters. A
        job has at most 16 names. NaN is a gap.
        """
        check(self._lib.tessera_log(self._job, name.encode(errors="replace"), value))

    def checkpoint(self) -> None:
        """Requests a checkpoint of the state after the next step boundary, and returns at once.

        Only calls of rank 0 count, once per step. The outcome is an event of the job.
        """
        check(self._lib.tessera_checkpoint(self._job))

    def unfinished(self) -> Decision | None:
        """The decision whose update is not made; None usually.

        An earlier rank of this device has left it out, or the ranks have paused before it, perhaps
        in another layout. The gradients are in the pieces. Make the update before the next wait().
        """
        decision = lib.CDecision()
        if check(self._lib.tessera_unfinished(self._job, byref(decision))) == 0:
            return None
        return _decision(decision)

    @contextmanager
    def update(self, step: int) -> Iterator[None]:
        """Encloses the update of the state in place, which must contain no collective.

        If the update raises, it counts as unfinished.
        """
        check(self._lib.tessera_begin_update(self._job, step))
        yield
        check(self._lib.tessera_end_update(self._job, step))

    def pause_reason(self, reason: str) -> None:
        self._lib.tessera_pause_reason(self._job, reason.encode())

    def wait(self, step: int, request: int) -> int:
        """Reports "paused after `step`" (-1: none was made). Returns RESUME, ADOPT or LEAVE."""
        command = c_int()
        check(self._lib.tessera_wait(self._job, step, request, byref(command)))
        return command.value

    def adopt(self) -> View:
        """Makes the committed layout current. Arrays of old pieces are invalid afterwards."""
        view = ctypes.POINTER(lib.CView)()
        check(self._lib.tessera_adopt(self._job, byref(view)))
        return _view(view.contents)

    def attached(self) -> bool:
        """Waits until all ranks have adopted. False: the job stays paused, so wait() again."""
        return check(self._lib.tessera_attached(self._job)) == 0

    # ---- data and random numbers, the same on any mesh

    def samples(
        self, seed: int, position: int, num_samples: int, global_batch: int
    ) -> tuple[list[int], int]:
        """The samples of this rank in the batch that begins after `position` samples of the run.

        Returns their numbers, and the place of the first one in the batch.
        """
        cursor = lib.CCursor(seed, 0, 0)
        check(self._lib.tessera_advance(byref(cursor), num_samples, position))
        view = self._lib.tessera_current_view(self._job).contents
        room = global_batch // view.axis_size[AXES.index("dp")] + 1
        numbers, count, place = (c_int64 * room)(), c_size_t(), c_int64()
        check(
            self._lib.tessera_samples(
                self._job,
                byref(cursor),
                num_samples,
                global_batch,
                numbers,
                room,
                byref(count),
                byref(place),
            )
        )
        return list(numbers[: count.value]), place.value

    def random_normal(self, seed: int, tensor: str, first: int, count: int) -> bytearray:
        """Standard normal numbers (float32) of the elements from `first` on of a tensor.

        The number of an element depends on nothing else, so every cut gets equal values.
        """
        out = (c_float * count)()
        self._lib.tessera_random_normal(seed, tensor.encode(), first, out, count)
        return bytearray(out)

    def random_uniform(
        self, seed: int, name: str, sample: int, first: int, count: int
    ) -> bytearray:
        """Numbers in [0, 1) (float32) of the elements from `first` on of a sample's tensor.

        `sample` counts the samples of the whole run.
        """
        out = (c_float * count)()
        self._lib.tessera_random_uniform(seed, name.encode(), sample, first, out, count)
        return bytearray(out)

    def dropout_mask(
        self, seed: int, site: int, sample: int, first: int, count: int, probability: float
    ) -> bytearray:
        """A mask (float32): 0 with `probability`, else 1 / (1 - probability), as random_uniform.

        `site` numbers the operation in the model.
        """
        out = (c_float * count)()
        check(self._lib.tessera_dropout_mask(seed, site, sample, first, probability, out, count))
        return bytearray(out)
