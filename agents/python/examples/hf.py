# SPDX-License-Identifier: Apache-2.0
"""A small model of Hugging Face `transformers` with random weights, cut by the model's own plans.

GPT-2 has none: it is plain, or cut by FSDP2. Llama has one for tensor parallelism, Mixtral one for
experts. What these leave is cut by FSDP2 over dp.

tesseractl job start hf.py --mesh dp=2,tp=2 -- --model llama
"""

import argparse
import sys
import time

import torch
from text import sequences
from torch.distributed.fsdp import fully_shard
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
)

import tessera.torch

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=("gpt2", "llama", "mixtral"), default="llama")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--plain", action="store_true", help="every parameter on each rank")
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
SEQUENCE = 64
SIZES = {
    "vocab_size": 256,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": SEQUENCE,
    "bos_token_id": None,
    "eos_token_id": None,
}


def make():
    if arguments.model == "llama":
        return LlamaForCausalLM(LlamaConfig(**SIZES))
    if arguments.model == "mixtral":
        return MixtralForCausalLM(
            MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2, sliding_window=None)
        )
    config = GPT2Config(
        vocab_size=256, n_positions=SEQUENCE, n_embd=46, n_layer=2, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return GPT2LMHeadModel(config)


def build(mesh):
    torch.manual_seed(1)
    model = make()
    tp, ep = mesh["tp"], mesh["ep"]
    if tp.size() > 1:
        from transformers.distributed.tensor_parallel import apply_tensor_parallelism

        plan = {name: style for name, style in model.tp_plan.items() if "experts" not in name}
        apply_tensor_parallelism(model, tp, model._expand_parallel_plan(plan))
    if ep.size() > 1:  # the ranks along ep have the same samples
        from transformers.distributed.expert_parallel import apply_expert_parallelism

        plan = model._expand_parallel_plan(model.ep_plan)
        apply_expert_parallelism(model, ep, ep, plan, "all_reduce")
    if not arguments.plain:
        base = model.transformer.h if arguments.model == "gpt2" else model.model.layers
        for layer in base:
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
