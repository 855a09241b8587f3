# SPDX-License-Identifier: Apache-2.0
"""The process groups of a rank."""

import datetime
import gc
import os
import signal
import threading
import unittest
from unittest import mock

import torch
from torch import distributed as dist
from torch.distributed import TCPStore

from tessera._library import TransientError
from tessera.torch import groups as module
from tessera.torch.groups import Groups, alone, axes_of


class GroupsTest(unittest.TestCase):
    def test_which_ranks_have_left(self):
        """Each sees the others in the store of rank 0."""
        store = TCPStore("127.0.0.1", 0, None, is_master=True, wait_for_workers=False)
        ranks = []
        for rank in range(2):
            groups = Groups.__new__(Groups)
            decisions = mock.Mock(rank=lambda rank=rank: rank, size=lambda: 2)
            groups._current = (store, decisions, "gloo")
            ranks.append(groups)
        with mock.patch.object(module, "_TIMEOUT", datetime.timedelta(seconds=1)):
            ranks[0].note_left(4)
            silent = self.assertRaisesRegex(TransientError, "rank 1 has not left its loop a minute")
            with silent:
                ranks[0].find_other(4)
            ranks[1].note_left(3)  # of an earlier loop
            with silent:
                ranks[0].find_other(4)
        later = threading.Timer(0.2, ranks[1].note_left, [4])
        later.start()
        self.assertIsNone(ranks[0].find_other(4))
        later.join()
        ranks[1].note_left(5)
        self.assertEqual(ranks[0].find_other(4), 1)
        ranks[0].note_left(5)
        self.assertEqual([of.find_other(5) for of in ranks], [None, None])

    def test_a_fork_frees_no_groups(self):
        """Workers of a DataLoader are forked, and have none of the threads that a group ends."""
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for _ in range(3):
            with alone() as mesh:
                cycle = [axes_of(mesh), mesh]
                cycle.append(cycle)
                dist.all_reduce(torch.ones(1))
            del cycle, mesh
            if (process := os.fork()) == 0:
                signal.alarm(20)
                gc.collect()
                os._exit(0)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
