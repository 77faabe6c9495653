"""A real Slurm on this machine for tests, and plans whose shards it runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import pytest
from conftest import REPOSITORY, SCRIPTS

PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", REPOSITORY / "build/release/convladder")).resolve()
SLOW = bool(os.environ.get("CONVLADDER_SLOW_TESTS"))
slow = pytest.mark.skipif(not SLOW, reason="takes minutes; CONVLADDER_SLOW_TESTS=1 runs it")

COUNTED = ["--device", "simulated", "--variant", "global-memory,shared-memory", "--shape", "1,8,8,2,3"]
"""Cases of milliseconds, with counters that are the same on every machine."""

TIMED = ["--device", "cpu", "--variant", "flat-vector,compile-time", "--shape", "1,12,12,4,3",
         "--batch", "1,2,3,4,5,6", "--repetitions", "40"]
"""Cases of a second or so: there is time to do something to them."""

PATIENCE = 300.0
"""Seconds after which a test gives up waiting. No test says how long anything takes."""

_KEPT = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_", "SQUEUE_"))}


class Cluster:
    """Two nodes, n1 and n2, with two processors each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = _KEPT | {"SLURM_CONF": str(folder / "slurm.conf"), "CONVLADDER_PROGRAM": str(PROGRAM),
                                    "OMP_NUM_THREADS": "1", "CONVLADDER_CEILING_MIB": "4"}

    def call(self, *command: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command of Slurm, or any other that is to find it."""
        options = {"env": self.environment, "capture_output": True, "encoding": "utf-8", "timeout": PATIENCE,
                   "check": False} | options
        return subprocess.run(list(map(str, command)), **options)

    def script(self, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """scripts/slurm.sh."""
        return self.call(SCRIPTS / "slurm.sh", *words, **options)

    def queue(self) -> list[list[str]]:
        """Id, number, state and node of every task in the queue."""
        listed = self.call("squeue", "-h", "-r", "-o", "%i|%A|%T|%N")
        assert listed.returncode == 0, listed.stderr
        return [line.split("|") for line in listed.stdout.splitlines()]

    def running(self) -> list[list[str]]:
        return [task for task in self.queue() if task[2] == "RUNNING"]

    def wait_until_empty(self) -> None:
        wait_for(lambda: not self.queue(), "an empty queue")

    def clear(self) -> None:
        """Nothing in the queue, both nodes in use."""
        for task in self.queue():
            self.call("scancel", task[0])
        self.call("scontrol", "update", "NodeName=n1,n2", "State=RESUME")
        self.wait_until_empty()


def wait_for(what: Callable[[], Any], words: str) -> Any:
    """Until it is true; fails after a long time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {words}")


def started(*options: object) -> Iterator[Cluster]:
    """A cluster of its own; skips where there is no Slurm."""
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"not built: {PROGRAM}")
    script = SCRIPTS / "slurm/local_cluster.sh"
    folder = Path(tempfile.mkdtemp(prefix="convladder-test-", dir="/tmp"))  # short, for the name of a socket
    try:
        begun = subprocess.run([script, "start", folder, *map(str, options)], env=_KEPT, capture_output=True,
                               encoding="utf-8", timeout=PATIENCE, check=False)
        if begun.returncode == 3:
            pytest.skip(begun.stderr.strip())
        assert begun.returncode == 0, begun.stderr
        yield Cluster(folder)
    finally:
        subprocess.run([script, "stop", folder], env=_KEPT, capture_output=True, timeout=PATIENCE, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def make_plan(folder: Path, *options: object, shards: int = 4) -> dict[str, Any]:
    """Plans into the folder; the document."""
    done = subprocess.run([PROGRAM, "plan", *map(str, options or [*COUNTED, "--batch", "1,2,3,4,5,6"]), "--shards",
                           str(shards), "--output", folder], env=_KEPT, capture_output=True, encoding="utf-8",
                          timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "plan.json").read_text(encoding="utf-8"))


def used_shards(plan: dict[str, Any]) -> set[int]:
    """Those that have cases."""
    return {group["shard"] for group in plan["groups"]}


def shard_record(folder: Path, shard: int) -> Optional[dict[str, Any]]:
    """None where it is not there."""
    path = folder / "shards" / f"{shard:05d}" / "shard.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def measured(folder: Path, plan: dict[str, Any]) -> list[str]:
    """The ids of all cases in all shards, as often as they are there."""
    records = [shard_record(folder, shard) for shard in sorted(used_shards(plan))]
    return [case["id"] for record in records if record for case in record["cases"]]


def planned(plan: dict[str, Any]) -> list[str]:
    return [case for group in plan["groups"] for case in group["cases"]]


def begins(folder: Path, shard: int) -> list[str]:
    """A line for every task that began with the shard."""
    path = folder / "logs" / f"{shard:05d}.log"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line for line in lines if f"shard {shard} of" in line and ": job " in line]


def processes_of(folder: Path, shard: int) -> list[int]:
    """The program that works on a shard, without the processes of its cases; none where nobody does."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--plan" in words and str(folder).encode() in words and any(
                word.startswith(f"{shard}/".encode()) for word in words):
            found.append(int(entry.name))
    return found


def run_to_end(cluster: Cluster, folder: Path, plan: dict[str, Any]) -> None:
    """Everything is there, once, and one record comes of it."""
    cluster.wait_until_empty()
    status = cluster.script("status", folder)
    assert status.returncode == 0, status.stdout + status.stderr
    assert sorted(measured(folder, plan)) == sorted(planned(plan))
    merged = cluster.script("merge", folder, "--sentinel-limit", 100)  # on a busy machine a sentinel says little
    assert merged.returncode == 0, merged.stderr
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["complete"] and sorted(case["id"] for case in record["cases"]) == sorted(planned(plan))


def submit(cluster: Cluster, folder: Path, *options: object) -> None:
    done = cluster.script("submit", folder, *options)
    assert done.returncode == 0, done.stderr
