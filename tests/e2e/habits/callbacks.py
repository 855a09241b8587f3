# SPDX-License-Identifier: Apache-2.0
"""Weights are limited and averaged after each update; hooks and settings are put on the model."""

import copy

import pace
import torch
from torch import nn

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Dropout(0.3))
        self.out = nn.Linear(32, 1)
        self.slow = copy.deepcopy(self.out).requires_grad_(False)

    def forward(self, x):
        hidden = self.body(x)
        return self.out(hidden) + 0.5 * self.slow(hidden)


def build(mesh):
    torch.manual_seed(3)
    model = Net()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2)


job = tessera.torch.attach()


@job.on_model
def adapt(model):
    model.body[2].p = 0.0
    model.out.register_forward_hook(lambda module, inputs, output: output.tanh())


@job.after_update
def follow(model, decision):
    model.out.weight.clamp_(-0.2, 0.2)
    model.slow.weight.lerp_(model.out.weight, 0.1)


job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    now = batch()
    loss = nn.functional.mse_loss(job.model(x[now]), y[now])
    loss.backward()
    job.step(loss)
    pace.wait()
