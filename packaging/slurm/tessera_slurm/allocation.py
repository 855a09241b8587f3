# SPDX-License-Identifier: Apache-2.0
"""A batch script's part: agents on all nodes of the allocation, a job, and the end of both.

Slurm sends SIGUSR1 before the time limit or a preemption (`--signal=B:USR1@120`). Then the jobs of
these nodes move to other nodes of the cluster, or are saved.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tessera_slurm import empty, options, resume, slurm
from tessera_slurm.agents import Agents
from tessera_slurm.cluster import Cluster, Job, Status
from tessera_slurm.folder import Folder
from tessera_slurm.problem import Problem

_JOIN_SECONDS = 120  # for all nodes of the allocation to join
_SILENT_SECONDS = 60  # without an answer of the registrar the cluster has ended
_LOOK_SECONDS = 3.0


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


class Allocation:
    def __init__(self, words: Sequence[str]) -> None:
        self._options, self._job_words = options.parse(words)
        self._is_first = not self._options.join
        self._number = slurm.variable("SLURM_JOB_ID")
        self._folder = Folder(self._options.join or self._options.folder)
        self._checkpoints = str(
            Path(self._options.checkpoints or self._folder.path / "checkpoints").absolute()
        )
        self._agents = Agents(self._folder, self._number)
        self._must_leave = threading.Event()  # set by a signal
        self._job: str | None = None  # that this allocation has started
        for number in (signal.SIGUSR1, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._must_leave.set()

    def run(self) -> int:
        if self._options.resume:
            resume.make_room(self._folder, self._number)
            self._job_words = resume.with_checkpoint(self._job_words, self._checkpoints)
        if self._is_first:
            self._folder.begin(f"slurm-{self._number}")
        elif self._folder.ended.exists():
            raise Problem(f"cluster '{self._folder.cluster()}' in {self._folder.path} has ended")
        self._cluster = Cluster(self._folder)
        try:
            self._bring_up()
            self._start_job()
            why = self._watch()
            say(why)
            return 0 if self._leave() else 1
        finally:
            self._end()

    def _bring_up(self) -> None:
        hosts = slurm.nodes_of(self._number)
        names = [
            self._agents.start(host, options.of_agent(self._options, self._checkpoints))
            for host in hosts
        ]
        if self._is_first:
            self._make_profile()
        self._wait_joined(names)
        say(f"joined '{self._folder.cluster()}': {', '.join(names)} on {', '.join(hosts)}")

    def _wait_joined(self, names: Sequence[str]) -> None:
        deadline = time.monotonic() + _JOIN_SECONDS
        missing = set(names)
        while missing:
            self._refuse_ended()
            if time.monotonic() > deadline:
                name = min(missing)
                raise Problem(f"{name} has not joined for {_JOIN_SECONDS} s: {self._said(name)}")
            time.sleep(1)
            status = self._cluster.status()
            missing -= status.alive if status else set()

    def _refuse_ended(self) -> None:
        for name, code in self._agents.take_ended().items():
            raise Problem(f"{name} has ended with exit code {code}: {self._said(name)}")

    def _said(self, name: str) -> str:
        """The last line that an agent has printed, and where."""
        output = self._folder.node(int(name[1:])) / "output"
        lines = output.read_text().splitlines() if output.exists() else []
        return f"{lines[-1]} ({output})" if lines else f"nothing in {output}"

    def _make_profile(self) -> None:
        """The operator's key, and the profile of the cluster in the folder's TESSERA_HOME."""
        deadline = time.monotonic() + _JOIN_SECONDS
        while not (registrar := self._folder.registrar()):
            self._refuse_ended()
            if time.monotonic() > deadline:
                raise Problem(f"n0 has no address after {_JOIN_SECONDS} s: {self._said('n0')}")
            time.sleep(0.2)
        self._cluster.do("keys", "new", "operator")
        keys = self._folder.home / "keys"
        (self._folder.allowed / "operator.pub").write_text((keys / "operator.pub").read_text())
        name = self._folder.cluster()
        self._cluster.do(
            "profile", "add", name,
            f"--registrar={registrar[0]}", f"--server-key={registrar[1]}",
            f"--key={keys / 'operator.key'}",
        )  # fmt: skip

    def _start_job(self) -> None:
        if self._options.grow:
            self._grow(self._options.grow)
        if self._job_words:
            said = self._cluster.do("--json", "job", "start", *self._job_words)
            self._job = str(json.loads(said.splitlines()[-1])["name"])
            say(f"job {self._job} runs; TESSERA_HOME={self._folder.home} tesseractl status")

    def _grow(self, name: str) -> None:
        status = empty.settled(self._cluster)
        job = status.job(name)
        if job is None:
            raise Problem(f"--grow: cluster '{self._folder.cluster()}' has no job '{name}'")
        devices = ",".join(job.devices + status.idle)
        done = self._cluster.call("apply", name, "--devices", devices, "--yes")
        grown = done.code == 0
        say(f"{name}: " + (f"moved to {devices}" if grown else f"not grown: {done.reason}"))

    def _watch(self) -> str:
        """Waits until this allocation has nothing left to do; returns why."""
        heard = time.monotonic()
        while not self._must_leave.wait(_LOOK_SECONDS):
            for name, code in self._agents.take_ended().items():
                say(f"{name} has ended" + (f" with exit code {code}" if code else ""))
                if name == "n0":
                    raise Problem("the registrar has ended, and the cluster with it")
            if not self._agents.names:
                return "no agent of this allocation is left"
            if not self._is_first and self._folder.ended.exists():
                return "the cluster has ended"
            status = self._cluster.status()
            if status is None:
                if time.monotonic() - heard > _SILENT_SECONDS:
                    return f"the registrar has not answered for {_SILENT_SECONDS} s"
                continue
            heard = time.monotonic()
            if self._job is not None and (why := _why_over(self._job, status.job(self._job))):
                return why
        return "signal: the nodes of this allocation have to leave"

    def _leave(self) -> bool:
        """Moves or saves what is on these nodes; returns whether nothing is lost."""
        if not self._agents.names or (not self._is_first and self._folder.ended.exists()):
            return True
        status = self._cluster.status()
        if status is None:
            return False
        own = self._job and status.job(self._job)
        saved = []
        if self._is_first:  # without its registrar the cluster ends
            stuck = [job.name for job in empty.jobs_on(status, status.alive)]
        else:
            if own and own.has_finished:
                saved.append(empty.save(self._cluster, own.name, self._checkpoints))
                if saved[0] is not None:
                    self._cluster.call("job", "stop", own.name, "--yes")
            stuck = self._move_off(status)
        for name in stuck:
            saved.append(empty.save(self._cluster, name, self._checkpoints))
        return None not in saved

    def _move_off(self, status: Status) -> list[str]:
        nodes = set(self._agents.names)
        try:
            return empty.move_off(self._cluster, nodes)
        except Problem as problem:
            say(str(problem))
            return [job.name for job in empty.jobs_on(status, nodes)]

    def _end(self) -> None:
        if self._is_first:
            self._folder.ended.touch()
            self._cluster.call("export", "--what", "all", "--output", str(self._folder.history))
        if not self._agents.end():
            say("agents did not end in time; Slurm ends them with the allocation")


def _why_over(name: str, job: Job | None) -> str | None:
    if job is None or job.state in ("stopped", "failed"):
        return f"job {name} is over"
    return f"job {name} has made its {job.max_steps} steps" if job.has_finished else None


def main(words: Sequence[str]) -> int:
    return Allocation(words).run()
