"""64 shards on a real Slurm, with tasks killed and requeued at random: one record, as of one run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from slurm_cluster import (PATIENCE, PROGRAM, Cluster, begins, make_plan, measured, planned, processes_of,
                           shard_record, slow, started, used_shards)

pytestmark = slow

SHARDS = 64
DISTURBANCES = int(os.environ.get("CONVLADDER_DISTURBANCES", "30"))
WHAT = ["--device", "cpu,simulated", "--variant", "flat-vector,compile-time,global-memory,shared-memory", "--shape",
        "1,8,8,2,3", "--batch", ",".join(map(str, range(1, 51))), "--repetitions", "3"]
"""100 groups of two cases."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    yield from started()


class Disturber:
    """Kills and requeues running tasks, and keeps what their shards had recorded before."""

    def __init__(self, cluster: Cluster, folder: Path, seed: int) -> None:
        self.cluster, self.folder = cluster, folder
        self.random = random.Random(seed)
        self.done: dict[str, int] = {}
        self.kept: list[tuple[int, dict[str, Any]]] = []

    def disturb(self) -> None:
        tasks = self.cluster.running()
        if not tasks:
            return
        task = self.random.choice(tasks)
        shard = int(task[0].partition("_")[2])
        with contextlib.suppress(ValueError):  # it is written at this moment
            if record := shard_record(self.folder, shard):
                self.kept.append((shard, {case["id"]: case for case in record["cases"]}))
        how = self.random.choice(["task killed", "program killed", "requeued", "cancelled"])
        if how == "program killed":
            try:
                os.kill(processes_of(self.folder, shard)[0], signal.SIGKILL)
            except (IndexError, ProcessLookupError):
                return
        else:
            words = {"task killed": ["scancel", "--signal=KILL", "--full"], "requeued": ["scontrol", "requeue"],
                     "cancelled": ["scancel"]}[how]
            if self.cluster.call(*words, task[0]).returncode != 0:
                return
        self.done[how] = self.done.get(how, 0) + 1


def comparable(case: dict[str, Any]) -> dict[str, Any]:
    """What is the same whenever and wherever a case is run: all but its times, what disturbed them, and its session.
    How large the error is after timing depends on how many calls were timed: their inputs are different ones."""
    same = {name: value for name, value in case.items()
            if name not in ("session", "time", "other_times", "quality", "device_state")}
    if case["time"] and case["verification"]:
        after = {name: value for name, value in case["verification"]["after"].items() if name != "max_scaled_error"}
        same["verification"] = case["verification"] | {"after": after}
    return same


def test_tasks_killed_at_random_end_in_the_record_of_one_run(cluster: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    plan = make_plan(folder, *WHAT, shards=SHARDS)
    print(f"{len(planned(plan))} cases in {len(plan['groups'])} groups, {len(used_shards(plan))} of {SHARDS} shards")
    disturber = Disturber(cluster, folder, seed=int(os.environ.get("CONVLADDER_SEED", "1")))
    assert cluster.script("submit", folder, "--limit", 6).returncode == 0
    rounds = 0
    while (status := cluster.script("status", folder)).returncode != 0:
        assert status.returncode in (1, 4), status.stderr
        if sum(disturber.done.values()) < DISTURBANCES:
            disturber.disturb()
        else:
            time.sleep(0.5)
        if not cluster.queue():
            rounds += 1
            retry = cluster.script("retry", folder)
            assert retry.returncode == 0, retry.stderr
    print(f"{disturber.done}; 'retry' was called {rounds} times")
    assert sum(disturber.done.values()) >= DISTURBANCES / 2, "it was over too soon"

    assert sorted(measured(folder, plan)) == sorted(planned(plan)), "every case once"
    merged = cluster.script("merge", folder, "--sentinel-limit", 100)
    assert merged.returncode == 0, merged.stderr
    at_once = subprocess.run([PROGRAM, "run", *WHAT, "--output", tmp_path / "run", "--quiet"], env=cluster.environment,
                             capture_output=True, encoding="utf-8", timeout=6 * PATIENCE, check=False)
    assert at_once.returncode == 0, at_once.stderr
    one, other = (json.loads(path.read_text(encoding="utf-8"))
                  for path in (folder / "run.json", tmp_path / "run/run.json"))
    assert one["complete"] and other["complete"]
    of_shards, of_run = ({case["id"]: case for case in record["cases"]} for record in (one, other))
    assert list(of_shards) == list(of_run) and len(of_shards) == len(one["cases"]), "the same cases in the same order"
    for name, case in of_shards.items():
        assert comparable(case) == comparable(of_run[name]), name
    print(f"{len(of_shards)} cases are equal; {sum(case['counters'] is not None for case in of_shards.values())} have "
          f"counters, {sum(case['time'] is not None for case in of_shards.values())} times")
    assert_nothing_was_measured_twice(disturber, folder, plan)
    print(f"tasks that began: {sum(len(begins(folder, shard)) for shard in used_shards(plan))}")


def assert_nothing_was_measured_twice(disturber: Disturber, folder: Path, plan: dict[str, Any]) -> None:
    """What was recorded before a disturbance is there, unchanged. But cases that are compared are measured on one node:
    a timed group that was broken off on one node and went on elsewhere is measured there as a whole."""
    groups = [group["cases"] for group in plan["groups"]]
    kept = again = 0
    for shard, before in disturber.kept:
        record = shard_record(folder, shard)
        assert record
        now = {case["id"]: case for case in record["cases"]}
        for name, case in before.items():
            group = next(one for one in groups if name in one)
            broken_off = case["time"] is not None and not set(group) <= set(before)
            if broken_off and now[name]["session"] != case["session"]:
                again += 1
                continue
            assert now[name]["session"] == case["session"] and now[name]["time"] == case["time"], name
            kept += 1
    print(f"recorded before a disturbance: {kept} cases as they were, {again} of groups begun on the other node again")
