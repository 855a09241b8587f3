# SPDX-License-Identifier: Apache-2.0
"""Whether a program has on a mesh what its job has, before anything moves to that mesh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from tessera._library import TesseraError
from tessera.describe import CHECKED, FOLDER, MESH
from tessera.torch.describe import Described, OnMesh, describe_on
from tessera.torch.groups import first_ranks
from tessera.torch.layout import Layout
from tessera.torch.program import Build

_OF_A_RANK = ("TESSERA_RANK_SOCKET", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
_WHY = "why"  # a file for the reason of a refusal


def check_here(build: Build, sizes: dict[str, int], rank: int) -> OnMesh:
    """In this process, which has no process groups yet. Raises TesseraError naming the tensor."""
    try:
        found = describe_on(build, sizes, rank)
    except TesseraError:
        raise
    except Exception as error:
        raise TesseraError(f"{_text(sizes)}: {type(error).__name__}: {error}") from error
    compare(found.tensors, Layout.of_job(), sizes, rank)
    return found


def check_stages(build: Build, folder: str) -> None:
    """In the child of check_in_child: of one rank of each stage."""
    sizes = json.loads(os.environ[MESH])
    try:
        for rank in first_ranks(sizes):
            check_here(build, sizes, rank)
    except TesseraError as error:
        with open(os.path.join(folder, _WHY), "w", encoding="utf-8") as file:
            file.write(str(error))
        raise
    with open(os.path.join(folder, CHECKED), "w", encoding="utf-8"):
        pass


def check_in_child(sizes: dict[str, int], is_abandoned: Callable[[], bool]) -> None:
    """The same in a process of its own, while this one trains."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **{k: v for k, v in os.environ.items() if k not in _OF_A_RANK},
            FOLDER: folder,
            MESH: json.dumps(sizes),
        }
        said = os.path.join(folder, "said")
        with (
            open(said, "wb") as output,
            subprocess.Popen(
                [sys.executable, "-m", "tessera.describe", folder, *sys.argv],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            ) as child,
        ):
            while child.poll() is None:
                if is_abandoned():
                    child.kill()
                    raise TesseraError("the groups are no longer wanted")
                time.sleep(0.05)
        if child.returncode == 0:
            return
        why = os.path.join(folder, _WHY)
        if os.path.exists(why):
            with open(why, encoding="utf-8") as file:
                raise TesseraError(file.read())
        with open(said, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        raise TesseraError(
            f"{_text(sizes)}: {lines[-1] if lines else f'status {child.returncode}'}"
        )


def compare(found: list[Described], layout: Layout, sizes: dict[str, int], rank: int) -> None:
    """Of what the program has on a rank of the mesh with what the job has there."""
    stage = rank // first_ranks(sizes).step
    where = _text(sizes) + (f" on stage {stage}" if sizes["pp"] > 1 else "")
    names = {tensor.name for tensor in found}
    for name in sorted(layout.tensors.keys() - names):
        if stage in layout.stages_holding(name, sizes["pp"]):
            raise TesseraError(f"with {where} the program has no tensor '{name}'")
    for tensor in found:
        known = layout.tensors.get(tensor.name)
        if known is None or stage not in layout.stages_holding(tensor.name, sizes["pp"]):
            raise TesseraError(f"with {where} the program has a tensor '{tensor.name}' more")
        if (tensor.dtype, list(tensor.shape)) != (known["dtype"], known["shape"]):
            raise TesseraError(
                f"with {where} '{tensor.name}' is {tensor.dtype}{list(tensor.shape)}, in the job "
                f"{known['dtype']}{known['shape']}"
            )
        if not tensor.has_own_rule:
            continue
        now, before = _where_cut(tensor.cuts, sizes), _where_cut(known["rule"], sizes)
        if now != before:
            raise TesseraError(
                f"with {where} '{tensor.name}' is cut {_cut_text(now)}, in the job "
                f"{_cut_text(before)}"
            )


def _where_cut(dims: Any, sizes: dict[str, int]) -> dict[int, list[str]]:
    """What is cut over an axis of one rank is not cut."""
    out = {}
    for dim, cut in enumerate(dims):
        axes = cut["axes"] if isinstance(cut, dict) else cut
        if kept := [axis for axis in axes if sizes[axis] > 1]:
            out[dim] = kept
    return out


def _cut_text(cuts: dict[int, list[str]]) -> str:
    parts = [f"in dim {dim} over {' and '.join(axes)}" for dim, axes in cuts.items()]
    return ", ".join(parts) or "nowhere"


def _text(sizes: dict[str, int]) -> str:
    return ",".join(f"{axis}={size}" for axis, size in sizes.items() if size > 1) or "one rank"
