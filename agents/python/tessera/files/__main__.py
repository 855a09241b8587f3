# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a rank, or prints a tensors file.

python -m tessera.files [--every N] -- COMMAND…   the agent starts this on each device
python -m tessera.files list FILE                 a tensors file for a safetensors file
python -m tessera.files list -- COMMAND…          the same for the initial state of a program
"""

from __future__ import annotations

import os
import sys
import tempfile

from tessera._library import TesseraError
from tessera.files.folder import make_folder
from tessera.files.launcher import launch
from tessera.files.listing import print_list
from tessera.files.rank import RankJob


def _read(words: list[str]) -> tuple[list[str], int]:
    every = 0
    if words[:1] == ["--every"]:
        if len(words) < 2 or not words[1].isascii() or not words[1].isdigit():
            raise TesseraError(f"--every '{''.join(words[1:2])}' is no number of steps")
        every = int(words[1])
        words = words[2:]
    if words[:1] != ["--"] or len(words) < 2:
        raise TesseraError("no program: give `--` and a command")
    return words[1:], every


def main() -> int:
    words = sys.argv[1:]
    if words in ([], ["--help"], ["-h"]):
        print(__doc__, end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    try:
        if words[0] == "list":
            print_list(words[1:])
            return 0
        command, every = _read(words)
        names = [os.environ.get(name, "rank") for name in ("TESSERA_JOB", "TESSERA_DEVICE")]
        # The agent removes this place with the job.
        place = os.environ.get("TESSERA_FILES") or os.path.dirname(
            os.environ.get("TESSERA_LAYOUT_FILE", "")
        )
        folder = make_folder(place or tempfile.gettempdir(), "-".join(names))
        return launch(RankJob(), folder, command, every)
    except TesseraError as error:
        print(f"tessera.files: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
