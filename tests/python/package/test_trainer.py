# SPDX-License-Identifier: Apache-2.0
"""The loop of a Trainer, with a Trainer that has no more than this loop uses."""

import sys
import types
import unittest
from unittest import mock

import torch
from programs import Loop as LoopTest


def modules():
    """Of transformers, as far as the import needs it."""
    transformers = types.ModuleType("transformers")
    transformers.__version__ = "5.0"
    transformers.TrainerCallback = object
    transformers.trainer_utils = types.ModuleType("transformers.trainer_utils")
    transformers.trainer_utils.speed_metrics = lambda *_, **__: {}
    return {"transformers": transformers, "transformers.trainer_utils": transformers.trainer_utils}


class Callbacks:
    """One callback, which is a function of the event, the step and the control."""

    def __init__(self, callback):
        self._callback = callback
        self.events = []

    def __getattr__(self, event):
        if not event.startswith("on_"):
            raise AttributeError(event)

        def call(args, state, control):
            self.events.append((event, state.global_step))
            self._callback(event, state.global_step, control)
            return control

        return call


class Trainer:
    def __init__(self, job, callback):
        self._job = job
        self.args = mock.Mock(seed=1, data_seed=None, per_device_train_batch_size=2)
        self.args.max_grad_norm, self.args.eval_on_start = 0.0, False
        self.state = mock.Mock(global_step=0, is_world_process_zero=False)
        self.control = types.SimpleNamespace(
            should_training_stop=False,
            should_epoch_stop=False,
            should_log=False,
            should_evaluate=False,
            should_save=False,
        )
        self.accelerator, self.callback_handler = mock.Mock(), Callbacks(callback)
        self.model = None
        self.log, self.evaluate = mock.Mock(), mock.Mock(return_value={"eval_loss": 0.5})
        self._determine_best_metric = mock.Mock()

    def get_batch_samples(self, parts, num, device):
        return list(parts), None

    def training_step(self, model, part, num_items):
        loss = self._job.model(part).square().mean()
        loss.backward()
        return loss.detach()


class TrainerTest(LoopTest):
    def run_trainer(self, callback, max_steps=9):
        """Returns the callbacks."""
        job = self.bind()
        self.trainer = trainer = Trainer(job, callback)
        loader = mock.Mock(dataset=[torch.ones(4)] * 6, collate_fn=torch.stack)
        with mock.patch.dict(sys.modules, modules()):
            from tessera.transformers import loop

            with mock.patch.object(loop.rank, "show"):
                loop.Loop(job, trainer, mock.Mock(), loader, 2, max_steps).run()
        return trainer.callback_handler.events

    def test_stops_early(self):
        """All ranks end with the next job.step, of which a callback of one rank is enough."""
        for event, last in (
            ("on_step_begin", 3),
            ("on_pre_optimizer_step", 3),
            ("on_step_end", 4),
            ("on_epoch_end", 4),
        ):
            with self.subTest(event):
                self.setUp()

                def stop(at, step, control, event=event):
                    # A step has its number after job.step.
                    after = event in ("on_step_end", "on_epoch_end")
                    control.should_training_stop |= at == event and step == (3 if after else 2)

                events = self.run_trainer(stop)
                self.assertEqual(self.job.last.step, last)
                self.assertEqual(events[-2:], [("on_epoch_end", last), ("on_train_end", last)])
                self.assertEqual(sum(at == "on_train_end" for at, _ in events), 1)
                self.doCleanups()

    def test_the_best_metric(self):
        """EarlyStoppingCallback compares with it."""

        def evaluate(at, step, control):
            control.should_evaluate |= at == "on_step_end" and step == 2

        self.run_trainer(evaluate, max_steps=4)
        self.trainer._determine_best_metric.assert_called_once_with(
            metrics={"eval_loss": 0.5}, trial=None
        )

    def test_the_last_step(self):
        events = self.run_trainer(lambda *_: None, max_steps=4)
        self.assertEqual(self.job.last.step, 4)
        self.assertEqual(events[-1], ("on_train_end", 4))

    def test_ends_a_pass(self):
        def stop(at, step, control):
            control.should_epoch_stop = step == 2

        with self.refuses("ends the pass after step 2 of 9", "control.should_training_stop"):
            self.run_trainer(stop)


if __name__ == "__main__":
    unittest.main()
