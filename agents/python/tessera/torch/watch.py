# SPDX-License-Identifier: Apache-2.0
"""Finds what a program changes outside of job.step(loss).

A rank that joins runs `build` and nothing of what the loop has done so far. So a change of the mesh
undoes, or repeats, what is changed elsewhere, and the program trains on as something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from tessera._library import TesseraError
from tessera.torch.contents import Turns, first_difference, sum_of
from tessera.torch.program import memory_of, parameters

_IN_BUILD = "a rank that joins would not know: do it in build(mesh)"
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_HOOKS_OF_OPTIMIZERS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_HOOKS_OF_PARAMETERS = ("_backward_hooks", "_post_accumulate_grad_hooks")
_NUM_FIRST = 1024  # elements that are read when a mesh begins, since ranks wait then


def _version_of(value: torch.Tensor) -> tuple[int, int]:
    """Of a DTensor and of its local part."""
    return value._version, memory_of(value)._version


def _keys(part: Any, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Handles of hooks are numbered through all of torch."""
    return [tuple(getattr(part, name, None) or ()) for name in names]


class _Value:
    """A parameter or a buffer as it was left by the last update."""

    def __init__(self, name: str, value: torch.Tensor) -> None:
        self.name = name
        self.note(value, _NUM_FIRST)

    def note(self, value: torch.Tensor, num_read: int | None) -> None:
        """`num_read` is that of the elements to read; None for all."""
        self._value = value
        self._version = _version_of(value)
        self._address = memory_of(value).data_ptr()
        self._num_read = num_read
        self.sum = None if num_read == 0 else sum_of(value, num_read)

    def is_moved(self, value: torch.Tensor) -> bool:
        """Whether it has other memory now, which Gradient and Binding refuse."""
        return memory_of(value).data_ptr() != self._address

    def is_changed(self, value: torch.Tensor | None) -> bool:
        """Whether that shows without reading it."""
        return value is not self._value or _version_of(value) != self._version

    def sum_now(self) -> torch.Tensor:
        return sum_of(self._value, self._num_read)


def _first_changed(held: Iterable[tuple[_Value, torch.Tensor | None]]) -> str | None:
    """The name of the first that holds something else now."""
    read = []
    for value, now in held:
        if value.is_changed(now):
            return value.name
        if value.sum is not None:
            read.append(value)
    noted = [value.sum for value in read if value.sum is not None]
    place = first_difference(noted, [value.sum_now() for value in read])
    return None if place is None else read[place].name


