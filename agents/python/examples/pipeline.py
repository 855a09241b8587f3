# SPDX-License-Identifier: Apache-2.0
"""A small transformer over bytes as a pipeline of torch (1F1B), each stage also tensor parallel.

The embedding is tied: the first stage looks tokens up in it, the last one makes logits with it.

tesseractl job start pipeline.py --mesh pp=2,tp=2      python pipeline.py
"""

import argparse
import sys
import time

import torch
from text import sequences
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--micro-batches", type=int, default=4)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
SEQUENCE, WIDTH, HEADS, LAYERS = 64, 48, 4, 5  # 5 layers are no equal parts for 2 or 4 stages
PLAN = {
    "q": ColwiseParallel(),
    "k": ColwiseParallel(),
    "v": ColwiseParallel(),
    "proj": RowwiseParallel(),
    "up": ColwiseParallel(),
    "down": RowwiseParallel(),
}


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        heads = (part(y).unflatten(-1, (-1, WIDTH // HEADS)) for part in (self.q, self.k, self.v))
        q, k, v = (part.transpose(1, 2) for part in heads)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    """All of it, or one stage: what other stages have is taken out by keep()."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(256, WIDTH), nn.Embedding(SEQUENCE, WIDTH)
        self.blocks = nn.ModuleDict({str(layer): Block() for layer in range(LAYERS)})
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.is_first = self.is_last = True

    def keep(self, stage: int, stages: int) -> None:
        base, more = divmod(LAYERS, stages)
        begin = stage * base + min(stage, more)
        for layer in range(LAYERS):
            if not begin <= layer < begin + base + (stage < more):
                del self.blocks[str(layer)]
        self.is_first, self.is_last = stage == 0, stage == stages - 1
        if not self.is_first:
            self.places = None
        if not self.is_last:
            self.norm = None
        if not self.is_first and not self.is_last:
            self.tokens = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.is_first:
            x = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks.values():
            x = block(x)
        return nn.functional.linear(self.norm(x), self.tokens.weight) if self.is_last else x


def loss_of(logits: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), text.flatten())


def build(mesh):
    torch.manual_seed(1)
    model = Model()
    stage, stages = mesh["pp"].get_local_rank(), mesh["pp"].size()
    model.keep(stage, stages)
    for block in model.blocks.values():
        parallelize_module(block, mesh["tp"], PLAN)
    group = mesh["pp"].get_group()
    pipeline = Schedule1F1B(
        PipelineStage(model, stage, stages, job.device, group=group),
        arguments.micro_batches,
        loss_of,
    )
    return model, torch.optim.AdamW(model.parameters(), lr=arguments.lr), pipeline


data = sequences(SEQUENCE)

job = tessera.torch.attach()
job.bind(build)
batch = job.sampler(len(data), global_batch=arguments.batch)
for step in job.steps(until=arguments.steps):
    samples = data[batch()].to(job.device)
    inputs = (samples[:, :-1].contiguous(),) if job.model.is_first else ()
    targets, losses = (samples[:, 1:], []) if job.model.is_last else (None, None)
    job.pipeline.step(*inputs, target=targets, losses=losses)
    loss = torch.stack(losses).mean() if losses else None
    decision = job.step(loss, max_norm=1.0, tokens=samples.numel())
    time.sleep(arguments.delay)
    if step % 20 == 0:
        print(f"step {step}: loss {decision.loss:.4f}", file=sys.stderr)
