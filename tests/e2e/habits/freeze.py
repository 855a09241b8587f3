# SPDX-License-Identifier: Apache-2.0
"""Layers are frozen at first, and later others are."""

import pace
import torch
from torch import nn

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


def build(mesh):
    torch.manual_seed(3)
    model = nn.Sequential(
        nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 1)
    )
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3)


job = tessera.torch.attach()
job.freeze("0", "2")
job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    if step == 8:
        job.unfreeze("2")
    if step == 16:
        job.unfreeze("0.weight")
    if step == 24:
        job.freeze("4")
    now = batch()
    loss = nn.functional.mse_loss(job.model(x[now]), y[now])
    loss.backward()
    job.step(loss)
    pace.wait()
