# SPDX-License-Identifier: Apache-2.0
"""Losses are scaled. In some steps that is too much: they are skipped, and the scale is halved."""

import pace
import torch
from torch import nn

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


def build(mesh):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3)


job = tessera.torch.attach()
scaler = job.scaler(torch.amp.GradScaler("cpu", growth_interval=3))
job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    now = batch()
    loss = nn.functional.mse_loss(job.model(x[now]), y[now])
    too_much = 1e38 if step in (6, 15, 21, 30) else 1  # however the batch is cut
    scaler.scale(loss * too_much).backward()
    job.step(loss)
    pace.wait()
