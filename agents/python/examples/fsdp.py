# SPDX-License-Identifier: Apache-2.0
"""A small transformer over bytes with FSDP2: every parameter is cut over the ranks.

tesseractl job start fsdp.py --mesh dp=3      torchrun --nproc-per-node 3 fsdp.py
tesseractl job start fsdp.py --mesh dp=2,cp=2 -- --hybrid
"""

import argparse
import sys
import time

import torch
from text import sequences
from torch import nn
from torch.distributed.fsdp import fully_shard

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--hybrid", action="store_true", help="copies along dp, parts along cp (HSDP)")
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
AXES = ("dp", "cp") if arguments.hybrid else ("dp",)
SEQUENCE, WIDTH, HEADS, LAYERS = 64, 46, 2, 2  # 46 rows are no equal parts for 3 or 4 ranks


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 101), nn.GELU(), nn.Linear(101, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.norm1(x)).unflatten(-1, (3 * HEADS, -1)).transpose(1, 2)
        q, k, v = heads.chunk(3, dim=1)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(256, WIDTH), nn.Embedding(SEQUENCE, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256, bias=False)
        self.register_buffer("positions", torch.arange(SEQUENCE - 1), persistent=False)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.tokens(text[:, :-1]) + self.places(self.positions)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())


def build(mesh):
    torch.manual_seed(1)
    model = Model()
    ranks = mesh[AXES]
    for block in model.blocks:
        fully_shard(block, mesh=ranks)
    fully_shard(model, mesh=ranks)
    return model, torch.optim.AdamW(model.parameters(), lr=arguments.lr)


data = sequences(SEQUENCE)

job = tessera.torch.attach()
job.bind(build)
batch = job.sampler(len(data), global_batch=arguments.batch, axes=AXES)
for step in job.steps(until=arguments.steps):
    samples = data[batch()].to(job.device)
    loss = job.model(samples)
    loss.backward()
    decision = job.step(loss, max_norm=1.0, tokens=samples.numel())
    time.sleep(arguments.delay)
    if step % 20 == 0:
        print(f"step {step}: loss {decision.loss:.4f}", file=sys.stderr)
