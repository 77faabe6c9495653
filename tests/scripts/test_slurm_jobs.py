"""How shards become jobs of a real Slurm: steps of one job, arrays in parts, and what is refused on the way."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Iterator

import pytest
from conftest import SCRIPTS
from slurm_cluster import (PROGRAM, TIMED, Cluster, begins, make_plan, processes_of, run_to_end, slow, started, submit,
                           used_shards, wait_for)

pytestmark = slow

SEEDED = Path(os.environ.get("CONVLADDER_SEEDED_PROGRAM", PROGRAM.parent / "tests/convladder_seeded")).resolve()


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


@pytest.mark.parametrize("options", [[], ["--exclusive"], ["--gres", "gpu:1"]])
def test_one_job_runs_the_shards_as_steps(cluster: Cluster, folder: Path, options: list[str]) -> None:
    plan = make_plan(folder)
    submit(cluster, folder, "--one-job", "--limit", 2, *options)
    assert "nothing to submit" in cluster.script("submit", folder).stdout, "what is in the job is in the queue"
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
    there = cluster.script("plan", *options, "--repetitions", 3, "--shards", 2, "--output", folder, env=environment)
    assert there.returncode == 0, there.stderr
    assert cluster.script("submit", folder, env=environment).returncode == 0
    cluster.wait_until_empty()
    status = cluster.script("status", folder)
    assert status.returncode == 1 and "2 cases failed" in status.stdout and "cpu/seeded-border/" in status.stdout
    assert "slurm.sh merge" in status.stdout
    assert "nothing to submit" in cluster.script("retry", folder, env=environment).stdout
    assert cluster.script("merge", folder, env=environment).returncode == 1


def test_a_job_that_submits_shards_is_not_taken_for_one(cluster: Cluster, folder: Path) -> None:
    plan = make_plan(folder)
    assert cluster.call("sbatch", "--array=3", f"--output={folder}/outer.log", f"--chdir={folder}",
                        f"--wrap={SCRIPTS}/slurm.sh submit {folder} --one-job").returncode == 0
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
    done = cluster.call("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", SCRIPTS / "slurm.sh", "submit",
                        folder)
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
        (tools / "sbatch").write_text(
            f'#!/bin/sh\n[ ! -e "{tools}/once" ] || {{ echo "sbatch: error: no more" >&2; exit 1; }}\n'
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
