# SPDX-License-Identifier: Apache-2.0
"""Finds what a program changes outside of job.step(loss).

A rank that joins runs `build` and nothing of what the loop has done so far. So a change of the mesh
undoes, or repeats, what is changed elsewhere, and the program trains on as something else.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from tessera._library import TesseraError
from tessera.torch.contents import Turns, first_difference, sums_of
from tessera.torch.program import memory_of, parameters

_IN_BUILD = (
    "a rank that joins would not know: do it in build(mesh), or in a function that "
    "job.on_model(…) calls"
)
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_HOOKS_OF_OPTIMIZERS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_HOOKS_OF_PARAMETERS = ("_backward_hooks", "_post_accumulate_grad_hooks")
_NUM_COUNTED = 8  # steps in a row in which a number grows equally
_NUM_FIRST = 1024  # elements that are read when a job goes on, since other ranks wait then
_OF_MODULES = frozenset(vars(nn.Module()))  # what all modules have, such as `training`


def _version_of(value: torch.Tensor) -> tuple[int, int]:
    """Of a DTensor and of its local part."""
    return value._version, memory_of(value)._version


def _keys(part: Any, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Handles of hooks are numbered through all of torch."""
    return [tuple(getattr(part, name, None) or ()) for name in names]


class _Value:
    """A parameter or a buffer as it was left by the last update."""

    def __init__(self, name: str, value: torch.Tensor, num_read: int | None) -> None:
        self.name = name
        self.note(value, num_read)

    def note(self, value: torch.Tensor, num_read: int | None) -> None:
        """`num_read` elements are read; None: all of them."""
        self._value = value
        self._version = _version_of(value)
        self._address = memory_of(value).data_ptr()
        self._num_read = num_read
        self.sums = None if num_read == 0 else sums_of(value, num_read)

    def is_moved(self, value: torch.Tensor) -> bool:
        """Whether it has other memory now, which Gradient and Binding refuse."""
        return memory_of(value).data_ptr() != self._address

    def is_changed(self, value: torch.Tensor | None) -> bool:
        """Whether that shows without reading it."""
        return value is not self._value or _version_of(value) != self._version

    def sums_now(self) -> torch.Tensor:
        return sums_of(self._value, self._num_read)


def _first_changed(held: Iterable[tuple[_Value, torch.Tensor | None]]) -> str | None:
    """The name of the first that holds something else now."""
    read = []
    for value, now in held:
        if value.is_changed(now):
            return value.name
        if value.sums is not None:
            read.append(value)
    noted = [value.sums for value in read if value.sums is not None]
    place = first_difference(noted, [value.sums_now() for value in read])
    return None if place is None else read[place].name


