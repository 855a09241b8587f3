# SPDX-License-Identifier: Apache-2.0
"""The same program without Tessera: under torchrun, or as one process."""

from __future__ import annotations

import functools
import os

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore

from tessera._library import AXES
from tessera.job import Decision, Record
from tessera.torch.agreement import Settings, check_equal
from tessera.torch.binding import Program
from tessera.torch.groups import device_mesh
from tessera.torch.intercept import watch_over
from tessera.torch.job import TorchJob
from tessera.torch.program import Build, Tensor, call, has_axis, local_of, parameters


class Alone(TorchJob):
    """All ranks along dp. The state is in this process and ends with it."""

    def bind(self, build: Build) -> None:
        build = self._parts.prepare(build)
        sizes = dict.fromkeys(AXES, 1)
        if "WORLD_SIZE" in os.environ:
            dist.init_process_group("gloo")
            sizes["dp"] = dist.get_world_size()
        else:
            dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
        self.mesh = device_mesh(sizes, "cpu")
        model, optimizer, pipeline = call(build, self.mesh)
        self._seed = torch.initial_seed()
        self._program = Program(model, optimizer, pipeline, self.mesh)
        for name, (parameter, aliases) in parameters(model).items():
            local = local_of(parameter.detach())
            if not has_axis(parameter, "dp"):
                dist.broadcast(local, 0)
            if parameter.requires_grad:
                tensor = Tensor(name, "param", parameter, aliases)
                self._program.add_gradient(parameter, torch.zeros_like(local), tensor)
        self._program.number([gradient.name for gradient in self._program.gradients])
        self._parts.attach(self._program, {})
        self._program.begin_watch(build.keeps_modules)
        self._unsaved.begin(model)
        watch_over(self)

    def _decide(self, mine: Record, settings: Settings, busy: float) -> Decision:
        program = self._bound()
        record = [mine.loss, mine.norm2, mine.found_inf, mine.tokens]
        flags = [self._wants_end, *program.used()]
        own = torch.tensor([*settings, *record, *flags], dtype=torch.float64)
        of_ranks = [torch.empty_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(of_ranks, own)
        gathered = torch.stack(of_ranks)
        rows = gathered[:, : len(settings)].tolist()
        check_equal(self.coming_step, [Settings(*row).packed() for row in rows])
        loss, norm2, found_inf, tokens, ends, *used = gathered[:, len(settings) :].sum(0).tolist()
        self._ends = ends > 0
        program.settle_gradients(bytes(count > 0 for count in used))
        norm = norm2**0.5
        max_norm = settings.max_norm
        clip = max_norm / norm if 0 < max_norm < norm else 1.0
        return Decision(
            self.coming_step, loss, norm2, int(found_inf), int(tokens), clip, found_inf > 0, 0
        )

    def _update(self, program: Program, decision: Decision) -> None:
        with torch.no_grad():
            self._apply(program, decision)

    def _finish(self) -> bool:
        watch_over(None)
        dist.destroy_process_group()
        return False

    def _samples(self, seed: int, position: int, num: int, batch: int) -> tuple[list[int], int]:
        """In another order than under Tessera, whose library may be missing here."""
        rank, world = self._bound().axes["dp"].rank, self._bound().axes["dp"].size
        begin = rank * (batch // world) + min(rank, batch % world)
        count = batch // world + (rank < batch % world)
        places = range(position + begin, position + begin + count)
        return [int(_order(seed, at // num, num)[at % num]) for at in places], begin

    def _dropout_mask(self, site: int, sample: int, num: int, probability: float) -> torch.Tensor:
        """Other numbers than under Tessera."""
        seed = ((self._seed * 1_000_003 + site) * 1_000_003 + sample) & (2**63 - 1)
        generator = torch.Generator().manual_seed(seed)
        return (torch.rand(num, generator=generator) >= probability) / (1 - probability)


@functools.lru_cache(maxsize=4)
def _order(seed: int, pass_: int, num: int) -> torch.Tensor:
    """Of the samples in one pass."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + pass_)
    return torch.randperm(num, generator=generator)
