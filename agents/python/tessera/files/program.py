# SPDX-License-Identifier: Apache-2.0
"""The program of a rank: a child process, and the two pipes to it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from dataclasses import dataclass

from tessera._library import TesseraError
from tessera.files import protocol

_TO_END = 10.0  # seconds after `end`


@dataclass(frozen=True)
class Exited:
    status: int  # negative: the signal that has ended it


class Program:
    """Not running until start(). It stays in this process's group, so it ends with the rank."""

    def __init__(self, command: list[str], folder: str) -> None:
        self._command = command
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._files: list[int] = []
        self._pidfd = -1
        self._unread = b""

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, environment: dict[str, str]) -> None:
        assert not self.is_alive
        self._forget()
        for name in (protocol.STEPS, protocol.ANSWER):
            path = os.path.join(self._folder, name)
            if os.path.exists(path):
                os.unlink(path)  # may hold what an earlier program has not read
            os.mkfifo(path, 0o600)
            # Open for both directions, so that the program never waits for an open, and that there
            # is no end of file when it closes the pipe after each line.
            self._files.append(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        try:
            self._process = subprocess.Popen(self._command, env=environment)
        except OSError as error:
            raise TesseraError(f"cannot start '{self._command[0]}': {error.strerror}") from None
        self._pidfd = os.pidfd_open(self._process.pid)

    def next(self, seconds: float | None = None) -> protocol.Message | Exited | None:
        """Waits for a line or for the end of the program. None: neither came in time."""
        assert self._process is not None
        steps = self._files[0]
        poll = select.poll()
        poll.register(steps, select.POLLIN)
        poll.register(self._pidfd, select.POLLIN)
        while b"\n" not in self._unread:
            ready = dict(poll.poll(None if seconds is None else seconds * 1000))
            if not ready:
                return None
            if steps in ready:
                self._unread += os.read(steps, 4096)
                continue
            # It may have written a last line after the poll had looked at the pipe.
            try:
                self._unread += os.read(steps, 4096)
            except BlockingIOError:
                return Exited(self._process.wait())
        line, _, self._unread = self._unread.partition(b"\n")
        return protocol.parse(line.decode(errors="replace"))

    def answer(self, word: str) -> None:
        os.write(self._files[1], word.encode() + b"\n")

    def end(self) -> None:
        """Ends a program that waits for an answer; kills it if it does not end in time."""
        if self.is_alive:
            self.answer(protocol.END)
            assert self._process is not None
            try:
                self._process.wait(_TO_END)
            except subprocess.TimeoutExpired:
                self.kill()
        self._forget()

    def kill(self) -> None:
        """Kills the program and what it has started."""
        if self._process is None or self._process.poll() is not None:
            return
        for pid in [*_descendants(self._process.pid), self._process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()

    def _forget(self) -> None:
        for fd in [*self._files, *([self._pidfd] if self._pidfd >= 0 else [])]:
            os.close(fd)
        self._files, self._pidfd, self._process, self._unread = [], -1, None, b""


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                # The name, in parentheses, may have any characters.
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it has just ended
        children.setdefault(parent, []).append(int(entry))
    out: list[int] = []
    left = [pid]
    while left:
        below = children.get(left.pop(), [])
        out.extend(below)
        left.extend(below)
    return out
