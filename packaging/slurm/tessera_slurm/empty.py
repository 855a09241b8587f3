# SPDX-License-Identifier: Apache-2.0
"""Moves jobs off nodes that leave: a planned shrink. `tessera-slurm empty`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Collection, Sequence

from tessera_slurm.cluster import Cluster, Job, Status, node_of
from tessera_slurm.folder import Folder
from tessera_slurm.problem import Problem

_ENDED = ("stopped", "failed")
_WAIT_SECONDS = 60  # for a transaction that is in progress
# A node that has just left is idle for the registrar until it has been silent for 3 s.
_ATTEMPTS, _NOTICE_SECONDS = 2, 5


def target_of(job: Job, status: Status, leaving: Collection[str]) -> list[str]:
    """The devices to which a job moves: those that it keeps, then idle ones until it has as many
    as before. Empty: there is none."""
    kept = [device for device in job.devices if node_of(device) not in leaving]
    idle = [device for device in status.idle if node_of(device) not in leaving]
    return (kept + idle)[: len(job.devices)]


def jobs_on(status: Status, nodes: Collection[str]) -> list[Job]:
    return [
        job
        for job in status.jobs
        if job.state not in _ENDED and any(node_of(device) in nodes for device in job.devices)
    ]


def settled(cluster: Cluster) -> Status:
    """The status, once no transaction is in progress."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        status = cluster.status()
        if status and not status.is_changing:
            return status
        if time.monotonic() > deadline:
            what = "a transaction is in progress" if status else "the registrar does not answer"
            raise Problem(f"cluster '{cluster.folder.cluster()}': {what} for {_WAIT_SECONDS} s")
        time.sleep(1)


def move_off(cluster: Cluster, leaving: Collection[str]) -> list[str]:
    """Moves each job that has GPUs on the nodes to the other GPUs of the cluster.

    Returns the names of the jobs that could not be moved, and prints why.
    """
    names = [job.name for job in jobs_on(settled(cluster), leaving)]
    return [name for name in names if not _move(cluster, name, leaving)]


def _move(cluster: Cluster, name: str, leaving: Collection[str]) -> bool:
    why = ""
    for attempt in range(_ATTEMPTS):
        if attempt > 0:
            time.sleep(_NOTICE_SECONDS)
        status = settled(cluster)
        job = status.job(name)
        if job is None or job not in jobs_on(status, leaving):
            return True  # it has ended, or somebody has moved it
        devices = target_of(job, status, leaving)
        if not devices:
            print(f"{name}: no GPU is left outside of {' '.join(sorted(leaving))}", flush=True)
            return False
        # On as many GPUs the mesh stays; on fewer the cluster makes the smallest change.
        mesh = ["--mesh", job.mesh] if len(devices) == len(job.devices) else []
        done = cluster.call("apply", name, "--devices", ",".join(devices), *mesh, "--yes", "--json")
        after = cluster.status()
        if after is not None and after.job(name) not in jobs_on(after, leaving):
            print(f"{name}: {_summary(done.output)}", flush=True)
            return True
        why = f"{name}: not moved to {','.join(devices)}: {done.reason}"
    print(why, flush=True)
    return False


def save(cluster: Cluster, name: str, checkpoints: str) -> str | None:
    """Pauses a job after its current step, and saves that step. Returns the path; None: not saved,
    and why was printed."""
    status = cluster.status()
    job = status.job(name) if status else None
    paused = None if job and job.state == "paused" else cluster.call("job", "pause", name)
    if paused and paused.code != 0:
        print(f"{name}: not paused: {paused.reason}", flush=True)  # a checkpoint may still be saved
    saved = cluster.call("checkpoint", "save", name, checkpoints, "--json")
    if saved.code != 0:
        print(f"{name}: no checkpoint: {saved.reason}", flush=True)
        return None
    path = str(json.loads(saved.output.splitlines()[-1])["path"])
    print(f"{name}: saved {path}", flush=True)
    return path


def _summary(output: str) -> str:
    """The last document of `apply --json` in words."""
    try:
        result = json.loads(output.strip().splitlines()[-1])
        return (
            f"moved by transaction {result['transaction']} after step {result['step']}, "
            f"pause {result['pause_seconds']:.3f} s"
        )
    except (ValueError, KeyError, IndexError):
        return "moved"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tessera-slurm empty", description=__doc__)
    parser.add_argument("--folder", required=True, help="folder of the cluster")
    parser.add_argument("nodes", nargs="+", metavar="NODE", help="node of the cluster, such as n2")
    options = parser.parse_args(words)
    folder = Folder(options.folder)
    known = {place.name for place in folder.places()}
    for node in options.nodes:
        if node not in known:
            raise Problem(f"cluster '{folder.cluster()}' has no node '{node}'")
    return 1 if move_off(Cluster(folder), set(options.nodes)) else 0
