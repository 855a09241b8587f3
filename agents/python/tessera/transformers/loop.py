# SPDX-License-Identifier: Apache-2.0
"""The loop of a Trainer, over the steps of a job.

It takes the place of `Trainer._inner_training_loop` and calls the same: callbacks, training_step
(and so compute_loss), log and evaluate. What differs: a step has its number, samples and learning
rate from the job, job.step() reduces, clips and updates, and the job never leaves the loop.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from typing import Any

import torch
import torch.distributed as dist

from tessera._library import TesseraError
from tessera.torch.job import TorchJob
from tessera.transformers import rank
from tessera.transformers.data import Batches
from tessera.transformers.schedule import Schedule

_trainer_utils: Any = importlib.import_module("transformers.trainer_utils")


class Loop:
    def __init__(
        self,
        job: TorchJob,
        trainer: Any,
        schedule: Schedule,
        loader: Any,
        global_batch: int,
        max_steps: int,
    ) -> None:
        """`loader` is the Trainer's for training."""
        self._job = job
        self._trainer = trainer
        self._schedule = schedule
        self._loader = loader
        self._global_batch = global_batch
        self._num_samples = len(loader.dataset)
        self._max_steps = max_steps
        self._mesh: Any = None  # the one of the last step
        self._is_begun = False
        self._loss = self._num_logged = 0.0  # since the last log
        self._total_loss = self._num_made = 0.0  # in this process
        self._began = 0.0

    def run(self, *_: Any, ignore_keys_for_eval: Any = None, **__: Any) -> None:
        """Does not return: a rank ends when its GPU leaves the job, or with the job."""
        trainer, job = self._trainer, self._job
        trainer.accelerator.prepare_model(trainer.model)  # for its mixed precision
        trainer.callback_handler.train_dataloader = self._loader
        args = trainer.args
        seed = args.seed if args.data_seed is None else args.data_seed
        batches = Batches(
            job, self._loader, self._global_batch, args.per_device_train_batch_size, seed
        )
        for step in job.steps(until=self._max_steps):
            if self._mesh is not job.mesh:
                self._adopt()
            if not self._is_begun:
                self._begin(step, ignore_keys_for_eval)
            self._make(step, batches)
            is_last = step >= self._max_steps or job._is_last_step()
            self._after(step, ignore_keys_for_eval, is_last)
            if is_last:
                self._end()

    # ---- the parts of a step

    def _make(self, step: int, batches: Batches) -> None:
        trainer, job = self._trainer, self._job
        trainer.state.global_step = step - 1
        self._call("on_step_begin")
        parts, sizes = batches.read()
        parts, num_items = trainer.get_batch_samples(iter(parts), len(parts), trainer.args.device)
        num_items, tokens = self._items_of_all(num_items, bool(parts), sum(sizes))
        loss: Any = 0.0
        for part, size in zip(parts, sizes):
            # training_step divides the mean over a part by this: each sample counts the same.
            trainer.current_gradient_accumulation_steps = sum(sizes) / size
            loss = loss + trainer.training_step(trainer.model, part, num_items)
            if part is not parts[-1]:
                self._call("on_substep_end")
        self._call("on_pre_optimizer_step")
        if trainer.control.should_training_stop:  # perhaps since the step before
            job.finish()
        decision = job.step(loss, max_norm=trainer.args.max_grad_norm or 0.0, tokens=tokens)
        self._call("on_optimizer_step")
        self._schedule.show(step)
        if not (trainer.args.logging_nan_inf_filter and not math.isfinite(decision.loss)):
            self._loss += decision.loss
            self._total_loss += decision.loss
            self._num_logged += 1
            self._num_made += 1
        trainer.state.global_step = step
        trainer.state.epoch = step * self._global_batch / self._num_samples

    def _items_of_all(self, mine: Any, has_samples: bool, num_samples: int) -> tuple[Any, int]:
        """Returns the divisor for losses that are sums over items, and this rank's items.

        Items are tokens, for example. The job weights the gradients of a rank by its share of the
        samples, so the divisor is the items of all ranks times that share. Each item of the batch
        then counts the same on any mesh. None if the loss of some rank is no such sum.
        """
        own = 0.0 if mine is None else float(mine)
        device = self._job.device
        missing = float(has_samples and mine is None)
        sums = torch.tensor([own, missing], dtype=torch.float64, device=device)
        dp = self._job.mesh["dp"]
        if dp.size() > 1:
            dist.all_reduce(sums, group=dp.get_group())
        items, missing = sums.tolist()
        if missing or not has_samples:
            return None, 0
        divisor = items * num_samples / self._global_batch
        return torch.tensor(divisor, dtype=torch.float32, device=device), int(own)

    def _after(self, step: int, ignore_keys: Any, is_last: bool) -> None:
        control = self._call("on_step_end")
        if control.should_epoch_stop and not is_last:
            raise TesseraError(
                f"a callback ends the pass after step {step} of {self._max_steps}, which a rank "
                "that joins would not know: control.should_training_stop ends the training"
            )
        self._log_and_evaluate(ignore_keys)
        batch, num = self._global_batch, self._num_samples
        if is_last or step * batch // num > (step - 1) * batch // num:
            self._call("on_epoch_end")
            self._log_and_evaluate(ignore_keys)
            if not is_last:
                self._call("on_epoch_begin")

    def _log_and_evaluate(self, ignore_keys: Any) -> None:
        trainer, control = self._trainer, self._trainer.control
        if control.should_log and self._num_logged:
            last = self._job.last
            assert last is not None
            trainer.log(
                {
                    "loss": self._loss / self._num_logged,
                    "grad_norm": math.sqrt(last.norm2),
                    "learning_rate": self._job.optimizer.param_groups[0]["lr"],
                }
            )
            self._loss = self._num_logged = 0.0
        if control.should_evaluate:
            metrics = trainer.evaluate(ignore_keys=ignore_keys)
            trainer._determine_best_metric(metrics=metrics, trial=None)  # for EarlyStoppingCallback
        control.should_log = control.should_evaluate = control.should_save = False

    # ---- begin, end and changes of the mesh

    def _begin(self, step: int, ignore_keys: Any) -> None:
        trainer = self._trainer
        state = trainer.state
        state.compute_steps(trainer.args, self._max_steps)
        state.max_steps = self._max_steps
        state.num_train_epochs = math.ceil(self._max_steps * self._global_batch / self._num_samples)
        state.train_batch_size = trainer.args.per_device_train_batch_size
        state.global_step = step - 1
        state.epoch = state.global_step * self._global_batch / self._num_samples
        trainer.control.should_training_stop = False
        self._loss = self._num_logged = self._total_loss = self._num_made = 0.0
        self._began = time.time()
        self._is_begun = True
        if step == 1 and state.is_world_process_zero:
            _say_what_is_unused(trainer.args)
        self._call("on_train_begin")
        if step == 1 and trainer.args.eval_on_start:
            trainer.evaluate(ignore_keys=ignore_keys)
        self._call("on_epoch_begin")

    def _end(self) -> None:
        """The job pauses after this."""
        trainer = self._trainer
        metrics = _trainer_utils.speed_metrics(
            "train",
            self._began,
            num_samples=self._num_made * self._global_batch,
            num_steps=self._num_made,
        )
        metrics["train_loss"] = self._total_loss / max(self._num_made, 1.0)
        trainer.log(metrics)
        self._call("on_train_end")
        self._is_begun = False

    def _adopt(self) -> None:
        """Gives the Trainer what has changed with the mesh."""
        trainer, job = self._trainer, self._job
        self._mesh = job.mesh
        trainer.optimizer = trainer.callback_handler.optimizer = job.optimizer
        rank.show(trainer)

    def _call(self, event: str) -> Any:
        trainer = self._trainer
        handle = getattr(trainer.callback_handler, event)
        trainer.control = handle(trainer.args, trainer.state, trainer.control)
        return trainer.control


def _say_what_is_unused(args: Any) -> None:
    if args.save_strategy != "no":
        print(
            "The Trainer writes no checkpoints in a job: `tesseractl checkpoint save` does",
            file=sys.stderr,
        )
    if args.dataloader_num_workers > 0:
        print(
            f"dataloader_num_workers={args.dataloader_num_workers} is not used in a job: each rank "
            "reads its samples itself",
            file=sys.stderr,
        )
