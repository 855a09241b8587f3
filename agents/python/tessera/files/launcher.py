# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a rank: its state goes into a file, and what it saves into the pieces."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import sys
import time
from dataclasses import dataclass

from tessera._library import PAUSE_DATA, PAUSE_DONE, TesseraError
from tessera.files import protocol, safetensors
from tessera.files.layout import RankLayout
from tessera.files.parts import Parts
from tessera.files.program import Exited, Program
from tessera.files.rank import GroupError, RankJob, environment_of, free_port
from tessera.job import ADOPT, LEAVE, Record

_REPORT = 20.0  # seconds between reports of a program that makes its initial state
_FOR_CAUSE = 3.0  # seconds in which the rank that has ended is reported before this one


class ProgramEnded(Exception):
    """The program has ended on its own, and so does the rank."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class RankLeaves(Exception):
    """The device is no longer in the job."""


@dataclass(frozen=True)
class Meeting:
    """What all launchers know before programs go on."""

    all_stay: bool  # all programs wait for an answer
    port: int  # free on the node of rank 0


class Launcher:
    def __init__(self, job: RankJob, folder: str, command: list[str], every: int) -> None:
        self._job = job
        self._folder = folder
        self._every = every  # steps between saves; 0: only when asked to
        self._program = Program(command, folder)
        self._state = os.path.join(folder, protocol.STATE)
        self._saved = os.path.join(folder, protocol.SAVED)
        self._sums: mmap.mmap | None = None
        self._parts: Parts
        self._step = 0  # the last one that was decided
        self._was_answered = False  # the program has had an answer since its start

    def run(self) -> None:
        """Raises RankLeaves, ProgramEnded or TesseraError at the end."""
        try:
            if self._job.must_initialise:
                self._initialise()
            self._job.connect()
            self._boundary(-1, 0)
            self._go_on(self._meet())
            while True:
                self._carry_out(self._program.next())
        finally:
            self._program.kill()

    # ---- what a program does

    def _carry_out(self, message: protocol.Message | Exited | None) -> None:
        if isinstance(message, (protocol.StepMade, protocol.SumWanted)):
            self._drop(self._state)  # it is loaded, and would be a second copy of the pieces
        if isinstance(message, protocol.StepMade):
            self._decide(message)
        elif isinstance(message, protocol.SumWanted):
            self._sum(message)
        elif isinstance(message, Exited):
            self._check_end(message)
            if self._was_answered:
                raise TesseraError(
                    f"the program ended with status 0 after step {self._step}, which was not its "
                    "last: the last one is reported as 'STEP LOSS last'"
                )
            # It has been started after its last step, and has found nothing to do.
            self._boundary(self._step, PAUSE_DONE)
            self._go_on(self._meet())
        else:
            raise TesseraError("the program reports a saved state that was not requested")

    def _decide(self, made: protocol.StepMade) -> None:
        if made.step != self._step + 1:
            raise TesseraError(
                f"the program reports step {made.step} after step {self._step}: each step is "
                "reported once, in order"
            )
        share = made.loss / self._job.view.world
        # A batch that nobody reads: all ranks stop if one of them has made its last step.
        record = Record(loss=share, request=PAUSE_DATA if made.is_last else 0)
        decision = self._job.decide(made.step, record)
        self._step = made.step
        self._was_answered = True
        if decision.pause or (self._every and made.step % self._every == 0):
            is_last = decision.pause == PAUSE_DATA
            self._save(PAUSE_DONE if is_last else decision.pause)
        else:
            self._program.answer(protocol.GO)

    def _save(self, request: int) -> None:
        self._program.answer(protocol.SAVE)
        header = self._wait_for_file(self._step)
        # From here on every rank has a file that fits. None has changed its pieces before.
        meeting = self._meet()
        with self._job.update(self._step):
            self._take(header, self._step)
        if request:
            self._boundary(self._step, request)
            meeting = self._meet()
        self._go_on(meeting)

    def _wait_for_file(self, step: int) -> safetensors.Header:
        """Raises TesseraError if the program does not save, or something else."""
        message = self._program.next()
        if isinstance(message, Exited):
            self._check_end(message)
        elif not isinstance(message, protocol.Saved):
            raise TesseraError(
                f"the program did not save after step {step}, as the answer requested"
            )
        if not os.path.exists(self._saved):
            raise TesseraError(f"the program has not saved its state in '{self._saved}'")
        header = safetensors.read_header(self._saved)
        self._parts.check(self._saved, header, step, self._job.view.rank)
        return header

    def _take(self, header: safetensors.Header, step: int) -> None:
        self._parts.read(self._saved, header)
        self._parts.step = step
        self._drop(self._saved)

    def _check_end(self, end: Exited) -> None:
        if end.status < 0:
            name = signal.strsignal(-end.status) or "unknown"
            print(f"the program was ended by signal {-end.status} ({name})", file=sys.stderr)
            raise ProgramEnded(128 - end.status)
        if end.status > 0:
            self._check_room()  # which other ranks may have used up
            raise ProgramEnded(end.status)  # its own last line says why

    def _check_room(self) -> None:
        """Raises TesseraError if a file of the state does not fit into the folder."""
        facts = os.statvfs(self._folder)
        own = sum(os.path.getsize(p) for p in (self._state, self._saved) if os.path.exists(p))
        room = facts.f_bavail * facts.f_frsize + own
        if facts.f_blocks > 0 and room < self._parts.num_bytes:  # 0: it does not say
            raise TesseraError(
                f"'{self._folder}' has room for {room} bytes, and the state of rank "
                f"{self._job.view.rank} needs {self._parts.num_bytes}: free space there, or choose "
                "another place with --env TESSERA_FILES=FOLDER"
            )

    def _sum(self, wanted: protocol.SumWanted) -> None:
        size = 4 * wanted.count
        if self._sums is None or len(self._sums) < size:
            with open(os.path.join(self._folder, protocol.SUM), "r+b") as file:
                actual = os.fstat(file.fileno()).st_size
                if actual < max(size, 1):
                    raise TesseraError(
                        f"'{file.name}' has {actual} bytes, {wanted.count} values of f32 need "
                        f"{size}"
                    )
                self._sums = mmap.mmap(file.fileno(), 0)
        values = (ctypes.c_float * wanted.count).from_buffer(self._sums)
        self._job.sum(values, wanted.axis)
        del values  # so that the map can be closed
        self._was_answered = True
        self._program.answer(protocol.GO)

    def _drop(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    # ---- starts and boundaries

    def _initialise(self) -> None:
        """Runs the program until it has saved what the job begins with."""
        self._parts = Parts(self._job.pieces())
        self._check_room()
        self._start(os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "0"), None)
        while True:
            message = self._program.next(_REPORT)
            if message is not None:
                break
            self._job.loading(0, 0)  # the start waits as long as the program runs
        if isinstance(message, Exited):
            self._check_end(message)
        elif not isinstance(message, protocol.Saved):
            raise TesseraError(
                "the program has no state yet and must save an initial one before its first step: "
                f"the file '{protocol.SAVED}'"
            )
        if not os.path.exists(self._saved):
            raise TesseraError(f"the program has saved no initial state in '{self._saved}'")
        header = safetensors.read_header(self._saved)
        self._parts.check(self._saved, header, 0, self._job.view.rank)
        self._take(header, 0)

    def _boundary(self, step: int, request: int) -> None:
        """Waits until the job goes on, perhaps on another mesh."""
        has_moved = False
        while True:
            command = self._job.wait(step, request)
            if command == LEAVE:
                self._program.end()
                raise RankLeaves
            if command != ADOPT:
                break
            has_moved = True
            self._job.adopt()
            if self._job.attached():
                break
            request = 0  # the job stays paused
        if has_moved:
            self._program.end()
        if has_moved or step < 0:
            self._parts = Parts(self._job.pieces())
        self._step = self._parts.step

    def _meet(self) -> Meeting:
        """A collective: each rank comes once, with what it knows about its own program."""
        is_first = self._job.view.rank == 0
        gone, port = self._job.sum_over_all(
            0 if self._program.is_alive else 1, free_port() if is_first else 0
        )
        return Meeting(gone == 0, int(port))

    def _go_on(self, meeting: Meeting) -> None:
        if meeting.all_stay:
            self._was_answered = True
            self._program.answer(protocol.GO)
            return
        # A program that stays would look for the others at their old port.
        self._program.end()
        self._check_room()
        self._parts.write(self._state, self._job.view.rank)
        self._start(self._job.view.addresses[0], str(meeting.port), self._state)

    def _start(self, address: str, port: str, state: str | None) -> None:
        view = self._job.view
        layout = RankLayout(
            rank=view.rank,
            world=view.world,
            mesh=view.sizes,
            coordinates=view.coordinates,
            step=self._step,
            state=state,
            save=self._saved,
            tensors=self._parts.tensors,
        )
        path = os.path.join(self._folder, protocol.LAYOUT)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(layout.to_json())
        os.rename(path + ".part", path)
        self._drop(self._saved)  # of a program that has ended
        self._was_answered = False
        environment = environment_of(view, layout, self._folder)
        self._program.start({**environment, "MASTER_ADDR": address, "MASTER_PORT": port})


def launch(job: RankJob, folder: str, command: list[str], every: int) -> int:
    """Runs the command as this rank. Returns the status to exit with."""
    try:
        Launcher(job, folder, command, every).run()
    except RankLeaves:
        return 0
    except ProgramEnded as end:
        return end.status
    except GroupError as error:
        time.sleep(_FOR_CAUSE)
        print(f"tessera.files: {error}", file=sys.stderr)
    except TesseraError as error:
        print(f"tessera.files: {error}", file=sys.stderr)
    except OSError as error:
        print(f"tessera.files: {error}", file=sys.stderr)
    return 1
