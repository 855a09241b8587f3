# SPDX-License-Identifier: Apache-2.0
"""Whether tensors hold what they held before, also after writes through `.data`.

Such writes do not change the version of a tensor, so its memory is read.
"""

from __future__ import annotations

import torch

from tessera.torch.program import memory_of

# Reading all state takes the memory's bandwidth. So all of it is read in the first steps on a mesh,
# and later a part that moves on, which has at least this many bytes or tensors.
_NUM_WHOLE = 3
_NUM_TURNS = 16
_LEAST_BYTES = 1 << 22
_LEAST_TENSORS = 32
_INTEGERS = {1: torch.int64, 2: torch.int32, 4: torch.int16, 8: torch.uint8}  # by number per word


class Turns:
    """Which of some tensors are read in the present step."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        sizes = [memory_of(tensor).nbytes for tensor in tensors]
        most_bytes = max(_LEAST_BYTES, sum(sizes) // _NUM_TURNS)
        most_tensors = max(_LEAST_TENSORS, len(sizes) // _NUM_TURNS)
        self._all = range(len(sizes))
        self._turns: list[range] = []
        begin = filled = 0
        for place, size in enumerate(sizes):
            if place > begin and (filled + size > most_bytes or place - begin == most_tensors):
                self._turns.append(range(begin, place))
                begin, filled = place, 0
            filled += size
        self._turns.append(range(begin, len(sizes)))
        self._step = 0

    def now(self) -> range:
        """Their places."""
        if self._step < _NUM_WHOLE:
            return self._all
        return self._turns[self._step % len(self._turns)]

    def go_on(self) -> None:
        """To the next step."""
        self._step += 1


def sum_of(value: torch.Tensor, num_elements: int | None = None) -> torch.Tensor:
    """Of the bytes of this rank's part, as one number on its device, which each write alters.

    `num_elements`: of the first ones only.
    """
    flat = memory_of(value).detach().reshape(-1)
    if num_elements is not None:
        flat = flat[:num_elements]
    # Eight bytes at once: a sum of smaller numbers takes ten times as long.
    flat = flat.contiguous()
    size, per_word = flat.numel(), max(8 // flat.element_size(), 1)
    begin = min(-flat.storage_offset() % per_word, size)
    end = begin + (size - begin) // per_word * per_word
    if 0 == begin < end == size:
        return flat.view(torch.int64).sum()
    out = flat[:begin].view(_INTEGERS[per_word]).sum() + flat[end:].view(_INTEGERS[per_word]).sum()
    return out + flat[begin:end].view(torch.int64).sum() if begin < end else out


def first_difference(noted: list[torch.Tensor], now: list[torch.Tensor]) -> int | None:
    """The place of the first sum that differs. Waits for a GPU once."""
    if not noted:
        return None
    sums = [torch.stack([one.to(noted[0].device) for one in each]) for each in (noted, now)]
    places = (sums[0] != sums[1]).nonzero()
    return int(places[0]) if len(places) > 0 else None
