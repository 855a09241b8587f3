# SPDX-License-Identifier: Apache-2.0
"""A temporary folder that does not outlive this process, however it ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tempfile

from tessera._library import TesseraError

_PREFIX = "tessera-files-"
_LOCK = "lock"
# Runs in a process of its own, whose stdin ends with the process that has made the folder.
_REMOVE = """
import os, shutil, signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
path = sys.argv[1]
os.read(0, 1)
shutil.rmtree(path, ignore_errors=True)
"""
_kept: list[object] = []  # the lock and the process, until this process ends


def make_folder(place: str, name: str) -> str:
    """Makes a folder in `place`, and removes those there whose processes have ended.

    A rank is usually ended by SIGKILL. So another process waits for the end of this one and then
    removes the folder. The end of a whole cluster kills that process as well.
    """
    try:
        _sweep(place)
        path = tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", dir=place)
        _kept.append(_lock_new(path))
        ours, _theirs = os.pipe()  # the kernel closes the other end with this process
        remover = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _REMOVE, path],
            stdin=ours,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise TesseraError(f"cannot make a folder in {place}: {error.strerror}") from None
    os.close(ours)
    _kept.append(remover)
    return path


def _lock_new(path: str) -> int:
    """Locks before the name appears, so that nobody finds the lock free."""
    aside = os.path.join(path, _LOCK + ".part")
    lock = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(aside, os.path.join(path, _LOCK))
    return lock


def _sweep(place: str) -> None:
    for entry in os.scandir(place):
        if not entry.name.startswith(_PREFIX):
            continue
        try:
            facts = os.lstat(entry.path)
            if facts.st_uid != os.getuid() or not stat.S_ISDIR(facts.st_mode):
                continue
            lock = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # it is being made or removed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # its process runs
        else:
            shutil.rmtree(entry.path, ignore_errors=True)
        finally:
            os.close(lock)
