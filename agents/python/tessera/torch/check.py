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
from tessera.describe import FOLDER, MESH
from tessera.torch.describe import describe_on
from tessera.torch.program import Build

_OF_A_RANK = ("TESSERA_RANK_SOCKET", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def layout_of_job() -> dict[str, Any]:
    """The tensors of the job by name, as the agent has recorded them."""
    path = os.environ["TESSERA_LAYOUT_FILE"]
    with open(path, encoding="utf-8") as file:
        return {tensor["name"]: tensor for tensor in json.load(file)["tensors"]}


def check_here(build: Build, sizes: dict[str, int], rank: int) -> None:
    """In this process, which has no process groups yet. Raises TesseraError naming the tensor."""
    try:
        documents = describe_on(build, sizes, rank)
    except TesseraError:
        raise
    except Exception as error:
        raise TesseraError(f"{_text(sizes)}: {type(error).__name__}: {error}") from error
    compare(documents, layout_of_job(), sizes)


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
        if child.returncode != 0:
            with open(said, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            why = lines[-1] if lines else f"status {child.returncode}"
            raise TesseraError(f"{_text(sizes)}: {why}")
        documents = []
        for name in ("tensors.json", "rules.json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                documents.append(json.load(file))
        compare((documents[0], documents[1]), layout_of_job(), sizes)


def compare(
    documents: tuple[dict[str, Any], dict[str, Any]], job: dict[str, Any], sizes: dict[str, int]
) -> None:
    """Of what the program has on the mesh with what the job has on any mesh."""
    tensors, rules = documents
    cuts = {rule["match"]: rule["cut"] for rule in rules["rules"]}
    names = {tensor["name"] for tensor in tensors["tensors"]}
    for name in sorted(job.keys() - names):
        raise TesseraError(f"with {_text(sizes)} the program has no tensor '{name}'")
    for tensor in tensors["tensors"]:
        name = tensor["name"]
        known = job.get(name)
        if known is None:
            raise TesseraError(f"with {_text(sizes)} the program has a tensor '{name}' more")
        own = (tensor["dtype"], tensor["shape"])
        if own != (known["dtype"], known["shape"]):
            raise TesseraError(
                f"with {_text(sizes)} '{name}' is {own[0]}{own[1]}, in the job "
                f"{known['dtype']}{known['shape']}"
            )
        if tensor["role"] in ("exp_avg", "exp_avg_sq"):
            continue  # as their parameter
        rule = cuts[name]
        now = _where_cut([] if rule == "replicate" else rule["dims"], sizes)
        before = _where_cut(known["rule"], sizes)
        if now != before:
            raise TesseraError(
                f"with {_text(sizes)} '{name}' is cut {_cut_text(now)}, in the job "
                f"{_cut_text(before)}"
            )


def _where_cut(dims: list[Any], sizes: dict[str, int]) -> dict[int, list[str]]:
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
