# SPDX-License-Identifier: Apache-2.0
"""The cluster, through `tesseractl`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from tessera_slurm.folder import Folder
from tessera_slurm.problem import Problem
from tessera_slurm.program import Outcome, run


def node_of(device: str) -> str:
    """`n2g0` is of node `n2`."""
    return device.split("g")[0]


@dataclass(frozen=True)
class Job:
    name: str
    state: str
    step: int
    max_steps: int  # 0: no limit
    mesh: str
    devices: tuple[str, ...]

    @property
    def has_finished(self) -> bool:
        return self.state == "paused" and 0 < self.max_steps <= self.step


@dataclass(frozen=True)
class Status:
    alive: frozenset[str]  # nodes
    idle: tuple[str, ...]  # devices that are alive and free
    jobs: tuple[Job, ...]
    is_changing: bool  # a transaction is in progress

    def job(self, name: str) -> Job | None:
        return next((job for job in self.jobs if job.name == name), None)


class Cluster:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.env = {
            **os.environ,
            "TESSERA_HOME": str(folder.home),
            "TESSERA_CLUSTER": folder.cluster(),
        }

    def call(self, *words: str) -> Outcome:
        return run(["tesseractl", *words], env=self.env)

    def do(self, *words: str) -> str:
        """A call that has to succeed; returns what it prints."""
        done = self.call(*words)
        if done.code != 0:
            verb = [word for word in words if not word.startswith("-")][:2]
            raise Problem(f"tesseractl {' '.join(verb)}: {done.reason}")
        return done.output

    def status(self) -> Status | None:
        """None: the registrar does not answer."""
        done = self.call("status", "--json")
        return status_of(json.loads(done.output)) if done.code == 0 else None


def status_of(document: Any) -> Status:
    nodes = [node for node in document["nodes"] if node["state"] == "alive"]
    return Status(
        alive=frozenset(node["name"] for node in nodes),
        idle=tuple(
            device["name"]
            for node in nodes
            for device in node["devices"]
            if device["job"] is None and not device["failed"]
        ),
        jobs=tuple(
            Job(
                job["name"],
                job["state"],
                job["step"],
                job["max_steps"],
                ",".join(f"{axis}={size}" for axis, size in (job["mesh"] or {}).items()),
                tuple(job["devices"]),
            )
            for job in document["jobs"]
        ),
        is_changing=document["transaction"] is not None,
    )
