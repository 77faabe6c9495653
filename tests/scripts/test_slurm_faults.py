"""A plan on a real Slurm where things go wrong: tasks and nodes lost, disks full, submissions half done, holes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from slurm_cluster import (PROGRAM, Cluster, begins, make_plan, measured, planned, processes_of, shard_record, slow, started,
                           used_shards, wait_for)

pytestmark = slow

SEEDED = Path(os.environ.get("CONVLADDER_SEEDED_PROGRAM", PROGRAM.parent / "tests/convladder_seeded")).resolve()

TIMED = ["--device", "cpu", "--variant", "flat-vector,compile-time", "--shape", "1,12,12,4,3",
         "--batch", "1,2,3,4,5,6", "--repetitions", "40"]
"""Cases of a second or so: there is time to do something to them."""


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
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False)
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
        assert merged.returncode == 2 and "n3 is off: " in merged.stderr and "slurm.sh retry" in merged.stdout, merged.stderr
        assert not (folder / "run.json").exists()
        again = cluster.script("retry", folder)
        assert again.returncode == 0 and "not on n3" in again.stdout and "job " in again.stdout, again.stderr
        assert json.loads((folder / "slurm/settings.json").read_text(encoding="utf-8"))["exclusive"], "as it was submitted"
        run_to_end(cluster, folder, plan)
        assert "n3" not in nodes_of_times(folder)
        assert "nothing to submit" in cluster.script("retry", folder).stdout


@pytest.mark.parametrize("options", [[], ["--exclusive"], ["--gres", "gpu:1"]])
def test_one_job_runs_the_shards_as_steps(cluster: Cluster, folder: Path, options: list[str]) -> None:
    plan = make_plan(folder)
    submit(cluster, folder, "--one-job", "--limit", 2, *options)
    wait_for(lambda: "nothing to submit" in cluster.script("submit", folder).stdout, "what is in the job is in the queue")
    run_to_end(cluster, folder, plan)


def test_a_step_that_is_killed_costs_only_its_shard(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder, *TIMED, shards=3)
    submit(cluster, folder, "--one-job", "--limit", 1)
    [shard] = wait_for(lambda: [one for one in used_shards(plan) if begins(folder, one)], "the first step")
    [process] = wait_for(lambda: processes_of(folder, shard), "its process")
    os.kill(process, signal.SIGKILL)
    cluster.wait_until_empty()
    status = cluster.script("status", folder)
    assert status.returncode == 1 and "1 failed" in status.stdout, status.stdout
    retry = cluster.script("retry", folder, "--array")
    assert f"1 shard ({shard})" in retry.stdout, retry.stdout + retry.stderr
    run_to_end(cluster, folder, plan)


def test_a_case_that_failed_is_a_result(cluster: Cluster, folder: Path) -> None:
    if not os.access(SEEDED, os.X_OK):
        pytest.skip(f"not built: {SEEDED}")
    environment = cluster.environment | {"CONVLADDER_PROGRAM": str(SEEDED)}
    options = ["--device", "cpu", "--variant", "flat-vector,seeded-border", "--shape", "1,8,8,2,3", "--batch", "1,2"]
    planned_there = cluster.script("plan", *options, "--repetitions", 3, "--shards", 2, "--output", folder, env=environment)
    assert planned_there.returncode == 0, planned_there.stderr
    assert cluster.script("submit", folder, env=environment).returncode == 0
    cluster.wait_until_empty()
    status = cluster.script("status", folder)
    assert status.returncode == 1 and "2 cases failed" in status.stdout and "cpu/seeded-border/" in status.stdout
    assert "slurm.sh merge" in status.stdout
    assert "nothing to submit" in cluster.script("retry", folder, env=environment).stdout
    assert cluster.script("merge", folder, env=environment).returncode == 1


def test_a_job_that_submits_shards_is_not_taken_for_one(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder)
    script = Path(__file__).resolve().parents[2] / "scripts/slurm.sh"
    assert cluster.call("sbatch", "--array=3", f"--output={folder}/outer.log", f"--chdir={folder}",
                        f"--wrap={script} submit {folder} --one-job").returncode == 0
    wait_for(lambda: (folder / "slurm/settings.json").exists(), "a submission from a job")
    run_to_end(cluster, folder, plan)
    assert all(len(begins(folder, shard)) == 1 for shard in used_shards(plan))


def test_without_its_daemon_nothing_is_submitted(cluster: Cluster, folder: Path) -> None:
    make_plan(folder)
    elsewhere = cluster.environment | {"SLURM_CONF": str(folder / "slurm.conf")}
    text = (cluster.folder / "slurm.conf").read_text(encoding="utf-8")
    (folder / "slurm.conf").write_text(
        "\n".join("SlurmctldPort=1" if line.startswith("SlurmctldPort") else line for line in text.splitlines())
        + "\nSlurmctldTimeout=1\nMessageTimeout=2\n", encoding="utf-8")
    status = cluster.script("status", folder, env=elsewhere)
    assert status.returncode == 2 and "cannot be told" in status.stdout, status.stdout
    done = cluster.script("submit", folder, env=elsewhere)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1) and "Slurm does not answer" in done.stderr


def test_what_is_held_is_named(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder)
    submit(cluster, folder, "--", "--hold")
    status = cluster.script("status", folder)
    assert status.returncode == 4 and "scontrol release" in status.stdout, status.stdout
    for task in cluster.queue():
        cluster.call("scontrol", "release", task[0])
    run_to_end(cluster, folder, plan)


def test_who_may_not_write_is_told(cluster: Cluster, folder: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can be somebody else")
    make_plan(folder)
    for parent in [folder, *folder.parents][:3]:
        parent.chmod(0o755)
    done = cluster.call("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Path(__file__).resolve().parents[2] / "scripts/slurm.sh",
                        "submit", folder)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert not cluster.queue()


class TestSmallArrays:
    """MaxArraySize 5."""

    @pytest.fixture(scope="class")
    def small(self) -> Iterator[Cluster]:
        yield from started("--max-array", 5)

    def test_an_array_is_split_and_the_limit_holds_for_all_parts(self, small: Cluster, folder: Path) -> None:
        plan = make_plan(folder, "--device", "simulated", "--variant", "global-memory", "--shape", "1,8,8,2,3",
                         "--batch", ",".join(map(str, range(1, 41))), shards=17)
        submit(small, folder, "--limit", 2)
        most = 0
        while small.queue():
            most = max(most, len(small.running()))
        assert 1 <= most <= 2
        run_to_end(small, folder, plan)
        assert all(len(begins(folder, shard)) == 1 for shard in used_shards(plan))

    def test_what_sbatch_refused_half_way_is_submitted_by_the_next_call(self, small: Cluster, folder: Path,
                                                                        tmp_path: Path) -> None:
        plan = make_plan(folder, shards=17)
        tools = tmp_path / "tools"
        tools.mkdir()
        real = shutil.which("sbatch")
        (tools / "sbatch").write_text(f'#!/bin/sh\n[ ! -e "{tools}/once" ] || {{ echo "sbatch: error: no more" >&2; exit 1; }}\n'
                                      f'touch "{tools}/once"\nexec {real} "$@"\n', encoding="utf-8")
        (tools / "sbatch").chmod(0o755)
        broken = small.environment | {"PATH": f"{tools}:{small.environment['PATH']}"}
        half = small.script("submit", folder, env=broken)
        assert half.returncode == 3 and "no more" in half.stderr and half.stderr.count("\n") == 1
        assert "job " in half.stdout
        rest = small.script("submit", folder)
        assert rest.returncode == 0, rest.stderr
        run_to_end(small, folder, plan)
        assert all(len(begins(folder, shard)) == 1 for shard in used_shards(plan))
