# SPDX-License-Identifier: Apache-2.0
"""What the loops of the ranks compute by themselves, and has to be equal."""

import math
import struct
import unittest
from unittest import mock

from programs import Loop, run_ranks

from tessera import TesseraError
from tessera.job import Record
from tessera.torch.agreement import SETTINGS_SIZE, Settings, check_equal
from tessera.torch.job import Attached

TRAIN = """
job.bind(build)
for step in job.steps(until=4):
    loss = job.model(torch.ones(2, 4) * (rank + 1)).square().mean()
    loss.backward()
    job.step(loss, max_norm=limit(step))
print("all steps")
"""


class Ranks(unittest.TestCase):
    """Two processes without Tessera."""

    def says(self, text, *words):
        for status, output, error in run_ranks(text + TRAIN):
            self.assertNotEqual(status, 0, output)
            for word in words:
                self.assertIn(word, error)

    def test_a_rate_that_follows_the_loss_of_a_rank(self):
        self.says(
            "limit = lambda step: 0.0\n"
            "job.schedule(lambda step: 0.5 if rank == 1 and step > 2 else 1.0)\n",
            "the factor of job.schedule differs between ranks in step 3 (1 on rank 0, 0.5 on",
            "the loss that job.step(loss) returns",
            "job.register(…)",
        )

    def test_a_limit_of_one_rank(self):
        self.says(
            "limit = lambda step: 1.0 + rank\n",
            "max_norm of job.step differs between ranks in step 1 (1 on rank 0, 2 on rank 1)",
        )

    def test_samplers_of_other_data(self):
        self.says(
            "limit = lambda step: 0.0\njob.sampler(16 + rank, global_batch=4)\n",
            "job.sampler differs between ranks in step 1, on ranks 0 and 1",
            "the same num_samples",
        )

    def test_data_that_is_split_otherwise(self):
        for begin, is_refused in (
            ("torch.manual_seed(rank)\njob.sampler(16, global_batch=4)", True),
            ("job.sampler(16, global_batch=4)", False),
            ("torch.manual_seed(rank)", False),  # parts of the data that the ranks have themselves
        ):
            with self.subTest(begin):
                text = (
                    "limit = lambda step: 0.0\n" + begin + "\ntorch.utils.data.random_split"
                    "(range(20), [16, 4])\n"
                )
                if is_refused:
                    self.says(
                        text, "random_split has dealt the data differs", "torch.Generator().manual_"
                    )
                    continue
                for _, output, error in run_ranks(text + TRAIN):
                    self.assertEqual(output, "all steps\n", error)

    def test_numbers_that_are_drawn_without_a_seed(self):
        text = """
import random, numpy
print(torch.randperm(99).tolist(), random.sample(range(99), 9), numpy.random.permutation(99))
"""
        (_, one, _), (_, other, _) = run_ranks(text)
        self.assertEqual(one, other)
        self.assertIn("[", one)

    def test_a_rate_that_follows_the_loss_of_the_batch(self):
        """With its state in saved buffers, which are those of rank 0."""
        text = """
limit = lambda step: 1.0
make = build
def build(mesh):
    model, optimizer = make(mesh)
    model.register_buffer("best", torch.tensor(float("inf")))
    model.register_buffer("waits", torch.zeros(()))
    return model, optimizer
make_step = job.step
def step_of(loss, **options):  # a rank that joins has no last step
    last = job.last if rank == 0 else None
    if last is not None:
        job.model.waits.fill_(0 if last.loss < job.model.best else job.model.waits + 1)
        job.model.best.clamp_(max=last.loss)
    return make_step(loss, **options)
job.step = step_of
job.schedule(lambda step: 0.5 ** (step + int(job.model.waits)))
"""
        for _, output, error in run_ranks(text + TRAIN):
            self.assertEqual(output, "all steps\n", error)


class Gathered(unittest.TestCase):
    """What a rank of a job sees of the others in the decision of a step."""

    def decide(self, of_others, flags=b"\0\0\1"):
        job = Attached.__new__(Attached)
        job.coming_step, job._job, job._groups = 7, mock.Mock(), mock.Mock()
        job._wants_end = job._ends = False
        job._program = mock.Mock(**{"used.return_value": b"\1\0"})
        job._groups.gather = lambda sent: (
            sent + b"".join(sent[:40] + other.packed() + flags for other in of_others)
        )
        job._job.decide = lambda step, mine, max_norm, gather: gather(bytes(40))
        got = job._decide(Record(), Settings(0.5, math.nan, 3, 4), 0.0)
        return got, job._program.settle_gradients, job._ends

    def test_equal_ones(self):
        got, settle, ends = self.decide([Settings(0.5, math.nan, 3, 4)] * 2)
        self.assertEqual((got, ends), (bytes(120), False))
        settle.assert_called_once_with(b"\1\1")

    def test_a_rank_that_ends_the_job(self):
        *_, ends = self.decide([Settings(0.5, math.nan, 3, 4)], b"\1\0\1")
        self.assertTrue(ends)

    def test_one_that_differs(self):
        with self.assertRaisesRegex(TesseraError, r"in step 7 \(0.5 on rank 0, 1 on rank 2\)"):
            self.decide([Settings(0.5, math.nan, 3, 4), Settings(1.0, math.nan, 3, 4)])

    def test_the_size_of_settings(self):
        self.assertEqual(SETTINGS_SIZE, len(Settings(1, 0, 0, 0).packed()))
        check_equal(1, [struct.pack("=5d", 1, 0, 0, 0, 0), Settings(1, 0, 0, 0).packed()])


class Schedules(Loop):
    def test_a_schedule_reads_the_buffers_of_the_step(self):
        self.bind()
        self.job.schedule(lambda step: 1 / (1 + float(self.job.model.average[0])))

        def count(at):
            self.job.model.average.fill_(at)

        self.run_steps(3, middle=count)
        self.assertEqual(self.job.optimizer.param_groups[0]["lr"], 0.01 / 4)


if __name__ == "__main__":
    unittest.main()
