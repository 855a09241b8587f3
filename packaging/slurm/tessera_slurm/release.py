# SPDX-License-Identifier: Apache-2.0
"""Shrinks an allocation: moves jobs off the nodes that go, ends their agents, and gives the nodes
back to Slurm. `tessera-slurm release`.

`scontrol update NumNodes=` alone kills all processes of the nodes at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from tessera_slurm import slurm
from tessera_slurm.cluster import Cluster
from tessera_slurm.empty import move_off
from tessera_slurm.folder import Folder, Place
from tessera_slurm.problem import Problem

_END_SECONDS = 40


def leaving_places(places: Sequence[Place], hosts: Sequence[str], keep: int) -> list[Place]:
    """The places on the hosts after the first `keep`. `hosts`: of the allocation, in its order."""
    going = hosts[keep:]
    return [place for place in places if place.host in going]


def end_agents(job: str, places: Sequence[Place]) -> None:
    steps = {place.step for place in places} & slurm.steps_of(job)
    for step in steps:
        slurm.terminate(step)
    deadline = time.monotonic() + _END_SECONDS
    while steps & slurm.steps_of(job):
        if time.monotonic() > deadline:
            raise Problem(f"allocation {job}: agents did not end within {_END_SECONDS} s")
        time.sleep(0.5)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tessera-slurm release", description=__doc__)
    parser.add_argument("--folder", required=True, help="folder of the cluster")
    parser.add_argument("--nodes", required=True, type=int, metavar="K", help="nodes that stay")
    parser.add_argument("job", metavar="JOBID", help="of the allocation")
    options = parser.parse_args(words)
    folder = Folder(options.folder)
    hosts = slurm.nodes_of(options.job)
    if not 1 <= options.nodes < len(hosts):
        raise Problem(
            f"--nodes {options.nodes}: allocation {options.job} has {len(hosts)} nodes, "
            f"so 1 to {len(hosts) - 1} can stay"
        )
    places = [place for place in folder.places() if place.allocation == options.job]
    if not places:
        raise Problem(f"cluster '{folder.cluster()}' has no node in allocation {options.job}")
    going = leaving_places(places, hosts, options.nodes)
    names = ", ".join(place.name for place in going)
    if move_off(Cluster(folder), {place.name for place in going}):
        raise Problem(f"nothing is given back: a job is still on {names}")
    end_agents(options.job, going)
    slurm.keep_nodes(options.job, hosts[: options.nodes])
    print(f"{names} left; allocation {options.job} has {options.nodes} of {len(hosts)} nodes")
    return 0
