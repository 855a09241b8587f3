# SPDX-License-Identifier: Apache-2.0
"""The layout of the job as the agent has recorded it: tensors, cuts and pipeline stages."""

from __future__ import annotations

import json
import os
from typing import Any


def stages_of_layers(rule: str, num_layers: int, num_stages: int) -> list[int] | None:
    """The stage of each layer. None: the rule depends on more than the number of layers.

    `rule` is "uniform", "uniform*2" (two virtual stages per stage) or "0,0,1,1".
    """
    if rule[:1].isdigit():
        stages = [int(stage) for stage in rule.split(",")]
        if num_stages == 1:
            return [0] * num_layers
        is_for_it = len(stages) == num_layers and max(stages) == num_stages - 1
        return stages if is_for_it else None
    word, _, factor = rule.partition("*")
    if word != "uniform":
        return None
    chunks = num_stages * int(factor or 1)
    out: list[int] = []
    for chunk in range(chunks):
        count = num_layers // chunks + (chunk < num_layers % chunks)
        out.extend([chunk % num_stages] * count)
    return out


class Layout:
    """TESSERA_LAYOUT_FILE."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.tensors: dict[str, Any] = {t["name"]: t for t in document["tensors"]}
        self.num_layers: int = document["num_layers"]
        self.stages: str = document.get("stages", "uniform")
        self._stage_of_layer: dict[int, list[int] | None] = {}  # by the number of stages
        self.is_pipelined = any(tensor["place"] != "all" for tensor in self.tensors.values())

    @staticmethod
    def of_job() -> Layout:
        with open(os.environ["TESSERA_LAYOUT_FILE"], encoding="utf-8") as file:
            return Layout(json.load(file))

    def stages_holding(self, name: str, num_stages: int) -> tuple[int, ...]:
        """Of a tensor. All, if that cannot be told from here."""
        every = tuple(range(num_stages))
        tensor = self.tensors[name]
        place = tensor["place"]
        if place == "layer":
            if num_stages not in self._stage_of_layer:
                found = stages_of_layers(self.stages, self.num_layers, num_stages)
                self._stage_of_layer[num_stages] = found
            stages = self._stage_of_layer[num_stages]
            return every if stages is None else (stages[tensor["layer"]],)
        known = {"first": (0,), "last": every[-1:], "first_and_last": (0, num_stages - 1)}
        return tuple(dict.fromkeys(known.get(place, every)))