class Watch:
    """What a bound program has, to find later what else than job.step has changed.

    Each check raises TesseraError naming the part, and what to write instead.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        keeps_modules: bool = False,
        is_first: bool = False,
    ) -> None:
        """`keeps_modules`: `build` returns the same modules on each mesh. `is_first`: no step of
        the job was made, so no rank waits."""
        self._optimizer = optimizer
        self._keeps_modules = keeps_modules
        self._parameters = [(name, one) for name, (one, _) in parameters(model).items()]
        self._ids = {id(one) for _, one in self._parameters}
        self.note_requires_grad()
        self._modules = [(name or "the model", one) for name, one in model.named_modules()]
        self._training = [one.training for _, one in self._modules]
        self._hooks = [keys for _, keys in self._hooks_now()]
        self._parts = [_parts_of(one) for _, one in self._modules]
        self._constants = [{} if keeps_modules else _constants(one) for _, one in self._modules]
        holders = [] if keeps_modules else [*self._modules, *_configs(self._modules)]
        self._settings = [_Settings(name, one) for name, one in holders]
        # Calls of forward() of the model to train: in this step, and in the step before. And a call
        # of any kind that has not ended.
        self._was_called = self._is_called = False
        self._sees_calls = True
        num_read = None if is_first else _NUM_FIRST
        self._values = [_Value(name, one, num_read) for name, one in self._parameters]
        self._buffers = [
            (module, key, _Value(name, one, num_read)) for name, module, key, one in _saved(model)
        ]
        self._groups = _groups(optimizer)
        self._states = list(self._states_now())
        saved = [one for _, _, _, one in _saved(model)]
        self._turns = Turns([one for _, one in self._parameters] + saved)

    def note_requires_grad(self) -> None:
        """At first, and after job.freeze(…)."""
        self._requires_grad = [one.requires_grad for _, one in self._parameters]

    def note_values(self) -> None:
        """After Tessera has changed the state itself."""
        read = self._turns.now()
        self._turns.go_on()
        for place, (value, (_, now)) in enumerate(zip(self._values, self._parameters)):
            value.note(now, None if place in read else 0)
        for place, (module, key, value) in enumerate(self._buffers, len(self._values)):
            if (buffer := module._buffers.get(key)) is not None:
                value.note(buffer, None if place in read else 0)
        self._states = list(self._states_now())

    def has(self, value: torch.Tensor) -> bool:
        """Whether it is a parameter of the program."""
        return id(value) in self._ids

    def check_before_loop(self) -> None:
        """When steps() begins."""
        self._check_optimizer()
        self._check_parameters()
        self._check_buffers()
        self._check_requires_grad()
        self._check_modes()
        self._check_parts()
        self._check_hooks()
        self._check_settings(True)

    def begin_call(self) -> None:
        """When forward() of the model begins, which may change settings.

        The loop may switch settings for an evaluation, and switch them back after it.
        """
        model = self._modules[0][1]
        trains = torch.is_grad_enabled() and model.training == self._training[0]
        if trains or self._is_called:
            self._check_settings(self._sees_calls and not _is_compiled(model))
        for settings in self._settings:
            settings.begin_call()
        self._was_called = self._was_called or trains
        self._is_called = True

    def end_call(self) -> None:
        """When it has ended."""
        self._is_called = False
        for settings in self._settings:
            settings.end_call()

    def check_before_update(self) -> None:
        """When job.step(loss) begins."""
        self._check_optimizer()
        self._check_parameters()
        self._check_requires_grad()
        self._check_modes()
        self._check_parts()

    def check_after_step(self) -> None:
        """When the loop's body has ended."""
        self._check_optimizer()
        self._check_parameters()
        self._check_buffers()
        self._check_requires_grad()
        self._check_parts()
        self._check_hooks()
        for (name, module), constants in zip(self._modules, self._constants):
            _compare(name, constants, vars(module))
        # It is not seen if the loop calls a part of the model, or what torch.compile has made.
        self._check_settings(self._was_called)
        for settings in self._settings:
            settings.check_counts()
        self._sees_calls, self._was_called = self._was_called, False
        self._is_called = False

    def _check_optimizer(self) -> None:
        if _groups(self._optimizer) != self._groups:
            raise TesseraError(
                "the groups of parameters of the optimizer were changed after job.bind(build), "
                f"such as by add_param_group, which {_IN_BUILD}"
            )
        for noted, now in itertools.zip_longest(self._states, self._states_now()):
            if noted != now:
                name = (noted or now)[0]
                raise TesseraError(
                    f"the state '{name}' of the optimizer was changed outside of job.step(loss), "
                    "which a change of the mesh would undo or repeat: delete that line, such as "
                    "optimizer.load_state_dict(…); tesseractl job start --from-checkpoint begins "
                    "with the state of a checkpoint"
                )

    def _states_now(self) -> Iterator[tuple[str, int, tuple[int, int]]]:
        for name, one in self._parameters:
            for key, value in self._optimizer.state.get(one, {}).items():
                if isinstance(value, torch.Tensor):
                    yield f"{name}.{key}", id(value), _version_of(value)

    def _check_parameters(self) -> None:
        held = [(value, now) for value, (_, now) in zip(self._values, self._parameters)]
        name = _first_changed((value, now) for value, now in held if not value.is_moved(now))
        if name is not None:
            raise TesseraError(
                f"the parameter '{name}' was changed outside of job.step(loss), which a change of "
                "the mesh would undo or repeat: delete that line, load values in build(mesh), and "
                "change them after each step in a function given to job.after_update(…)"
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
                word = "unfreeze" if one.requires_grad else "freeze"
                raise TesseraError(
                    f"requires_grad of '{name}' was changed to {one.requires_grad} after "
                    "job.bind(build), which a rank that joins would not know: do it in "
                    "build(mesh), or call job.freeze() before job.bind(build), and "
                    f"job.{word}('{name}') in the loop"
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
        if self._keeps_modules:
            return
        for (name, module), noted in zip(self._modules, self._parts):
            now = _parts_of(module)
            if now != noted:
                key = next(key for key in {**noted, **now} if now.get(key) != noted.get(key))
                raise TesseraError(
                    f"the module '{key}' of {name} was put there, replaced or deleted after "
                    f"job.bind(build), which {_IN_BUILD}"
                )

    def _check_hooks(self) -> None:
        if self._keeps_modules:
            return
        for (name, keys), noted in zip(self._hooks_now(), self._hooks):
            if keys != noted:
                raise TesseraError(
                    f"hooks of {name} were changed after job.bind(build), which {_IN_BUILD}"
                )

    def _check_settings(self, sees_calls: bool) -> None:
        """`sees_calls`: calls that are not seen have changed none of them."""
        for settings in self._settings:
            if sees_calls and not self._is_called:
                settings.compare()
            else:
                settings.end_call()

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


def _groups(optimizer: torch.optim.Optimizer) -> list[list[int]]:
    return [[id(parameter) for parameter in group["params"]] for group in optimizer.param_groups]


def _is_compiled(model: nn.Module) -> bool:
    """Whether torch.compile has made another model of it, or compiles its own calls."""
    made = vars(model)
    return bool(made.get("_is_torch_compile")) or made.get("_compiled_call_impl") is not None


def _parts_of(module: nn.Module) -> dict[str, int]:
    return {key: id(part) for key, part in module._modules.items()}


def _configs(modules: list[tuple[str, nn.Module]]) -> list[tuple[str, Any]]:
    """Those of models of Hugging Face, whose modules read them in forward()."""
    found = [vars(module).get("config") for _, module in modules]
    distinct = {id(one): one for one in found if hasattr(one, "__dict__")}
    return [("the model's config", one) for one in distinct.values()]


def _constants(module: nn.Module) -> dict[str, Any]:
    """Those that modules of torch declare, such as the probability of a dropout."""
    declared = getattr(module, "__constants__", ())
    return {key: vars(module)[key] for key in declared if _is_simple(vars(module).get(key))}


class _Settings:
    """The numbers, words and flags that a module has as attributes, as they were in the beginning.

    What a call of forward() changes is none of them any longer: forward() of parts may be called
    again in backward(), to save memory.
    """

    def __init__(self, name: str, holder: Any) -> None:
        self.name = name
        self._attributes = vars(holder)
        self._keys = set(self._attributes)
        self._noted = {
            key: value
            for key, value in self._attributes.items()
            if key not in _OF_MODULES and _is_simple(value)
        }
        self._before: dict[str, Any] = {}  # what differed when the present call began
        # Of numbers that forward() changes: the last one, by how much it grew, and how often so.
        self._counts: dict[str, tuple[float, float, int]] = {}

    def _differing(self) -> dict[str, Any]:
        """What may differ now."""
        now = self._attributes
        out = {key: now.get(key) for key, value in self._noted.items() if now.get(key) is not value}
        if len(now) != len(self._keys):
            out.update((key, value) for key, value in now.items() if key not in self._keys)
        return out

    def begin_call(self) -> None:
        self._before = self._differing()

    def end_call(self) -> None:
        """Also without begin_call(), for calls that are not seen."""
        before, self._before = self._before, {}
        now = self._differing()
        for key in {**before, **now}:
            if now.get(key) is not before.get(key):
                self._noted.pop(key, None)
                self._keys.add(key)
                self._counts.setdefault(key, (0, 0, 0))

    def check_counts(self) -> None:
        """When a step has ended."""
        for key, (last, growth, times) in self._counts.items():
            now = self._attributes.get(key)
            if not _is_number(now) or key.startswith("_"):
                continue
            times = times + 1 if now - last == growth != 0 else 0
            self._counts[key] = (now, now - last, times)
            if times == _NUM_COUNTED:
                raise TesseraError(
                    f"'{key}' of {self.name} counts the calls of forward(), and a change of the "
                    f"mesh would begin it anew: count in a buffer, self.register_buffer('{key}', "
                    "torch.zeros(()))"
                )

    def compare(self) -> None:
        differing = self._differing()
        noted = {key: value for key, value in self._noted.items() if key in differing}
        # Added numbers are kept for logging; torch.compile puts names that begin with _ there.
        for key, value in differing.items():
            if key in self._keys:
                continue
            if _is_simple(value) and not _is_number(value) and not key.startswith("_"):
                noted[key] = None
        _compare(self.name, noted, self._attributes)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_simple(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_simple, value))
    return isinstance(value, (bool, int, float, str))


def _compare(name: str, noted: dict[str, Any], now: dict[str, Any]) -> None:
    """`now` may have other attributes as well."""
    for key, value in noted.items():
        new = now.get(key)
        if value is new or (_is_simple(new) and (value == new or (value != value and new != new))):
            continue
        raise TesseraError(
            f"'{key}' of {name} was changed from {value} to {new} after job.bind(build), which a "
            "rank that joins would not know: set it in build(mesh), or give it to forward() as an "
            "argument"
        )


class CallHook:
    """Lets the watch of a program know when forward() of its model begins, and when it has ended.

    torch.compile leaves it out. A model that is saved as a whole has a hook without effect instead.
    """

    def __init__(self, program: Any, begins: bool) -> None:
        self._program = weakref.ref(program)
        self._begins = begins

    def __call__(self, *_: Any) -> None:
        if torch.compiler.is_compiling():
            return
        program = self._program()
        if program is not None and program.watch is not None:
            (program.watch.begin_call if self._begins else program.watch.end_call)()

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (contextlib.nullcontext(), "__exit__")  # takes anything, returns None
