# SPDX-License-Identifier: Apache-2.0
"""Buffers with persistent=False, which are no state of the job.

A change of the mesh sets them to what `build` makes, or keeps the values of the ranks that stay,
which differ from those of ranks that join. So they must not be statistics. They may be caches:
values that forward() makes anew, or longer, when it needs others.
"""

from __future__ import annotations

from typing import NoReturn

import torch
from torch import nn

from tessera._library import TesseraError
from tessera.torch.contents import sums_of

_NUM_STEPS = 8  # a cache that grows may be replaced in some steps in a row


def _is_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    is_like = one.shape == other.shape and one.device == other.device
    return is_like and torch.equal(one, other)


def _version(value: torch.Tensor) -> int:
    """Those that torch.inference_mode() has made have none, and cannot be written in place."""
    return -1 if value.is_inference() else value._version


class _Kept:
    """The tensor that a buffer was in the beginning, which the next mesh takes over."""

    def __init__(self, value: torch.Tensor) -> None:
        self._value = value
        self._sums = sums_of(value)
        self._version = _version(value)
        self.is_changed = False

    def read(self) -> None:
        if _version(self._value) != self._version:
            self._version = _version(self._value)
            self.is_changed = not _is_equal(sums_of(self._value), self._sums)


class _Buffer:
    """One buffer of the present mesh, step by step."""

    def __init__(self, module: nn.Module, key: str, value: torch.Tensor) -> None:
        self._module, self._key = module, key
        self._value, self._version = value, _version(value)
        self._num_read = 0
        # Different contents of one shape, of the last steps in a row that each made a new one.
        self._seen = [sums_of(value)]

    def changes_in_each_step(self) -> bool:
        """When a step has ended."""
        now = self._module._buffers.get(self._key)
        if now is None or now.layout != torch.strided:
            return False
        # In the first steps also what does not show in the version: writes through `.data`.
        self._num_read += 1
        is_same = now is self._value and _version(now) == self._version
        if is_same and self._num_read > _NUM_STEPS:
            self._seen = self._seen[-1:]
            return False
        shape = self._value.shape
        self._value, self._version = now, _version(now)
        sums = sums_of(now)
        if now.shape != shape or any(_is_equal(sums, one) for one in self._seen):
            self._seen = []
        self._seen.append(sums)
        return len(self._seen) > _NUM_STEPS


class Unsaved:
    """The buffers of a job that are not saved, on all of its meshes."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._buffers: dict[str, _Buffer] = {}
        self._changed: str | None = None  # the name of one that was changed in place

    def begin(self, model: nn.Module) -> None:
        """When a job begins or goes on with `model`."""
        self._buffers = {}
        for module_name, module in model.named_modules():
            for key in sorted(module._non_persistent_buffers_set):
                value = module._buffers.get(key)
                if value is None or value.is_meta or value.layout != torch.strided:
                    continue
                name = f"{module_name}.{key}" if module_name else key
                self._buffers[name] = _Buffer(module, key, value)
                if name not in self._kept:
                    self._kept[name] = _Kept(value)

    def check_after_step(self) -> None:
        """Raises TesseraError naming a buffer that another value replaces in each step."""
        for name, buffer in self._buffers.items():
            if buffer.changes_in_each_step():
                _refuse(name)
        for kept in self._kept.values():
            kept.read()
        self._changed = next((name for name, one in self._kept.items() if one.is_changed), None)

    def check_change(self) -> None:
        """Raises TesseraError naming a buffer that was changed in place so far: ranks that join
        would have other values. Any thread."""
        if (name := self._changed) is not None:
            _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise TesseraError(
        f"the buffer '{name}' changes while the job trains, and has persistent=False, so a change "
        "of the mesh would undo that: register it with persistent=True, which is the default, in "
        "build(mesh); if each forward() makes it anew, use an attribute that is no buffer"
    )
