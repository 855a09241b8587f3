# SPDX-License-Identifier: Apache-2.0
"""The protocol between a launcher and its program: two named pipes in the folder of the rank.

The program writes a line into `steps` and then reads one from `answer`. So each side waits for the
other, and at most one line is pending.

    program                           launcher
    STEP LOSS        step is made     go      make the next step
    STEP LOSS last   no more follow   save    save the state after this step
    saved            file is there    go      make the next step
                                      end     exit with status 0
    sum AXIS COUNT   of `sum`         go      the sums are in the file

A program may also exit with status 0 in place of `saved`. It is then started again.

Why all ranks save the same step: a launcher answers STEP only after the decision of that step. The
decision is a collective of all launchers and gives each of them the same result. So all programs
wait after the same step, and all of them get `save` or all of them get `go`.

Why all pieces change together: a launcher copies the file into the pieces after a second
collective, which each launcher enters with a file that it has checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from tessera._library import AXES, TesseraError

FOLDER = "TESSERA_FOLDER"
STEPS, ANSWER, SUM = "steps", "answer", "sum"  # in the folder
LAYOUT = "layout.json"
STATE, SAVED = "state.safetensors", "saved.safetensors"
GO, SAVE, END = "go", "save", "end"


@dataclass(frozen=True)
class StepMade:
    step: int
    loss: float
    is_last: bool


@dataclass(frozen=True)
class Saved:
    pass


@dataclass(frozen=True)
class SumWanted:
    axis: str | None  # None: all ranks
    count: int


Message = Union[StepMade, Saved, SumWanted]


def parse(line: str) -> Message:
    """Raises TesseraError naming a line that is no message."""
    words = line.split()
    try:
        if words == ["saved"]:
            return Saved()
        if len(words) == 3 and words[0] == "sum":
            axis, count = words[1], int(words[2])
            if (axis == "all" or axis in AXES) and count >= 0:
                return SumWanted(None if axis == "all" else axis, count)
        elif len(words) == 2 or words[2:] == ["last"]:
            return StepMade(int(words[0]), float(words[1]), len(words) == 3)
    except ValueError:
        pass
    raise TesseraError(
        f"the program wrote '{line[:80]}' into '{STEPS}', which is neither 'STEP LOSS', "
        "'STEP LOSS last', 'saved' nor 'sum AXIS COUNT'"
    )
