# SPDX-License-Identifier: Apache-2.0
"""Makes the state of a built program views into the memory of this rank's device."""

from __future__ import annotations

import copy
import ctypes
import functools
import math
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

from tessera._library import TesseraError
from tessera.job import Piece
from tessera.torch.beginnings import beginnings_of
from tessera.torch.contents import Turns, first_difference, sums_of
from tessera.torch.fsdp import fsdp_parameters
from tessera.torch.groups import axes_of
from tessera.torch.layout import Layout
from tessera.torch.objects import PREFIX
from tessera.torch.program import (
    DTYPES,
    STEP,
    StateOfOptimizer,
    Tensor,
    has_axis,
    like,
    local_of,
    make_state,
    memory_of,
    parameters,
    state_of,
)
from tessera.torch.watch import CallHook, Watch

_AXES_OF_A_STAGE = ("dp", "ep", "cp", "tp")
_TORCH = {name: dtype for dtype, name in DTYPES.items()}


def tensor_of(piece: Piece, gradient: bool = False) -> torch.Tensor:
    """A tensor in the memory of the piece, of the shape of its box."""
    dtype = _TORCH[piece.dtype]
    if piece.num_elements == 0:
        return torch.empty(piece.local_shape, dtype=dtype, device=_device_of(piece))
    return bytes_of(piece, gradient).view(dtype).view(piece.local_shape)


def bytes_of(piece: Piece, gradient: bool = False, num_bytes: int | None = None) -> torch.Tensor:
    """The memory of the piece, of u8. `num_bytes` reads on behind it."""
    if piece.device is not None:
        if not torch.cuda.is_available():
            raise TesseraError(
                f"the state is on CUDA device {piece.device}, and this torch finds no CUDA device"
            )
        taken = torch.as_tensor(piece.cuda_array(gradient, num_bytes), device=_device_of(piece))
        if taken.data_ptr() != piece.address_of(gradient):
            raise TesseraError(f"torch has copied '{piece.name}' instead of using its memory")
        return taken
    size = num_bytes or piece.num_bytes
    raw = (ctypes.c_ubyte * size).from_address(piece.address_of(gradient))
    return torch.frombuffer(raw, dtype=torch.uint8)


def _device_of(piece: Piece) -> torch.device:
    return torch.device("cpu" if piece.device is None else f"cuda:{piece.device}")


