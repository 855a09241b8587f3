# SPDX-License-Identifier: Apache-2.0
"""What a launcher needs of the rank library beyond tessera.Job, and a program's environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import Array, c_float

from tessera._library import TesseraError, check
from tessera.files import protocol
from tessera.files.layout import RankLayout, mesh_text
from tessera.job import Decision, Gather, Job, Record, View


class GroupError(TesseraError):
    """A collective of the launchers has failed, usually because another rank has ended."""


@contextmanager
def _collective() -> Iterator[None]:
    try:
        yield
    except TesseraError as error:
        raise GroupError(str(error)) from None


class RankJob(Job):
    """Collectives without NumPy; their errors are GroupError."""

    def sum(self, values: Array[c_float], axis: str | None = None) -> None:
        """Sums over the ranks of an axis (None: all), in place."""
        with _collective():
            name = axis.encode() if axis else None
            check(self._lib.tessera_all_reduce_sum(self._job, name, values, len(values)))

    def sum_over_all(self, *numbers: float) -> list[float]:
        """Exact for whole numbers below 2^24."""
        values = (c_float * len(numbers))(*numbers)
        self.sum(values)
        return list(values)

    def decide(
        self, step: int, mine: Record, max_norm: float = 0.0, gather: Gather | None = None
    ) -> Decision:
        with _collective():
            return super().decide(step, mine, max_norm, gather)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def environment_of(view: View, layout: RankLayout, folder: str) -> dict[str, str]:
    """The environment of a program, as torchrun has it, without MASTER_ADDR and MASTER_PORT."""
    kept = ("TESSERA_HOME", "TESSERA_JOB", "TESSERA_DEVICE")
    out = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_") or k in kept}
    node = view.nodes[view.rank]
    out.update(
        {
            "RANK": str(view.rank),
            "WORLD_SIZE": str(view.world),
            "LOCAL_RANK": str(view.nodes[: view.rank].count(node)),
            "LOCAL_WORLD_SIZE": str(view.nodes.count(node)),
            protocol.FOLDER: folder,
            "TESSERA_STEP": str(layout.step),
            "TESSERA_MESH": mesh_text(layout.mesh),
            "TESSERA_COORDINATES": mesh_text(layout.coordinates),
            "TESSERA_SAVE": layout.save,
        }
    )
    if layout.state is not None:
        out["TESSERA_STATE"] = layout.state
    return out