class Watch:
    """What a bound program has, to find later what else than job.step has changed.

    Each check raises TesseraError naming the part, and what to write instead.
    """

    def __init__(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, keeps_modules: bool = False
    ) -> None:
        """`keeps_modules`: `build` returns the same modules on each mesh."""
        self._optimizer = optimizer
        self._keeps_modules = keeps_modules
        self._parameters = [(name, one) for name, (one, _) in parameters(model).items()]
        self._requires_grad = [one.requires_grad for _, one in self._parameters]
        self._modules = [(name or "the model", one) for name, one in model.named_modules()]
        self._training = [one.training for _, one in self._modules]
        self._hooks = [keys for _, keys in self._hooks_now()]
        self._constants = [_constants(one) for _, one in self._modules]
        self._flags = [_flags(one) for _, one in self._modules]
        self._values = [_Value(name, one) for name, one in self._parameters]
        self._buffers = [
            (module, key, _Value(name, one)) for name, module, key, one in _saved(model)
        ]
        saved = [one for _, _, _, one in _saved(model)]
        self._turns = Turns([one for _, one in self._parameters] + saved)

    def note_values(self) -> None:
        """After Tessera has changed the state itself."""
        read = self._turns.now()
        self._turns.go_on()
        for place, (value, (_, now)) in enumerate(zip(self._values, self._parameters)):
            value.note(now, None if place in read else 0)
        for place, (module, key, value) in enumerate(self._buffers, len(self._values)):
            if (buffer := module._buffers.get(key)) is not None:
                value.note(buffer, None if place in read else 0)

    def check_before_loop(self) -> None:
        """When steps() begins."""
        self._check_parameters()
        self._check_buffers()
        self._check_requires_grad()
        self._check_modes()
        self._check_parts()
        if self._keeps_modules:
            return
        for (name, module), noted in zip(self._modules, self._flags):
            _compare(name, noted, vars(module))
        self._flags.clear()  # forward() may change them from now on

    def check_before_update(self) -> None:
        """When job.step(loss) begins."""
        self._check_parameters()
        self._check_requires_grad()
        self._check_modes()

    def check_after_step(self) -> None:
        """When the loop's body has ended."""
        self._check_parameters()
        self._check_buffers()
        self._check_requires_grad()
        self._check_parts()

    def _check_parameters(self) -> None:
        held = [(value, now) for value, (_, now) in zip(self._values, self._parameters)]
        name = _first_changed((value, now) for value, now in held if not value.is_moved(now))
        if name is not None:
            raise TesseraError(
                f"the parameter '{name}' was changed outside of job.step(loss), which a change of "
                "the mesh would undo or repeat: delete that line, and load values in build(mesh), "
                "or change them there in optimizer.register_step_post_hook(…)"
            )

    def _check_buffers(self) -> None:
        name = _first_changed(
            (value, module._buffers.get(key)) for module, key, value in self._buffers
        )
        if name is not None:
            raise TesseraError(
                f"the buffer '{name}' was changed after job.step(loss), which a change of the "
                "mesh would undo: change it before job.step(loss), such as in forward(), and "
                "evaluate in model.eval()"
            )

    def _check_requires_grad(self) -> None:
        for (name, one), noted in zip(self._parameters, self._requires_grad):
            if one.requires_grad != noted:
                raise TesseraError(
                    f"requires_grad of '{name}' was changed to {one.requires_grad} after "
                    f"job.bind(build), which {_IN_BUILD}"
                )

    def _check_modes(self) -> None:
        if self._keeps_modules:
            return
        for (name, module), noted in zip(self._modules, self._training):
            if module.training != noted:
                modes = ("train()", "eval()") if module.training else ("eval()", "train()")
                raise TesseraError(
                    f"{name} is in {modes[0]} and was in {modes[1]} when build(mesh) returned it, "
                    f"which {_IN_BUILD}"
                )

    def _check_parts(self) -> None:
        """Hooks, and settings that no forward() changes."""
        if self._keeps_modules:
            return
        for (name, keys), noted in zip(self._hooks_now(), self._hooks):
            if keys != noted:
                raise TesseraError(
                    f"hooks of {name} were changed after job.bind(build), which {_IN_BUILD}"
                )
        for (name, module), constants in zip(self._modules, self._constants):
            _compare(name, constants, vars(module))

    def _hooks_now(self) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        for name, module in self._modules:
            yield name, _keys(module, _HOOKS)
        for name, one in self._parameters:
            yield f"'{name}'", _keys(one, _HOOKS_OF_PARAMETERS)
        yield "the optimizer", _keys(self._optimizer, _HOOKS_OF_OPTIMIZERS)


def _saved(model: nn.Module) -> Iterator[tuple[str, nn.Module, str, torch.Tensor]]:
    """The buffers that are state, with their modules and keys there."""
    for module_name, module in model.named_modules():
        for key, buffer in module._buffers.items():
            if buffer is not None and key not in module._non_persistent_buffers_set:
                name = f"{module_name}.{key}" if module_name else key
                yield name, module, key, buffer


def _constants(module: nn.Module) -> dict[str, Any]:
    """Those that modules of torch declare, such as the probability of a dropout."""
    declared = getattr(module, "__constants__", ())
    return {key: vars(module)[key] for key in declared if _is_simple(vars(module).get(key))}


def _flags(module: nn.Module) -> dict[str, Any]:
    return {key: v for key, v in vars(module).items() if key != "training" and _is_simple(v)}


def _is_simple(value: Any) -> bool:
    return isinstance(value, (bool, float, str))


def _compare(name: str, noted: dict[str, Any], now: dict[str, Any]) -> None:
    for key, value in noted.items():
        new = now.get(key)
        if new != value and not (new != new and value != value):  # NaN differs from itself
            raise TesseraError(
                f"'{key}' of {name} was changed from {value} to {new} after "
                f"job.bind(build), which {_IN_BUILD}"
            )
