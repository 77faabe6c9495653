"""Standard streams that are closed, full or cut off, and a machine that gives too little: the record is right, no case
is blamed, and one line says what is wrong."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, SEEDED, SMALL, assert_refused, cases, record, run, start, wait_for

FEW = ["--family", "cpu", "--variant", "local-accumulation,flat-vector", *SMALL, "--batch", "1,2"]
CANNOT_PRINT = "convladder: cannot write to the standard output: "


def shell(*arguments: object, before: str = "", after: str = "", program: Path = PROGRAM,
          **options: Any) -> subprocess.CompletedProcess[str]:
    """The program called by a shell that redirects, or sets limits before."""
    command = f"{before} {shlex.join(map(str, [program, *arguments]))} {after}"
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 300, "check": False} | options
    return subprocess.run(["bash", "-c", command], **options)


def assert_right(folder: Path) -> None:
    document = record(folder)
    assert document["complete"] and {one["status"] for one in document["cases"]} == {"ok"}
    assert set(cases(document)) == set(document["planned"])


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "2>&- >&-", "<&- 2>&- >&-"])
def test_closed_streams_are_no_place_for_the_workload(tmp_path: Path, closed: str) -> None:
    done = shell("run", *FEW, "--output", tmp_path, after=closed)
    assert done.returncode == 3, done
    assert done.stderr == ("" if "2>" in closed else f"{CANNOT_PRINT}Bad file descriptor\n")
    assert_right(tmp_path)


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_nothing_is_missing_where_only_others_are_closed(tmp_path: Path, closed: str) -> None:
    done = shell("run", *FEW, "--output", tmp_path, after=closed)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith(f"\n{tmp_path}/run.json\n")
    assert_right(tmp_path)


@pytest.mark.parametrize("arguments", [["run", "--bogus"], ["frobnicate"], ["history", "/no/such/folder"]])
def test_an_error_that_nobody_can_read_has_its_exit_code(arguments: list[str]) -> None:
    for closed in ("2>&-", "2>/dev/full", "<&- >&- 2>&-"):
        assert shell(*arguments, after=closed).returncode == 3


@pytest.mark.parametrize("quiet", [[], ["--quiet"], ["--benchmark_format=json"]])
def test_a_full_output_does_not_end_a_run(tmp_path: Path, quiet: list[str]) -> None:
    done = shell("run", *FEW, *quiet, "--output", tmp_path, after=">/dev/full")
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[-1]) == (3, f"{CANNOT_PRINT}No space left on device")
    assert len(lines) == 1 or quiet == ["--benchmark_format=json"]  # then the cases' lines go there
    assert_right(tmp_path)


def test_a_reader_that_leaves_does_not_end_a_run(tmp_path: Path) -> None:
    done = shell("run", *FEW, "--verbose", "--output", tmp_path, after="| head -n 1; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (3, f"{CANNOT_PRINT}Broken pipe\n")
    assert len(done.stdout.splitlines()) == 1
    assert_right(tmp_path)


@pytest.mark.parametrize("arguments", [["list"], ["list", "--machine", "--format", "json"], ["--help"], ["run", "--help"], ["--version"],
                                       ["list", "--published"], ["list", "--metrics"]])
def test_what_could_not_be_printed_was_not_done(arguments: list[str]) -> None:
    assert_refused(shell(*arguments, after=">/dev/full"), f"{CANNOT_PRINT}No space left on device")
    assert_refused(shell(*arguments, after=">&-"), f"{CANNOT_PRINT}Bad file descriptor")


def test_a_terminal_that_does_not_wait(tmp_path: Path) -> None:
    """A pipe that somebody else has set to not block: all of it arrives."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = start("list", "--machine", "--format", "json", stdout=writing)
    os.close(writing)
    time.sleep(0.2)
    with os.fdopen(reading, encoding="utf-8") as output:
        assert json.load(output)["program"]["name"] == "convladder"
    assert process.wait(timeout=60) == 0
    process.communicate()


LIMITS = {
    "few descriptors": ("ulimit -n 10;", ["Too many open files (see 'ulimit -n')"]),
    "fewer descriptors": ("ulimit -n 7;", ["Too many open files (see 'ulimit -n')"]),
    "small files": ("ulimit -f 1;", ["File too large (see 'ulimit -f')"]),
    "no files": ("ulimit -f 0;", ["File too large (see 'ulimit -f')"]),
}


@pytest.mark.parametrize("limit, words", LIMITS.values(), ids=LIMITS)
def test_a_limit_is_no_fault_of_a_case(tmp_path: Path, limit: str, words: list[str]) -> None:
    done = shell("run", *FEW, "--quiet", "--output", tmp_path / "run", before=limit)
    assert_refused(done, *words)
    if not (tmp_path / "run/run.json").exists():
        assert not list(tmp_path.glob("run/*"))
        return
    document = record(tmp_path / "run")
    assert not document["complete"] and document["cases"] == []
    assert run("run", "--resume", tmp_path / "run").returncode == 0, "without the limit it is run again"
    assert_right(tmp_path / "run")


def test_many_cases_and_few_descriptors(tmp_path: Path) -> None:
    """Some cases have started when the descriptors are at their end."""
    many = ["--family", "cpu", "--variant", "local-accumulation,flat-vector,cached-tile,compile-time,block-remap", *SMALL]
    done = shell("run", *many, "--batch", "1", "--quiet", "--output", tmp_path, before="ulimit -n 16;")
    assert_refused(done, "Too many open files (see 'ulimit -n')")
    assert record(tmp_path)["cases"] == []
    assert run("run", "--resume", tmp_path).returncode == 0
    assert_right(tmp_path)