def options_of(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """What the groups have besides parameters: lr, betas, …"""
    return [
        {key: _kept(value) for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]


def _kept(value: Any) -> Any:
    """As it is now: some options can be changed in place."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return copy.copy(value) if isinstance(value, (list, dict, set)) else value


class _Made(NamedTuple):
    """What backward() has made."""

    value: torch.Tensor
    version: int
    sums: torch.Tensor | None


class Gradient:
    """Of one parameter. Its value is in memory that stays from step to step."""

    def __init__(
        self,
        tensor: Tensor,
        parameter: nn.Parameter,
        value: torch.Tensor,
        stages: tuple[int, ...],
        owner: nn.Module,
    ) -> None:
        self.name = tensor.name
        self.parameter = parameter
        self.value = value  # this rank's part
        self.whole = like(tensor.value, value)  # the same as parameter.grad has it
        self.num_parts = tensor.num_parts()  # into which the ranks have cut it
        self.stages = stages  # that hold it
        # Axes over which FSDP averages it: of dp and cp.
        self.averaged = tuple(axis for axis in ("dp", "cp") if has_axis(tensor.value, axis))
        self.is_used = False  # by this rank in this step
        self.place = 0  # among the names of all tensors
        self._owner = weakref.ref(owner)  # the module that has the parameter, as self._key
        self._key = tensor.name.rpartition(".")[2]
        self._address = memory_of(parameter).data_ptr()
        self._is_left = False
        self.is_read = False  # in this step, for writes that its version does not show
        self._made: _Made | None = None
        parameter.register_post_accumulate_grad_hook(self._keep)  # type: ignore[no-untyped-call]

    def _keep(self, parameter: torch.Tensor) -> None:
        """In backward(), so that no more than one gradient is in memory twice."""
        if self._is_left:
            raise TesseraError(
                "backward() is of a model of a mesh that the job has left: use job.model in the "
                "loop, not variables from before, and call torch.compile(…) in build(mesh)"
            )
        made = parameter.grad
        if made is None:
            return
        if made is not self.whole and not self._is_partial(made):
            self._copy(made)
            parameter.grad = self.whole
        self.note()

    def leave(self) -> None:
        """Its memory is no longer that of the job. A compiled model may not look at its hooks."""
        self._is_left = True

    def note(self) -> None:
        """After backward(), and what else of torch changes gradients before job.step(loss)."""
        # Limits of a norm hold for the mean over all samples, which FSDP has made already.
        made = self.parameter.grad
        if made is not None and not self.averaged:
            self._made = _Made(made, made._version, sums_of(made) if self.is_read else None)

    def made(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The sums of what backward() has made and of what is there now, if it is read.

        Raises TesseraError if the gradient was changed in a way that shows without reading it.
        """
        made, self._made = self._made, None
        now = self.parameter.grad
        if made is None or now is None:  # dropped by zero_grad()
            return None
        if now is not made.value or now._version != made.version:
            self.refuse_change()
        return None if made.sums is None else (made.sums, sums_of(now))

    def refuse_change(self) -> NoReturn:
        raise TesseraError(
            f"the gradient of '{self.name}' was changed between backward() and job.step(loss), "
            "which averages it over the ranks: delete clip_grad_norm_, or what else changes it "
            "there, and call job.step(loss, max_norm=…), whose result has the norm, or use "
            "parameter.register_hook(…) in build(mesh)"
        )

    def _copy(self, made: torch.Tensor) -> None:
        local = local_of(made)
        self.value.copy_(local.to_dense() if local.is_sparse else local)

    def _is_partial(self, made: torch.Tensor) -> bool:
        """Whether a sum over ranks is still to be made."""
        if not isinstance(made, DTensor) or not isinstance(self.whole, DTensor):
            return False
        return made.placements != self.whole.placements

    def take(self) -> None:
        """After backward(). Raises TesseraError if the program has another parameter now."""
        made = self.parameter.grad
        self.is_used = made is not None
        if made is None:
            if self._is_replaced():
                raise TesseraError(
                    f"the program has replaced the parameter '{self.name}' since job.bind(build), "
                    "so the job has the old one: change parameters in place"
                )
            self.value.zero_()  # other ranks may have used it
        elif made is not self.whole:
            if isinstance(made, DTensor) and isinstance(self.whole, DTensor):
                made = made.redistribute(placements=self.whole.placements)
            self._copy(made)
            self.parameter.grad = self.whole
        local = memory_of(self.parameter)
        if local.data_ptr() != self._address or local.shape != self.value.shape:
            raise TesseraError(_left(self.name))

    def _is_replaced(self) -> bool:
        owner = self._owner()
        if owner is None or isinstance(self.parameter, DTensor):  # FSDP puts others there meanwhile
            return False
        return owner._parameters.get(self._key) is not self.parameter

    def settle(self, is_used: bool) -> None:
        """Whether any rank has used the parameter in this step, which this one has not."""
        if is_used:
            self.parameter.grad = self.whole
            return
        self.parameter.grad = None
        if self.value.numel() > 0:
            self.value.view(-1)[0] = math.nan  # for recover(): a step with NaN has no update

    def mark_parts(self) -> None:
        """After settle(), for the update on another mesh: recover() may see any part of it."""
        if self.parameter.grad is None:
            self.value.fill_(math.nan)

    def recover(self) -> None:
        """What settle() has left, for an update after a pause or in place of another process."""
        is_used = self.value.numel() == 0 or not math.isnan(float(self.value.view(-1)[0]))
        self.parameter.grad = self.whole if is_used else None


def _left(name: str) -> str:
    return (
        f"'{name}' has left the memory of its device: the program or its optimizer has replaced it "
        "instead of changing it in place"
    )


class Program:
    """A model, its optimizer, and memory for its gradients that stays from step to step."""

    def __init__(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, pipeline: Any, mesh: DeviceMesh
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.pipeline = pipeline
        self.axes = axes_of(mesh)
        self.num_ranks = mesh.size()
        self.is_pipelined = False  # whether stages hold different tensors
        self.gradients: list[Gradient] = []
        self.averaged: set[str] = set()  # axes over which FSDP averages gradients: of dp and cp
        self.num_names = 0
        self.step_value = torch.zeros((), dtype=torch.int64)  # the last step that was made
        # Saved buffers: the module, the key, and the place of the value.
        self.buffers: list[tuple[nn.Module, str, torch.Tensor]] = []
        self.note_options()
        self.watch: Watch | None = None
        self._turns = Turns([])  # of gradients
        self._is_updating = False

    def begin_watch(self, keeps_modules: bool) -> None:
        """From now on the program may change its state in update() only.

        `keeps_modules`: `build` returns the same modules on each mesh.
        """
        if self.watch is None:
            self._refuse_other_updates()
            self._note_after_pipeline()
            if not keeps_modules:
                self.model.register_forward_pre_hook(CallHook(self, True), prepend=True)
                self.model.register_forward_hook(CallHook(self, False))
        is_first = int(self.step_value) == 0
        self.watch = Watch(self.model, self.optimizer, keeps_modules, is_first)
        self._turns = Turns([gradient.value for gradient in self.gradients])
        self._read_gradients()

    def note_values(self) -> None:
        """After an update."""
        if self.watch is not None:
            self.watch.note_values()
            self._turns.go_on()
            self._read_gradients()

    def _read_gradients(self) -> None:
        read = self._turns.now()
        for place, gradient in enumerate(self.gradients):
            gradient.is_read = place in read

    def note_options(self) -> None:
        """After `build`, and what else of the job sets them."""
        self.options = options_of(self.optimizer)
        self._rates = [options.get("lr") for options in self.options]  # as they were last set

    def check_options(self) -> None:
        """Raises TesseraError naming one of the optimizer that the program has changed."""
        for made, now, rate in zip(self.options, options_of(self.optimizer), self._rates):
            expected = {**made, "lr": rate} if "lr" in made else made
            for key, value in now.items():
                if value is expected.get(key) or value == expected.get(key):
                    continue
                if key == "initial_lr":
                    raise TesseraError(
                        "a scheduler of torch keeps its step in each process, which a rank that "
                        "joins would not know: delete it and its step(), and call "
                        "job.scheduler(lambda optimizer: …) before job.bind(build) with what makes "
                        "it"
                    )
                raise TesseraError(
                    f"the program has changed '{key}' of the optimizer from {expected.get(key)} to "
                    f"{value}, which a rank that joins would not know; learning rates follow "
                    "job.schedule(factor) or job.scheduler(lambda optimizer: …)"
                )

    def scale_rates(self, factor: float) -> None:
        """Makes learning rates those of `build` times `factor`."""
        for group, made in zip(self.optimizer.param_groups, self.options):
            group["lr"] = made["lr"] * factor
        self._rates = [group.get("lr") for group in self.optimizer.param_groups]

    def _refuse_other_updates(self) -> None:
        own = weakref.ref(self)

        def check(*_: Any) -> None:
            program = own()
            if program is not None and not program._is_updating:
                raise TesseraError(
                    "job.step(loss) makes the update, from the gradients of all ranks: delete "
                    "optimizer.step(), or scaler.step(optimizer), from the loop"
                )

        self.optimizer.register_step_pre_hook(check)

    def _note_after_pipeline(self) -> None:
        """A schedule of torch divides the gradients by the number of micro batches."""
        make = getattr(self.pipeline, "step", None)
        if not callable(make):
            return
        own = weakref.ref(self)

        @functools.wraps(make)
        def step(*arguments: Any, **options: Any) -> Any:
            out = make(*arguments, **options)
            if (program := own()) is not None:
                for gradient in program.gradients:
                    gradient.note()
            return out

        self.pipeline.step = step

    def update(self) -> None:
        self._is_updating = True
        try:
            self.optimizer.step()
        finally:
            self._is_updating = False

    def add_gradient(
        self,
        parameter: nn.Parameter,
        value: torch.Tensor,
        tensor: Tensor,
        stages: tuple[int, ...] = (0,),
    ) -> None:
        owner = self.model.get_submodule(tensor.name.rpartition(".")[0])
        gradient = Gradient(tensor, parameter, value, stages, owner)
        self.gradients.append(gradient)
        self.averaged |= {*gradient.averaged}

    def take_gradients(self) -> None:
        """After backward(). Raises TesseraError if the program has changed gradients since then, or
        has replaced a parameter."""
        read = [(one, sums) for one in self.gradients if (sums := one.made()) is not None]
        noted, now = [sums[0] for _, sums in read], [sums[1] for _, sums in read]
        if (place := first_difference(noted, now)) is not None:
            read[place][0].refuse_change()
        for gradient in self.gradients:
            gradient.take()

    def number(self, names: list[str]) -> None:
        """`names` are those of all tensors of the job, in the same order on all ranks."""
        places = {name: place for place, name in enumerate(names)}
        self.num_names = len(names)
        for gradient in self.gradients:
            gradient.place = places[gradient.name]

    def used(self) -> bytes:
        """For each tensor of the job, 1 if this rank has used it as a parameter in this step."""
        used = bytearray(self.num_names)
        for gradient in self.gradients:
            used[gradient.place] = gradient.is_used
        return bytes(used)

    def settle_gradients(self, used: bytes) -> None:
        """`used` is that of all ranks. Parameters that none has used are left as they are."""
        for gradient in self.gradients:
            if not (gradient.is_used and used[gradient.place]):
                gradient.settle(bool(used[gradient.place]))

    def mark_unused_gradients(self) -> None:
        for gradient in self.gradients:
            gradient.mark_parts()

    def share_buffers(self) -> None:
        """All ranks of a stage take those of its first, as DistributedDataParallel does."""
        for axis in _AXES_OF_A_STAGE:
            if self.axes[axis].size > 1:
                for module, key, _ in self.buffers:
                    dist.broadcast(module.get_buffer(key), group=self.axes[axis].group, group_src=0)

    def keep_buffers(self) -> None:
        for module, key, place in self.buffers:
            place.copy_(module.get_buffer(key))

    def clear_gradients(self) -> None:
        for gradient in self.gradients:
            gradient.parameter.grad = None

    def clip_gradients(self, factor: float) -> None:
        if factor != 1 and self.gradients:
            torch._foreach_mul_([gradient.value for gradient in self.gradients], factor)

    def norm2(self) -> float:
        """This rank's share of the squared norm: what several ranks hold counts once."""
        held = [gradient for gradient in self.gradients if gradient.value.numel() > 0]
        if not held:
            return 0.0
        ranks_of_stage = self.num_ranks // self.axes["pp"].size
        shares = [one.num_parts / (ranks_of_stage * len(one.stages)) for one in held]
        norms = torch._foreach_norm([one.value for one in held], 2, torch.float32)
        squares = torch.stack(norms).double().square()
        return float(squares.cpu().dot(torch.tensor(shares, dtype=torch.float64)))


class Binding(Program):
    """A program on the pieces of one epoch."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        pipeline: Any,
        mesh: DeviceMesh,
        pieces: list[Piece],
        memory_end: int,
        device: torch.device,
        buffers: dict[str, torch.Tensor] | None,
        state_of_optimizer: StateOfOptimizer | None = None,
        objects: dict[str, int] | None = None,
    ) -> None:
        """`model` is on the meta device. `device` is that of the pieces.

        `buffers` are the values of those that are no state. None: the model will not be called.
        `state_of_optimizer` is that of the same program on another mesh. `objects` are the sizes of
        tensors for objects, by name.
        """
        super().__init__(model, optimizer, pipeline, mesh)
        self._layout = Layout.of_job()
        self.is_pipelined = self._layout.is_pipelined and self.axes["pp"].size > 1
        self._pieces = {piece.name: piece for piece in pieces}
        self._objects = objects or {}
        self._memory_end = memory_end
        self._device = device
        self._bound: list[tuple[Tensor, torch.Tensor]] = []
        self._begins_with_options = any(
            beginning.option
            for group in optimizer.param_groups
            for beginning in beginnings_of(optimizer, group).values()
        )
        if state_of_optimizer is None:
            make_state(optimizer)
        else:
            state_of_optimizer.make(model, optimizer)
        self.state_of_optimizer = state_of_optimizer or StateOfOptimizer(model, optimizer)
        state = list(state_of(model, optimizer))
        self._compare([tensor for tensor, _, _ in state])
        self.step_value = tensor_of(self._pieces[STEP])
        self._bind(state)
        self._bind_buffers(buffers)

    def _compare(self, tensors: list[Tensor]) -> None:
        """The program and the job have the same tensors, and this rank the same parts of them."""
        wanted = {tensor.name for tensor in tensors} | {STEP} | self._objects.keys()
        for name in sorted(self._objects.keys() - self._pieces.keys()):
            raise TesseraError(
                f"the job has no object '{name.removeprefix(PREFIX)}': it was started with a "
                "script that does not register it"
            )
        for name in sorted(set(self._pieces) - wanted):
            raise TesseraError(f"the job has a tensor '{name}', which the program has not")
        for tensor in tensors:
            begin, end = tensor.box()
            piece = self._pieces.get(tensor.name)
            if piece is None:
                if any(b >= e for b, e in zip(begin, end)):
                    continue  # this rank holds nothing of it
                raise TesseraError(
                    f"'{tensor.name}' is not in the rules of the job, or not on this rank"
                )
            if (piece.dtype, piece.shape) != (tensor.dtype, tensor.shape):
                raise TesseraError(
                    f"'{tensor.name}' is {tensor.dtype}{list(tensor.shape)} in the program and "
                    f"{piece.dtype}{list(piece.shape)} in the job"
                )
            if (piece.begin, piece.end) != (begin, end):
                raise TesseraError(
                    f"this rank has {list(begin)} to {list(end)} of '{tensor.name}' in the program "
                    f"and {list(piece.begin)} to {list(piece.end)} in the job"
                )

    def _local(self, tensor: Tensor, gradient: bool = False) -> torch.Tensor:
        piece = self._pieces.get(tensor.name)
        if piece is not None:
            return tensor_of(piece, gradient)
        begin, end = tensor.box()
        shape = tuple(e - b for b, e in zip(begin, end))
        return torch.empty(shape, dtype=tensor.value.dtype, device=self._device)

    def _bind(self, state: list[Any]) -> None:
        replaced: dict[int, nn.Parameter] = {}
        padded = self._pad_shards()
        values = {}
        for tensor, parameter, key in state:
            if parameter is None or key:
                continue
            local = padded.get(id(parameter))
            if local is None:
                local = self._local(tensor)
            values[tensor.name] = like(tensor.value, local)
            self._bound.append((tensor, local))
        self._assign(values)
        now = parameters(self.model)
        for tensor, parameter, key in state:
            if parameter is None or key:
                continue
            new = now[tensor.name][0]
            new.requires_grad_(parameter.requires_grad)
            _copy_hooks(parameter, new)
            replaced[id(parameter)] = new
            if not parameter.requires_grad:
                continue
            stages = self._layout.stages_holding(tensor.name, self.axes["pp"].size)
            self.add_gradient(new, self._local(tensor, gradient=True), tensor, stages)
        self._bind_optimizer(state, replaced)
        self.number(sorted(self._layout.tensors))

    def _assign(self, values: dict[str, torch.Tensor]) -> None:
        """Under all names of each parameter, which stay one parameter."""
        known = parameters(self.model)
        new = {}
        for name, value in values.items():
            one = nn.Parameter(value, requires_grad=known[name][0].requires_grad)
            for each in (name, *known[name][1]):
                new[each] = one
        for module_name, module in self.model.named_modules():
            prefix = module_name + "." if module_name else ""
            for key in list(module._parameters):
                if prefix + key in new:
                    setattr(module, key, new[prefix + key])  # some modules keep lists of their own
        for fsdp in fsdp_parameters(self.model):
            fsdp.reset_sharded_param()
        for module in self.model.modules():
            if isinstance(module, nn.RNNBase):  # its first forward() would move other weights
                weights = module._flat_weights
                module._flat_weight_refs = [w if w is None else weakref.ref(w) for w in weights]

    def _bind_optimizer(self, state: list[Any], replaced: dict[int, nn.Parameter]) -> None:
        optimizer = self.optimizer
        optimizer.state.clear()
        for group in optimizer.param_groups:
            group["params"] = [replaced[id(parameter)] for parameter in group["params"]]
        for tensor, parameter, key in state:
            if parameter is None or not key:
                continue
            local = self._local(tensor)
            optimizer.state[replaced[id(parameter)]][key] = like(tensor.value, local)
            self._bound.append((tensor, local))

    def _pad_shards(self) -> dict[int, torch.Tensor]:
        """Shards for FSDP2, which gathers shards of equal size.

        It copies one that is shorter than the others into a buffer of its own, unless it finds the
        shard at the beginning of a longer one. So it gets one that goes on behind the piece.
        Whatever is there is sent and never used.
        """
        out = {}
        names = {id(parameter): name for name, (parameter, _) in parameters(self.model).items()}
        for fsdp in fsdp_parameters(self.model):
            name = names[id(fsdp.sharded_param)]
            size = fsdp.padded_sharded_param_size
            piece = self._pieces.get(name)
            if piece is None:
                buffer = torch.zeros(size, dtype=fsdp.sharded_param.dtype, device=self._device)
            else:
                num_bytes = size.numel() * fsdp.sharded_param.dtype.itemsize
                if piece.address + num_bytes > self._memory_end:
                    raise TesseraError(
                        f"the memory of this device ends {num_bytes - piece.num_bytes} bytes too "
                        f"early for the padding of '{name}'"
                    )
                raw = bytes_of(piece, num_bytes=num_bytes)
                buffer = raw.view(fsdp.sharded_param.dtype).view(size)
            fsdp._sharded_param_data = buffer.view(-1)
            length = 0 if piece is None else piece.local_shape[fsdp.fsdp_placement.dim]
            out[id(fsdp.sharded_param)] = buffer.narrow(fsdp.fsdp_placement.dim, 0, length)
        return out

    def _bind_buffers(self, values: dict[str, torch.Tensor] | None) -> None:
        for module_name, module in self.model.named_modules():
            prefix = module_name + "." if module_name else ""
            for key, buffer in module._buffers.items():
                name = prefix + key
                if buffer is None:
                    continue
                if name in self._pieces:
                    # forward() may change it at any time, the arena only in an update.
                    module._buffers[key] = tensor_of(self._pieces[name]).clone()
                    self.buffers.append((module, key, tensor_of(self._pieces[name])))
                elif values is None:
                    continue
                elif name in values:
                    module._buffers[key] = values[name]
                elif buffer.is_meta:
                    raise TesseraError(f"buffer '{name}' has no value: the first build lacks it")

    def places_of_objects(self) -> dict[str, torch.Tensor]:
        return {name: tensor_of(self._pieces[name]) for name in self._objects}

    def initialise(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Copies this rank's part of the values of an uncut program."""
        values = {tensor.name: tensor.value for tensor, _, key in state_of(model, optimizer)}
        with torch.no_grad():
            for name, piece in self._pieces.items():
                if (value := values.get(name)) is not None:
                    tensor_of(piece).copy_(local_of(value)[piece.box])
            for name, key, value, parameter, group in self._state():
                beginning = beginnings_of(self.optimizer, group).get(key)
                if beginning is None or f"{name}.{key}" in values:
                    continue
                if beginning.is_copy:
                    value.copy_(local_of(parameter))
                else:
                    value.fill_(beginning.value(group))
            for module, key, place in self.buffers:
                module._buffers[key] = place.clone()

    def _state(
        self,
    ) -> Iterator[tuple[str, str, torch.Tensor, nn.Parameter, dict[str, Any]]]:
        """This rank's parts of the state of the optimizer, with the name of the parameter, the key,
        the parameter and its group."""
        names = {id(one): name for name, (one, _) in parameters(self.model).items()}
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                for key, value in self.optimizer.state.get(parameter, {}).items():
                    if isinstance(value, torch.Tensor):
                        yield names[id(parameter)], key, local_of(value), parameter, group

    def update(self) -> None:
        # What begins with an option, such as the learning rate, has its value in the first update.
        for _, key, value, parameter, group in self._state() if self._begins_with_options else ():
            beginning = beginnings_of(self.optimizer, group).get(key)
            if beginning is not None and beginning.option:
                steps = self.optimizer.state[parameter].get("step", self.step_value)
                if int(steps) == 0:
                    value.fill_(beginning.value(group))
        super().update()

    def check(self) -> None:
        """The state is still where it was bound.

        Raises TesseraError naming the first tensor that the program has moved.
        """
        now: dict[str, torch.Tensor] = {
            tensor.name: tensor.value for tensor, _, _ in state_of(self.model, self.optimizer)
        }
        for tensor, local in self._bound:
            value = now.get(tensor.name)
            here = None if value is None else local_of(value)
            if here is None or (here.numel() > 0 and here.data_ptr() != local.data_ptr()):
                raise TesseraError(_left(tensor.name))
        for name in now.keys() - {tensor.name for tensor, _ in self._bound}:
            if name not in self._pieces:
                raise TesseraError(
                    f"the program has a tensor '{name}' more than when it was bound, which a rank "
                    "that joins would not have"
                )


def _copy_hooks(old: nn.Parameter, new: nn.Parameter) -> None:
    """Of `build`. They come before those of Gradient."""
    for hook in (old._backward_hooks or {}).values():
        new.register_hook(hook)  # type: ignore[no-untyped-call]
    for hook in (old._post_accumulate_grad_hooks or {}).values():
        new.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call]
