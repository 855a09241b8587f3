# SPDX-License-Identifier: Apache-2.0
"""The tensors file and the rules file of a program, derived from its placements.

`python -m tessera.describe` runs a script up to its `job.bind(build)`, which comes here.
"""

from __future__ import annotations

import json
import os
from typing import Any

import torch

from tessera._library import AXES, TesseraError
from tessera.describe import MESH
from tessera.torch.groups import pretended
from tessera.torch.program import STEP, Build, Tensor, check_optimizer, make_state, state_of


def rule_of(tensor: Tensor) -> dict[str, Any]:
    cuts = tensor.cuts()
    cut: Any = {"dims": cuts, "split": "ceil"} if any(cuts) else "replicate"
    return {"match": tensor.name, "cut": cut, "stage": "all"}


def describe(build: Build) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and rules of what `build` makes, for any mesh.

    The axes that cut are those of a mesh of two ranks along dp and tp each; a program that cannot
    be cut over tp is described with dp alone.
    """
    failure: Exception | None = None
    for probed in (("dp", "tp"), ("dp",)):
        try:
            return describe_on(build, {axis: 2 if axis in probed else 1 for axis in AXES})
        except TesseraError:
            raise
        except Exception as error:
            failure = failure or error
    assert failure is not None
    raise failure


def describe_on(
    build: Build, sizes: dict[str, int], rank: int = 0
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same of one mesh."""
    with pretended(sizes, rank) as mesh:
        with torch.device("meta"):
            model, optimizer = build(mesh)
        check_optimizer(optimizer)
        make_state(optimizer)
        return _documents(list(state_of(model, optimizer)))


def _documents(state: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    tensors: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    for tensor, _, _ in state:
        row: dict[str, Any] = {
            "name": tensor.name,
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "role": tensor.role,
        }
        if tensor.aliases:
            row["aliases"] = tensor.aliases
        tensors.append(row)
        if tensor.role not in ("exp_avg", "exp_avg_sq"):  # these have the rule of their parameter
            rules.append(rule_of(tensor))
    tensors.append({"name": STEP, "dtype": "i64", "shape": [], "role": "scalar"})
    rules.append({"match": STEP, "cut": "replicate", "stage": "all"})
    return {"layers": 0, "tensors": tensors}, {"rules": rules}


def write(build: Build, folder: str) -> None:
    mesh = os.environ.get(MESH)
    documents = describe_on(build, json.loads(mesh)) if mesh else describe(build)
    for name, document in zip(("tensors.json", "rules.json"), documents):
        rows = next(key for key in document if isinstance(document[key], list))
        head = "".join(
            f"{json.dumps(key)}: {json.dumps(value)}, "
            for key, value in document.items()
            if key != rows
        )
        lines = ",\n  ".join(json.dumps(row) for row in document[rows])
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"{{{head}{json.dumps(rows)}: [\n  {lines}\n]}}\n")
