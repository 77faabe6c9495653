"""A plan on a real Slurm where things go wrong: tasks, nodes and disks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from slurm_cluster import (TIMED, Cluster, begins, make_plan, processes_of, run_to_end, shard_record, slow, started,
                           submit, used_shards, wait_for)

pytestmark = slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    yield from started()


@pytest.fixture
def cluster(shared: Cluster) -> Iterator[Cluster]:
    yield shared
    shared.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plan"


def begun(cluster: Cluster, folder: Path, least: int = 1) -> tuple[list[str], int]:
    """A running task whose shard has recorded so many cases and is not finished, and its shard."""
    def find() -> Any:
        for task in cluster.running():
            shard = int(task[0].partition("_")[2])
            try:
                record = shard_record(folder, shard)
            except ValueError:
                continue  # it is written at this moment
            if record and not record["complete"] and len(record["cases"]) >= least:
                return task, shard
        return None
    return wait_for(find, "a task in the middle of its work")


def samples(folder: Path, shard: int) -> dict[str, Any]:
    record = shard_record(folder, shard)
    assert record
    return {case["id"]: case["time"]["samples"] for case in record["cases"] if case["time"]}


@pytest.mark.parametrize("how", ["the program", "the task"])
def test_a_task_that_is_killed_goes_on_where_it_was(cluster: Cluster, folder: Path, how: str) -> None:
    plan = make_plan(folder, *TIMED, shards=2)
    submit(cluster, folder, "--limit", 1)
    task, shard = begun(cluster, folder)
    if how == "the program":
        os.kill(processes_of(folder, shard)[0], signal.SIGKILL)
    else:
        assert cluster.call("scancel", "--signal=KILL", "--full", task[0]).returncode == 0
    wait_for(lambda: task[0] not in [one[0] for one in cluster.queue()], "the task's end")
    kept = samples(folder, shard)
    cluster.wait_until_empty()
    status = cluster.script("status", folder)
    assert status.returncode == 1 and "1 failed" in status.stdout and f"{shard:05d}.log" in status.stdout
    assert ("signal 9 killed" if how == "the program" else "CANCELLED") in status.stdout, status.stdout
    assert cluster.script("merge", folder).returncode == 4, "a hole"
    retry = cluster.script("retry", folder)
    assert retry.returncode == 0 and f"1 shard ({shard})" in retry.stdout
    run_to_end(cluster, folder, plan)
    # A group that was broken off is measured as a whole only where the machine is another one.
    assert kept.items() <= samples(folder, shard).items(), "measured twice"
    assert len(begins(folder, shard)) == 2


def test_a_requeued_task_goes_on_where_it_was(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder, *TIMED, shards=2)
    submit(cluster, folder)
    task, shard = begun(cluster, folder)
    assert cluster.call("scontrol", "requeue", task[0]).returncode == 0
    wait_for(lambda: len(begins(folder, shard)) == 2, "its second start")
    run_to_end(cluster, folder, plan)
    assert "restart 1)" in begins(folder, shard)[1]


def test_a_node_that_is_drained_gets_no_more_and_one_that_is_lost_loses_nothing(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder, *TIMED, shards=8)
    submit(cluster, folder, "--exclusive")
    wait_for(lambda: len({task[3] for task in cluster.running()}) == 2, "tasks on both nodes")
    assert cluster.call("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=test").returncode == 0
    there = wait_for(lambda: [one for one in cluster.running() if one[3] == "n1"] or ["over"], "the last of n1")
    wait_for(lambda: not [one for one in cluster.running() if one[3] == "n1"], "n1 without tasks")
    assert there == ["over"] or len(there) == 1
    assert cluster.call("scontrol", "update", "NodeName=n1", "State=RESUME").returncode == 0
    wait_for(lambda: [one for one in cluster.running() if one[3] == "n1"] or not cluster.queue(), "n1 back at work")
    lost = [one for one in cluster.running() if one[3] == "n1"]
    assert cluster.call("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=test").returncode == 0
    run_to_end(cluster, folder, plan)
    if lost:
        shard = int(lost[0][0].partition("_")[2])
        assert "restart 1" in begins(folder, shard)[-1] or len(begins(folder, shard)) == 1, "it had just ended"


def test_a_full_disk_loses_nothing(cluster: Cluster, folder: Path) -> None:
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True,
                             check=False)
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a file system")
    try:
        plan = make_plan(folder, *TIMED, shards=4)
        submit(cluster, folder)
        filler = folder / "filler"
        begun(cluster, folder)
        with filler.open("wb", buffering=0) as stream:
            try:
                while stream.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        cluster.wait_until_empty()
        status = cluster.script("status", folder)
        assert status.returncode == 1 and "failed" in status.stdout, status.stdout
        refused = cluster.script("retry", folder)
        assert refused.returncode in (0, 3), refused.stderr  # there may be room for the scripts
        cluster.wait_until_empty()
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=16m", folder], check=True)
        assert cluster.script("retry", folder).returncode == 0
        run_to_end(cluster, folder, plan)
    finally:
        cluster.clear()
        subprocess.run(["umount", folder], check=False)


def test_a_hole_is_filled_again(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder, shards=3)
    submit(cluster, folder)
    cluster.wait_until_empty()
    shard = sorted(used_shards(plan))[0]
    shutil.rmtree(folder / "shards" / f"{shard:05d}")
    hole = cluster.script("merge", folder)
    assert hole.returncode == 4 and f"shard {shard} is missing" in hole.stderr and "slurm.sh retry" in hole.stdout
    assert not (folder / "run.json").exists()
    assert f"1 shard ({shard})" in cluster.script("retry", folder).stdout
    run_to_end(cluster, folder, plan)


def test_what_a_node_measured_is_measured_again_elsewhere(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder, *TIMED, shards=4)
    submit(cluster, folder, "--exclusive")
    cluster.wait_until_empty()
    on = {shard: begins(folder, shard)[-1].split(" on ")[1].split(" ")[0] for shard in used_shards(plan)}
    assert set(on.values()) == {"n1", "n2"}, on
    again = cluster.script("retry", folder, "--not-on", "n1")
    assert again.returncode == 0, again.stderr
    run_to_end(cluster, folder, plan)
    for shard in used_shards(plan):
        assert " on n2 " in begins(folder, shard)[-1]
        assert len(begins(folder, shard)) == (2 if on[shard] == "n1" else 1)
    assert nodes_of_times(folder) == {"n2"}


def nodes_of_times(folder: Path) -> set[str]:
    """The nodes that the times of the merged record are from."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    context = record["context"]
    return {context["machines"][context["sessions"][case["session"]]["machine"]]["node"] for case in record["cases"]
            if case["time"]}


