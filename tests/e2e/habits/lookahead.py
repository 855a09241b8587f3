# SPDX-License-Identifier: Apache-2.0
"""The state of the optimizer begins with copies of the weights and with its learning rate."""

import pace
import torch
from torch import nn

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


class Lookahead(torch.optim.NAdam):
    """Every fifth step leads half of the way back to where the weights were five steps ago."""

    @torch.no_grad()
    def step(self, closure=None):
        own = [one for group in self.param_groups for one in group["params"]]
        before = [one.detach().clone() for one in own]
        super().step()
        for one, was in zip(own, before):
            if one.grad is None:
                continue
            slow = self.state[one].setdefault("slow", was)
            if int(self.state[one]["step"]) % 5 == 0:
                one.copy_(slow.lerp_(one, 0.5))


def build(mesh):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    return model, Lookahead(model.parameters(), lr=1e-2)


job = tessera.torch.attach()
job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    now = batch()
    loss = nn.functional.mse_loss(job.model(x[now]), y[now])
    loss.backward()
    job.step(loss)
    pace.wait()
