# SPDX-License-Identifier: Apache-2.0
"""How a program ends its job."""

import atexit
import contextlib
import io
import os
import sys
import unittest
from unittest import mock

import torch
from programs import Loop, run_ranks
from torch import nn

from tessera._library import EXIT_REFUSED, TesseraError, TransientError
from tessera.job import Decision
from tessera.torch import job as module
from tessera.torch.job import Attached


class Ends(Loop):
    def test_early(self):
        """After the step that comes, also if that is the next one."""
        for when, num in (("before", 2), ("after", 3)):
            self.setUp()
            self.bind()
            self.run_steps(9, **{when: lambda at: at == 2 and self.job.finish()})
            self.assertEqual(self.job.last.step, num)
            self.doCleanups()

    def test_one_rank_is_enough(self):
        text = """
job.bind(build)
for step in job.steps(until=9):
    loss = job.model(torch.ones(2, 4)).square().mean()
    loss.backward()
    if rank == 1 and step == 2:
        job.finish()
    job.step(loss)
print("steps:", step)
"""
        for _, output, error in run_ranks(text):
            self.assertEqual(output, "steps: 2\n", error)


class Ranks(Loop):
    """The loop of a rank that an agent has started, without the agent."""

    def attached(self, pauses=()):
        """Waits are noted by their request. `pauses`: steps after which the agent wants one."""
        self.bind()
        job = Attached.__new__(Attached)
        vars(job).update(vars(self.job))
        job._is_ended, job._process, job._waits = False, os.getpid(), False
        job._unfinished, self.waits = None, []
        job._groups = mock.Mock(find_other=mock.Mock(return_value=None))
        job._boundary = lambda request, step=None: self.waits.append((job.coming_step, request))

        def decide(mine, settings, busy):
            job._ends = job._wants_end
            job._bound().settle_gradients(job._bound().used())
            pause = 77 if job.coming_step in pauses else 0
            return Decision(job.coming_step, 0, 0, 0, 0, 1.0, False, pause)

        job._decide, job._update = decide, lambda program, decision: None
        self.job = job

    def test_a_job_that_has_ended(self):
        """Its ranks wait. If they go on, they make the next step."""
        self.attached()
        self.run_steps(4, before=lambda at: at == 2 and self.job.finish())
        self.assertEqual(self.waits, [(3, module.PAUSE_DONE)])

    def test_an_end_beside_a_change(self):
        """A rank that joins in the change hears of the end in the next step."""
        self.attached(pauses=(2,))
        self.run_steps(5, before=lambda at: at == 2 and self.job.finish())
        self.assertEqual(self.waits, [(3, 77), (4, module.PAUSE_DONE)])

    def said(self, status=None):
        """What the end of the script says, which ends the process with `status`."""
        with (
            contextlib.redirect_stderr(io.StringIO()) as errors,
            mock.patch.object(os, "_exit", side_effect=SystemExit) as ends,
        ):
            with contextlib.suppress(SystemExit):
                self.job._at_exit()
        self.assertEqual([call.args for call in ends.call_args_list], [(status,)] if status else [])
        return errors.getvalue()

    def wait_for_good(self, request, step=None):
        self.waits.append((self.job.coming_step, request))
        if request == module.PAUSE_DONE:
            raise SystemExit  # the job has been stopped

    def test_a_loop_that_all_ranks_leave(self):
        """The job ends as by finish(), after the pause of that step."""
        for pauses in ((), (2,)):
            self.attached(pauses)
            self.run_steps(2)  # and break
            self.job._boundary = self.wait_for_good
            self.assertEqual(self.said(), "")
            self.job._groups.note_left.assert_called_once_with(2)
            self.job._groups.find_other.assert_called_once_with(2)
            of_pause = [(2, 77)] if pauses else []
            self.assertEqual(self.waits, [*of_pause, (2, module.PAUSE_DONE)])
            self.doCleanups()
            self.setUp()

    def test_a_loop_that_is_left_before_a_step(self):
        self.attached()
        for step in self.job.steps():
            if step == 3:
                break
            self.job.model(torch.ones(2, 4)).sum().backward()
            self.job.step(0.0)
        self.job._groups.note_left.assert_called_once_with(2)

    def test_a_loop_that_one_rank_leaves(self):
        self.attached()
        self.job._groups.find_other.return_value = 1
        self.run_steps(2)
        said = self.said(EXIT_REFUSED)
        self.assertIn("this rank has left the loop after step 2, and rank 1 has not: ", said)
        self.assertEqual(self.waits, [])

    def test_a_loop_that_one_rank_leaves_after_finish(self):
        """The others end after that step, too."""
        self.attached()
        self.job._groups.find_other.return_value = 1
        self.run_steps(2, before=lambda at: at == 2 and self.job.finish())
        self.job._boundary = self.wait_for_good
        self.assertEqual(self.said(), "")
        self.assertEqual(self.waits, [(2, module.PAUSE_DONE)])

    def test_a_change_after_the_last_step(self):
        """Ranks that join make another step."""
        self.attached(pauses=(2,))
        self.run_steps(2)

        def change(request, step=None):
            self.job.mesh = object()

        self.job._boundary = change
        self.assertIn("the ranks start again", self.said(1))

    def test_a_script_without_a_loop(self):
        self.attached()
        self.assertIn("ended in step 1", self.said())
        self.assertIn("call job.finish() in the loop", self.said())

    def test_an_exit_with_a_reason(self):
        self.attached()
        with mock.patch.object(sys, "exit"), mock.patch.object(sys, "excepthook"):
            module._end_at_errors(self.job)
            sys.exit(0)
            self.assertIn("ended in step 1", self.said())
            sys.exit("no data left")
            self.assertEqual(self.said(), "")

    def test_a_refusal_has_a_status_of_its_own(self):
        """The registrar does not start its ranks again."""
        self.attached()
        refused, again = TesseraError("delete that line"), TransientError("another rank has ended")
        for error, status in ((refused, EXIT_REFUSED), (again, 1), (ValueError("no data"), 1)):
            with (
                mock.patch.object(sys, "exit"),
                mock.patch.object(sys, "excepthook"),
                mock.patch.object(atexit, "_run_exitfuncs"),
                mock.patch.object(os, "_exit") as ends,
            ):
                module._end_at_errors(self.job)
                sys.excepthook(type(error), error, None)
                ends.assert_called_once_with(status)

    def test_a_tensor_that_is_no_buffer(self):
        with torch.device("meta"):
            model = nn.Sequential(nn.Linear(2, 2))
            model[0].scale = torch.full((2,), 0.5)
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            module._explain_meta(model)
        self.assertIn("'scale' of 0 is a tensor without values", errors.getvalue())
        self.assertIn("self.register_buffer('scale'", errors.getvalue())

    def test_ends_that_are_none_of_the_program(self):
        self.attached()
        with mock.patch.object(os, "getpid", lambda: 1):  # a process that the script has forked
            self.assertEqual(self.said(), "")
        self.job._is_ended = True
        self.assertEqual(self.said(), "")


if __name__ == "__main__":
    unittest.main()
