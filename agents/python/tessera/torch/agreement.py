# SPDX-License-Identifier: Apache-2.0
"""What a step takes from the loop of each rank, and what has to be equal on all ranks."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from tessera._library import TesseraError

_STATEFUL = (
    "compute it from the step, or from the loss that job.step(loss) returns, which is equal on "
    "all ranks, and keep counts in an object of job.register(…), because a rank that joins runs "
    "nothing of what the loop has done"
)
_REMEDIES = {
    "the factor of job.schedule": _STATEFUL,
    "max_norm of job.step": _STATEFUL,
    "job.sampler": "give it the same num_samples, global_batch, seed and axes on all ranks",
    "the order in which random_split has dealt the data": (
        "call random_split equally on all ranks, with generator=torch.Generator().manual_seed(1)"
    ),
    "the state of an object of job.register or job.freeze": (
        "change it equally on all ranks, such as by the step, or by the loss that job.step(loss) "
        "returns"
    ),
}
_BY_VALUE = list(_REMEDIES)[:2]  # others are checksums


class Settings(NamedTuple):
    """Replicas diverge if these differ. In the order of _REMEDIES."""

    factor: float
    max_norm: float
    sampler: float  # a checksum of its arguments, 0 without one
    splits: float  # a checksum of the orders of random_split, 0 without a sampler
    objects: float = 0.0  # a checksum of their states, 0 without one

    def packed(self) -> bytes:
        return _PACKED.pack(*self)

    @staticmethod
    def unpack(packed: bytes) -> Settings:
        return Settings(*_PACKED.unpack(packed))


_PACKED = struct.Struct(f"={len(Settings._fields)}d")
SETTINGS_SIZE = _PACKED.size  # bytes


def checksum_of(value: object) -> float:
    """Returns a number that differs for nearly all values with another text."""
    return float(zlib.crc32(repr(value).encode()))


def check_equal(step: int, of_ranks: Sequence[bytes]) -> None:
    """Raises TesseraError naming the first setting that differs. `of_ranks`: packed, by rank."""
    first = of_ranks[0]
    for rank, packed in enumerate(of_ranks):
        if packed == first:
            continue
        rows = zip(_REMEDIES.items(), Settings.unpack(first), Settings.unpack(packed))
        for (name, remedy), one, other in rows:
            if struct.pack("d", one) == struct.pack("d", other):
                continue
            where = f"step {step}, on ranks 0 and {rank}"
            if name in _BY_VALUE:
                where = f"step {step} ({one:.9g} on rank 0, {other:.9g} on rank {rank})"
            raise TesseraError(
                f"{name} differs between ranks in {where}, so they would train differently: "
                f"{remedy}"
            )
