# SPDX-License-Identifier: Apache-2.0
"""The agents of one allocation: a step of Slurm on each of its nodes.

A step for each node, because Slurm ends a step on all nodes when the allocation loses one of them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from tessera_slurm import slurm
from tessera_slurm.folder import Folder
from tessera_slurm.problem import Problem

_END_SECONDS = 40  # the keeper ends its ranks and its agent within some seconds


class Agents:
    def __init__(self, folder: Folder, job: str) -> None:
        self._folder = folder
        self._job = job
        self._steps: dict[str, subprocess.Popen[bytes]] = {}  # srun, by node: "n2"

    def start(self, host: str, options: Sequence[str]) -> str:
        """Starts the agent of the next free number on a node of Slurm; returns its name."""
        number = self._folder.claim()
        name = f"n{number}"
        output = self._folder.node(number) / "output"
        words = [
            "srun", "--nodes=1", "--ntasks=1", f"--nodelist={host}",
            "--overlap", "--mpi=none", "--input=none", *slurm.without_binding(),
            f"--job-name=tessera-{name}", f"--output={output}",
            sys.argv[0], "agent", f"--folder={self._folder.path}", f"--node={number}", *options,
        ]  # fmt: skip
        try:
            self._steps[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Problem(f"cannot run srun: {error.strerror}") from error
        return name

    @property
    def names(self) -> list[str]:
        return list(self._steps)

    def take_ended(self) -> dict[str, int]:
        """The nodes whose step has ended since the last call, with its exit code."""
        ended = {}
        for name, step in list(self._steps.items()):
            code = step.poll()
            if code is not None:
                ended[name] = code
                del self._steps[name]
        return ended

    def end(self) -> bool:
        """Ends all agents; returns whether they have ended."""
        running = slurm.steps_of(self._job)
        places = {place.name: place.step for place in self._folder.places()}
        for name, step in self._steps.items():
            if places.get(name) in running:
                slurm.terminate(places[name])
            else:
                step.terminate()  # srun ends a step that is just beginning
        deadline = time.monotonic() + _END_SECONDS
        while self._steps and time.monotonic() < deadline:
            self.take_ended()
            time.sleep(0.2)
        left = self.names
        for step in self._steps.values():
            step.kill()
        return not left
