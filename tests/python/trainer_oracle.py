#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes with PyTorch what the built-in trainer must compute, and shares no code with it.

    trainer_oracle.py FOLDER [CASE...]

writes FOLDER/CASE.json for each case: losses and gradient norms of three steps, the norm of every
gradient and of every updated parameter of the first step, and some of their elements. The goldens
in tests/agents/trainer_oracle/ are made so.

Everything is computed in double precision, from the parameters that the trainer stores (f32, or
bf16). The data are one batch that is a whole pass, so that the order of the samples does not count.
"""

import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

NANO = {"layers": 2, "width": 64, "heads": 4, "kv_heads": 0, "ffn": 256, "vocab": 256, "sequence": 64,
        "gated_mlp": False, "tied_head": True, "gelu": "tanh"}
JOB = {"seed": 11, "global_batch": 8, "warmup_steps": 2, "learning_rate": 1e-3, "beta1": 0.9,
       "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1, "max_norm": 1.0, "precision": "fp32"}
CASES = {
    "dense": ({"tied_head": False}, {}),
    "tied": ({}, {}),
    "erf": ({"gelu": "erf"}, {"max_norm": 0.0}),
    "gqa": ({"kv_heads": 2}, {}),
    "gated": ({"gated_mlp": True, "tied_head": False, "kv_heads": 1}, {}),
    "bf16": ({}, {"precision": "bf16"}),
}
STEPS = 3
SAMPLED = 8  # elements of each tensor

MASK = (1 << 64) - 1


def text(size):
    """The bytes that all train on, from a linear congruential generator."""
    state, out = 12345, bytearray()
    for _ in range(size):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(97 + (state >> 16) % 26)
    return bytes(out)


# --- The documented random stream: engine/data/random_stream.h -----------------------------------


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def fnv1a(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def philox(counter, key):
    """Philox4x32-10 of arrays of counters (Salmon et al., SC 2011)."""
    c = [np.asarray(word, np.uint64) for word in counter]
    k = list(key)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), p1 & low,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), p0 & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def normal(seed, name, count):
    """Standard normal numbers of elements 0 to count - 1 of a tensor, as f32."""
    key = mix((mix((seed + 0x9E3779B97F4A7C15) & MASK) + 1) & MASK)  # purpose 1: initialise
    tensor = fnv1a(name)
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    words = philox([blocks & np.uint64(0xFFFFFFFF), blocks >> np.uint64(32),
                    np.full_like(blocks, tensor & 0xFFFFFFFF), np.full_like(blocks, tensor >> 32)],
                   [key & 0xFFFFFFFF, key >> 32])
    uniform = [(word.astype(np.float64) + 0.5) * 2.0**-32 for word in words]
    out = np.empty((len(blocks), 4), np.float32)
    for pair in (0, 1):
        radius = np.sqrt(-2 * np.log(uniform[2 * pair]))
        angle = 2 * np.pi * uniform[2 * pair + 1]
        out[:, 2 * pair], out[:, 2 * pair + 1] = radius * np.cos(angle), radius * np.sin(angle)
    return out.reshape(-1)[:count]


# --- The model: agents/train/model/gpt_model.h ---------------------------------------------------


def shapes(m):
    d, kv = m["width"], m["width"] // m["heads"] * (m["kv_heads"] or m["heads"])
    out = {"tok_emb.weight": (m["vocab"], d), "pos_emb.weight": (m["sequence"], d),
           "ln_f.weight": (d,), "ln_f.bias": (d,)}
    if not m["tied_head"]:
        out["head.weight"] = (m["vocab"], d)
    fc1 = m["ffn"] * (2 if m["gated_mlp"] else 1)
    for i in range(m["layers"]):
        for name, shape in {"ln1.weight": (d,), "ln1.bias": (d,), "attn.qkv.weight": (d + 2 * kv, d),
                            "attn.qkv.bias": (d + 2 * kv,), "attn.proj.weight": (d, d),
                            "attn.proj.bias": (d,), "ln2.weight": (d,), "ln2.bias": (d,),
                            "mlp.fc1.weight": (fc1, d), "mlp.fc1.bias": (fc1,),
                            "mlp.fc2.weight": (d, m["ffn"]), "mlp.fc2.bias": (d,)}.items():
            out[f"h.{i}.{name}"] = shape
    return out


def initial(m, seed):
    """f32 values by name: N(0, 0.02), less by sqrt(2 layers) into the residual stream; 1 and 0."""
    values = {}
    for name, shape in shapes(m).items():
        if len(shape) == 2:
            scale = np.float32(0.02)
            if name.endswith((".proj.weight", ".fc2.weight")):
                scale = scale * np.float32(1 / math.sqrt(2 * m["layers"]))
            drawn = normal(seed, name, shape[0] * shape[1]) * scale
        else:
            drawn = np.full(shape, 1 if name.endswith(".weight") else 0, np.float32)
        values[name] = torch.from_numpy(drawn.reshape(shape).copy())
    return values


def loss_of(p, m, tokens):
    """Mean cross entropy of a pre-norm GPT with learned positions."""
    batch, d = tokens.shape[0], m["width"]
    heads, kv_heads = m["heads"], m["kv_heads"] or m["heads"]
    e, length = d // heads, m["sequence"]
    x = p["tok_emb.weight"][tokens[:, :-1]] + p["pos_emb.weight"]
    for i in range(m["layers"]):
        w = {name[len(f"h.{i}."):]: value for name, value in p.items() if name.startswith(f"h.{i}.")}
        y = F.layer_norm(x, (d,), w["ln1.weight"], w["ln1.bias"], 1e-5)
        q, k, v = (y @ w["attn.qkv.weight"].T + w["attn.qkv.bias"]).split(
            [d, e * kv_heads, e * kv_heads], -1)
        q = q.view(batch, length, heads, e).transpose(1, 2)
        k, v = (t.view(batch, length, kv_heads, e).transpose(1, 2).repeat_interleave(
            heads // kv_heads, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(batch, length, d)
        x = x + y @ w["attn.proj.weight"].T + w["attn.proj.bias"]
        y = F.layer_norm(x, (d,), w["ln2.weight"], w["ln2.bias"], 1e-5)
        y = y @ w["mlp.fc1.weight"].T + w["mlp.fc1.bias"]
        if m["gated_mlp"]:
            gate, up = y.chunk(2, -1)
            y = F.silu(gate) * up
        else:
            y = F.gelu(y, approximate="tanh" if m["gelu"] == "tanh" else "none")
        x = x + y @ w["mlp.fc2.weight"].T + w["mlp.fc2.bias"]
    x = F.layer_norm(x, (d,), p["ln_f.weight"], p["ln_f.bias"], 1e-5)
    head = p["tok_emb.weight"] if m["tied_head"] else p["head.weight"]
    return F.cross_entropy((x @ head.T).flatten(0, 1), tokens[:, 1:].flatten())


# --- Training ------------------------------------------------------------------------------------


def sampled(gradient):
    """Indices of some elements: the largest ones, and others at equal distances."""
    flat = gradient.flatten().abs()
    largest = flat.topk(SAMPLED // 2).indices.tolist()
    return sorted(set(largest + [i * (len(flat) - 1) // (SAMPLED - 1) for i in range(SAMPLED)]))


def describe(tensor, indices):
    flat = tensor.detach().double().flatten()
    return {"norm": flat.norm().item(), "at": indices, "elements": [flat[i].item() for i in indices]}


def run(model_changes, job_changes):
    m, job = {**NANO, **model_changes}, {**JOB, **job_changes}
    s = m["sequence"]
    data = np.frombuffer(text(job["global_batch"] * s + 1), np.uint8).astype(np.int64)
    tokens = torch.from_numpy(np.stack([data[i * s:i * s + s + 1] for i in range(job["global_batch"])]))
    is_bf16 = job["precision"] == "bf16"
    masters = {name: value.double().requires_grad_() for name, value in initial(m, job["seed"]).items()}
    decaying = [value for value in masters.values() if value.dim() >= 2]
    others = [value for value in masters.values() if value.dim() < 2]
    adamw = torch.optim.AdamW([{"params": decaying, "weight_decay": job["weight_decay"]},
                               {"params": others, "weight_decay": 0.0}],
                              betas=(job["beta1"], job["beta2"]), eps=job["epsilon"])
    out = {"model": m, "job": job, "losses": [], "norms": [], "gradients": {}, "updated": {}}
    for step in range(1, STEPS + 1):
        # What is computed with: masters as they are stored, f32, or rounded to bf16.
        stored = {name: value.detach().float() for name, value in masters.items()}
        if is_bf16:
            stored = {name: value.bfloat16() for name, value in stored.items()}
        used = {name: value.double().requires_grad_() for name, value in stored.items()}
        loss = loss_of(used, m, tokens)
        loss.backward()
        norm = math.sqrt(sum((value.grad**2).sum().item() for value in used.values()))
        out["losses"].append(loss.item())
        out["norms"].append(norm)
        if step == 1:
            indices = {name: sampled(value.grad) for name, value in used.items()}
            out["gradients"] = {name: describe(value.grad, indices[name])
                                for name, value in used.items()}
        clip = min(1.0, job["max_norm"] / (norm + 1e-6)) if job["max_norm"] > 0 else 1.0
        for name, value in masters.items():
            value.grad = used[name].grad * clip
        for group in adamw.param_groups:
            group["lr"] = job["learning_rate"] * min(1.0, step / job["warmup_steps"])
        if step > job["warmup_steps"]:  # the first step of the cosine
            progress = (step - job["warmup_steps"]) / (2000 - job["warmup_steps"])
            for group in adamw.param_groups:
                group["lr"] = 1e-4 + (job["learning_rate"] - 1e-4) * (1 + math.cos(math.pi * progress)) / 2
        adamw.step()
        with torch.no_grad():
            for value in masters.values():
                value.copy_(value.float())
        if step == 1:
            out["updated"] = {name: describe(value, indices[name])
                              for name, value in masters.items()}
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    for name in sys.argv[2:] or CASES:
        result = run(*CASES[name])
        rounded = json.loads(json.dumps(result), parse_float=lambda x: float(f"{float(x):.9g}"))
        (folder / f"{name}.json").write_text(json.dumps(rounded, indent=None, separators=(",", ":"))
                                             .replace('"h.', '\n"h.').replace('"gradients"', '\n"gradients"')
                                             .replace('"updated"', '\n"updated"') + "\n")


if __name__ == "__main__":
    main()
