"""scripts/slurm.sh: what it makes of a plan, and a plan on a real Slurm."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from conftest import SCRIPTS
from slurm_cluster import PATIENCE, Cluster, make_plan, measured, planned, started, used_shards

from convladder_slurm import jobs, logs
from convladder_slurm.plan import Plan, Refused, numbers, ranges, read_plan, read_shard

NAME = "a plan's 100% folder $HOME `x` é"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    yield from started()


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """A plan as the program writes it, as far as the scheduler has to know it: five shards, one of them empty."""
    groups = [{"id": f"cpu/x/{n}", "shard": n, "predicted_seconds": 100.0 * (n + 1), "cases": [f"cpu/a/x/{n}"]}
              for n in (0, 1, 2, 4)]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"schema_version": "1.0", "kind": "plan", "id": "ab" * 32, "shards": 5,
                                "groups": groups}), encoding="utf-8")
    return file


def call(*words: object, path: str = "/usr/bin:/bin", **options: object) -> subprocess.CompletedProcess[str]:
    """The script with no Slurm of its own."""
    environment = {"PATH": path, "HOME": "/", "CONVLADDER_PROGRAM": "/bin/true", "SLURM_CONF": "/dev/null"}
    return subprocess.run([SCRIPTS / "slurm.sh", *map(str, words)], capture_output=True, encoding="utf-8", check=False,
                          timeout=PATIENCE, env=environment, **options)


def test_an_array_runs_every_shard_once(cluster: Cluster, tmp_path: Path) -> None:
    """In a folder whose name means something to a shell and to sbatch, and from another folder."""
    folder = tmp_path / NAME
    plan = make_plan(folder)
    used = sorted(used_shards(plan))
    assert 0 < len(used) <= 4
    fresh = cluster.script("status", NAME, cwd=tmp_path)
    assert fresh.returncode == 4 and f"{len(used)} not submitted" in fresh.stdout and "slurm.sh submit" in fresh.stdout
    wanted = cluster.script("submit", NAME, "--dry-run", "--limit", 2, cwd=tmp_path)
    assert wanted.returncode == 0 and f"--array={ranges(used)}%2" in wanted.stdout
    assert not (folder / "slurm").exists() and not cluster.queue(), "a dry run does nothing"
    assert subprocess.run(["bash", "-n"], input=wanted.stdout, encoding="utf-8", check=False).returncode == 0

    # Two at once, from inside something that looks like a task of another job.
    inherited = cluster.environment | {"SLURM_JOB_ID": "999", "SLURM_ARRAY_TASK_ID": "3", "SLURM_PROCID": "1",
                                       "SLURM_RESTART_COUNT": "7", "SQUEUE_STATES": "SUSPENDED"}
    both = [subprocess.Popen([SCRIPTS / "slurm.sh", "submit", NAME, "--limit", "2"], cwd=tmp_path, env=inherited,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    said = [one.communicate(timeout=PATIENCE) for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    first, second = sorted((out for out, _ in said), key=lambda out: "nothing to submit" in out)
    assert f"{len(used)} shard" in first
    assert "nothing to submit" in second
    cluster.wait_until_empty()

    done = cluster.script("status", folder)
    count = len(planned(plan))
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, f"{count} of {count} cases are recorded")
    assert "slurm.sh merge" in done.stdout
    assert sorted(measured(folder, plan)) == sorted(planned(plan))
    for shard in used:
        lines = (folder / "logs" / f"{shard:05d}.log").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 2 and "restart" not in lines[0] and lines[1].endswith("ended with exit code 0")
    assert "nothing to submit" in cluster.script("retry", folder).stdout
    merged = cluster.script("merge", folder)
    assert merged.returncode == 0, merged.stderr
    assert sorted(case["id"] for case in json.loads((folder / "run.json").read_text(encoding="utf-8"))["cases"]) == \
        sorted(planned(plan))


def test_what_slurm_refuses_is_one_line(cluster: Cluster, tmp_path: Path) -> None:
    make_plan(tmp_path / "plan")
    done = cluster.script("submit", tmp_path / "plan", "--partition", "nowhere")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "not submitted" in done.stderr and "partition" in done.stderr
    assert not cluster.queue()
    for options in (["--", "--array=1"], ["--", "-Jx"], ["--", "-o", "x"]):
        assert "sets that option of sbatch itself" in cluster.script("submit", tmp_path / "plan", *options).stderr


def test_a_folder_that_cannot_be_written_is_one_line(cluster: Cluster, tmp_path: Path) -> None:
    make_plan(tmp_path / "plan")
    (tmp_path / "plan" / "slurm").write_text("in the way", encoding="utf-8")
    done = cluster.script("submit", tmp_path / "plan")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1) and "cannot write" in done.stderr
    assert not cluster.queue()


def test_without_a_scheduler_it_says_so(plan_file: Path) -> None:
    done = call("status", plan_file.parent)
    assert done.returncode == 2 and "4 shards: 0 finished" in done.stdout and "Traceback" not in done.stderr
    done = call("submit", plan_file)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert "Slurm" in done.stderr


def test_an_array_has_no_number_that_slurm_refuses() -> None:
    parts = jobs.split([0, 1, 2, 5, 6, 9, 10, 23], 5)
    assert [(one.first, one.spec(3)) for one in parts] == [(0, "0-2%3"), (5, "0-1,4%3"), (10, "0%3"), (20, "3%3")]
    assert [shard for one in parts for shard in one.shards] == [0, 1, 2, 5, 6, 9, 10, 23]
    assert max(shard - one.first for one in jobs.split(range(5000), 1001) for shard in one.shards) == 1000
    assert [one.spec(1) for one in jobs.split([0, 1], 1)] == ["0%1", "0%1"]


def test_the_time_limit_follows_from_the_prediction(plan_file: Path) -> None:
    plan = read_plan(str(plan_file))
    assert jobs.minutes(plan, [0, 1], margin=3) == 20  # 200 s, three times, and ten minutes
    assert jobs.minutes(plan, [0, 1, 2, 4], margin=1, at_once=2) == 28  # 500 s for the longest, half of 1100 s before


def test_numbers_of_shards_are_read_and_written(plan_file: Path) -> None:
    plan = read_plan(str(plan_file.parent))
    assert numbers("0-2,4", plan) == [0, 1, 2, 4] and ranges([4, 0, 1, 2]) == "0-2,4" and ranges([]) == ""
    for bad in ("5", "2-1", "", "x", "1-", "-1", "0,,1"):
        with pytest.raises(Refused):
            numbers(bad, plan)


@pytest.mark.parametrize("text", [
    "", "{", "[]", '{"kind": "run"}', '{"kind": "plan", "id": "x", "shards": -1, "groups": []}',
    '{"kind": "plan", "id": "x", "shards": 1, "groups": [{"shard": 1, "predicted_seconds": 1, "cases": []}]}',
    '{"kind": "plan", "id": "x", "shards": 1, "groups": [{}]}'])
def test_a_damaged_plan_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text, encoding="utf-8")
    done = call("status", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith("slurm.sh: ") and "plan.json" in done.stderr


@pytest.mark.parametrize("words, said", [
    ([], "what is to be done"), (["go"], "unknown command"), (["submit"], "DIR"), (["merge"], "of which plan"),
    (["submit", "/nowhere"], "/nowhere/plan.json"), (["submit", "{}", "--limit", "0"], "--limit"),
    (["submit", "{}", "--margin", "0.5"], "--margin"), (["retry", "{}", "--not-on", "n[1-2]"], "one node"),
    (["submit", "{}", "--shards", "9"], "shards 0 to 4"), (["submit", "{}", "--one-jo"], "--one-jo"),
    (["status", "{}", "--limit", "2"], "--limit"), (["submit", "{}", "--not-on", "n1"], "--not-on"),
])
def test_bad_usage_is_one_line(plan_file: Path, words: list[str], said: str) -> None:
    done = call(*(word.format(plan_file.parent) for word in words))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
    assert said in done.stderr


def test_help_has_examples_and_exit_statuses() -> None:
    for words in (["--help"], ["submit", "--help"], ["plan", "-h"]):
        done = call(*words)
        assert done.returncode == 0 and "examples:" in done.stdout and "exit status:" in done.stdout


def test_logs_tell_how_the_last_task_ended(plan_file: Path) -> None:
    plan = read_plan(str(plan_file))
    assert logs.last_task(plan, 1) is None
    log = Path(logs.log_of(plan, 1))
    log.parent.mkdir()
    log.write_text("2026-01-01T00:00:00Z shard 1 of 5: job 7_1 on n1 (number 9)\nconvladder: it is broken\n"
                   "2026-01-01T00:00:01Z shard 1 of 5: ended with exit code 3\n", encoding="utf-8")
    assert logs.last_task(plan, 1) == logs.LastTask("7_1", "n1", "9", 0, 3, "convladder: it is broken")
    with log.open("a", encoding="utf-8") as stream:
        stream.write("2026-01-01T00:00:02Z shard 1 of 5: job 7_1 on n2 (number 9, restart 2)\n")
    assert logs.last_task(plan, 1) == logs.LastTask("7_1", "n2", "9", 2, None, "")
    Path(logs.slurm_output(plan)).parent.mkdir()
    Path(logs.slurm_output(plan)).write_text(
        "slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2026-01-01T00:00:03 DUE TO TIME LIMIT ***\n"
        "slurmstepd: error: *** JOB 99 ON n1 CANCELLED AT 2026-01-01T00:00:04 ***\n", encoding="utf-8")
    assert logs.slurm_said(plan, "9") == "JOB 9 ON n1 CANCELLED AT 2026-01-01T00:00:03 DUE TO TIME LIMIT"


def test_a_record_that_cannot_be_read_is_named(plan_file: Path) -> None:
    plan = read_plan(str(plan_file))
    record = plan_file.parent / "shards/00001/shard.json"
    record.parent.mkdir(parents=True)
    for text in ("", "[]", '{"complete": true}', '{"complete": true, "cases": [{"id": 1}]}'):
        record.write_text(text, encoding="utf-8")
        assert not read_shard(plan, 1).complete and str(record) in (read_shard(plan, 1).problem or "")


def test_the_scripts_need_no_new_python() -> None:
    for file in sorted((SCRIPTS / "convladder_slurm").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 6))
        assert "import annotations" not in text and "capture_output" not in text, file


def test_the_same_plan_in_another_folder_has_jobs_of_its_own(plan_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(plan_file, other)
    one, two = read_plan(str(plan_file)), read_plan(str(other))
    assert one.id == two.id and jobs.job_prefix(one) != jobs.job_prefix(two)
    assert jobs.first_shard(one, jobs.array_name(one, 1001)) == 1001
    assert jobs.first_shard(one, jobs.array_name(two, 0)) is None
    assert jobs.first_shard(one, jobs.one_job_name(one)) is None


def test_a_folder_that_slurm_cannot_be_told_is_refused() -> None:
    assert jobs.sbatch_file_name("/a 100%/b") == "/a 100%%/b"
    with pytest.raises(Refused):
        jobs.sbatch_file_name("/a\\b")


def test_paths_and_nodes_reach_the_task_as_they_are() -> None:
    plan = Plan("/a b/$(touch x)'", "i", 3, {}, {})
    text = jobs.task_script(plan, "/p q/convladder", ["n 1"])
    checked = subprocess.run(["bash", "-n"], input=text, encoding="utf-8", check=False)
    assert checked.returncode == 0
    shown = subprocess.run(["bash", "-c", text.split("case $1", 1)[0] + '\nprintf "%s|%s" "$program" "$folder"'],
                           capture_output=True, encoding="utf-8", check=True)
    assert shown.stdout == "/p q/convladder|/a b/$(touch x)'" and "--not-from 'n 1'" in text
