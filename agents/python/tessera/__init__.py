# SPDX-License-Identifier: Apache-2.0
"""Training jobs that keep their state in Tessera.

`tessera.torch` is for PyTorch programs. `tessera.Job` is the rank library as it is, for any other
program: see the guide's page "Your own job".
"""

from tessera._library import AXES, PAUSE_DATA, PAUSE_DONE, TesseraError
from tessera.job import ADOPT, LEAVE, RESUME, Decision, Job, Piece, Record, View

__version__ = "0.1.0"
__all__ = [
    "ADOPT",
    "AXES",
    "LEAVE",
    "PAUSE_DATA",
    "PAUSE_DONE",
    "RESUME",
    "Decision",
    "Job",
    "Piece",
    "Record",
    "TesseraError",
    "View",
]
