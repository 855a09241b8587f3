# SPDX-License-Identifier: Apache-2.0
"""A small Llama under the Trainer of Hugging Face `transformers`, which makes the loop.

tesseractl job start trainer.py --mesh dp=2      python trainer.py
"""

import argparse
import tempfile
import time

from text import sequences
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

import tessera.torch
import tessera.transformers

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
arguments = parser.parse_args()
SEQUENCE = 64


class Slowly(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        time.sleep(arguments.delay)


job = tessera.torch.attach()
set_seed(1)
model = LlamaForCausalLM(
    LlamaConfig(
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
)
data = [{"input_ids": row, "labels": row} for row in sequences(SEQUENCE)]
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir=tempfile.gettempdir(),  # nothing is written
        max_steps=arguments.steps,
        per_device_train_batch_size=arguments.batch // 2,
        gradient_accumulation_steps=2,
        learning_rate=arguments.lr,
        lr_scheduler_type="cosine",
        warmup_steps=10,
        weight_decay=0.1,
        logging_steps=10,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=data,
    callbacks=[Slowly()],
)
trainer.add_callback(tessera.transformers.TesseraCallback(job, trainer))
trainer.train()
