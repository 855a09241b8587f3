# SPDX-License-Identifier: Apache-2.0
"""Objects of a program that are a part of its job: each is a tensor of bytes on all ranks."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from tessera._library import TesseraError
from tessera.torch.encoding import decode, encode

PREFIX = "tessera.object."  # of the names of their tensors
ROOM = 1 << 16  # bytes
_MOST_ROOM = 1 << 28
_SIZE = struct.Struct("<Q")  # of the bytes that follow it, at the beginning of the tensor


class Stateful(Protocol):
    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any, /) -> Any: ...


@dataclass
class _Object:
    name: str
    value: Stateful
    room: int  # bytes, of its state
    in_loop: bool  # whether the loop changes it, or updates alone
    held: bytes = b""  # what the job has of it
    place: torch.Tensor | None = field(default=None, repr=False)

    def state(self) -> bytes:
        try:
            made = encode(self.value.state_dict())
        except TesseraError as error:
            raise TesseraError(f"'{self.name}' cannot be registered: {error}") from error
        if len(made) > self.room:
            raise TesseraError(
                f"the state of '{self.name}' has {len(made)} bytes, and there is room for "
                f"{self.room}: job.register('{self.name}', …, room={2 * len(made)}) makes more"
            )
        return made

    def write(self, state: bytes) -> None:
        self.held = state
        if self.place is None:
            return
        data = bytearray(_SIZE.pack(len(state)) + state)
        self.place[: len(data)].copy_(torch.frombuffer(data, dtype=torch.uint8))

    def read(self) -> None:
        """Takes what the job has, if it has something yet."""
        if self.place is None:
            return
        size = _SIZE.unpack(bytes(self.place[: _SIZE.size].tolist()))[0]
        if size == 0:
            self.held = self.state()
            return
        if size > self.room:
            raise TesseraError(f"the state of '{self.name}' in the job is damaged")
        self.value.load_state_dict(
            decode(bytes(self.place[_SIZE.size : _SIZE.size + size].tolist()))
        )
        self.held = self.state()


class Objects:
    """By their names. One thread."""

    def __init__(self) -> None:
        self._of: dict[str, _Object] = {}

    def add(self, name: str, value: Stateful, room: int = ROOM, in_loop: bool = True) -> None:
        """Raises TesseraError naming what is wrong with it."""
        if not name.replace("_", "").replace("-", "").replace(".", "").isalnum() or len(name) > 64:
            raise TesseraError(
                f"'{name}' is no name of an object: letters, digits and _-. are allowed, at most 64"
            )
        if name in self._of:
            raise TesseraError(f"an object '{name}' is registered already: give it another name")
        for needed in ("state_dict", "load_state_dict"):
            if not callable(getattr(value, needed, None)):
                raise TesseraError(
                    f"'{name}' is a {type(value).__name__}, which has no {needed}(): give it both "
                    "state_dict() and load_state_dict(state)"
                )
        if not 0 < room <= _MOST_ROOM:
            raise TesseraError(f"room={room} of '{name}' is not from 1 to {_MOST_ROOM} bytes")
        self._of[name] = _Object(name, value, room, in_loop)

    def tensors(self) -> dict[str, int]:
        """Their names, and their sizes in bytes."""
        return {PREFIX + name: _SIZE.size + one.room for name, one in self._of.items()}

    @property
    def change_in_loop(self) -> bool:
        """Whether an update needs the process that has made its step."""
        return any(one.in_loop for one in self._of.values())

    def bind(self, places: dict[str, torch.Tensor]) -> None:
        """Their tensors in the memory of the job, by name; none without a job. Reads them."""
        for name, one in self._of.items():
            one.place = places.get(PREFIX + name)
            one.read()

    def begin(self, is_first: bool) -> None:
        """When the loop begins. What the script has done to them until then counts in a new job."""
        for one in self._of.values():
            if is_first:
                one.held = one.state()
            else:
                one.read()

    def checksum(self) -> float:
        """Of the states now, before the update; 0 without objects."""
        sums = 0
        for one in self._of.values():
            sums = zlib.crc32(one.state(), sums)
        return float(sums)

    def keep(self) -> None:
        """In an update."""
        for one in self._of.values():
            one.write(one.state())

    def check_after_step(self) -> None:
        """When the body of the loop has ended. Raises TesseraError naming one that has changed."""
        for name, one in self._of.items():
            if one.state() != one.held:
                raise TesseraError(
                    f"'{name}' was changed after job.step(loss), which a change of the mesh would "
                    "undo: change it before job.step(loss), or in a function that "
                    "job.after_update(…) calls"
                )
