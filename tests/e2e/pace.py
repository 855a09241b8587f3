# SPDX-License-Identifier: Apache-2.0
"""How long the programs in tests/e2e/habits train, and how fast: a file says the seconds per step.

A test that changes their mesh slows them down first, so that the slowest machine has made the change
before they have made their steps.
"""

import argparse
import pathlib
import time

_parser = argparse.ArgumentParser()
_parser.add_argument("--steps", type=int, default=40)
_parser.add_argument("--pace", type=pathlib.Path)
_arguments = _parser.parse_args()

steps: int = _arguments.steps


def wait() -> None:
    if _arguments.pace is not None:
        time.sleep(float(_arguments.pace.read_text()))
