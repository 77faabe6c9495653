"""What becomes of the program's CUDA path when calls of the CUDA runtime fail: a status and one line for the case, the
other cases stand, and no process is left."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest

from conftest import SCRIPTS, assert_refused, cases, left_behind, mounted, record, run
from cuda_path import LAYER, PROGRAM, needs_program, on_stand_in, settings_of

pytestmark = needs_program

ONCE = [*LAYER[:-1], "1", "--benchmark_min_time=0.000001"]


def run_with(tmp_path: Path, variants: str, fault: dict[str, Any], *arguments: object) -> dict[str, tuple[str, str]]:
    """Status and reason of each variant's case. The program itself goes on and writes its record."""
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", variants, *ONCE, *arguments, "--output",
                       tmp_path / "out", faults=[fault])
    found = {key.split("/")[1]: (one["status"], one["reason"] or "")
             for key, one in cases(record(tmp_path / "out")).items()}
    failed = any(status not in ("ok", "skipped") for status, _ in found.values())
    assert done.returncode == int(failed) and done.stderr == "", done
    assert all("\n" not in reason for _, reason in found.values())
    return found


@pytest.mark.parametrize("fault, reason", [
    ({"call": "cudaSetDevice", "status": 46}, "cudaSetDevice: cudaErrorDevicesUnavailable"),
    ({"call": "cudaEventCreate", "from": 2, "status": 2}, "cudaEventCreate: cudaErrorMemoryAllocation"),
    ({"call": "cudaMalloc", "from": 3, "count": 1, "status": 2}, "looking at outputs: needs 4194304 bytes of device memory"),
    ({"call": "cudaEventRecord", "from": 3, "status": 400}, "cudaEventRecord after convladder::conv_global_memory"),
    ({"call": "cudaEventElapsedTime", "from": 2, "status": 600}, "cudaErrorNotReady"),
    # Verified already, and warm: in the middle of what is timed.
    ({"call": "cudaLaunchKernel", "from": 12, "status": 719, "loses": True}, "cudaErrorLaunchFailure"),
    ({"call": "cudaFree", "from": 3, "status": 700, "loses": True}, "cudaErrorIllegalAddress"),
])
def test_a_call_that_fails_is_the_cases_status(tmp_path: Path, fault: dict[str, Any], reason: str) -> None:
    status, said = run_with(tmp_path, "global-memory", fault)["global-memory"]
    assert status == "launch failed" and reason in said


def test_out_of_memory_is_said_where_nobody_knows_what_is_free(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", "global-memory", *ONCE, "--output",
                       tmp_path / "out", faults=[{"call": "cudaMalloc", "from": 2, "status": 2},
                                                 {"call": "cudaMemGetInfo", "status": 999}])
    (one,) = record(tmp_path / "out")["cases"]
    assert done.returncode == 1 and one["reason"] == (
        "output: needs 25600 bytes of device memory, but fewer bytes are free")


@pytest.mark.parametrize("end, status, reason", [({"status": 999, "loses": True}, "launch failed", "cudaErrorUnknown"),
                                                 ({"hangs": True}, "timeout", "")])
def test_a_device_that_one_case_loses_is_there_for_the_other(tmp_path: Path, end: dict[str, Any], status: str,
                                                             reason: str) -> None:
    """Both run at the same time. Only one of them copies into constant memory."""
    found = run_with(tmp_path, "global-memory,constant-weights", {"call": "cudaMemcpyToSymbolAsync", "from": 5, **end},
                     "--timeout", "2")
    assert found["global-memory"] == ("ok", "")
    assert found["constant-weights"][0] == status and reason in found["constant-weights"][1]


@pytest.mark.parametrize("call, first", [("cudaGetDeviceProperties", 1), ("cudaDriverGetVersion", 1),
                                         ("cudaDeviceGetPCIBusId", 1), ("cudaDeviceGetAttribute", 5)])
