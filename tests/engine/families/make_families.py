#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tensors file of ten published families of models: names and shapes, no weights.

Sizes are those of a published configuration. The number of layers and of experts is smaller, so
that the files stay short. Every name is written out, as in a checkpoint.
"""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


class Model:
    def __init__(self, layers, **values):
        self.layers, self.values, self.tensors = layers, values, []

    def add(self, name, *shape, dtype="bf16"):
        self.tensors.append({"name": name, "dtype": dtype, "shape": list(shape)})

    def write(self, family):
        rows = ",\n    ".join(json.dumps(tensor) for tensor in self.tensors)
        head = f'"layers": {self.layers},\n  "values": {json.dumps(self.values)}'
        (HERE / f"{family}.json").write_text(f'{{\n  {head},\n  "tensors": [\n    {rows}\n  ]\n}}\n')


def attention(model, at, width, heads, kv_heads, head_dim, bias=False):
    for name, rows in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
        model.add(f"{at}self_attn.{name}_proj.weight", rows * head_dim, width)
        if bias:
            model.add(f"{at}self_attn.{name}_proj.bias", rows * head_dim)
    model.add(f"{at}self_attn.o_proj.weight", width, heads * head_dim)


def gated_mlp(model, at, width, inner):
    model.add(f"{at}gate_proj.weight", inner, width)
    model.add(f"{at}up_proj.weight", inner, width)
    model.add(f"{at}down_proj.weight", width, inner)


def ends(model, width, vocab, tied=False):
    model.add("model.embed_tokens.weight", vocab, width)
    model.add("model.norm.weight", width)
    if not tied:
        model.add("lm_head.weight", vocab, width)


BEFORE = ("input_layernorm", "post_attention_layernorm")


def llama_like(width, heads, kv_heads, head_dim, inner, vocab, norms=BEFORE, more=(), tied=False):
    model = Model(4, width=width, heads=heads, kv_heads=kv_heads)
    ends(model, width, vocab, tied)
    for layer in range(model.layers):
        at = f"model.layers.{layer}."
        attention(model, at, width, heads, kv_heads, head_dim)
        gated_mlp(model, f"{at}mlp.", width, inner)
        for norm in norms:
            model.add(f"{at}{norm}.weight", width)
        for name, size in more:
            model.add(f"{at}{name}.weight", size)
    return model


def llama():  # Llama 3 8B
    return llama_like(4096, 32, 8, 128, 14336, 128256)


def qwen3():  # Qwen3 8B: a norm for each head of q and k
    return llama_like(4096, 32, 8, 128, 12288, 151936,
                      more=(("self_attn.q_norm", 128), ("self_attn.k_norm", 128)))


def olmo2():  # OLMo 2 7B: norms after the blocks, and over all heads of q and k
    return llama_like(4096, 32, 32, 128, 11008, 100352,
                      norms=("post_attention_layernorm", "post_feedforward_layernorm"),
                      more=(("self_attn.q_norm", 4096), ("self_attn.k_norm", 4096)))


def gemma2():  # Gemma 2 9B: four norms, tied embeddings
    return llama_like(3584, 16, 8, 256, 14336, 256000, tied=True,
                      norms=(*BEFORE, "pre_feedforward_layernorm", "post_feedforward_layernorm"))


def bitnet():  # BitNet b1.58 2B: norms inside the blocks
    return llama_like(2560, 20, 5, 128, 6912, 128256, tied=True,
                      more=(("self_attn.attn_sub_norm", 2560), ("mlp.ffn_sub_norm", 6912)))


def mixtral():  # Mixtral 8x7B
    model = Model(4, width=4096, heads=32, kv_heads=8, experts=4)
    ends(model, 4096, 32000)
    for layer in range(model.layers):
        at = f"model.layers.{layer}."
        attention(model, at, 4096, 32, 8, 128)
        model.add(f"{at}block_sparse_moe.gate.weight", 4, 4096)
        for expert in range(4):
            for name, shape in (("w1", (14336, 4096)), ("w2", (4096, 14336)), ("w3", (14336, 4096))):
                model.add(f"{at}block_sparse_moe.experts.{expert}.{name}.weight", *shape)
        for norm in BEFORE:
            model.add(f"{at}{norm}.weight", 4096)
    return model


def deepseek_v3():  # DeepSeek-V3 in FP8 with blocks of 128, and the layer for multi-token prediction
    width, heads, layers, experts = 7168, 128, 4, 4
    model = Model(layers + 1, width=width, heads=heads, kv_heads=heads, experts=experts)
    ends(model, width, 129280)

    def linear(name, rows, columns):
        model.add(f"{name}.weight", rows, columns, dtype="f8e4m3")
        model.add(f"{name}.weight_scale_inv", -(-rows // 128), -(-columns // 128), dtype="f32")

    def mlp(at, inner):
        linear(f"{at}gate_proj", inner, width)
        linear(f"{at}up_proj", inner, width)
        linear(f"{at}down_proj", width, inner)

    for layer in range(layers + 1):
        at = f"model.layers.{layer}."
        linear(f"{at}self_attn.q_a_proj", 1536, width)
        model.add(f"{at}self_attn.q_a_layernorm.weight", 1536)
        linear(f"{at}self_attn.q_b_proj", heads * 192, 1536)
        linear(f"{at}self_attn.kv_a_proj_with_mqa", 576, width)
        model.add(f"{at}self_attn.kv_a_layernorm.weight", 512)
        linear(f"{at}self_attn.kv_b_proj", heads * 256, 512)
        linear(f"{at}self_attn.o_proj", width, heads * 128)
        for norm in BEFORE:
            model.add(f"{at}{norm}.weight", width)
        if layer == 0:
            mlp(f"{at}mlp.", 18432)
        else:
            model.add(f"{at}mlp.gate.weight", experts, width)
            model.add(f"{at}mlp.gate.e_score_correction_bias", experts, dtype="f32")
            mlp(f"{at}mlp.shared_experts.", 2048)
            for expert in range(experts):
                mlp(f"{at}mlp.experts.{expert}.", 2048)
    at = f"model.layers.{layers}."
    model.add(f"{at}embed_tokens.weight", 129280, width)
    model.add(f"{at}enorm.weight", width)
    model.add(f"{at}hnorm.weight", width)
    model.add(f"{at}eh_proj.weight", width, 2 * width)
    model.add(f"{at}shared_head.norm.weight", width)
    model.add(f"{at}shared_head.head.weight", 129280, width)
    return model


def gpt2():  # GPT-2 small; weights are [in, out]
    model = Model(4, width=768, heads=12, kv_heads=12)
    model.add("wte.weight", 50257, 768, dtype="f32")
    model.add("wpe.weight", 1024, 768, dtype="f32")
    for layer in range(model.layers):
        at = f"h.{layer}."
        model.add(f"{at}attn.bias", 1, 1, 1024, 1024, dtype="f32")
        for name, rows, columns in (("attn.c_attn", 768, 2304), ("attn.c_proj", 768, 768),
                                    ("mlp.c_fc", 768, 3072), ("mlp.c_proj", 3072, 768)):
            model.add(f"{at}{name}.weight", rows, columns, dtype="f32")
            model.add(f"{at}{name}.bias", columns, dtype="f32")
        for norm in ("ln_1", "ln_2"):
            model.add(f"{at}{norm}.weight", 768, dtype="f32")
            model.add(f"{at}{norm}.bias", 768, dtype="f32")
    model.add("ln_f.weight", 768, dtype="f32")
    model.add("ln_f.bias", 768, dtype="f32")
    return model


def gpt_neox():  # Pythia 6.9B: q, k and v of each head together
    model = Model(4, width=4096, heads=32, kv_heads=32)
    model.add("gpt_neox.embed_in.weight", 50432, 4096, dtype="f16")
    for layer in range(model.layers):
        at = f"gpt_neox.layers.{layer}."
        for name, rows, columns in (("attention.query_key_value", 12288, 4096),
                                    ("attention.dense", 4096, 4096),
                                    ("mlp.dense_h_to_4h", 16384, 4096),
                                    ("mlp.dense_4h_to_h", 4096, 16384)):
            model.add(f"{at}{name}.weight", rows, columns, dtype="f16")
            model.add(f"{at}{name}.bias", rows, dtype="f16")
        for norm in BEFORE:
            model.add(f"{at}{norm}.weight", 4096, dtype="f16")
            model.add(f"{at}{norm}.bias", 4096, dtype="f16")
        model.add(f"{at}attention.bias", 1, 1, 2048, 2048, dtype="bool")
        model.add(f"{at}attention.masked_bias", dtype="f16")
        model.add(f"{at}attention.rotary_emb.inv_freq", 16, dtype="f16")
    for name in ("weight", "bias"):
        model.add(f"gpt_neox.final_layer_norm.{name}", 4096, dtype="f16")
    model.add("embed_out.weight", 50432, 4096, dtype="f16")
    return model


def phi3():  # Phi-3 medium: fused q|k|v and gate|up, 4 query heads for each key and value head
    model = Model(4, width=5120, heads=40, kv_heads=10, head_dim=128, ffn=17920)
    ends(model, 5120, 32064)
    for layer in range(model.layers):
        at = f"model.layers.{layer}."
        model.add(f"{at}self_attn.qkv_proj.weight", 7680, 5120)
        model.add(f"{at}self_attn.o_proj.weight", 5120, 5120)
        model.add(f"{at}mlp.gate_up_proj.weight", 35840, 5120)
        model.add(f"{at}mlp.down_proj.weight", 5120, 17920)
        for norm in BEFORE:
            model.add(f"{at}{norm}.weight", 5120)
    return model


for make in (llama, qwen3, olmo2, gemma2, bitnet, mixtral, deepseek_v3, gpt2, gpt_neox, phi3):
    make().write(make.__name__)
