# SPDX-License-Identifier: Apache-2.0
"""The tensors file and the rules file of a program, derived from its placements.

`python -m tessera.describe` runs a script up to its `job.bind(build)`, which comes here.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor.debug import CommDebugMode

from tessera._library import AXES, TesseraError
from tessera.torch.beginnings import check_optimizer
from tessera.torch.groups import first_ranks, pretended
from tessera.torch.objects import PREFIX
from tessera.torch.parts import parts_of
from tessera.torch.program import (
    STEP,
    Build,
    StateOfOptimizer,
    Tensor,
    call,
    check_memory,
    make_state,
    persistent_buffers,
    state_of,
)
from tessera.torch.stages import Stages, infer

_MOMENTS = ("exp_avg", "exp_avg_sq")  # these have the rule of their parameter
# Axes that are probed with two ranks each, those that most programs know last.
_CUTTING = (("dp", "ep", "tp"), ("dp", "tp"), ("dp", "ep"), ("dp",))
# Files: app/commands/script.cpp
UPDATES_ALONE = "updates-alone"
PAUSES_BEFORE_UPDATES = "pauses-before-updates"
_STAGES = (2, 3, 4)  # numbers of stages that are probed


@dataclass(frozen=True)
class Described:
    """A tensor of a program on one mesh, without the program."""

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    aliases: tuple[str, ...]
    cuts: tuple[tuple[str, ...], ...]  # for each dim the axes that cut it, major to minor

    @staticmethod
    def of(tensor: Tensor) -> Described:
        cuts = tuple(tuple(axes) for axes in tensor.cuts())
        return Described(
            tensor.name, tensor.role, tensor.dtype, tensor.shape, tuple(tensor.aliases), cuts
        )

    @property
    def has_own_rule(self) -> bool:
        return self.role not in _MOMENTS


STEP_TENSOR = Described(STEP, "scalar", "i64", (), (), ())


@dataclass(frozen=True)
class OnMesh:
    """A program on one mesh, without the program."""

    title: str
    tensors: list[Described]
    # Whether a rank can make an update by itself that an earlier one has left out: without
    # collectives, and without buffers of the step, which are lost with that rank.
    updates_alone: bool
    # Whether the update of a step can be made on another mesh than its gradients: these move as
    # f32, and buffers of the step do not.
    updates_elsewhere: bool
    state_of_optimizer: StateOfOptimizer


def describe_on(build: Build, sizes: dict[str, int], rank: int = 0) -> OnMesh:
    """What `build` makes for one rank of one mesh."""
    with pretended(sizes, rank) as mesh:
        with torch.device("meta"):
            model, optimizer, _ = call(build, mesh)
        check_optimizer(optimizer)
        check_memory(model)
        with CommDebugMode() as collectives:  # type: ignore[no-untyped-call]
            make_state(optimizer)
        alone = collectives.get_total_counts() == 0 and not persistent_buffers(model)
        name = type(model).__name__
        if isinstance(model, FSDPModule):
            name = name.removeprefix("FSDP")
        is_f32 = all(
            parameter.dtype == torch.float32
            for parameter in model.parameters()
            if parameter.requires_grad
        )
        own = [Described.of(tensor) for tensor, _, _ in state_of(model, optimizer)]
        title = f"{name}, torch {torch.__version__}"
        made = StateOfOptimizer(model, optimizer)
        parts = parts_of(build)
        parts.check(model, optimizer, is_whole=sizes["pp"] == 1)
        alone = alone and not parts.update_with_step
        objects = [
            Described(name, "buffer", "u8", (size,), (), ((),))
            for name, size in parts.objects.tensors().items()
        ]
        return OnMesh(title, [*own, *objects, STEP_TENSOR], alone, alone and is_f32, made)


def describe(build: Build) -> tuple[OnMesh, Stages]:
    """The tensors and rules of what `build` makes, for any mesh.

    The axes that cut are those of a mesh of two ranks along dp, ep and tp each, or along those of
    them that the program can take. Layers and stages are those of meshes of some stages.
    """
    whole, sizes = _uncut_by_stages(build)
    spread = _in_stages(whole.tensors)
    names = [tensor.name for tensor in whole.tensors if tensor.name in spread]
    try:
        stages = infer(names, _probe_stages(build, sizes))
    except TesseraError as error:
        # A mesh with several stages is refused when it is asked for.
        print(f"no pipeline stages are taken from the program: {error}", file=sys.stderr)
        stages = Stages()
    return whole, stages


def _uncut_by_stages(build: Build) -> tuple[OnMesh, dict[str, int]]:
    failure: Exception | None = None
    for probed in _CUTTING:
        sizes = {axis: 2 if axis in probed else 1 for axis in AXES}
        try:
            return describe_on(build, sizes), sizes
        except Exception as error:
            failure = error  # that of the simplest mesh is raised
    assert failure is not None
    raise failure


def _probe_stages(build: Build, sizes: dict[str, int]) -> dict[int, list[set[str]]]:
    """The names on each stage, by the number of stages. `sizes` are those of the other axes."""
    out = {}
    for count in _STAGES:
        mesh = {**sizes, "pp": count}
        try:
            stages = [describe_on(build, mesh, rank) for rank in first_ranks(mesh)]
        except TesseraError:
            raise
        except Exception:
            continue  # it is refused with its reason if such a mesh is asked for
        out[count] = [_in_stages(own.tensors) for own in stages]
        if all(own == out[count][0] for own in out[count]):
            break  # the program does nothing with stages
    return out


def _in_stages(tensors: list[Described]) -> set[str]:
    """The names of those that are not on all ranks in any case."""
    return {one.name for one in tensors if one.name != STEP and not one.name.startswith(PREFIX)}


def _documents(whole: OnMesh, stages: Stages) -> tuple[dict[str, Any], dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    for tensor in whole.tensors:
        row: dict[str, Any] = {
            "name": tensor.name,
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "role": tensor.role,
        }
        if tensor.aliases:
            row["aliases"] = list(tensor.aliases)
        if tensor.name in stages.layer:
            row["layer"] = stages.layer[tensor.name]
        rows.append(row)
        if not tensor.has_own_rule:
            continue
        cut: Any = "replicate"
        if any(tensor.cuts):
            cut = {"dims": [list(axes) for axes in tensor.cuts], "split": "ceil"}
        place = "layer" if tensor.name in stages.layer else stages.place.get(tensor.name, "all")
        rules.append({"match": tensor.name, "cut": cut, "stage": place})
    of_stages = {} if stages.rule == "uniform" else {"stages": stages.rule}
    head = {"title": whole.title, "layers": stages.num_layers}
    return {**head, "tensors": rows}, {**of_stages, "rules": rules}


def write(build: Build, folder: str) -> None:
    whole, stages = describe(build)
    for name, document in zip(("tensors.json", "rules.json"), _documents(whole, stages)):
        rows = next(key for key in document if isinstance(document[key], list))
        head = "".join(
            f"{json.dumps(key)}: {json.dumps(value)}, "
            for key, value in document.items()
            if key != rows
        )
        lines = ",\n  ".join(json.dumps(row) for row in document[rows])
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"{{{head}{json.dumps(rows)}: [\n  {lines}\n]}}\n")
    # Programs whose loop uses the parameters after a step, to evaluate them, need them updated.
    is_free = not getattr(build, "uses_parameters_after_step", False)
    for name, holds in (
        (UPDATES_ALONE, whole.updates_alone),
        (PAUSES_BEFORE_UPDATES, whole.updates_elsewhere and is_free),
    ):
        if holds:
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                pass
