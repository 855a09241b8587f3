# SPDX-License-Identifier: Apache-2.0
"""A job that follows its allocations: grown, preempted, shrunk, saved, and continued."""

import json
import time

_SECONDS = 60  # for any one thing to happen


class Failed(Exception):
    """A step of the scenario did not do what it has to."""


class Scenario:
    def __init__(self, slurm, folder, root):
        self.slurm = slurm
        self.folder = folder
        self.run = folder / "run"
        self.batch = root / "packaging/slurm/tessera.sbatch"
        self.program = root / "packaging/slurm/tessera-slurm"
        self.begin = time.monotonic()

    def play(self):
        for step in (
            self.bad_input_is_refused,
            self.two_nodes_train,
            self.a_second_allocation_joins,
            self.preemption_moves_the_job,
            self.an_allocation_shrinks,
            self.the_end_saves_the_job,
            self.a_new_allocation_continues,
            self.nothing_is_left,
        ):
            try:
                step()
            except (AssertionError, KeyError, OSError, ValueError) as error:
                raise Failed(f"{step.__name__}: {error!r}") from error
            seconds = time.monotonic() - self.begin
            print(f"{seconds:5.0f} s  {step.__name__.replace('_', ' ')}", flush=True)

    def bad_input_is_refused(self):
        for words, expected in (
            (["allocation"], "--folder"),
            (["allocation", "--folder", "x"], "its words follow after --"),
            (["allocation", "--folder", "x", "--", "gpt-mini"], "SLURM_JOB_ID is not set"),
            (["release", "--folder", "/none", "--nodes", "1", "77"], "77"),
            (["empty", "--folder", "/none", "n1"], "no cluster in /none"),
            (["other"], "verb 'other'"),
        ):
            done = self.slurm.call(self.program, *words)
            check(done.returncode != 0 and expected in done.stderr, f"{words}: {done.stderr}")
            check("Traceback" not in done.stderr, done.stderr)

    def two_nodes_train(self):
        words = ["--folder", self.run, *GPUS, "--", "gpt-mini", "--mesh", "dp=2"]
        self.first = self.submit("first", 2, [*words, "--devices", "n0g0,n1g0"])
        self.wait("first.out", "job gpt-mini runs")
        status = self.status()
        check([node["state"] for node in status["nodes"]] == ["alive"] * 2, status["nodes"])
        check([node["host"] for node in status["nodes"]] == ["a", "b"], status["nodes"])
        ranks = {
            device["name"]: device["rank"]
            for node in status["nodes"]
            for device in node["devices"]
            if device["job"] == "gpt-mini"
        }
        check(ranks == {"n0g0": 0, "n1g0": 1}, ranks)
        self.trains()

    def a_second_allocation_joins(self):
        words = ["--join", self.run, *GPUS, "--grow", "gpt-mini"]
        self.second = self.submit("second", 1, words)
        self.wait("second.out", "moved to")
        check(len(self.status()["nodes"]) == 3, "no third node")
        self.moved(lambda devices: len(devices) == 6)
        self.trains()

    def preemption_moves_the_job(self):
        before = self.job()["step"]
        self.submit("urgent", 1, None, "--partition=urgent", "--nodelist=c", "--wrap=echo it runs")
        self.wait("urgent.out", "it runs")
        check("SIGNAL" in self.read("second.out").upper(), self.read("second.out"))
        self.moved(lambda devices: not any(device.startswith("n2") for device in devices))
        self.completed(self.second)
        self.trains()
        check(self.job()["step"] > before, "the job has gone back")

    def an_allocation_shrinks(self):
        words = [self.program, "release", "--folder", self.run, "--nodes"]
        refused = self.slurm.call(*words, "2", self.first)
        check(refused.returncode == 1 and "1 to 1 can stay" in refused.stderr, refused.stderr)
        said = self.slurm.run(*words, "1", self.first)
        check("n1 left" in said, said)
        self.moved(lambda devices: all(device.startswith("n0") for device in devices))
        nodes = self.slurm.run("squeue", "-h", "-j", self.first, "-o", "%N").strip()
        check(nodes == "a", nodes)
        check(not self.ranks_on("n1"), "n1 still has ranks")
        self.trains()

    def the_end_saves_the_job(self):
        reached = self.job()["step"]
        self.slurm.run("scancel", "--batch", "--signal=USR1", self.first)
        self.completed(self.first)
        saved = list((self.run / "checkpoints").glob("gpt-mini-step-*"))
        check(len(saved) == 1, saved)
        self.saved = saved[0]
        self.step = int(self.saved.name.rsplit("-", 1)[1])
        check(self.step >= reached, f"{self.step} of {reached}")
        rows = [json.loads(row) for row in (self.run / "history.jsonl").read_text().splitlines()]
        moves = [row for row in rows if row.get("result") == "committed"]
        check(len(moves) == 3, moves)
        for move in moves:
            check(move["digest_before"] and move["digest_before"] == move["digest_after"], move)
        steps = sorted(row["step"] for row in rows if row["kind"] == "sample")
        check(steps == list(range(1, self.step + 1)), "steps are missing, or were made twice")

    def a_new_allocation_continues(self):
        words = ["--folder", self.run, "--resume", *GPUS, "--", "gpt-mini", "--mesh", "dp=2"]
        self.completed(self.submit("third", 2, [*words, "--steps", self.step + 5]))
        said = self.read("third.out")
        check(f"has made its {self.step + 5} steps" in said, said)
        saved = list(self.saved.parent.glob(f"gpt-mini-step-{self.step + 5}*/tessera.json"))
        check(len(saved) == 1, said)
        rows = [json.loads(row) for row in (self.run / "history.jsonl").read_text().splitlines()]
        first = min(row["step"] for row in rows if row["kind"] == "sample")
        check(first == self.step + 1, f"it began with step {first}")
        check((self.run / "earlier-1/history.jsonl").exists(), "the earlier history is gone")

    def nothing_is_left(self):
        check(not self.slurm.run("squeue", "-h").strip(), "jobs are left in Slurm")
        until(
            lambda: all(program in DAEMONS for program in self.slurm.programs()),
            lambda: f"running: {', '.join(self.slurm.programs())}",
        )
        check(not list(self.slurm.temporary.iterdir()), list(self.slurm.temporary.iterdir()))

    def submit(self, name, nodes, words, *options):
        script = [self.batch, *words] if words else []
        said = self.slurm.run(
            "sbatch", "--parsable", f"--nodes={nodes}", "--time=10",
            f"--output={self.folder / name}.out", *options, *script,
        )  # fmt: skip
        return said.strip()

    def tesseractl(self, *words):
        said = self.slurm.run(
            "tesseractl", *words, "--json", env={"TESSERA_HOME": str(self.run / "home")}
        )
        return json.loads(said)

    def status(self):
        return self.tesseractl("status")

    def job(self):
        return self.status()["jobs"][0]

    def ranks_on(self, name):
        nodes = [node for node in self.status()["nodes"] if node["name"] == name]
        return [device for node in nodes for device in node["devices"] if device["job"]]

    def trains(self):
        """Waits for three more steps."""
        begin = self.job()["step"]
        until(lambda: self.job()["step"] >= begin + 3, f"the job stays at step {begin}")

    def moved(self, holds):
        """The newest transaction has committed an unchanged state to such devices."""
        until(
            lambda: self.tesseractl("status")["transaction"] is None, "a transaction does not end"
        )
        newest = self.tesseractl("history")["transactions"][0]
        check(newest["result"] == "committed", newest)
        check(newest["digest_before"] and newest["digest_before"] == newest["digest_after"], newest)
        check(holds(self.job()["devices"]), self.job()["devices"])

    def completed(self, job):
        def state():
            shown = self.slurm.run("scontrol", "show", "job", job)
            return next(word for word in shown.split() if word.startswith("JobState="))

        active = ("JobState=RUNNING", "JobState=PENDING", "JobState=COMPLETING")
        until(lambda: state() not in active, f"allocation {job} does not end")
        check(state() == "JobState=COMPLETED", f"allocation {job}: {state()}")

    def read(self, name):
        file = self.folder / name
        return file.read_text() if file.exists() else ""

    def wait(self, name, text):
        until(lambda: text in self.read(name), f"no '{text}' in {name}")


DAEMONS = ("munged", "slurmctld", "slurmscriptd", "slurmd")
GPUS = ("--gpus", 2, "--gpu-memory", "64M")


def check(holds, why):
    if not holds:
        raise AssertionError(why)


def until(holds, why):
    """Waits for it. `why`: a text, or a function that returns one."""
    deadline = time.monotonic() + _SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{why() if callable(why) else why} (after {_SECONDS} s)")
        time.sleep(0.5)
