# SPDX-License-Identifier: Apache-2.0
"""Debian's Slurm on this machine: munged, slurmctld and one slurmd for each node."""

import os
import pathlib
import signal
import subprocess
import time

NODES = ("a", "b", "c")
_HOST = "tessera-slurm-test"
_START_SECONDS = 60


class Missing(Exception):
    """What this machine lacks."""


def address(node):
    """In the test's network. libc resolves no number while 127.0.0.1 is the only address."""
    return f"10.77.0.{NODES.index(node) + 1}"


class SlurmCluster:
    """A context: the daemons end with it."""

    def __init__(self, folder, programs):
        self.folder = folder
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "TESSERA"))}
        self.temporary = folder / "tmp"
        self.env = {
            **clean,
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TMPDIR": str(self.temporary),
        }
        self._daemons = []

    def __enter__(self):
        for name in ("state", "munge", "tmp", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir(parents=True)
        self._set_up_network()
        (self.folder / "munge/key").write_bytes(os.urandom(1024))
        (self.folder / "munge/key").chmod(0o400)
        (self.folder / "slurm.conf").write_text(self._settings())
        (self.folder / "cgroup.conf").write_text(_cgroup_settings())
        try:
            self._start_daemons()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.send_signal(signal.SIGKILL)
                daemon.wait()

    def run(self, *words, env=None):
        """The output of a program that has to succeed."""
        done = self.call(*words, env=env)
        if done.returncode:
            said = f"{done.stdout.strip()}\n{done.stderr.strip()}".strip()
            raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}: {said}")
        return done.stdout

    def call(self, *words, env=None):
        return subprocess.run(
            [str(word) for word in words],
            env={**self.env, **(env or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    @staticmethod
    def programs():
        """The programs that run in this namespace, but the test itself."""
        out = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words[0] and int(folder.name) not in (1, os.getpid()):  # a zombie has no words
                is_script = "python" in words[0] and len(words) > 1
                name = os.path.basename(words[1] if is_script else words[0])
                out.append(name.removeprefix(": "))  # slurmscriptd shows no path
        return out

    def _set_up_network(self):
        subprocess.run(["hostname", _HOST], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for node in NODES:
            words = ["ip", "address", "add", f"{address(node)}/32", "dev", "lo"]
            subprocess.run(words, check=True)

    def _settings(self):
        folder = self.folder
        here = f"NodeHostname={_HOST} CPUs=1"
        nodes = "".join(
            f"NodeName={node} NodeAddr={address(node)} Port={17001 + i} {here}\n"
            for i, node in enumerate(NODES)
        )
        return f"""\
ClusterName=test
SlurmctldHost={_HOST}({address(NODES[0])})
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
KillWait=20
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmctldParameters=preempt_send_user_signal
{nodes}PartitionName=all Nodes=ALL Default=YES PriorityTier=1 GraceTime=120
PartitionName=urgent Nodes=ALL PriorityTier=9
"""

    def _start_daemons(self):
        munge = self.folder / "munge"
        self._start(
            "munged",
            ["munged", "--foreground", "--force", f"--key-file={munge}/key"]
            + [f"--{name}-file={munge}/{name}" for name in ("pid", "log", "seed")]
            + [f"--socket={munge}/socket"],
        )
        self._wait(lambda: (munge / "socket").exists())
        self._start("slurmctld", ["slurmctld", "-D", "-i"])
        for node in NODES:
            self._start(f"slurmd.{node}", ["slurmd", "-D", "-N", node])
        self._wait(lambda: self.call("sinfo", "-h", "-N", "-p", "all", "-o", "%t").stdout.split()
                   == ["idle"] * len(NODES))  # fmt: skip

    def _start(self, name, words):
        with open(self.folder / f"{name}.said", "w") as said:
            self._daemons.append(
                subprocess.Popen(
                    words, env=self.env, stdin=subprocess.DEVNULL, stdout=said, stderr=said
                )
            )

    def _wait(self, done):
        deadline = time.monotonic() + _START_SECONDS
        while not done():
            for daemon in self._daemons:
                if daemon.poll() is not None:
                    raise Missing(
                        f"{daemon.args[0]} does not start here: {self._last_words(daemon)}"
                    )
            if time.monotonic() > deadline:
                raise Missing(f"Slurm has no idle nodes here after {_START_SECONDS} s")
            time.sleep(0.2)

    def _last_words(self, daemon):
        name = daemon.args[0] if daemon.args[0] != "slurmd" else f"slurmd.{daemon.args[-1]}"
        lines = (self.folder / f"{name}.said").read_text().strip().splitlines()
        return lines[-1] if lines else f"exit code {daemon.returncode}"


def _cgroup_settings():
    """slurmd loads one of its plugins even if nothing of it is used."""
    if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n"
    return "CgroupPlugin=cgroup/v1\n"
