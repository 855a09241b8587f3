# SPDX-License-Identifier: Apache-2.0
"""A job that goes on in another allocation, with its newest checkpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tessera_slurm import slurm
from tessera_slurm.folder import Folder
from tessera_slurm.problem import Problem
from tessera_slurm.program import run


def make_room(folder: Folder, allocation: str) -> None:
    """Sets the cluster of the folder aside, if there is one. It must have ended."""
    if not (folder.path / "cluster").exists():
        return
    earlier = folder.cluster().rpartition("-")[2]
    # A requeued allocation has the number of the one before it.
    if not (folder.ended.exists() or earlier == allocation or slurm.has_ended(earlier)):
        raise Problem(f"{folder.path}: the cluster of allocation {earlier} has not ended")
    folder.set_aside()


def with_checkpoint(words: Sequence[str], checkpoints: str) -> list[str]:
    """Adds the newest checkpoint of the job to the words of `job start`, if there is one."""
    path = _newest(checkpoints, _name_of(words))
    return [words[0], f"--from-checkpoint={path}", *words[1:]] if path else list(words)


def _newest(checkpoints: str, job: str) -> str | None:
    if not os.path.isdir(checkpoints):
        return None
    done = run(["tesseractl", "checkpoint", "list", checkpoints, "--json"])
    if done.code != 0:
        raise Problem(f"checkpoints in {checkpoints}: {done.reason}")
    found = [
        checkpoint
        for checkpoint in json.loads(done.output)["checkpoints"]
        if checkpoint["complete"] and checkpoint["job"] == job
    ]
    return str(max(found, key=lambda row: float(row["created"]))["path"]) if found else None


def _name_of(words: Sequence[str]) -> str:
    """The name that `job start` gives to a job."""
    for at, word in enumerate(words):
        if word.startswith("--name="):
            return word[len("--name=") :]
        if word == "--name" and at + 1 < len(words):
            return words[at + 1]
    if words[0].startswith("-"):
        raise Problem("--resume: the words after -- begin with a model or a script, or have --name")
    return Path(words[0]).name.removesuffix(".py")
