# SPDX-License-Identifier: Apache-2.0
"""Learning rates follow a chain of schedulers of torch."""

import pace
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


def schedule(optimizer):
    warm_up = LinearLR(optimizer, 0.1, total_iters=6)
    return SequentialLR(optimizer, [warm_up, CosineAnnealingLR(optimizer, 30)], [6])


def build(mesh):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    groups = [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 1e-2}]
    return model, torch.optim.AdamW(groups, lr=3e-3)


job = tessera.torch.attach()
job.scheduler(schedule)
job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    now = batch()
    loss = nn.functional.mse_loss(job.model(x[now]), y[now])
    loss.backward()
    job.step(loss)
    pace.wait()
