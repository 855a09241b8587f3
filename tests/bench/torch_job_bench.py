#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch job that gets more ranks and then fewer: live under Tessera, and as programs do it today, by
torchrun with torch.distributed.checkpoint, and by torchft. Also what job.step costs and what a rank holds.

  BUILD/venv/bin/python3 tests/bench/torch_job_bench.py BUILD [--rounds N] [--width W] [--layers L]

The Python that runs it needs torch; without torchft (pip install torchft) that part is skipped. All three
are measured by the same clock, from the end of the last step on the old ranks to the end of the first
step on the new ones. "Stop" is that time less one ordinary step on the new ranks for each step that it
contains. The pause is what Tessera reports: in it no rank computes.

torchft has the whole state in each replica (DDP), the others cut it (FSDP2). Replicas leave between two
steps; the others miss them after torchft's heartbeat timeout of 5 s, its default.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "torch_job.py")
LIGHTHOUSE = """import sys
from torchft.coordination import LighthouseServer
server = LighthouseServer(
    bind="127.0.0.1:0", min_replicas=2, join_timeout_ms=10000, quorum_tick_ms=100)
with open(sys.argv[1], "w") as file:
    print(server.address(), file=file)
sys.stdin.read()
server.shutdown()
"""
CHANGES = ((2, 4), (4, 2))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("build", help="a build folder")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--layers", type=int, default=8)
arguments = parser.parse_args()
build = os.path.abspath(arguments.build)
model = ["--width", str(arguments.width), "--layers", str(arguments.layers)]


def rows(log):
    """The steps that a log has: number, end, seconds of job.step, of the optimizer, ranks, own memory, shared."""
    if not os.path.exists(log):
        return []
    with open(log, encoding="ascii") as file:
        return [[float(word) for word in line.split()] for line in file]


def wait_for(log, more):
    least = len(rows(log)) + more
    for _ in range(3000):
        if len(rows(log)) >= least:
            return
        time.sleep(0.05)
    sys.exit(f"no step within 150 s in {log}")


def change(all_rows, before, after):
    """The last one from `before` to `after` ranks: its seconds, and the seconds of the stop in it."""
    ends = [row for row in all_rows if row[4] == after]
    first = next(i for i in range(len(all_rows) - 1, 0, -1)
                 if all_rows[i][4] == after and all_rows[i - 1][4] != after)
    last = next(i for i in range(first - 1, -1, -1) if all_rows[i][4] == before)
    usual = statistics.median(ordinary(ends))
    seconds = all_rows[first][1] - all_rows[last][1]
    return seconds, seconds - (first - last) * usual


def ordinary(all_rows):
    """The seconds of steps that follow one with the same number of ranks."""
    return [after[1] - before[1] for before, after in zip(all_rows[:-1], all_rows[1:])
            if after[0] == before[0] + 1 and after[4] == before[4]]


def tesseractl(home, *words):
    run = subprocess.run([f"{build}/bin/tesseractl", *words], capture_output=True, text=True,
                         env={**os.environ, "TESSERA_HOME": home}, check=False)
    if run.returncode != 0:
        sys.exit(f"tesseractl {' '.join(words)}: {run.stderr or run.stdout}")
    return run.stdout


def torchrun(ranks, log, *words):
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
             str(ranks), SCRIPT, log, *model, *words]
    run = subprocess.run(words, capture_output=True, text=True, check=False,
                         env={**os.environ, "PYTHONPATH": f"{build}/python", "OMP_NUM_THREADS": "1"})
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)}: {run.stderr[-4000:]}")


