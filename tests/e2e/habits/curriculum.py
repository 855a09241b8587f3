# SPDX-License-Identifier: Apache-2.0
"""A rate that falls when the loss does not, and a curriculum that the loss moves on."""

import pace
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

import tessera.torch

generator = torch.Generator().manual_seed(1)
x = torch.randn(240, 8, generator=generator)
y = torch.sin(x.sum(1, keepdim=True)) + x[:, :1]


class Curriculum:
    """How many of the inputs are shown, and how the losses were so far."""

    def __init__(self):
        self.num_shown, self.losses = 2, []

    def move_on(self, loss):
        self.losses = [*self.losses, loss][-4:]
        if len(self.losses) == 4 and self.num_shown < 8:
            self.num_shown, self.losses = self.num_shown + 1, []

    def state_dict(self):
        return {"num_shown": self.num_shown, "losses": self.losses}

    def load_state_dict(self, state):
        self.num_shown, self.losses = state["num_shown"], state["losses"]


def build(mesh):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
    return model, torch.optim.SGD(model.parameters(), lr=3e-2)


job = tessera.torch.attach()
job.scheduler(lambda optimizer: ReduceLROnPlateau(optimizer, patience=1, factor=0.7))
curriculum = job.register("curriculum", Curriculum())
job.after_update(lambda model, decision: curriculum.move_on(decision.loss))
job.bind(build)
batch = job.sampler(len(x), global_batch=24)
for step in job.steps(until=pace.steps):
    now = batch()
    shown = x[now] * (torch.arange(8) < curriculum.num_shown)
    loss = nn.functional.mse_loss(job.model(shown), y[now])
    loss.backward()
    job.step(loss)
    pace.wait()
