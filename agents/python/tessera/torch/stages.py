# SPDX-License-Identifier: Apache-2.0
"""Which tensors a pipelined program has on which stage, as a rule for any number of stages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tessera._library import TesseraError
from tessera.torch.layout import stages_of_layers

_LARGEST_INTERLEAVE = 8


@dataclass
class Stages:
    """Where tensors are: `layer` is that of a tensor, `place` that of one without a layer."""

    rule: str = "uniform"
    num_layers: int = 0
    layer: dict[str, int] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=dict)


def infer(names: list[str], probes: dict[int, list[set[str]]]) -> Stages:
    """From what a program has without stages, and on each stage of some numbers of stages.

    `probes` has the names on each stage, by the number of stages. Layers are what a container
    numbers (`model.layers.3`) and distributes over stages. Raises TesseraError naming a tensor that
    is where no rule puts it.
    """
    held = {
        count: {name: _stages_of(name, stages, count) for name in names}
        for count, stages in probes.items()
    }
    for count, stages in probes.items():
        for name in sorted(set().union(*stages) - set(names)):
            raise TesseraError(f"with pp={count} the program has a tensor '{name}' more")
    containers = _spread_containers(names, held)
    found = _layers(containers, names, held)
    # Heads that are numbered as well are no layers.
    less = [one for one in containers if not _is_at_ends(one, names, held)]
    if not found.rule.startswith("uniform") and 0 < len(less) < len(containers):
        other = _layers(less, names, held)
        found = other if other.rule.startswith("uniform") else found
    is_pipelined = any(len(on) < count for count, of in held.items() for on in of.values())
    for name in names:
        if name not in found.layer:
            found.place[name] = _place(name, held) if is_pipelined else "all"
    return found


def _layers(
    containers: list[str], names: list[str], held: dict[int, dict[str, tuple[int, ...]]]
) -> Stages:
    found = Stages()
    for prefix in containers:
        own = {
            name: int(name[len(prefix) :].split(".")[0]) for name in names if _is_in(name, prefix)
        }
        numbers = {number: found.num_layers + i for i, number in enumerate(sorted({*own.values()}))}
        found.layer.update({name: numbers[number] for name, number in own.items()})
        found.num_layers += len(numbers)
    found.rule = _rule(found, held)
    return found


def _is_at_ends(prefix: str, names: list[str], held: dict[int, dict[str, tuple[int, ...]]]) -> bool:
    """Whether all of a container is on the first or the last stage."""
    return (
        all(
            held[count][name] in ((0,), (count - 1,))
            for count in held
            for name in names
            if _is_in(name, prefix)
        )
        and max(held) > 2
    )


def _stages_of(name: str, stages: list[set[str]], count: int) -> tuple[int, ...]:
    out = tuple(stage for stage, own in enumerate(stages) if name in own)
    if not out:
        raise TesseraError(f"with pp={count} the program has '{name}' on no stage")
    return out


def _number(name: str, prefix: str) -> int:
    return int(name[len(prefix) :].split(".")[0])


def _is_in(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].split(".")[0].isdigit()


def _spread_containers(names: list[str], held: dict[int, dict[str, tuple[int, ...]]]) -> list[str]:
    """Prefixes of names whose numbers are on several stages, by their first stage."""
    first: dict[str, tuple[int, int]] = {}
    for name in names:
        for match in re.finditer(r"(?:^|\.)(\d+)(?=\.)", name):
            first.setdefault(name[: match.start(1)], (0, 0))
    out: list[tuple[int, int, str]] = []
    for at, prefix in enumerate(first):
        own = [name for name in names if _is_in(name, prefix)]
        for stages in held.values():
            on: dict[int, set[int]] = {}
            for name in own:
                on.setdefault(_number(name, prefix), set()).update(stages[name])
            # If one of its numbers is on several stages, the layers are further inside.
            if all(len(one) == 1 for one in on.values()) and len(set().union(*on.values())) > 1:
                # A container in it is spread as well if the outer one is; the outer one counts.
                out.append((min(min(one) for one in on.values()), at, prefix))
                break
    kept: list[str] = []
    for _, _, prefix in sorted(out):
        if not any(_is_in(prefix, outer) for outer in kept):
            kept.append(prefix)
    return kept


def _rule(found: Stages, held: dict[int, dict[str, tuple[int, ...]]]) -> str:
    if found.num_layers == 0:
        return "uniform"
    rules = [f"uniform*{n}" if n > 1 else "uniform" for n in range(1, _LARGEST_INTERLEAVE + 1)]
    for rule in rules:
        if all(_fits(rule, found, count, stages) for count, stages in held.items()):
            return rule
    # As the program has it on two stages; other numbers are then refused when they are asked for.
    two = held[min(held)]
    stage = {layer: two[name][0] for name, layer in found.layer.items()}
    explicit = ",".join(str(stage[layer]) for layer in range(found.num_layers))
    for name, layer in found.layer.items():
        if two[name] != (stage[layer],):
            raise TesseraError(
                f"with pp={min(held)} the program has '{name}' on stages {list(two[name])}, and "
                f"other tensors of its layer on stage {stage[layer]}"
            )
    return explicit


def _fits(rule: str, found: Stages, count: int, held: dict[str, tuple[int, ...]]) -> bool:
    stages = stages_of_layers(rule, found.num_layers, count)
    return stages is not None and all(
        held[name] == (stages[layer],) for name, layer in found.layer.items()
    )


def _place(name: str, held: dict[int, dict[str, tuple[int, ...]]]) -> str:
    possible = ["first", "last", "first_and_last", "all"]
    for count, stages in held.items():
        of = {
            "first": (0,),
            "last": (count - 1,),
            "first_and_last": (0, count - 1),
            "all": tuple(range(count)),
        }
        possible = [place for place in possible if of[place] == stages[name]]
        if not possible:
            raise TesseraError(
                f"with pp={count} the program has '{name}' on stages {list(stages[name])}; a "
                "tensor is on the stage of its layer, the first, the last, both, or all"
            )
    return possible[0]
