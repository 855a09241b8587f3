# SPDX-License-Identifier: Apache-2.0
"""Process groups: those of a job, which are built beside the ones in use, and pretended ones."""

from __future__ import annotations

import datetime
import gc
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore, PrefixStore, TCPStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from tessera._library import AXES, TesseraError, TransientError
from tessera.job import Job, View

_TIMEOUT = datetime.timedelta(seconds=60)  # to build groups

# A forked process, such as a worker of a DataLoader, has none of the threads that a group waits for
# when it is freed. Groups of an earlier mesh may be garbage that a collection there would free.
os.register_at_fork(after_in_child=gc.freeze)


def _longest_collective() -> datetime.timedelta:
    """Ranks wait for one that evaluates or saves; one that has died ends them by its agent."""
    seconds = int(os.environ.get("TESSERA_COLLECTIVE_TIMEOUT") or 0)
    return datetime.timedelta(seconds=seconds if seconds > 0 else 1800)


_set_timeout: Any = (
    dist.set_timeout if hasattr(dist, "set_timeout") else dist.distributed_c10d._set_pg_timeout
)


def _forget_meshes() -> None:
    """Lets torch forget what it has computed for meshes of before.

    It keeps that by DeviceMesh, and a mesh equals another in which this process has another rank.
    """
    from torch.distributed.tensor import debug

    debug._clear_sharding_prop_cache()  # type: ignore[no-untyped-call]
    names = [name for name in sys.modules if name.startswith("torch.distributed.tensor")]
    for name in names:
        for value in list(vars(sys.modules[name]).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear) and not isinstance(value, type):
                clear()


class _ForgetInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        _forget_meshes()
        return gradient


def forget_in_backward(device: torch.device) -> None:
    """As _forget_meshes, on the thread on which autograd runs backward() of a GPU: torch keeps it
    for each thread."""
    one = torch.zeros((), device=device, requires_grad=True)
    _ForgetInBackward.apply(one).backward()


def _track_random_numbers(mesh: DeviceMesh, device: torch.device) -> None:
    """Makes what random operations of DTensors need on GPUs. The first of them would make it by a
    collective, for which a rank that joins would wait alone."""
    from torch.distributed.tensor import _random

    tracker = _random.OffsetBasedRNGTracker(mesh, run_state_sync=False)
    tracker._device = device
    _random._rng_tracker = tracker


def device_mesh(sizes: dict[str, int], device: str) -> DeviceMesh:
    """All axes of the job, also those of one rank. The default group has just been made."""
    _forget_meshes()
    return init_device_mesh(device, tuple(sizes[a] for a in AXES), mesh_dim_names=AXES)


class Axis(NamedTuple):
    """One axis of a mesh, for this rank. A DeviceMesh computes these anew each time."""

    size: int
    rank: int
    group: Any


def axes_of(mesh: DeviceMesh) -> dict[str, Axis]:
    parts = {axis: mesh[axis] for axis in AXES}
    return {
        axis: Axis(part.size(), part.get_local_rank(), part.get_group())
        for axis, part in parts.items()
    }


@contextmanager
def _own_excepthook() -> Iterator[None]:
    """torch would put a rank before each line of an error, once more with each default group."""
    hook = sys.excepthook
    try:
        yield
    finally:
        sys.excepthook = hook