def test_a_gpu_that_stops_to_answer_costs_its_own_cases_alone(tmp_path: Path, call: str, first: int) -> None:
    """It is asked what it is before anything runs on it, by the process that runs the others' cases too."""
    done = on_stand_in(tmp_path, "run", "--device", "cuda,cpu", "--variant", "global-memory,flat-vector", *ONCE,
                       "--output", tmp_path / "out", faults=[{"call": call, "from": first, "status": 999}])
    document = record(tmp_path / "out")
    found = {key.split("/")[1]: one["status"] for key, one in cases(document).items()}
    assert found["flat-vector"] == "ok" and found["global-memory"] in ("ok", "launch failed"), done
    assert done.stderr == "" and done.returncode == int(found["global-memory"] != "ok")
    facts = next(one["facts"] for one in document["context"]["devices"] if one["kind"] == "cuda")
    assert (facts["name"], facts["answer"].partition(":")[0]) == ("CUDA device that does not answer", call)


@pytest.mark.parametrize("call, status, reason", [
    ("cudaStreamCreateWithFlags", 2, "cudaStreamCreateWithFlags"), ("cudaHostAlloc", 2, "pinned memory"),
    ("cudaMemcpyAsync", 700, "cudaErrorIllegalAddress"), ("cudaStreamWaitEvent", 400, "cudaStreamWaitEvent")])
def test_overlap_that_fails_is_a_status(tmp_path: Path, call: str, status: int, reason: str) -> None:
    done = on_stand_in(tmp_path, "network", "--network", "lenet28", "--variant", "best", "--device", "cuda", "--batch", "4", "--chunk", "2",
                       "--overlap", "--repetitions", "1", "--output", tmp_path / "out",
                       faults=[{"call": call, "from": 1, "status": status, "loses": status == 700}])
    (one,) = record(tmp_path / "out", "network")["cases"]
    assert (done.returncode, done.stderr, one["status"]) == (1, "", "launch failed") and reason in one["reason"]


@pytest.fixture(name="read_only")
def mount_read_only(tmp_path: Path) -> Iterator[Path]:
    """A disk that cannot be written to, not even by root."""
    yield from mounted(tmp_path / "disk", ["ro"])


@pytest.fixture(name="tiny")
def mount_tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk that holds the beginning of a run."""
    yield from mounted(tmp_path / "disk", ["size=40k"])


ONE = ["run", "--device", "cuda", "--variant", "global-memory", *ONCE]


@pytest.mark.parametrize("home", ["read-only", "absent", "unset"])
def test_a_home_that_cannot_be_used_is_not_needed(tmp_path: Path, read_only: Path, home: str) -> None:
    environment = {**settings_of(tmp_path), "HOME": str(read_only if home == "read-only" else "/proc/nothing")}
    if home == "unset":
        del environment["HOME"]
    done = run(*ONE, "--output", tmp_path / "out", program=PROGRAM, env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done


def test_a_folder_that_is_read_only_is_one_line(tmp_path: Path, read_only: Path) -> None:
    environment = settings_of(tmp_path, trace=str(tmp_path / "trace"))
    assert_refused(run(*ONE, program=PROGRAM, env=environment, cwd=read_only), "results/", "Read-only file system")
    assert not (tmp_path / "trace").exists() or not (tmp_path / "trace").read_bytes(), "nothing has run before"


def test_a_disk_that_fills_is_one_line_and_leaves_no_process(tmp_path: Path, tiny: Path) -> None:
    many = ["--variant", "global-memory,local-accumulation,shared-memory,constant-weights,vectors-of-four", "--batch",
            "1,2,3,4", "--quiet"]
    assert_refused(run("run", "--device", "cuda", *ONCE[:2], *ONCE[4:], *many, "--output", tiny / "run", program=PROGRAM,
                       env=settings_of(tmp_path)), "cannot write", "No space left")
    assert not left_behind()
    stopped = record(tiny / "run")
    assert 0 < len(stopped["cases"]) < len(stopped["planned"]) and not stopped["complete"]


def test_on_gpu_says_in_one_line_that_it_cannot_write(tmp_path: Path, read_only: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(SCRIPTS / "bundle", bundle)
    (bundle / "convladder").symlink_to(PROGRAM)
    done = subprocess.run([bundle / "on_gpu.sh", "--quick", "--only", "ladder"], env=settings_of(tmp_path), cwd=read_only,
                          capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "Read-only file system" in done.stderr, done
    assert not left_behind()