def slow_sentinel(folder: Path, plan: dict[str, Any], node: str) -> None:
    """Lets the records say that this node took twice as long for its sentinel as the others."""
    for shard in used_shards(plan):
        record = shard_record(folder, shard)
        assert record
        for sentinel in record["sentinels"]:
            session = record["context"]["sessions"][sentinel["session"]]
            middle = 2000.0 if record["context"]["machines"][session["machine"]]["node"] == node else 1000.0
            sentinel["time"]["median"] = middle
            sentinel["time"]["interval"].update(low=middle - 1, high=middle + 1)
        (folder / "shards" / f"{shard:05d}" / "shard.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


def test_a_node_that_merge_finds_off_is_left_out(folder: Path) -> None:
    for cluster in started("--nodes", 3):
        plan = make_plan(folder, *TIMED, shards=6)
        submit(cluster, folder, "--exclusive")
        cluster.wait_until_empty()
        slow_sentinel(folder, plan, "n3")
        merged = cluster.script("merge", folder)
        assert merged.returncode == 2 and "n3 is off: " in merged.stderr, merged.stderr
        assert "slurm.sh retry" in merged.stdout
        assert not (folder / "run.json").exists()
        again = cluster.script("retry", folder)
        assert again.returncode == 0 and "not on n3" in again.stdout and "job " in again.stdout, again.stderr
        settings = json.loads((folder / "slurm/settings.json").read_text(encoding="utf-8"))
        assert settings["exclusive"], "as it was submitted"
        run_to_end(cluster, folder, plan)
        assert "n3" not in nodes_of_times(folder)
        assert "nothing to submit" in cluster.script("retry", folder).stdout
