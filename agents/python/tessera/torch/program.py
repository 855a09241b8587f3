# SPDX-License-Identifier: Apache-2.0
"""What a PyTorch program has: its parameters, buffers and optimizer state, with their cuts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch import nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from tessera._library import AXES, TesseraError
from tessera.torch import pretrained
from tessera.torch.intercept import building

DTYPES = {
    torch.bool: "bool",
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}
STEP = "tessera.step"  # the last step that was made

# Model, optimizer, and what else belongs to a mesh: the schedule of a pipeline.
Build = Callable[
    [Any],
    "tuple[nn.Module, torch.optim.Optimizer] | tuple[nn.Module, torch.optim.Optimizer, Any]",
]


def call(build: Build, mesh: Any) -> tuple[nn.Module, torch.optim.Optimizer, Any]:
    """What `build` makes; None for a third value that it does not make."""
    with building():
        made = _made(build, mesh)
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise TesseraError(f"build(mesh) has to return model and optimizer, not {made!r:.80}")
    model, optimizer, *more = made
    _choose_foreach(optimizer)
    return model, optimizer, more[0] if more else None


def _made(build: Build, mesh: Any) -> Any:
    is_ready = pretrained.install()
    with warnings.catch_warnings():
        # load_state_dict() in `build` has no effect on the meta device, and needs none.
        warnings.filterwarnings("ignore", message=".*non-meta parameter.*")
        try:
            return build(mesh)
        except RuntimeError:
            if is_ready or not pretrained.install():
                raise
        return build(mesh)  # it was the first to import transformers


def _choose_foreach(optimizer: torch.optim.Optimizer) -> None:
    """On GPUs an optimizer updates all tensors of a group in one call, which takes no list of
    DTensors and other tensors."""
    for group in optimizer.param_groups:
        kinds = {isinstance(parameter, DTensor) for parameter in group["params"]}
        if len(kinds) > 1 and "foreach" in group and group["foreach"] is None:
            group["foreach"] = False


@dataclass
class Tensor:
    """One tensor of the state, as this rank has it."""

    name: str  # the first of its names in byte order
    role: str
    value: torch.Tensor  # on the meta device; a DTensor if it is cut
    aliases: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def dtype(self) -> str:
        found = DTYPES.get(self.value.dtype)
        if found is None:
            raise TesseraError(f"'{self.name}' is {self.value.dtype}, which a job cannot hold")
        if self.role == "param" and found == "f64":
            raise TesseraError(f"'{self.name}' is f64; gradients of a job are f32")
        return found

    def cuts(self) -> list[list[str]]:
        """For each dim the axes that cut it, major to minor."""
        dims: list[list[str]] = [[] for _ in self.shape]
        if not isinstance(self.value, DTensor):
            return dims
        minor: list[list[str]] = [[] for _ in self.shape]
        names = self.value.device_mesh.mesh_dim_names
        if names is None:
            raise TesseraError(
                f"'{self.name}' is cut over a mesh without names: pass one of the job's, such as "
                "mesh=mesh['dp'] to fully_shard"
            )
        for axis, placement in zip(names, self.value.placements):
            if isinstance(placement, Replicate):
                continue
            if axis not in AXES:
                raise TesseraError(
                    f"'{self.name}' is cut over '{axis}'; the axes of a job are {', '.join(AXES)}"
                )
            if isinstance(placement, Partial) or not hasattr(placement, "dim"):
                raise TesseraError(f"'{self.name}' is {placement} over {axis}, which is no cut")
            # FSDP on top of tensor parallelism cuts what tensor parallelism has left.
            strided = type(placement) is not Shard and hasattr(placement, "split_factor")
            (minor if strided else dims)[placement.dim].append(axis)
        for dim, (major, less) in enumerate(zip(dims, minor)):
            if less and not major:
                raise TesseraError(
                    f"'{self.name}' is packed: dim {dim} is several matrices that are each cut "
                    f"over {less[0]}, which a job cannot hold as one piece"
                )
        return [major + less for major, less in zip(dims, minor)]

    def num_parts(self) -> int:
        if not isinstance(self.value, DTensor):
            return 1
        mesh = self.value.device_mesh
        count = 1
        for dim, placement in enumerate(self.value.placements):
            count *= 1 if isinstance(placement, Replicate) else mesh.size(dim)
        return count

    def box(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Begin and end of this rank's part."""
        if not isinstance(self.value, DTensor):
            return tuple(0 for _ in self.shape), self.shape
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

        local, begin = compute_local_shape_and_global_offset(
            self.value.shape, self.value.device_mesh, self.value.placements
        )
        return tuple(begin), tuple(b + size for b, size in zip(begin, local))


