# SPDX-License-Identifier: Apache-2.0
"""Unit tests of `tessera.torch` that need no cluster.

package FOLDER [NAMES…]: FOLDER has the package `tessera`; NAMES are those of unittest, all without.
"""

import os
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

torch.set_num_threads(1)
if len(sys.argv) > 1:
    unittest.main(module=None)
found = unittest.defaultTestLoader.discover(os.path.dirname(os.path.abspath(__file__)))
result = unittest.TextTestRunner().run(found)
is_good = result.wasSuccessful() and result.testsRun > 0 and not unittest.defaultTestLoader.errors
sys.exit(0 if is_good else 1)
