# SPDX-License-Identifier: Apache-2.0
"""The agent of one node: its keys, its configuration, its process. `tessera-slurm agent`."""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tessera_slurm import slurm
from tessera_slurm.address import own_address
from tessera_slurm.folder import Folder, Place
from tessera_slurm.problem import Problem
from tessera_slurm.program import run

# Agents read the public keys every 2 s; a connection that was refused is tried again after 30 s.
_ADMISSION_SECONDS = 3
_REGISTRAR_SECONDS = 60  # for node 0 to have its address and key


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tessera-slurm agent", description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--node", required=True, type=int)
    parser.add_argument("--interface")
    parser.add_argument("--port", required=True, type=int)
    options, setup = parser.parse_known_args(words)
    folder = Folder(options.folder)
    host = slurm.variable("SLURMD_NODENAME")
    job = slurm.variable("SLURM_JOB_ID")
    step = f"{job}.{slurm.variable('SLURM_STEP_ID')}"
    endpoint = f"{own_address(host, options.interface)}:{options.port}"
    # The node's secret key and its state stay on this machine.
    local = Path(tempfile.mkdtemp(prefix=f"tessera-{job}-n{options.node}-"))
    try:
        configure(folder, options.node, endpoint, host, local, setup)
        folder.note_place(Place(options.node, job, step, host))
        if options.node > 0:
            time.sleep(_ADMISSION_SECONDS)
        return serve(local / "agent.json")
    finally:
        _keep_log(local, folder.node(options.node))
        shutil.rmtree(local, ignore_errors=True)


def configure(
    folder: Folder, number: int, endpoint: str, host: str, local: Path, setup: Sequence[str]
) -> None:
    words = [
        "tesseractl", "node", "setup",
        f"--cluster={folder.cluster()}",
        f"--node={number}",
        f"--address={endpoint}",
        f"--host={host}",
        f"--output={local / 'agent.json'}",
        f"--allowed={folder.allowed}",
        f"--directory={local / 'state'}",
        *setup,
    ]  # fmt: skip
    if number > 0:
        address, key = _registrar(folder)
        words += [f"--registrar={address}", f"--registrar-key={key}"]
    done = run(words)
    if done.code != 0:
        raise Problem(f"node setup on {host}: {done.reason}")
    if number == 0:
        folder.publish_registrar(endpoint)


def serve(config: Path) -> int:
    """Runs the agent until it ends. SIGTERM ends it, with its ranks."""
    # With a signal, Slurm may reach the agent too. A second SIGTERM does no harm.
    agent: subprocess.Popen[bytes] | None = None
    ending = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        ending = True
        if agent is not None:
            agent.terminate()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if ending:
        return 0
    try:
        agent = subprocess.Popen(["tessera-agent", "--config", str(config)])
    except OSError as error:
        raise Problem(f"cannot run tessera-agent: {error.strerror}") from error
    if ending:  # it came between the two
        agent.terminate()
    code = agent.wait()
    return 0 if ending else code if code > 0 else 1


def _registrar(folder: Folder) -> tuple[str, str]:
    deadline = time.monotonic() + _REGISTRAR_SECONDS
    while True:
        if registrar := folder.registrar():
            return registrar
        if time.monotonic() > deadline:
            raise Problem(f"{folder.path}: node 0 has no address after {_REGISTRAR_SECONDS} s")
        time.sleep(0.5)


def _keep_log(local: Path, to: Path) -> None:
    try:
        shutil.copyfile(local / "state" / "agent.log", to / "agent.log")
    except OSError as error:
        print(f"the agent's log is not kept: {error}", flush=True)
