# SPDX-License-Identifier: Apache-2.0
"""A small Llama of Hugging Face `transformers` with random weights, on any mesh of dp and tp.

Tensor parallelism is torch's `parallelize_module`, FSDP2 cuts over dp what that has left.

tesseractl job start llama.py --mesh dp=2,tp=2      torchrun --nproc-per-node 2 llama.py
"""

import argparse
import sys
import time

import torch
from text import sequences
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from transformers import LlamaConfig, LlamaForCausalLM

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
SEQUENCE = 64
PLAN = {
    "self_attn.q_proj": ColwiseParallel(),
    "self_attn.k_proj": ColwiseParallel(),
    "self_attn.v_proj": ColwiseParallel(),
    "self_attn.o_proj": RowwiseParallel(),
    "mlp.gate_proj": ColwiseParallel(),
    "mlp.up_proj": ColwiseParallel(),
    "mlp.down_proj": RowwiseParallel(),
}
CONFIG = LlamaConfig(
    vocab_size=256,
    hidden_size=48,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=4,
    max_position_embeddings=SEQUENCE,
    bos_token_id=None,
    eos_token_id=None,
)


def build(mesh):
    torch.manual_seed(1)
    model = LlamaForCausalLM(CONFIG)
    for layer in model.model.layers:
        parallelize_module(layer, mesh["tp"], PLAN)
        fully_shard(layer, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return model, torch.optim.AdamW(model.parameters(), lr=arguments.lr)


data = sequences(SEQUENCE)

job = tessera.torch.attach()
job.bind(build)
batch = job.sampler(len(data), global_batch=arguments.batch)
for step in job.steps(until=arguments.steps):
    samples = data[batch()].to(job.device)
    loss = job.model(input_ids=samples, labels=samples).loss
    loss.backward()
    decision = job.step(loss, max_norm=1.0, tokens=samples.numel())
    time.sleep(arguments.delay)
    if step % 20 == 0:
        print(f"step {step}: loss {decision.loss:.4f}", file=sys.stderr)