@pytest.mark.parametrize("command", [["network", "--network", Path(__file__).with_name("tiny_network.json"), "--weights",
                                      "random", "--batch", "1"],
                                     ["run", "--problem", "fused-convolution", "--network", "lenet28", "--batch", "1"]])
def test_a_limit_in_other_commands(tmp_path: Path, command: list[Any]) -> None:
    done = shell(*command, "--device", "cpu", "--quiet", "--output", tmp_path / "x", before="ulimit -n 8;")
    assert_refused(done, "Too many open files (see 'ulimit -n')")
    (record_file,) = (tmp_path / "x").iterdir()
    cases = json.loads(record_file.read_text(encoding="utf-8"))["cases"]
    assert {case["status"] for case in cases} <= {"unsupported"}, "which needs no process"


def test_a_case_that_is_killed_from_outside_is_not_recorded(tmp_path: Path) -> None:
    """By the system for want of memory, say."""
    process = start("run", "--family", "cpu", "--variant", "local-accumulation", *SMALL, "--benchmark_min_time=30",
                    "--batch", "2", "--output", tmp_path)
    wait_for(tmp_path / "run.json", process)
    case = None
    deadline = time.monotonic() + 30
    while case is None and time.monotonic() < deadline:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        case = next((int(one) for one in children if b"serve-case" in Path(f"/proc/{one}/cmdline").read_bytes()), None)
    assert case is not None
    os.kill(case, signal.SIGKILL)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 3 and len(errors.splitlines()) == 1
    assert "was killed from outside by signal 9 (Killed)" in errors
    assert record(tmp_path)["cases"] == []


def test_a_case_that_crashes_by_itself_is_still_blamed(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("sanitizers turn signals into exit codes")
    done = run("run", "--family", "cpu", "--variant", "seeded-segfaults,seeded-aborts,seeded-exits", *SMALL, "--batch",
               "1", "--quiet", "--output", tmp_path, program=SEEDED)
    assert done.returncode == 1
    assert {one["status"] for one in record(tmp_path)["cases"]} == {"crashed"}


@pytest.mark.parametrize("threads", ["0", "-1", "junk", "", "999999", "99999999999999999999", "1e3", "4,", "4,0"])
def test_a_number_of_threads_that_is_none(tmp_path: Path, threads: str) -> None:
    done = run("run", *FEW, "--output", tmp_path / "x", env=os.environ | {"OMP_NUM_THREADS": threads})
    assert_refused(done, "OMP_NUM_THREADS: expected a whole number of threads from 1 to 1024")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threads", ["1", " 2 ", "2,1"])
def test_a_number_of_threads(threads: str) -> None:
    assert run("list", env=os.environ | {"OMP_NUM_THREADS": threads}).returncode == 0


def test_google_benchmarks_variables_mean_nothing(tmp_path: Path) -> None:
    """One names a file to be written, others would end every case."""
    variables = {"BENCHMARK_OUT": str(tmp_path / "out"), "BENCHMARK_FORMAT": "xml", "BENCHMARK_FILTER": "none",
                 "BENCHMARK_LIST_TESTS": "true"}
    for isolate in ("process", "none"):
        done = run("run", *FEW, "--isolate", isolate, "--output", tmp_path / isolate, env=os.environ | variables)
        assert (done.returncode, done.stderr) == (0, "")
        assert_right(tmp_path / isolate)
    assert not (tmp_path / "out").exists()


def test_a_home_that_is_none() -> None:
    without = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    for home in ({}, {"HOME": "relative"}, {"HOME": ""}, {"HOME": "relative", "XDG_CACHE_HOME": "relative"}):
        assert run("list", "--machine", env=without | home).returncode == 0
        done = run("train", "--network", "lenet28", "--images", "60", "--test-images", "0:20", "--epochs", "1", "--quiet",
                   env=without | home)
        if "without oneDNN" not in done.stderr:
            assert_refused(done, "neither XDG_CACHE_HOME nor HOME is an absolute path", "--output")


def test_a_folder_for_temporary_files_that_is_not_there(tmp_path: Path) -> None:
    nowhere = os.environ | {"TMPDIR": str(tmp_path / "nowhere")}
    assert run("run", *FEW, "--output", tmp_path, env=nowhere).returncode == 0
    assert_right(tmp_path)


@pytest.mark.parametrize("option", ["--output", "--resume", "--data"])
def test_an_empty_path(tmp_path: Path, option: str) -> None:
    assert_refused(run("run", *([] if option == "--resume" else FEW), option, "", cwd=tmp_path), option)
    assert_refused(run("run", *([] if option == "--resume" else FEW), f"{option}=", cwd=tmp_path), option)
    assert list(tmp_path.iterdir()) == []


def mounted_over(folder: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The program where this folder is an empty one."""
    command = f"mount -t tmpfs none {folder} && exec {shlex.join(map(str, [PROGRAM, *arguments]))}"
    done = subprocess.run(["unshare", "-m", "sh", "-c", command], capture_output=True, encoding="utf-8", timeout=300,
                          check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"nothing can be mounted: {done.stderr.strip()}")
    return done


def test_no_proc(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("sanitizers need /proc themselves")
    assert_refused(mounted_over("/proc", "run", *FEW, "--output", tmp_path / "x"), "is /proc mounted?")
    assert list(tmp_path.iterdir()) == []


def test_no_dev_null(tmp_path: Path) -> None:
    done = mounted_over("/dev", "run", *FEW, "--output", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert_right(tmp_path)
