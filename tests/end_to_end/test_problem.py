"""A problem is one folder: one that only a test knows (tests/toy_problem) is listed, run, verified, counted, checked, recorded,
drawn, compared and resumed, and so are those of this program."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, REPOSITORY, SCRIPTS, assert_refused, cases, record, run

TOY = Path(os.environ.get("CONVLADDER_TOY_PROGRAM", REPOSITORY / "build/release/tests/convladder_toy")).resolve()
NAME, SIZE = "matrix-vector", "R7C5"
ON_CPU = ["run", "--problem", NAME, "--device", "cpu"]
QUICK = ["--repetitions", "3", "--benchmark_min_time=0.0005"]
FOLDERS = ["cmake", "datasets", "devices", "harness", "network", "scripts", "support", "variants"]
PROBLEMS = {"max-pooling": "C3H9W8K3S2", "relu": "C3H5W7", "tanh": "C3H5W7", "bias": "C3H5W7", "softmax": "C11",
            "fully-connected": "C3H4W5M6B1", "fused-convolution": "C1H12W12M4K3T1"}

pytestmark = pytest.mark.skipif(not os.access(TOY, os.X_OK), reason=f"not built: {TOY}")


def test_no_other_file_knows_it() -> None:
    holders = [str(path) for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*")
               if path.is_file() and NAME in path.read_text(errors="replace")]
    assert holders == []
    assert NAME not in run("list", program=PROGRAM).stdout


def test_it_is_listed() -> None:
    assert NAME in run("list", program=TOY).stdout
    problems = json.loads(run("list", "--format", "json", program=TOY).stdout)["problems"]
    one = next(one for one in problems if one["name"] == NAME)
    assert one["title"] == "matrix times vector" and one["default_sizes"] == ["R64C48"]
    assert [(v["family"], v["rung"], v["name"]) for v in one["variants"] if v["family"] == "cpu"] == [
        ("cpu", 1, "rows"), ("cpu", 2, "four-rows"), ("cpu", 90, "forgets-a-column")]


def test_bad_sizes_and_names_are_refused() -> None:
    assert_refused(run("run", "--problem", "matrix-vektor", program=TOY), "matrix-vektor", NAME)
    assert_refused(run(*ON_CPU, "--size", "R7", program=TOY), "--size R7", "C is missing")
    assert_refused(run(*ON_CPU, "--size", "R7C0", program=TOY), "columns is 0, it must be 1 to")
    assert_refused(run(*ON_CPU, "--network", "lenet28", program=TOY), "no layer of these networks", NAME)
    assert_refused(run(*ON_CPU, "--shape", "1,9,9,2,3", program=TOY), "--shape is for the convolution")


def test_it_is_run_verified_and_recorded(tmp_path: Path) -> None:
    done = run(*ON_CPU, "--size", SIZE, "--batch", "1,4", *QUICK, "--output", tmp_path, program=TOY)
    assert done.returncode == 1, "one variant is wrong"
    document = record(tmp_path)  # valid by its schema
    found = cases(document)
    for variant in ("rows", "four-rows"):
        one = found[f"cpu/{variant}/{NAME}.{SIZE}/4"]
        assert (one["status"], one["problem"], one["shape"]) == ("ok", NAME, {"rows": 7, "columns": 5})
        assert one["work"] == {"flop": 4 * 2 * 7 * 5, "minimum_bytes": 4 * (4 * 5 + 7 * 5 + 4 * 7)}
        assert len(one["time"]["samples"]) == 3 and one["time"]["median"] > 0
        verification = one["verification"]
        assert verification["reference"] == "float64 matrix times vector"
        assert verification["images_compared"] == 4 and verification["elements_compared"] == 4 * 7
        assert verification["integers"]["max_scaled_error"] == 0 and verification["after"]["passed"]
    wrong = found[f"cpu/forgets-a-column/{NAME}.{SIZE}/1"]
    assert (wrong["status"], wrong["time"]) == ("incorrect", None) and "item 0, element 6" in wrong["reason"]
    row = next(ladder for ladder in document["ladders"] if ladder["batch"] == 4)["rows"][1]
    assert row["variant"] == "four-rows" and row["x_previous"]["value"] > 0


def test_it_is_drawn_and_compared(tmp_path: Path) -> None:
    for name in ("base", "new"):
        done = run(*ON_CPU, "--size", SIZE, "--batch", "2,5", "--variant", "rows,four-rows", *QUICK, "--output",
                   tmp_path / name, program=TOY)
        assert (done.returncode, done.stderr) == (0, "")
    charts = subprocess.run([str(SCRIPTS / "charts.py"), str(tmp_path / "base/run.json"), "--format", "svg", "--table"],
                            capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (charts.returncode, charts.stderr) == (0, "")
    assert "Four rows" in charts.stdout and "Four rows" in (tmp_path / "base/ladder.svg").read_text(encoding="utf-8")
    compared = run("compare", tmp_path / "base/run.json", tmp_path / "new/run.json", program=TOY)
    assert compared.returncode in (0, 1, 2) and f"{NAME}.{SIZE}" in compared.stdout, compared.stderr


def test_it_is_resumed(tmp_path: Path) -> None:
    arguments = [*ON_CPU, "--size", SIZE, "--batch", "2", "--variant", "rows,four-rows", *QUICK, "--output", tmp_path]
    assert run(*arguments, program=TOY).returncode == 0
    document = record(tmp_path)
    kept = document["cases"][0]
    document["cases"] = [kept]
    document["complete"] = False
    (tmp_path / "run.json").write_text(json.dumps(document))
    done = run("run", "--resume", tmp_path, program=TOY)
    assert (done.returncode, done.stderr) == (0, "")
    again = record(tmp_path)
    assert [one["status"] for one in again["cases"]] == ["ok", "ok"] and again["cases"][0] == kept


def test_it_is_counted_and_checked(tmp_path: Path) -> None:
    if "family cuda" not in run("list", program=TOY).stdout:
        pytest.skip("built without the CUDA family")
    done = run("run", "--problem", NAME, "--size", SIZE, "--batch", "3", "--device", "simulated", "--output", tmp_path,
               program=TOY)
    assert (done.returncode, done.stderr) == (0, "")
    one = cases(record(tmp_path))[f"simulated/rows/{NAME}.{SIZE}/3"]
    counters = one["counters"]
    assert one["status"] == "ok" and counters["exact"] and counters["images_executed"] == 3
    totals = counters["totals"]
    assert totals["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == 3 * 7 * 5
    checked = run("check", "--problem", NAME, "--size", SIZE, program=TOY)
    assert checked.returncode == 0 and " 0 failed" in checked.stdout, checked.stdout


def test_a_variant_of_several_parts_has_each_of_them_verified(tmp_path: Path) -> None:
    on_cpu = ["--problem", "two-layers", "--size", SIZE, "--batch", "4", "--device", "cpu", *QUICK]
    done = run("run", *on_cpu, "--output", tmp_path / "out", program=TOY)
    assert done.returncode == 1, "one variant is wrong"
    found = cases(record(tmp_path / "out"))
    right = found[f"cpu/parts/two-layers.{SIZE}/4"]
    assert [(part["name"], part["passed"], part["compared_images"]) for part in right["verification"]["parts"]] == [
        ("product", True, 4), ("tanh", True, 4)]
    assert {"part product", "part tanh"} <= {time["of"] for time in right["other_times"]}
    wrong = found[f"cpu/twice-wrong/two-layers.{SIZE}/4"]
    assert wrong["verification"]["before"]["passed"], "it is right at the end"
    assert wrong["status"] == "incorrect" and wrong["reason"].startswith("product: image 0: 7 of 7 elements are wrong")
    resumed = run("run", "--resume", tmp_path / "out", program=TOY)
    assert resumed.returncode == 1 and cases(record(tmp_path / "out")) == found
    compared = run("compare", tmp_path / "out/run.json", tmp_path / "out/run.json", program=TOY)
    assert f"two-layers.{SIZE}" in compared.stdout, compared.stderr


def test_parts_are_counted_and_checked(tmp_path: Path) -> None:
    if "family cuda" not in run("list", program=TOY).stdout:
        pytest.skip("built without the CUDA family")
    size = ["--problem", "two-layers", "--size", SIZE]
    done = run("run", *size, "--batch", "3", "--device", "simulated", "--output", tmp_path, program=TOY)
    assert (done.returncode, done.stderr) == (0, "")
    one = cases(record(tmp_path))[f"simulated/parts/two-layers.{SIZE}/3"]
    assert len(one["counters"]["kernels"]) == 2 and all(part["passed"] for part in one["verification"]["parts"])
    checked = run("check", *size, program=TOY)
    assert checked.returncode == 0 and " 0 failed" in checked.stdout, checked.stdout


def test_a_whole_network_is_a_problem(tmp_path: Path) -> None:
    own = {"name": "mine", "title": "A small one", "input": {"channels": 1, "height": 12, "width": 12}, "batches": [3],
           "layers": [{"name": "conv1", "type": "convolution", "out_channels": 4, "kernel": 5, "bias": True},
                      {"name": "relu1", "type": "relu"}, {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
                      {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": True},
                      {"name": "softmax", "type": "softmax"}]}
    (tmp_path / "mine.json").write_text(json.dumps(own), encoding="utf-8")
    listed = run("list", "lenet28").stdout
    assert "best-separate" in listed and "compile-time" in listed
    done = run("run", tmp_path / "mine.json", "--device", "cpu", "--variant", "compile-time,best", *QUICK, "--output",
               tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    found = cases(record(tmp_path / "out"))
    separate = found["cpu/compile-time/mine.all/3"]
    assert [part["name"] for part in separate["verification"]["parts"]] == [
        "conv1", "conv1 bias", "relu1", "pool1", "fc1", "softmax"]
    assert separate["verification"]["reference"] == "float64 network" and separate["input"] == "images"
    assert found["cpu/best/mine.all/3"]["status"] == "ok"
    assert run("run", "--resume", tmp_path / "out").returncode == 0
    duel = run("duel", tmp_path / "mine.json", "--device", "cpu", "--base-variant", "compile-time", "--new-variant", "best",
               "--rounds", 13)
    assert duel.returncode in (0, 1, 2) and "mine.all/" in duel.stdout, duel.stderr
    charts = subprocess.run([str(SCRIPTS / "charts.py"), str(tmp_path / "out/run.json"), "--format", "svg", "--table"],
                            capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (charts.returncode, charts.stderr) == (0, "") and "mine.all" in charts.stdout
    assert_refused(run("run", "lenet28", "--layer", "conv1", "--dry-run"), "--layer conv1", "lenet28 is taken as a whole")
    assert_refused(run("run", tmp_path / "mine.json", "--size", "C3", "--dry-run"), "--size C3", "mine has only one size")
    (tmp_path / "mine.json").write_text(json.dumps(own | {"name": "relu"}), encoding="utf-8")
    assert_refused(run("run", tmp_path / "mine.json", "--dry-run"), "the name 'relu' is already used by a problem")


def test_a_whole_network_is_counted(tmp_path: Path) -> None:
    known = run("list").stdout
    if "family cuda" not in known:
        pytest.skip("built without the CUDA family")
    variants = "best,cudnn" if " cudnn " in known else "best"  # cuDNN's header comes with the toolkit
    done = run("run", "lenet28", "--device", "simulated", "--variant", variants, "--batch", "1", "--output", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    one = cases(record(tmp_path))["simulated/best/lenet28.all/1"]
    assert one["status"] == "ok" and len(one["counters"]["kernels"]) >= 5


@pytest.mark.parametrize("problem, size", PROBLEMS.items())
def test_the_problems_of_this_program(tmp_path: Path, problem: str, size: str) -> None:
    done = run("run", "--problem", problem, "--size", size, "--batch", "3", "--device", "cpu", *QUICK, "--output",
               tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = record(tmp_path)
    assert document["cases"]
    for one in document["cases"]:
        assert (one["status"], one["problem"]) in (("ok", problem), ("unsupported", problem)), one["reason"]
    assert any(one["status"] == "ok" for one in document["cases"])