def first_ranks(sizes: dict[str, int]) -> range:
    """The first rank of each pipeline stage."""
    world = math.prod(sizes.values())
    return range(0, world, world // sizes["pp"])


@contextmanager
def _world(
    backend: str, store: Any, rank: int, sizes: dict[str, int], device: str
) -> Iterator[DeviceMesh]:
    with _own_excepthook():
        dist.init_process_group(
            backend, store=store, rank=rank, world_size=math.prod(sizes.values())
        )
    try:
        yield device_mesh(sizes, device)
    finally:
        dist.destroy_process_group()


def pretended(
    sizes: dict[str, int], rank: int = 0, device: str = "cpu"
) -> AbstractContextManager[DeviceMesh]:
    """The mesh of a world of which only this rank exists; no collective does anything in it.
    `device`: of the tensors on it, which a DTensor of another kind of device would copy."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    return _world("fake", FakeStore(), rank, sizes, device)


def alone() -> AbstractContextManager[DeviceMesh]:
    """The mesh of a world of one rank, with real groups. In a pretended one, tensors that torch
    2.11 distributes do not get their values."""
    return _world("gloo", HashStore(), 0, dict.fromkeys(AXES, 1), "cpu")


def _leave() -> list[Any]:
    """Makes torch.distributed forget its groups, and returns them in the order of their shutdown.

    Their shutdown waits for other members, if they are of NCCL.
    """
    names = dist.distributed_c10d._world.pg_names
    groups = sorted(names, key=lambda group: names[group], reverse=True)
    names.clear()  # those that it finds here, destroy_process_group() shuts down
    dist.destroy_process_group()
    return groups


def _shut_down(groups: list[Any]) -> None:
    for group in groups:
        group.shutdown()
    groups.clear()


def _start(run: Callable[[], None], daemon: bool = False) -> None:
    """On a thread of its own. At the end of the process Python 3.12 starts none: then here."""
    try:
        threading.Thread(target=run, daemon=daemon).start()
    except RuntimeError:
        run()


class Groups:
    """The groups of a job's rank. Each view has a store, at its rank 0, and a group for decisions,
    built on a thread of the library while the job trains. The default group, of which a process can
    have one only, changes in use()."""

    def __init__(self, job: Job, device: torch.device) -> None:
        self._job = job
        self._device = device
        self._coming: dict[tuple[int, int], tuple[Any, Any, str]] = {}
        self._current: tuple[Any, Any, str] | None = None
        self._left: list[Any] = []

    def build(self, view: View) -> None:
        """For Job.connect."""
        if view.rank < 0:
            return
        leads = view.rank == 0
        if leads:
            store = TCPStore(
                view.addresses[0], 0, None, is_master=True, timeout=_TIMEOUT, wait_for_workers=False
            )
            self._job.store_set(view, "torch", str(store.port).encode())
        else:
            port = int(self._job.store_get(view, "torch", _TIMEOUT.total_seconds()))
            store = TCPStore(view.addresses[0], port, None, is_master=False, timeout=_TIMEOUT)
        if self._job.abandoned(view):
            raise TransientError("the groups are no longer wanted")
        decisions = dist.ProcessGroupGloo(
            PrefixStore("decisions", store), view.rank, view.world, _longest_collective()
        )
        self._name_device(view, store)
        backend = self._backend(view, store)
        if view.sizes["pp"] > 1 and self._device.type == "cuda" and backend == "gloo":
            raise TesseraError(
                "ranks that share a GPU communicate over Gloo, which sends nothing from GPU to GPU "
                "between stages: pp=1, or a GPU for each rank"
            )
        self._coming[(view.epoch, view.attempt)] = (store, decisions, backend)

    def use(self, view: View) -> DeviceMesh:
        """Makes the groups of `view` those of torch.distributed."""
        built = self._coming.pop((view.epoch, view.attempt), None)
        if built is None:
            raise TransientError(f"the groups of epoch {view.epoch} were not built")
        if dist.is_initialized():
            self._left += _leave()
        self._coming = {key: of for key, of in self._coming.items() if key[0] > view.epoch}
        # Nobody has to wait for the end of a group's threads.
        retired, self._current = [self._current], built
        _start(retired.clear)
        with _own_excepthook():
            dist.init_process_group(
                built[2],
                store=PrefixStore("default", built[0]),
                rank=view.rank,
                world_size=view.world,
                timeout=_longest_collective(),
            )
        mesh = device_mesh(view.sizes, self._device.type)
        for axis in axes_of(mesh).values():
            _set_timeout(_longest_collective(), axis.group)
        if self._device.type == "cuda":
            forget_in_backward(self._device)
            _track_random_numbers(mesh, self._device)
        return mesh

    def note_left(self, step: int) -> None:
        """Lets the other ranks know that this one has left its loop after `step`."""
        assert self._current is not None
        store, decisions, _ = self._current
        with suppress(RuntimeError):  # rank 0, which has the store, has ended
            store.set(f"left/{decisions.rank()}", str(step))

    def find_other(self, step: int) -> int | None:
        """Returns a rank that makes more steps. None if all have left their loop after `step`.

        Raises TransientError if a rank says nothing for a minute.
        """
        assert self._current is not None
        store, decisions, _ = self._current
        end = time.monotonic() + _TIMEOUT.total_seconds()
        for rank in range(decisions.size()):
            rest = datetime.timedelta(seconds=max(end - time.monotonic(), 1))
            try:
                store.wait([f"left/{rank}"], rest)
                # A note of an earlier loop says nothing of this one.
                while (other := int(store.get(f"left/{rank}"))) < step:
                    if time.monotonic() >= end:
                        raise dist.DistStoreError("no further note")
                    time.sleep(0.05)
            except dist.DistNetworkError:
                raise TransientError("rank 0 has ended") from None
            except dist.DistStoreError:
                raise TransientError(
                    f"rank {rank} has not left its loop a minute after this rank, which left it "
                    f"after step {step}"
                ) from None
            if other != step:
                return rank
        return None

    def end_left(self) -> None:
        """Shuts down the groups from before, when all ranks have adopted and others leave the job.

        These others still have them, so nobody may wait for that before.
        """
        left, self._left = self._left, []
        if left:
            _start(lambda: _shut_down(left), daemon=True)

    def _name_device(self, view: View, store: Any) -> None:
        """For _backend."""
        if self._device.type == "cuda":
            uuid = str(torch.cuda.get_device_properties(self._device).uuid)
            store.set(f"device/{view.rank}", uuid.encode())

    def _backend(self, view: View, store: Any) -> str:
        """NCCL if the ranks compute on GPUs, one on each: it refuses two on the same."""
        if self._device.type != "cuda":
            return "gloo"
        names = store.multi_get([f"device/{rank}" for rank in range(view.world)])
        return "nccl" if len({*names}) == view.world else "gloo"

    def gather(self, mine: bytes) -> bytes:
        """All-gathers records of equal length, in rank order."""
        assert self._current is not None
        group = self._current[1]
        if group.size() == 1:
            return mine
        sent = torch.frombuffer(bytearray(mine), dtype=torch.uint8)
        got = [torch.empty_like(sent) for _ in range(group.size())]
        group.allgather([got], [sent]).wait()
        return b"".join(bytes(part.numpy()) for part in got)
