# SPDX-License-Identifier: Apache-2.0
"""The folder through which a program and its rank exchange state."""

import os
import tempfile
import types
import unittest
from unittest import mock

from tessera._library import TesseraError
from tessera.files.launcher import Launcher


class RoomTest(unittest.TestCase):
    def test_a_folder_that_is_too_small(self):
        launcher = Launcher.__new__(Launcher)
        launcher._parts = mock.Mock(num_bytes=131072)
        launcher._job = mock.Mock(view=mock.Mock(rank=3))
        facts = types.SimpleNamespace(f_bavail=15, f_frsize=4096, f_blocks=16)
        with tempfile.TemporaryDirectory() as folder, mock.patch("os.statvfs", return_value=facts):
            launcher._folder = folder
            launcher._state, launcher._saved = (os.path.join(folder, name) for name in "ab")
            with self.assertRaises(TesseraError) as refused:
                launcher._check_room()
            said = str(refused.exception)
            self.assertIn(f"'{folder}' has room for 61440 bytes", said)
            self.assertIn("the state of rank 3 needs 131072", said)
            self.assertIn("--env TESSERA_FILES=", said)
            with open(launcher._state, "wb") as file:  # which the state takes the place of
                file.write(bytes(131072 - 61440))
            launcher._check_room()


if __name__ == "__main__":
    unittest.main()
