# SPDX-License-Identifier: Apache-2.0
"""Jobs of any framework: programs that load and save their state in files.

`python -m tessera.files -- COMMAND` is the launcher, which runs on each device in place of a rank.
A program in Python may use the functions below; the guide's page "Through files" shows the same for
a shell.

    run = files.begin()
    state = files.load()
    if state is None:
        state = initial(run)
        files.save(state)
    for step in range(run.step + 1, LAST + 1):
        loss = train(state)
        files.report(step, loss, last=step == LAST)
        if files.should_save():
            files.save(state)
"""

from tessera._library import TesseraError
from tessera.files.client import Run, all_reduce, begin, load, report, save, should_save
from tessera.files.layout import Tensor

__all__ = [
    "Run",
    "Tensor",
    "TesseraError",
    "all_reduce",
    "begin",
    "load",
    "report",
    "save",
    "should_save",
]