def run_torchft(folder):
    """By the old and the new number of replicas the changes of each round. None: it is not installed."""
    if importlib.util.find_spec("torchft") is None:
        return None
    said = open(folder + "/torchft", "wb")
    at = folder + "/lighthouse"
    lighthouse = subprocess.Popen([sys.executable, "-c", LIGHTHOUSE, at], stdin=subprocess.PIPE,
                                  stdout=said, stderr=said)
    while not os.path.exists(at) or not os.path.getsize(at):
        if lighthouse.poll() is not None:
            sys.exit("the lighthouse of torchft does not start")
        time.sleep(0.05)
    with open(at, encoding="ascii") as file:
        address = "http://127.0.0.1:" + file.read().strip().rpartition(":")[2]
    log = folder + "/replica-0"
    replicas, out = [], {}

    def start():
        words = [sys.executable, os.path.join(HERE, "torch_ft.py"), f"{folder}/replica-{len(replicas)}",
                 address, *model]
        replicas.append(subprocess.Popen(words, stdout=said, stderr=said,
                                         env={**os.environ, "OMP_NUM_THREADS": "1"}))

    def wait_until(ranks):
        for _ in range(3000):
            if [row[4] for row in rows(log)[-6:]] == [ranks] * 6:
                return
            if replicas[0].poll() is not None:
                break
            time.sleep(0.05)
        sys.exit(f"no steps of {ranks} replicas under torchft: {folder}/torchft")

    try:
        start()
        start()
        wait_until(2)
        for _ in range(arguments.rounds):
            start()
            start()
            wait_until(4)
            out.setdefault((2, 4), []).append(change(rows(log), 2, 4))
            for replica in replicas[-2:]:
                replica.terminate()
            wait_until(2)
            out.setdefault((4, 2), []).append(change(rows(log), 4, 2))
    finally:
        for replica in replicas:
            replica.kill()
            replica.wait()
        lighthouse.communicate()
        said.close()
    return out


live, pauses, restart, steps = {}, {}, {}, []
with tempfile.TemporaryDirectory() as folder:
    home, log = folder + "/home", folder + "/live"
    parameters = arguments.layers * arguments.width * (arguments.width + 1)
    print(f"{os.cpu_count()} cores; {parameters * 12 / 2**20:.0f} MiB of parameters and moments")
    tesseractl(home, "up", "--cluster", "b", "--nodes", "1", "--gpus", "4", "--gpu-memory", "4G")
    try:
        tesseractl(home, "job", "start", SCRIPT, "--name", "live", "--python", sys.executable, "--mesh",
                   "dp=1", "--devices", "n0g0", "--", log, *model)
        wait_for(log, 20)
        steps = rows(log)[5:]
        held = statistics.median(row[5] + row[6] for row in steps)
        tesseractl(home, "apply", "live", "--mesh", "dp=2", "--devices", "n0g0,n0g1", "--yes")
        for _ in range(arguments.rounds):
            for before, ranks in CHANGES:
                wait_for(log, 6)
                devices = ",".join(f"n0g{i}" for i in range(ranks))
                out = tesseractl(home, "apply", "live", "--mesh", f"dp={ranks}", "--devices", devices,
                                 "--yes", "--json")
                pauses.setdefault(ranks, []).append(json.loads(out.splitlines()[-1])["pause_seconds"])
                wait_for(log, 6)
                live.setdefault((before, ranks), []).append(change(rows(log), before, ranks))
    finally:
        tesseractl(home, "down", "--cluster", "b", "--yes")

    alone = folder + "/alone"
    torchrun(1, alone, "--until", "20")
    own = statistics.median(row[5] + row[6] for row in rows(alone)[5:])
    for number in range(arguments.rounds):
        for before, after in CHANGES:
            peer = f"{folder}/peer-{number}-{after}"
            torchrun(before, peer, "--until", "6", "--checkpoint", peer + ".dcp")
            torchrun(after, peer, "--until", "6", "--checkpoint", peer + ".dcp")
            restart.setdefault((before, after), []).append(change(rows(peer), before, after))
    replicas = run_torchft(folder)


def text(changes):
    """Medians of the stop and of the whole."""
    stop, whole = (statistics.median(one[i] for one in changes) for i in (1, 0))
    return f"{stop:.2f} s (to the end of the first step {whole:.2f} s)"


for key in CHANGES:
    print(f"{key[0]} -> {key[1]} ranks")
    pause = statistics.median(pauses[key[1]])
    print(f"  Tessera                  stop {text(live[key])}, pause {pause:.3f} s")
    print(f"  torchrun and checkpoint  stop {text(restart[key])}")
    if replicas is None:
        print("  torchft                  skipped: not installed")
    else:
        print(f"  torchft                  stop {text(replicas[key])}")
    for number, of in ((1, "stop"), (0, "to the end of the first step")):
        a, b = (statistics.median(one[number] for one in of[key]) for of in (live, restart))
        print(f"  {of}: {b / a:.0f} x shorter than torchrun and checkpoint")
    stop = statistics.median(one[1] for one in restart[key])
    print(f"  pause: {stop / pause:.0f} x shorter than the stop of torchrun and checkpoint")
extra = statistics.median(row[2] - row[3] for row in steps)
print(f"job.step without the optimizer: {extra * 1000:.2f} ms")
print(f"memory of a rank: {held / 2**20:.0f} MiB, without Tessera {own / 2**20:.0f} MiB: {held / own:.2f} x")
