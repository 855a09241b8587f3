# SPDX-License-Identifier: Apache-2.0
"""layout.json: a rank, and its part of each tensor."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tessera._library import AXES, TesseraError

Box = tuple[tuple[int, ...], tuple[int, ...]]  # begin and end


@dataclass(frozen=True)
class Tensor:
    """What one rank holds of a tensor: a box, or several that are joined along `dim`."""

    name: str
    dtype: str  # "f32"
    shape: tuple[int, ...]  # of the uncut tensor
    boxes: tuple[Box, ...]
    dim: int = 0

    @property
    def local_shape(self) -> tuple[int, ...]:
        begin, end = self.boxes[0]
        out = [e - b for b, e in zip(begin, end)]
        for begin, end in self.boxes[1:]:
            out[self.dim] += end[self.dim] - begin[self.dim]
        return tuple(out)

    def of(self, whole: Any) -> Any:
        """This rank's part of an uncut NumPy array."""
        if tuple(whole.shape) != self.shape:
            raise TesseraError(
                f"'{self.name}' has shape {list(self.shape)}, not {list(whole.shape)}"
            )
        parts = [whole[tuple(slice(b, e) for b, e in zip(*box))] for box in self.boxes]
        if len(parts) == 1:
            return parts[0].copy()
        import numpy

        return numpy.concatenate(parts, axis=self.dim)

    @property
    def where(self) -> str:
        """ "[0:8, 0:16] of [32, 16]", for messages and metadata."""
        boxes = [
            "[" + ", ".join(f"{b}:{e}" for b, e in zip(begin, end)) + "]"
            for begin, end in self.boxes
        ]
        return " + ".join(boxes) + f" of {list(self.shape)}"

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"dtype": self.dtype, "shape": list(self.shape)}
        out["local_shape"] = list(self.local_shape)
        if len(self.boxes) == 1:
            out["begin"], out["end"] = (list(edge) for edge in self.boxes[0])
        else:
            out["dim"] = self.dim
            out["boxes"] = [{"begin": list(b), "end": list(e)} for b, e in self.boxes]
        return out

    @staticmethod
    def from_json(name: str, row: dict[str, Any]) -> Tensor:
        boxes = row.get("boxes", [row])
        return Tensor(
            name,
            row["dtype"],
            tuple(row["shape"]),
            tuple((tuple(box["begin"]), tuple(box["end"])) for box in boxes),
            row.get("dim", 0),
        )


@dataclass(frozen=True)
class RankLayout:
    """A rank and its part of the state after `step`."""

    rank: int
    world: int
    mesh: dict[str, int]  # sizes by axis: pp, dp, ep, cp, tp
    coordinates: dict[str, int]
    step: int
    state: str | None  # the file to load; None: there is none yet
    save: str  # where to save
    tensors: dict[str, Tensor] | None  # None: the program is asked which tensors it has

    def to_json(self) -> str:
        out = dict(vars(self))
        if self.tensors is not None:
            out["tensors"] = {name: tensor.to_json() for name, tensor in self.tensors.items()}
        return json.dumps(out, indent=1) + "\n"

    @staticmethod
    def read(path: str) -> RankLayout:
        with open(path, encoding="utf-8") as file:
            row = json.load(file)
        if row["tensors"] is not None:
            row["tensors"] = {n: Tensor.from_json(n, t) for n, t in row["tensors"].items()}
        return RankLayout(**row)


def mesh_text(by_axis: dict[str, int]) -> str:
    """ "pp=1,dp=2,ep=1,cp=1,tp=1" """
    return ",".join(f"{axis}={by_axis[axis]}" for axis in AXES)
