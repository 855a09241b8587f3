# SPDX-License-Identifier: Apache-2.0
"""`transformers.Trainer` as a job of Tessera.

    import tessera.torch
    import tessera.transformers

    job = tessera.torch.attach()
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.add_callback(tessera.transformers.TesseraCallback(job, trainer))
    trainer.train()

`tesseractl job start train.py` starts it. Without Tessera the callback does nothing, and the script
is that of an ordinary Trainer. Import this module before TrainingArguments is made.
"""

from __future__ import annotations

from tessera.transformers import rank as _rank

_rank.prepare()

from tessera._library import TesseraError  # noqa: E402
from tessera.transformers.callback import TesseraCallback  # noqa: E402

__all__ = ["TesseraCallback", "TesseraError"]
