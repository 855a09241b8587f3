# SPDX-License-Identifier: Apache-2.0
"""What is found out about a program before it has ranks."""

import unittest

import torch
import torch.distributed as dist
from programs import SIZES
from torch import nn
from torch.distributed.fsdp import fully_shard

from tessera.torch.describe import describe_on


class Communicating(torch.optim.SGD):
    def step(self, closure=None):
        dist.all_reduce(torch.zeros(1, device="meta"))
        return super().step(closure)


class WithNorms(torch.optim.SGD):
    """Norms of parameters that are cut are sums over ranks."""

    def step(self, closure=None):
        for parameter in self.param_groups[0]["params"]:
            norm = torch.linalg.vector_norm(parameter.detach())
            parameter.grad.div_(getattr(norm, "full_tensor", lambda: norm)())
        return super().step(closure)


class Updates(unittest.TestCase):
    """Whether a rank can make them without others."""

    def is_alone(self, kind, cuts=False):
        def build(mesh):
            model = nn.Linear(4, 4)
            if cuts:
                fully_shard(model, mesh=mesh["dp"])
            return model, kind(model.parameters(), lr=0.1)

        return describe_on(build, {**SIZES, "dp": 2}).updates_alone

    def test_updates(self):
        self.assertTrue(self.is_alone(torch.optim.AdamW))
        self.assertTrue(self.is_alone(torch.optim.AdamW, cuts=True))
        self.assertFalse(self.is_alone(Communicating))
        self.assertTrue(self.is_alone(WithNorms))
        self.assertFalse(self.is_alone(WithNorms, cuts=True))


if __name__ == "__main__":
    unittest.main()
