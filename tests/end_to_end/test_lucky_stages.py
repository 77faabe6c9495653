"""CUDA code of anybody under every command that runs it on the simulated device: none is ok that is right by luck, and right
code is, however unusual it is. The functions of lucky_stages/ are called by a program, by stages of a folder, by submissions
and by convolutions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, only_with_all, record
from conftest import run as run_program
from cuda_path import needs_program, on_stand_in
from lucky_stages import CONVOLUTION, HEADERS, PLAIN, PLANTED, RIGHT, ROW_SUMS, stage, stages, write_headers, write_ladder

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"

pytestmark = pytest.mark.skipif(NVCC is None or not STAND_IN.exists(), reason="no nvcc, or no stand-in")

FEW = ["read_too_early", "half_of_the_pairs"]
"""Of a race and of an uninitialised read; test_unsafe_stages.py has others."""
NOT_OK = ("unsafe", "launch failed")

@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Stages are compiled once for all commands."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


def assert_told_apart(statuses: dict[str, str]) -> None:
    """By name of the stage, as records write it."""
    assert statuses
    for name, status in statuses.items():
        assert status == "ok" if name.startswith("right") else status in NOT_OK, statuses


def statuses_of(cases: list[dict[str, Any]], name: str = "variant") -> dict[str, str]:
    return {one[name]: one["status"] for one in cases}


def test_there_are_enough() -> None:
    assert len(RIGHT) >= 20 and len(PLANTED) >= 12


def test_a_program(tmp_path: Path) -> None:
    for file in HEADERS.iterdir():
        shutil.copy(file, tmp_path)
    calls = [(space, name) for space, names in (("right", RIGHT), ("planted", PLANTED)) for name in names]
    (tmp_path / "calls.inc").write_text("".join(f"CALL({space}, {name})\n" for space, name in calls), encoding="utf-8")
    subprocess.run([str(NVCC), "-std=c++20", "-arch=compute_80", "-cudart", "shared", "program.cu", "-o", "program"],
                   cwd=tmp_path, check=True, timeout=300)
    for space, name in calls:
        done = run_program("simulate", "--", "./program", name, cwd=tmp_path)
        assert done.stdout == "right\n", done
        assert done.returncode == (0 if space == "right" else 1), done


@pytest.mark.parametrize("right_at_a_time, planted", [
    (len(RIGHT), FEW), pytest.param(5, PLANTED, marks=only_with_all)])
def test_stages_of_a_folder(right_at_a_time: int, planted: list[str], tmp_path: Path) -> None:
    sources = stages(ROW_SUMS, right_at_a_time, planted)
    folder = write_ladder(tmp_path / "ladder", sources)
    done = run_program("run", folder, "--device", "simulated", "--no-report", "--output", tmp_path / "run")
    assert done.returncode == 1, done
    ran = statuses_of(record(tmp_path / "run")["cases"])
    assert len(ran) == len(sources)
    assert_told_apart(ran)

    checked = run_program("check", folder, "--format", "json")
    assert checked.returncode == 1, checked
    assert_told_apart({one["id"].split("/")[1]: one["status"] for one in json.loads(checked.stdout)})
    assert f"{len(sources)} cases checked, {len(planted)} failed" in run_program("check", folder).stdout

    explained = run_program("explain", tmp_path / "run/run.json", "--all", "--format", "json")
    assert explained.returncode == 0, explained
    for one in json.loads(explained.stdout)["groups"][0]["stages"]:
        assert bool(one["predictions"]) == one["variant"].startswith("right"), one
    assert all(ran[one["variant"]] == "ok" for one in json.loads(explained.stdout)["groups"][0]["stages"] if one["predictions"])


@needs_program
@pytest.mark.parametrize("planted", [FEW[:1], pytest.param(PLANTED, marks=only_with_all)])
def test_a_duel_of_folders(planted: list[str], tmp_path: Path) -> None:
    sources = {"right": PLAIN, **stages(ROW_SUMS, 5, planted)} if len(planted) > 1 else {
        "right": PLAIN, planted[0]: stage(ROW_SUMS, "planted", *planted)}
    folder = write_ladder(tmp_path / "ladder", sources)
    done = on_stand_in(tmp_path, "duel", "--base", folder, folder, "--device", "cuda", "--output", tmp_path / "duel.json")
    assert done.returncode == 1, done
    for one in json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))["cases"]:
        is_right = one["id"].split("/")[1].startswith("right")
        assert one["verdict"] == ("pass" if is_right else "failed"), one
        assert is_right or any(f": {status}: " in one["reason"] for status in NOT_OK), one
    assert "races and barriers: " in done.stdout


@only_with_all
def test_submissions(tmp_path: Path) -> None:
    sources = stages(ROW_SUMS, 5, PLANTED)
    ladder = write_ladder(tmp_path / "ladder", {"plain": PLAIN})
    for name, source in sources.items():
        (write_headers(tmp_path / "in" / name) / "solve.cu").write_text(source, encoding="utf-8")
    done = run_program("rank", ladder, tmp_path / "in", "--device", "simulated", "--output", tmp_path / "out", timeout=900)
    assert done.returncode == 1, done
    rows = [row for row in record(tmp_path / "out", "rank")["rankings"][0]["rows"] if not row["is_baseline"]]
    assert len(rows) == len(sources)
    assert_told_apart(statuses_of(rows, "name"))
    assert all((row["rank"] is not None) == row["name"].startswith("right") for row in rows), rows


@only_with_all
def test_a_sweep(tmp_path: Path) -> None:
    parameter = "// @parameter UNUSED 1 2\n#ifndef UNUSED\n#define UNUSED 1\n#endif\nstatic_assert(UNUSED > 0);\n"
    sources = {name: parameter + text for name, text in stages(ROW_SUMS, len(RIGHT), PLANTED).items()}
    done = run_program("sweep", write_ladder(tmp_path / "ladder", sources), "--device", "simulated", "--tables",
                       tmp_path / "tables", "--output", tmp_path / "out", timeout=900)
    assert done.returncode == 1, done
    found = record(tmp_path / "out", "sweep")["cases"]
    assert len(found) == 2 * len(sources)
    assert_told_apart({f"{one['id'].split('/')[1]} {one['text']}": one["status"] for one in found})


TWO_LAYERS = {
    "name": "two", "title": "Two layers", "input": {"channels": 1, "height": 12, "width": 12},
    "layers": [{"name": "conv1", "type": "convolution", "out_channels": 3, "kernel": 3},
               {"name": "conv2", "type": "convolution", "out_channels": 2, "kernel": 3},
               {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": True},
               {"name": "softmax", "type": "softmax"}], "batches": [4]}


@only_with_all
def test_convolutions_of_a_layer_and_of_a_network(tmp_path: Path) -> None:
    folder = write_headers(tmp_path / "with")
    names = []
    for name, source in stages(CONVOLUTION, 5, PLANTED).items():
        (folder / f"{name}.cu").write_text(source, encoding="utf-8")
        names.append(name)
    with_them: list[object] = [word for name in names for word in ("--with", folder / f"{name}.cu")]
    variants = ",".join(name.replace("_", "-") for name in names)
    done = run_program("run", *with_them, "--variant", variants, "--shape", "2,16,16,3,3", "--batch", "2", "--device",
                       "simulated", "--no-report", "--output", tmp_path / "run", timeout=900)
    assert done.returncode == 1, done
    ran = statuses_of(record(tmp_path / "run")["cases"])
    assert len(ran) == len(names)
    assert_told_apart(ran)

    (tmp_path / "two.json").write_text(json.dumps(TWO_LAYERS), encoding="utf-8")
    done = run_program("network", "--network", tmp_path / "two.json", *with_them, "--variant", variants, "--device", "simulated",
                       "--batch", 4, "--output", tmp_path / "network", timeout=900)
    assert done.returncode == 1, done
    found = {one["id"].split("/")[1]: one["status"] for one in record(tmp_path / "network", "network")["cases"]}
    assert len(found) == len(names)
    assert_told_apart(found)