def local_of(value: torch.Tensor) -> torch.Tensor:
    """This rank's part."""
    return value.to_local() if isinstance(value, DTensor) else value


def memory_of(value: torch.Tensor) -> torch.Tensor:
    """The same, for its address and size only: without what torch records for gradients."""
    return value._local_tensor if isinstance(value, DTensor) else value


def has_axis(value: torch.Tensor, axis: str) -> bool:
    return isinstance(value, DTensor) and axis in (value.device_mesh.mesh_dim_names or ())


def parameters(model: nn.Module) -> dict[str, tuple[nn.Parameter, list[str]]]:
    """The parameters by their first name, with their other names."""
    names: dict[int, list[str]] = {}
    found: dict[int, nn.Parameter] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
        found[id(parameter)] = parameter
    out = {}
    for key, parameter in found.items():
        ordered = sorted(names[key], key=lambda name: name.encode())
        out[ordered[0]] = (parameter, ordered[1:])
    return out


def persistent_buffers(model: nn.Module) -> dict[str, torch.Tensor]:
    saved = model.state_dict(keep_vars=True)
    return {name: buffer for name, buffer in model.named_buffers() if name in saved}


def check_memory(model: nn.Module) -> None:
    """Each tensor gets memory of its own, so none may be a part of another one.

    Raises TesseraError naming two that are. Two names of one parameter are no such case.
    """
    spans: dict[int, list[tuple[int, int, str]]] = {}
    named = [(name, parameter) for name, (parameter, _) in parameters(model).items()]
    for name, tensor in [*named, *persistent_buffers(model).items()]:
        local = local_of(tensor.detach())
        if local.numel() == 0:
            continue
        begin = int(local.storage_offset())
        last = begin + sum((int(n) - 1) * int(by) for n, by in zip(local.shape, local.stride()))
        width = local.dtype.itemsize
        key = local.untyped_storage()._cdata
        spans.setdefault(key, []).append((begin * width, (last + 1) * width, name))
    for of in spans.values():
        of.sort()
        for (_, end, name), (begin, _, other) in zip(of[:-1], of[1:]):
            if begin < end:
                raise TesseraError(
                    f"'{name}' and '{other}' are different tensors in the same memory, which a job "
                    "cannot hold: make them one parameter with two names, or copy one"
                )


def make_state(optimizer: torch.optim.Optimizer) -> None:
    """Lets an optimizer over the meta device make the state that it makes in its first step."""
    kept = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            kept.append((parameter, parameter.grad))
            if parameter.requires_grad:
                parameter.grad = torch.zeros_like(parameter)
    try:
        optimizer.step()
    except (MemoryError, OSError):
        raise
    except Exception as error:
        name = type(optimizer).__name__
        raise TesseraError(f"{name} cannot be bound: without values, {error}") from error
    for parameter, gradient in kept:
        parameter.grad = gradient


