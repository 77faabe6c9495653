"""Every command on a folder of a user's own (row_sum/): what it does there, and the one line where it makes no sense."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, SCRIPTS, assert_refused, cases, only_with_all, record
from conftest import run as run_program

ROW_SUM = Path(__file__).parent / "row_sum"
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"
NVCC = shutil.which("nvcc") or ("/usr/local/cuda/bin/nvcc" if Path("/usr/local/cuda/bin/nvcc").exists() else None)
QUICK = ["--repetitions", "2", "--benchmark_min_time=0.0002"]
SMALL = ["--size", "R40C16"]

needs_cuda = pytest.mark.skipif(NVCC is None or not STAND_IN.exists(), reason="no nvcc, or no stand-in")

OUTSIDE = """// @title {title}
__global__ void row_sum(const float* x, float* y, int R, int C) {{
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  {body}
}}
extern "C" void solve(const float* x, float* y, int R, int C) {{ row_sum<<<(R + 63) / 64, 64>>>(x, y, R, C); }}
"""


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where stages are compiled into, once for all tests."""
    return tmp_path_factory.mktemp("stages")


@pytest.fixture
def run(cache: Path, tmp_path: Path) -> Any:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    return lambda *words, **options: run_program(*words, env=environment, cwd=tmp_path, **options)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the folder: what was compiled is taken again only where its source lies at the same place."""
    return tmp_path_factory.mktemp("folder") / "rows"


@pytest.fixture
def folder(place: Path) -> Path:
    """As it is in the repository, for every test anew."""
    shutil.rmtree(place, ignore_errors=True)
    return Path(shutil.copytree(ROW_SUM, place))


@pytest.fixture
def cpu_folder(folder: Path) -> Path:
    for file in folder.glob("*.cu"):
        file.unlink()
    return folder


def test_a_folder_of_results_does_not_hide_the_ladder_of_its_name(run: Any, tmp_path: Path) -> None:
    (tmp_path / "reduction").mkdir()
    assert "one-sum" in run("list", "reduction").stdout


def test_list_shows_a_folder(run: Any, folder: Path) -> None:
    text = run("list", folder).stdout
    for words in ("row-sum: Sums of rows", "columns, 2 to 4096", "R200C64", "counted: R70C32", "Several sums at a time",
                  "parameter LANES 4 8 16", "parameter THREADS 32 64"):
        assert words in text
    listed = json.loads(run("list", folder, "--format", "json").stdout)
    assert [(one["family"], one["rung"], one["name"]) for one in listed["stages"]] == [
        ("cpu", 1, "naive"), ("cpu", 2, "lanes"), ("cuda", 1, "naive"), ("cuda", 2, "block")]
    assert listed["stages"][1]["parameters"] == {"LANES": [4, 8, 16]}
    assert "max pooling" in run("list", "max-pooling").stdout
    assert_refused(run("list", folder, "--machine"), "none of --machine")
    assert_refused(run("list", "nothing-there"), "nothing-there: no folder with a problem.json")


@needs_cuda
def test_check_finds_nothing_in_right_stages(run: Any, folder: Path) -> None:
    done = run("check", folder, *SMALL)
    assert done.returncode == 0, done
    assert "2 cases checked, 0 failed" in done.stdout


SUM = "for (int c = 0; c < C; ++c) sum += x[r * C + c];"
WRONG = {
    "one-too-far": ("memcheck", "past the end of 'x'", """
  float sum = 0;
  for (int c = 0; c <= C; ++c) sum += x[r * C + c] * (c < C);
  y[r] = sum;"""),
    "writes-its-input": ("memcheck", "'x'", f"""
  float sum = 0;
  {SUM}
  y[r] = sum;
  ((float*)x)[r * C] = sum;"""),
    "reads-its-output": ("initcheck", "'y'", f"""
  float sum = y[r] == 7 ? 1 : 0;
  {SUM}
  y[r] = sum;"""),
    "waits-with-some": ("synccheck", "divergent", f"""
  float sum = 0;
  if (threadIdx.x < 20) {{
    __syncthreads();
    sum = x[r * C] == 12345 ? 1 : 0;
  }}
  {SUM}
  y[r] = sum;"""),
}


@needs_cuda
@pytest.mark.parametrize("name", WRONG)
def test_check_finds_what_is_wrong_and_says_where(run: Any, folder: Path, name: str) -> None:
    checker, problem, body = WRONG[name]
    (folder / "03_wrong.cu").write_text(OUTSIDE.format(title="Wrong", body=body))
    done = run("check", folder, *SMALL, "--variant", "wrong", "--format", "json")
    assert done.returncode == 1, done
    (one,) = json.loads(done.stdout)
    found = [finding for finding in one["findings"] if finding["checker"] == checker]
    assert found, one
    assert problem in found[0]["problem"]
    assert found[0]["source_file"] == "03_wrong.cu" and found[0]["source_line"] > 4


@needs_cuda
def test_check_says_what_is_not_of_a_folder(run: Any, folder: Path) -> None:
    assert_refused(run("check", folder, "--network", "lenet72"), "--network: not of a folder")
    assert_refused(run("check", folder, "--batch", "3"), "--batch: not of a folder")
    for file in folder.glob("*.cu"):
        file.unlink()
    assert_refused(run("check", folder), "no CUDA stage")


def test_sweep_tries_all_values(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    done = run("sweep", cpu_folder, *SMALL, *QUICK[:2], "--budget", "0.01", "--output", tmp_path / "swept")
    assert done.returncode == 0, done
    document = record(tmp_path / "swept", "sweep")
    assert [one["text"] for one in document["cases"]] == ["LANES=4", "LANES=8", "LANES=16"]
    assert all(one["status"] == "ok" and one["score"]["value"] > 0 for one in document["cases"])
    assert document["cases"][1]["choice"] == "LANES=8, as asked for"
    assert "the first values" in done.stdout and "model" not in done.stdout
    assert_refused(run("sweep", cpu_folder, "--variant", "naive"), "nothing to sweep")
    assert_refused(run("sweep", cpu_folder, "--configuration", "LANES=5"), "possible: 4, 8, 16")
    assert_refused(run("sweep", cpu_folder, "--update-table"), "--update-table: not of a folder")


def test_sweep_says_which_value_does_not_compile(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    stage = cpu_folder / "02_lanes.cpp"
    stage.write_text(stage.read_text() + '\nstatic_assert(LANES < 16, "too many lanes");\n')
    done = run("sweep", cpu_folder, *SMALL, *QUICK[:2], "--budget", "0.01", "--output", tmp_path / "swept")
    assert done.returncode == 1, done
    (wrong,) = [one for one in record(tmp_path / "swept", "sweep")["cases"] if one["status"] != "ok"]
    assert (wrong["text"], wrong["status"]) == ("LANES=16", "does not compile")
    assert "too many lanes" in wrong["reason"]


@needs_cuda
def test_sweep_counts_on_the_simulated_device(run: Any, folder: Path, tmp_path: Path) -> None:
    done = run("sweep", folder, *SMALL, "--device", "simulated", "--gpu", "h100", "--output", tmp_path / "swept")
    assert done.returncode == 0, done
    document = record(tmp_path / "swept", "sweep")
    assert [one["text"] for one in document["cases"]] == ["THREADS=32", "THREADS=64"]
    blocks = [one["counters"]["kernels"][0]["block"] for one in document["cases"]]
    assert blocks == [[32, 1, 1], [64, 1, 1]]


@needs_cuda
def test_a_record_has_resources_and_predictions(run: Any, folder: Path, tmp_path: Path) -> None:
    done = run("run", folder, *SMALL, *QUICK, "--device", "simulated", "--output", tmp_path / "counted")
    assert done.returncode == 0, done
    document = record(tmp_path / "counted")
    block = cases(document)["simulated/block/row-sum.R40C16/1"]
    assert {one["architecture"] for one in block["resources"]} == {"sm_80", "sm_90"}
    assert all(one["registers"] > 0 and one["shared_bytes"] == 128 for one in block["resources"])
    h100 = next(one for one in block["prediction"]["gpus"] if one["gpu"] == "h100")
    assert 0 < h100["low"] <= h100["high"] and h100["kernels"][0]["registers"] > 0
    explained = run("explain", tmp_path / "counted/run.json")
    assert explained.returncode == 0 and " block: " in explained.stdout, explained
    explained = run("explain", tmp_path / "counted/run.json", "--numbers")
    assert explained.returncode == 0 and "A block for a row" in explained.stdout, explained
    compared = run("compare", tmp_path / "counted/run.json", tmp_path / "counted/run.json")
    assert compared.returncode == 0, compared


@needs_cuda
def test_a_baseline_sees_what_moved(run: Any, folder: Path) -> None:
    assert_refused(run("baseline", "check", folder), "no such folder")
    assert run("baseline", "update", folder).returncode == 0
    baseline = json.loads((folder / "baseline/row-sum.json").read_text())
    assert {one["variant"] for one in baseline["cases"]} == {"naive", "block"}
    assert all(len(one["ptx_sha256"]) == 64 for one in baseline["cases"])
    again = run("baseline", "check", folder)
    assert again.returncode == 0 and "2 same" in again.stdout, again
    stage = folder / "02_block.cu"
    stage.write_text(stage.read_text().replace("#define THREADS 32", "#define THREADS 64"))
    moved = run("baseline", "check", folder)
    assert moved.returncode == 1 and "block" in moved.stdout, moved
    assert_refused(run("baseline", "check", folder, "--network", "lenet72"), "a folder has no networks")
    assert_refused(run("baseline", "check", "softmax"), "expected a folder")


def test_a_duel_of_two_versions_of_a_folder(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    base = Path(shutil.copytree(cpu_folder, tmp_path / "before"))
    (base / "03_gone.cpp").write_text((base / "01_naive.cpp").read_text())
    dry = run("duel", "--base", base, cpu_folder, "--dry-run")
    assert dry.returncode == 0, dry
    assert "cpu/gone/row-sum.R200C64/1: the new folder does not have this stage" in dry.stdout
    assert "2 to be measured" in dry.stdout
    assert_refused(run("duel", cpu_folder), "nothing to compare: give another version of the folder")
    assert_refused(run("duel", "--base", base), "a folder is compared with a folder")
    assert_refused(run("duel", cpu_folder, "--selftest"), "--selftest: ")
    problem = base / "problem.json"
    problem.write_text(problem.read_text().replace('"name": "x"', '"name": "other"'))
    (base / "reference.cpp").write_text((base / "reference.cpp").read_text())
    assert_refused(run("duel", "--base", base, cpu_folder), "the folders cannot be compared")


@only_with_all  # a duel of folders is measured as any other: test_duel finds twice the work
def test_a_duel_finds_the_slower_version(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    base = Path(shutil.copytree(cpu_folder, tmp_path / "before"))
    slow = cpu_folder / "01_naive.cpp"
    slow.write_text(slow.read_text().replace("float sum = 0;", "volatile float sum = 0;\n    for (int i = 0; i < C; ++i) sum = 0;"))
    done = run("duel", "--base", base, cpu_folder, "--variant", "naive", "--rounds", "13", "--format", "json")
    assert done.returncode in (1, 2, 4), done  # a busy machine may forbid the verdict, and never makes it a pass
    (one,) = json.loads(done.stdout)["cases"]
    assert one["id"] == "cpu/naive/row-sum.R200C64/1"


def test_what_makes_no_sense_for_a_folder_is_one_line(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    assert_refused(run("run", cpu_folder, "--leave-one-out"), "no variant of the problem row-sum leaves an idea out")
    assert_refused(run("run", cpu_folder, "--network", "lenet72"), "--network: a folder has no networks and no layers")
    assert_refused(run("run", cpu_folder, "--layer", "conv1"), "--layer: a folder has no networks and no layers")
    assert_refused(run("run", cpu_folder, "--shape", "1,8,8,2,3"), "--shape is for the convolution")
    assert_refused(run("run", cpu_folder, "--batch", "10"), "a batch is for layers")
    assert_refused(run("run", cpu_folder, "--with", "x.cpp"), "x.cpp: cannot be read")
    assert_refused(run("explain", cpu_folder), "a ladder's folder, not a record", f"'convladder run {cpu_folder}'")
    assert_refused(run("compare", cpu_folder, cpu_folder), "a ladder's folder, not a record")
    assert_refused(run("report", cpu_folder), "a ladder's folder, not a record")
    assert_refused(run("profile", cpu_folder), "a profile is of a network")
    assert_refused(run("history", cpu_folder), "no run.json below")


@pytest.mark.parametrize("command", ["run", "sweep", "duel"])
def test_a_value_behind_a_list_is_no_ladder(run: Any, command: str) -> None:
    assert_refused(run(command, "--batch", "10", "100"), "separate the values of --batch with commas: --batch 10,100")


def test_records_of_folders_are_compared_and_drawn(run: Any, cpu_folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("run", cpu_folder, *SMALL, *QUICK, "--output", tmp_path / name).returncode == 0
    compared = run("compare", tmp_path / "one/run.json", tmp_path / "two/run.json", "--format", "json")
    assert compared.returncode in (0, 1, 2), compared
    assert "cpu/lanes/row-sum.R40C16/1" in compared.stdout, compared  # as text, only what did not pass is named
    shown = run("history", tmp_path)
    assert shown.returncode == 0 and "row-sum" in shown.stdout, shown
    drawn = subprocess.run([sys.executable, "-B", SCRIPTS / "charts.py", tmp_path / "one/run.json", "--format", "svg"],
                           capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert drawn.returncode == 0, drawn