class StateOfOptimizer:
    """What state an optimizer has, learned on one mesh to make it on other meshes.

    make_state() computes on DTensors, for which torch derives everything anew on each mesh. Most
    state is cut like its parameter, so it can be written down.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """After make_state()."""
        # These keep all that they know in `state`, others may count their steps elsewhere.
        self._is_known = type(optimizer).__module__.startswith("torch.optim")
        # By parameter and key, the type and whether it is a number.
        self._of: dict[str, dict[str, tuple[torch.dtype, bool]]] = {}
        for name, (parameter, _) in parameters(model).items():
            of = self._of[name] = {}
            for key, value in optimizer.state.get(parameter, {}).items():
                if value is None:
                    continue
                is_number = isinstance(value, torch.Tensor) and _is_number(value)
                if not is_number and not _is_like(value, parameter):
                    self._is_known = False
                    return
                of[key] = (value.dtype, is_number)

    def learn(self, other: StateOfOptimizer) -> None:
        """What another rank's part of the same program has."""
        self._is_known &= other._is_known
        self._of.update(other._of)

    def make(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """As make_state() does, for a model on the meta device."""
        own = parameters(model)
        if not self._is_known or not own.keys() <= self._of.keys():
            make_state(optimizer)
            return
        optimizer.state.clear()
        for name, (parameter, _) in own.items():
            local = memory_of(parameter)
            for key, (dtype, is_number) in self._of[name].items():
                if is_number:
                    value = torch.zeros((), dtype=dtype)
                else:
                    value = like(parameter, torch.empty(local.shape, dtype=dtype, device="meta"))
                optimizer.state[parameter][key] = value


def _is_number(value: torch.Tensor) -> bool:
    return value.dim() == 0 and not isinstance(value, DTensor)


def _is_like(value: Any, parameter: nn.Parameter) -> bool:
    """Whether it has the shape and the cut of the parameter."""
    if not isinstance(value, torch.Tensor) or value.shape != parameter.shape:
        return False
    if not isinstance(value, DTensor) or not isinstance(parameter, DTensor):
        return not isinstance(value, DTensor) and not isinstance(parameter, DTensor)
    return value.device_mesh is parameter.device_mesh and value.placements == parameter.placements


def like(whole: torch.Tensor, local: torch.Tensor) -> torch.Tensor:
    """`local` as this rank's part of a tensor with the shape and the cut of `whole`."""
    if not isinstance(whole, DTensor):
        return local
    return DTensor.from_local(
        local,
        whole.device_mesh,
        whole.placements,
        run_check=False,
        shape=whole.shape,
        stride=whole.stride(),
    )


def state_of(
    model: nn.Module, optimizer: torch.optim.Optimizer
) -> Iterator[tuple[Tensor, nn.Parameter | None, str]]:
    """All tensors of the state; that of a parameter with the parameter and its key."""
    own = parameters(model)
    in_model = {id(parameter): name for name, (parameter, _) in own.items()}
    for name, (parameter, aliases) in own.items():
        yield Tensor(name, "param", parameter, aliases), parameter, ""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if id(parameter) not in in_model:
                raise TesseraError(
                    f"the optimizer has a parameter of shape {tuple(parameter.shape)} that is not "
                    "the model's"
                )
            yield from _state_of_one(in_model[id(parameter)], parameter, optimizer)
    for name, buffer in persistent_buffers(model).items():
        yield Tensor(name, "buffer", buffer), None, ""


def _state_of_one(
    name: str, parameter: nn.Parameter, optimizer: torch.optim.Optimizer
) -> Iterator[tuple[Tensor, nn.Parameter | None, str]]:
    for key, value in optimizer.state.get(parameter, {}).items():
        if value is None:
            continue
        if not isinstance(value, torch.Tensor):
            raise TesseraError(
                f"state '{key}' of '{name}' is a {type(value).__name__} and no tensor, so "
                f"{type(optimizer).__name__} cannot be bound"
            )
        if isinstance(parameter, DTensor) and not isinstance(value, DTensor) and value.dim() > 0:
            raise TesseraError(
                f"state '{key}' of '{name}' has shape {tuple(value.shape)} and no cut, but the "
                "parameter is cut"
            )
        role = "scalar" if value.dim() == 0 else "buffer"
        is_moment = key in ("exp_avg", "exp_avg_sq") and value.dtype == torch.float32
        if is_moment and value.shape == parameter.shape:
            role = key
        yield Tensor(f"{name}.{key}", role, value), parameter, key
