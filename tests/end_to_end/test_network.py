"""`convladder network` and `profile`: from the command line to the record, the tables and the exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY, SEEDED, assert_refused, complaints, run, write_idx

ONCE = ["--repetitions", "1"]
THREE_LAYERS = {
    "name": "three", "title": "Three layers", "input": {"channels": 1, "height": 12, "width": 12},
    "layers": [{"name": "conv1", "type": "convolution", "out_channels": 3, "kernel": 3},
               {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
               {"name": "conv2", "type": "convolution", "out_channels": 2, "kernel": 3, "bias": True},
               {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": True},
               {"name": "softmax", "type": "softmax"}], "batches": [4, 6]}
PHASES = ["allocate", "prepare weights", "copy images to device", "run layers",
          "synchronise", "copy scores to host", "free"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that the user has trained are not these tests' business."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def three_layers(tmp_path: Path) -> Path:
    """A network file of a user, small enough for any device."""
    return written(tmp_path / "three.json", THREE_LAYERS)


def written(path: Path, document: Any) -> Path:
    """The document as a file."""
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def record(folder: Path) -> dict[str, Any]:
    """The record in a folder, valid by the schema and by the rules beyond it."""
    path = folder / "network.json"
    assert complaints(path) == []
    return json.loads(path.read_text(encoding="utf-8"))


def measured(folder: Path, *arguments: object, status: int = 0, **options: Any) -> dict[str, Any]:
    """The record of a run, on the CPU unless said; what was printed is under "stdout"."""
    device = [] if "--device" in arguments else ["--device", "cpu"]
    done = run("network", *arguments, *device, "--output", folder, **options)
    assert (done.returncode, done.stderr) == (status, "")
    return record(folder) | {"stdout": done.stdout}


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cases by their ids."""
    return {one["id"]: one for one in document["cases"]}


def stages() -> list[str]:
    """Names of all variants for CPUs, but of those that leave an idea out: these run where they are named."""
    listed = json.loads(run("list", "--format", "json").stdout)["variants"]
    return [one["name"] for one in listed if one["family"] == "cpu" and "leaves_out" not in one]


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Several stages on lenet28, in chunks that do not divide the batch."""
    folder = tmp_path_factory.mktemp("lenet")
    return measured(folder, "--network", "lenet28", "--batch", "3,5", "--chunk", "2", "--repetitions", "3", "--verbose",
                    "--variant", "memory-accumulation,flat-vector,compile-time", "--weights", "random")


def test_every_layer_is_verified_and_timed(lenet: dict[str, Any]) -> None:
    assert lenet["complete"] and len(lenet["cases"]) == 6
    layers = [one["name"] for one in lenet["networks"][0]["layers"]]
    for one in lenet["cases"]:
        assert (one["status"], one["images_at_once"], one["stopped_because"]) == ("ok", 2, "repetitions")
        assert [step["name"] for step in one["steps"] if not step["name"].endswith(" bias")] == layers
        for step in one["steps"]:
            assert step["verification"]["passed"] and step["verification"]["compared_images"] >= one["batch"]
            assert len(step["time"]["samples"]) == 3 and step["time"]["median"] > 0
        assert sorted(phase["name"] for phase in one["phases"]) == sorted(PHASES)
        assert one["compared_passes"] == 3
        assert one["program"]["max_resident_kilobytes"] > 1000
        assert {group["group"] for group in one["profile"]["groups"]} == {"layers", "host phases"}
    assert [one["id"] for one in lenet["cases"]] == lenet["planned"]


def test_the_chosen_stage_is_plugged_into_the_convolution(lenet: dict[str, Any]) -> None:
    for one in lenet["cases"]:
        assert one["id"] == f"cpu/{one['variants']}/lenet28/{one['batch']}"
        assert [step["implementation"] for step in one["steps"] if step["type"] == "convolution"] == [one["variants"]]
    assert {one["name"] for one in lenet["variants"]} == {one["variants"] for one in lenet["cases"]}


def test_random_weights_have_no_accuracy_and_say_so(lenet: dict[str, Any]) -> None:
    assert lenet["networks"][0]["weights"]["name"].startswith("random, seed 1")
    assert lenet["networks"][0]["weights"]["sha256"] is None
    assert {one["accuracy"] for one in lenet["cases"]} == {None}
    assert "random, seed 1" in lenet["stdout"]


def test_the_tables_fit_the_terminal_and_show_every_case(lenet: dict[str, Any]) -> None:
    tables = lenet["stdout"].split("lenet28 on cpu", 1)[1]
    lines = [line for line in tables.splitlines()[1:] if not line.endswith("network.json")]
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    assert lenet["stdout"].count(" a pass, accuracy -") == 6  # --verbose: a line for each case
    op_times = tables.split("op times, measured")[1].split("\n\n")[0]
    for one in lenet["cases"]:
        assert re.search(rf"^ *{one['batch']} +{one['variants']} +\d", op_times, re.MULTILINE)
    assert len(re.findall("in 3 runs every image got the reference's class", tables)) == 2


def test_charts_draw_what_the_program_wrote(lenet: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "network.json", {key: value for key, value in lenet.items() if key != "stdout"})
    done = subprocess.run([str(REPOSITORY / "scripts/charts.py"), str(path), "--table", "--format", "svg"],
                          capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert {one.name for one in tmp_path.glob("*.svg")} == {"op_times-lenet28.svg", "pass_time-lenet28.svg"}
    assert "Where the time of a pass goes: Compile-time" in done.stdout


def test_a_network_of_the_users_runs_on_every_stage(three_layers: Path, tmp_path: Path) -> None:
    document = measured(tmp_path / "out", "--network", three_layers, "--variant", "all", *ONCE)
    assert [one["batch"] for one in document["cases"]] == [4] * len(stages()) + [6] * len(stages())
    for one in document["cases"]:
        assert one["status"] == "ok" or (one["status"] == "unsupported" and "conv" in one["reason"])
    assert document["cases"][0]["status"] == "ok"
    assert "conv2 bias" in [step["name"] for step in document["cases"][0]["steps"]]
    assert document["published"] == {"three/4": [], "three/6": []}


def test_each_layer_can_have_its_own_variant(three_layers: Path, tmp_path: Path) -> None:
    document = measured(tmp_path / "out", "--network", three_layers, "--batch", "2", *ONCE, "--variant", "flat-vector",
                        "--variant", "conv1=compile-time,conv2=memory-accumulation", "--variant", "conv2=cached-tile")
    used = {one["variants"]: [step["implementation"] for step in one["steps"] if step["type"] == "convolution"]
            for one in document["cases"]}
    plain = measured(tmp_path / "plain", "--network", three_layers, "--batch", "2", *ONCE, "--variant",
                     "best")["cases"][0]
    by_default = next(step["implementation"] for step in plain["steps"] if step["name"] == "conv1")
    assert used == {"flat-vector": ["flat-vector"] * 2, "conv2=cached-tile": [by_default, "cached-tile"],
                    "conv1=compile-time,conv2=memory-accumulation": ["compile-time", "memory-accumulation"]}


def test_an_operator_can_be_chosen(three_layers: Path, tmp_path: Path) -> None:
    operators = [one for one in json.loads(run("list", "--format", "json").stdout)["operators"]
                 if one["family"] == "cpu" and one["type"] == "fully_connected"]
    for one in operators:
        document = measured(tmp_path / one["name"], "--network", three_layers, "--batch", "2", *ONCE,
                            "--operator", f"fully_connected={one['name']}")
        used = {step["implementation"] for step in document["cases"][0]["steps"] if step["type"] == "fully_connected"}
        assert used == {one["name"]}


def test_a_loaded_network_is_timed_beside_the_passes(tmp_path: Path) -> None:
    """What suits each layer, fused; the same without fusing; and a library that does the whole network."""
    whole = [one["name"] for one in json.loads(run("list", "--format", "json").stdout)["whole_networks"]
             if one["family"] == "cpu"]
    named = [argument for name in ["best", "best-separate", *whole] for argument in ("--variant", name)]
    document = measured(tmp_path, "--network", "lenet72", "--batch", "3", *named, "--repetitions", "2")
    fused, separate, *libraries = document["cases"]
    missing = [case for case in libraries if case["status"] == "unsupported"]
    assert all("CONVLADDER_ONNXRUNTIME" in case["reason"] for case in missing), missing
    libraries = [case for case in libraries if case not in missing]
    for case in (fused, separate, *libraries):
        assert case["status"] == "ok"
        loaded = case["loaded"]
        assert 2 <= loaded["compared_batches"] <= 2 * loaded["batches_in_a_row"] and loaded["time"]["median"] > 0
        assert f"cpu/{case['variants']}/lenet72/3" == case["id"]
    assert [len(step["fused_with"]) for step in fused["steps"] if "fused_with" in step] == [2]
    assert len(separate["steps"]) == len(document["networks"][0]["layers"])
    for case in libraries:
        assert [step["name"] for step in case["steps"]] == ["conv1", "conv2", "fc1", "fc2", "softmax"]
    rows = {one["id"]: one for one in document["summaries"][0]["rows"]}
    for case in (fused, separate, *libraries):
        row = rows[case["id"]]
        assert row["loaded_images_per_second"]["value"] == pytest.approx(3e9 / case["loaded"]["time"]["median"])
        if libraries:
            fastest = min(one["loaded"]["time"]["median"] for one in libraries)
            assert row["x_library"]["value"] == pytest.approx(fastest / case["loaded"]["time"]["median"])
    assert " loaded/s " in document["stdout"] and (not libraries or " x lib" in document["stdout"])


def test_a_library_does_whole_networks_and_no_layer_of_one(tmp_path: Path) -> None:
    whole = [one["name"] for one in json.loads(run("list", "--format", "json").stdout)["whole_networks"]]
    if not whole:
        pytest.skip("this build has no library that does whole networks")
    assert_refused(run("network", "--network", "lenet72", "--variant", f"conv1={whole[0]}", "--output", tmp_path),
                   f"--variant conv1={whole[0]}: it does whole networks, and no layer of one")


def test_without_isolation_the_same_is_found(three_layers: Path, tmp_path: Path) -> None:
    documents = [measured(tmp_path / how, "--network", three_layers, "--isolate", how, "--batch", "3", *ONCE)
                 for how in ("process", "none")]
    for one in documents:
        for case in one["cases"]:
            refused = case["variants"] in ("onnxruntime", "onnxruntime-network", "onednn-network")
            assert case["status"] == "ok" or refused, "which may not be here, or refuses a bias without an activation"
    assert documents[0]["planned"] == documents[1]["planned"]


def test_a_run_ends_in_one_table_and_what_is_worth_knowing(tmp_path: Path) -> None:
    """Stages 1 to 6, what suits each layer, and the libraries; the record's figures, with built-in weights."""
    document = measured(tmp_path, "--network", "lenet86", "--batch", "4", "--budget", "0.01")
    lines = document["stdout"].splitlines()
    assert len(lines) <= 45 and max(len(line) for line in lines[:-1]) <= 100
    cpu = [one for one in json.loads(run("list", "--format", "json").stdout)["variants"] if one["family"] == "cpu" and
           "leaves_out" not in one]
    named = [one["name"] for one in cpu if one["rung"] is None or one["rung"] <= 6]
    assert {case["variants"] for case in document["cases"]} > set(named)
    (summary,) = document["summaries"]
    assert (summary["batch"], summary["kind"]) == (4, "measured")
    assert (summary["baseline"], summary["sixth"]) == ("cpu/memory-accumulation/lenet86/4", "cpu/compile-time/lenet86/4")
    rows = {one["id"]: one for one in summary["rows"]}
    libraries = {f"cpu/{one['name']}/lenet86/4" for one in cpu if one["rung"] is None}
    alone = {one for one, row in rows.items() if row["percent_of_library"] or row["x_baseline"]} - libraries
    assert summary["best"] == min(alone, key=lambda one: rows[one]["op"])
    case = by_id(document)[summary["baseline"]]
    convolutions = [step["time"]["median"] for step in case["steps"] if step["type"] == "convolution"]
    assert len(convolutions) == 2 and rows[summary["baseline"]]["op"] == pytest.approx(sum(convolutions))
    assert rows[summary["best"]]["x_baseline"]["value"] == pytest.approx(
        rows[summary["baseline"]]["op"] / rows[summary["best"]]["op"])
    assert sum(f" {case['accuracy']['value']:.4f} " in line for line in lines) >= len(rows)
    assert case["quality"]["mark"] in ("good", "noisy", "disturbed")
    weights = document["networks"][0]["weights"]
    assert (weights["name"], weights["dataset"], weights["from"]) == ("lenet86 synthetic high", "synthetic", "built in")
    assert "lenet86: weights built in, from 12000 images of synthetic; accuracy 0.9740 on 2000 of synthetic" in lines
    accuracy = case["accuracy"]
    assert accuracy["of"] == 4 and accuracy["value"] > 0.5  # ten classes: guessing gets a tenth
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]


def test_weights_of_other_images_are_not_used_silently(tmp_path: Path) -> None:
    images = write_idx(tmp_path / "idx")  # nobody's: neither synthetic nor MNIST
    once = ["--network", "lenet48", "--batch", "4", "--variant", "compile-time", *ONCE, "--data", images]
    document = measured(tmp_path / "none", *once)
    assert document["cases"][0]["accuracy"] is None
    assert f"'convladder train --network lenet48 --data {images}' makes" in " ".join(document["stdout"].split())
    weights = REPOSITORY / "network/weights/lenet48-mnist-high.safetensors"
    document = measured(tmp_path / "asked", *once, "--weights", weights)
    assert document["cases"][0]["accuracy"]["of"] == 4
    assert "this run's images are own, not those" in " ".join(document["stdout"].split())


def test_left_out_images_are_left_out(three_layers: Path, tmp_path: Path) -> None:
    images = write_idx(tmp_path / "idx")  # 12 of them
    document = measured(tmp_path / "out", "--network", three_layers, "--batch", "2", *ONCE, "--data", images,
                        "--skip-images", "7")
    assert document["context"]["dataset"]["images"] == 5
    assert document["context"]["options"]["skip_images"] == 7
    assert_refused(run("network", "--network", three_layers, "--batch", "2", "--data", images, "--skip-images", "12",
                       "--output", tmp_path / "none"), "--skip-images", "12")
    assert not (tmp_path / "none").exists()


def test_weights_of_a_file_give_an_accuracy_with_its_interval(tmp_path: Path) -> None:
    weights = tmp_path / "own.safetensors"
    trained = run("train", "--network", "lenet28", "--images", "300", "--test-images", "0:50", "--epochs", "1",
                  "--output", weights)
    if "without oneDNN" in trained.stderr:
        pytest.skip("this build has no oneDNN")
    assert trained.returncode == 0, trained.stderr
    document = measured(tmp_path / "out", "--network", "lenet28", "--weights", weights, "--batch", "40", *ONCE,
                        "--variant", "compile-time,flat-vector", "--verbose")
    first, second = (one["accuracy"] for one in document["cases"])
    assert first == second and first["of"] == 40 and 0 <= first["low"] <= first["value"] <= first["high"] <= 1
    assert re.search(rf"{first['correct']} of 40 are correct:\s+{first['value']:.4f}\s+\(95%:\s+{first['low']:.4f}\s+to",
                     document["stdout"])
    assert re.fullmatch("[0-9a-f]{64}", document["networks"][0]["weights"]["sha256"])
    half = tmp_path / "half.safetensors"
    half.write_bytes(weights.read_bytes()[:100])
    assert_refused(run("network", "--network", "lenet28", "--weights", half, "--batch", "1"),
                   "half.safetensors: byte 0")
    assert_refused(run("network", "--network", "lenet48", "--weights", weights, "--batch", "1"), "own.safetensors",
                   "conv1.weight", "expected shape [6, 1, 5, 5], found [50, 1, 5, 5]")


def test_the_simulated_device_counts_every_layer_and_times_nothing(tmp_path: Path) -> None:
    names = {one["name"] for one in json.loads(run("list", "--format", "json").stdout)["variants"] if one["family"] == "cuda"}
    if "global-memory" not in names:
        pytest.skip("this build has no CUDA variants")
    document = measured(tmp_path, "--network", "lenet28", "--device", "simulated", "--batch", "2", "--weights",
                        "random", "--variant", "global-memory,compile-time", "--verbose")
    ok = [one for one in document["cases"] if one["status"] == "ok"]
    if not ok:
        assert {one["status"] for one in document["cases"]} <= {"unsupported", "skipped"}
        pytest.skip(document["cases"][0]["reason"])
    for one in ok:
        assert (one["total"], one["program"], one["profile"]) == (None, None, None)
        for step in one["steps"]:
            assert step["time"] is None and step["verification"]["passed"]
            assert step["counters"]["totals"]["smsp__inst_executed.sum"] > 0
    assert "warp instructions, counted" in document["stdout"] and "measured" not in document["stdout"]


def test_a_device_that_is_not_there_is_skipped_with_its_reason(tmp_path: Path) -> None:
    devices = {one["kind"]: one for one in json.loads(run("list", "--machine", "--format", "json").stdout)["devices"]}
    if "cuda" not in devices:
        pytest.skip("a build without nvcc has no such device")
    if devices["cuda"]["unavailable"] is None:
        pytest.skip("this machine has a GPU")
    document = measured(tmp_path, "--network", "lenet28", "--device", "cuda", "--batch", "2")
    for one in document["cases"]:
        assert (one["status"], one["reason"]) == ("skipped", devices["cuda"]["unavailable"])


def test_overlapping_copies_needs_a_device_that_can(three_layers: Path, tmp_path: Path) -> None:
    document = measured(tmp_path / "out", "--network", three_layers, "--batch", "8", "--overlap", "--variant", "compile-time")
    (one,) = document["cases"]
    assert one["status"] == "unsupported" and "cannot overlap copies with kernels" in one["reason"]


WRONG = {
    "null": ("incorrect", r"conv1: \d+ of \d+ output elements are as they were before the call"),
    "nan": ("incorrect", r"conv1: image 0: 1 of \d+ elements are wrong; element 25 is -?nan"),
    "border": ("incorrect", r"conv1: image 0: \d+ of \d+ elements are wrong"),
    "last-image": ("incorrect", r"conv1: \d+ of \d+ output elements are as they were before the call"),
    "aborts": ("crashed", r"ended by signal 6 \(Aborted\): assertion 'tile fits' failed"),
    "segfaults": ("crashed", r"ended by signal 11|ended with exit code \d+ before it answered"),
    "throws": ("crashed", r"exception: no room for the tile in the cache"),
    "exits": ("crashed", r"ended with exit code 0 before it answered"),
}


def test_wrong_variants_publish_nothing_and_leave_the_others_standing(tmp_path: Path) -> None:
    """Also what comes after them: a case that dies with its last words must not touch the images."""
    variants = ["seeded-correct", *(f"seeded-{name}" for name in WRONG), "compile-time", "seeded-prints"]
    document = measured(tmp_path, "--network", "lenet28", "--weights", "random", "--batch", "3", *ONCE, "--variant",
                        ",".join(variants), "--verbose", program=SEEDED, status=1)
    for name, (status, reason) in WRONG.items():
        one = by_id(document)[f"cpu/seeded-{name}/lenet28/3"]
        assert one["status"] == status and re.search(reason, one["reason"]), one["reason"]
        assert f"seeded-{name}/lenet28/3: {status}: " in document["stdout"]
    for name in ("seeded-correct", "compile-time", "seeded-prints"):
        one = by_id(document)[f"cpu/{name}/lenet28/3"]
        assert (one["status"], one["reason"]) == ("ok", None) and one["total"]["median"] > 0


def test_a_case_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    document = measured(tmp_path, "--network", "lenet28", "--batch", "1", "--variant", "seeded-sleeps",
                        "--timeout", "2", program=SEEDED, status=1)
    assert document["cases"][0]["status"] == "timeout" and "within 2 s" in document["cases"][0]["reason"]


NAMES = {
    "network": (["--network", "lenet27"], "unknown network 'lenet27'; known: lenet2"),
    "no network": ([], "--network is required"),
    "variant": (["--variant", "compiletime"], "unknown variant 'compiletime'; known: compile-time,"),
    "variant of a layer": (["--variant", "conv1=compiletime"], "unknown variant 'compiletime'; known: compile-time,"),
    "layer": (["--variant", "conv9=onednn"], "unknown convolution of lenet28 'conv9'; known: conv1"),
    "half a pair": (["--variant", "conv1="], "--variant conv1=: expected NAME=IMPLEMENTATION, found 'conv1='"),
    "device": (["--device", "cup"], "unknown device 'cup'; known: cpu"),
    "operator type": (["--operator", "fully_conected=x"], "unknown operator 'fully_conected'; known: fully_connected,"),
    "operator": (["--operator", "max_pool=rows"], "unknown max_pool operator 'rows'; known: "),
    "batch": (["--batch", "0"], "--batch: expected a whole number from 1 to 1000000, got '0'"),
    "chunk": (["--chunk", "0"], "--chunk"),
    "option": (["--bacth", "1"], "unknown option '--bacth'; known: --batch"),
    "weights": (["--weights", "mine.safetensors"], "mine.safetensors: cannot be opened"),
    "network file": (["--network", "mine.json"], "mine.json: "),
    "variant of another family": (["--device", "cpu", "--variant", "global-memory"], "no case remains"),
}


@pytest.mark.parametrize("arguments, message", NAMES.values(), ids=NAMES.keys())
def test_bad_input_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    network = [] if not arguments or "--network" in arguments else ["--network", "lenet28"]
    assert_refused(run("network", *network, *arguments, "--output", tmp_path / "out", cwd=tmp_path), message)
    assert list(tmp_path.iterdir()) == []


BROKEN_NETWORKS = {
    "kernel": (lambda file: file["layers"][0].update(kernel=99),
               ["layer 1 'conv1': ", "the kernel 99x99 is larger than the padded image"]),
    "type": (lambda file: file["layers"][2].update(type="convolutoin"), ["layer 3 'conv2': ", "convolutoin", "convolution"]),
    "number": (lambda file: file["layers"][0].update(out_channels="three"),
               ["layer 1 'conv1': out_channels: expected a whole number", '"three"']),
    "field": (lambda file: file["layers"][0].update(stirde=2), ["layer 1 'conv1': unknown field \"stirde\""]),
    "name of a built-in one": (lambda file: file.update(name="lenet28"), ["the name 'lenet28' is already used by a built-in network"]),
}


@pytest.mark.parametrize("change, words", BROKEN_NETWORKS.values(), ids=BROKEN_NETWORKS.keys())
def test_a_wrong_network_file_is_named_with_its_place(change: Any, words: list[str], tmp_path: Path) -> None:
    document = json.loads(json.dumps(THREE_LAYERS))
    change(document)
    path = written(tmp_path / "broken.json", document)
    assert_refused(run("network", "--network", path, "--output", tmp_path / "out"), "broken.json: ", *words)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_a_run_is_refused(three_layers: Path, tmp_path: Path) -> None:
    arguments = ["--network", three_layers, "--batch", "1", *ONCE, "--variant", "compile-time"]
    measured(tmp_path / "out", *arguments)
    before = (tmp_path / "out/network.json").read_bytes()
    assert_refused(run("network", *arguments, "--output", tmp_path / "out"), "network.json already exists")
    assert (tmp_path / "out/network.json").read_bytes() == before


@pytest.mark.parametrize("layout, columns", [
    ("nvprof", r"Type +Time\(%\) +Time +Calls +Avg +Min +Max +Name"),
    ("nsys", r"Time \(%\) +Cum. \(%\) +Total Time \(ns\) +\w+ ?\w* +Avg \(ns\) +Med \(ns\) +Min \(ns\) +Max \(ns\)")])
def test_a_profile_in_both_layouts(layout: str, columns: str, three_layers: Path) -> None:
    done = run("profile", "--network", three_layers, "--batch", "2", "--layout", layout, "--cut", "100")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(columns, done.stdout) and ", measured" in done.stdout and "maxresident" in done.stdout
    for name in ["conv1", "pool1", "conv2", "conv2 bias", "fc1", "softmax", *PHASES]:
        assert re.search(rf" {re.escape(name)}$", done.stdout, re.MULTILINE), name


def test_the_profile_of_a_record_is_the_records(lenet: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "network.json", {key: value for key, value in lenet.items() if key != "stdout"})
    case = by_id(lenet)["cpu/flat-vector/lenet28/5"]
    done = run("profile", path, "--case", "flat-vector/lenet28/5", "--format", "json", "--cut", "100")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [{key: case[key] for key in ("id", "program", "profile")}]
    done = run("profile", path, "--case", "flat-vector/lenet28/5", "--format", "csv", "--cut", "100")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    expected = [row["name"] for group in case["profile"]["groups"] for row in group["rows"]]
    assert [row[-1] for row in rows[2:]] == expected
    assert run("profile", path).stdout.count(", measured") == len(lenet["cases"])


@pytest.mark.parametrize("content, words", [
    (None, ["cannot be read"]), ("{", ["byte 2: not valid JSON"]), ("{}", ["not a record of 'convladder network'"]),
    ('{"cases": []}', ["not a record of 'convladder network'"]), ('{"kind": "network", "cases": []}', ["no case has a profile"])])
def test_a_record_that_is_none_is_one_line(content: str | None, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    if content is not None:
        path.write_text(content)
    assert_refused(run("profile", path), str(path), *words)


PROFILES = {
    "neither": ([], "expected either --network for a new run, or NETWORK.json, a record"),
    "both": (["--network", "lenet28", "x.json"], "expected either"),
    "layout": (["--network", "lenet28", "--layout", "nsis"], "unknown choice 'nsis'; known: nsys, nvprof"),
    "format": (["--network", "lenet28", "--format", "xml"], "unknown format 'xml'; known: "),
    "cut": (["--network", "lenet28", "--cut", "0"], "--cut: expected a number from 0.1 to 100, got '0'"),
    "device": (["--network", "lenet28", "--device", "cup"], "unknown device 'cup'; known: cpu"),
}


@pytest.mark.parametrize("arguments, message", PROFILES.values(), ids=PROFILES.keys())
def test_bad_input_of_profile_is_one_line(arguments: list[str], message: str) -> None:
    assert_refused(run("profile", *arguments), message)


def test_a_profile_of_a_wrong_variant_is_none(three_layers: Path) -> None:
    done = run("profile", "--network", three_layers, "--batch", "2", "--variant", "seeded-null", program=SEEDED)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"convladder: cpu/seeded-null/three/2: incorrect: conv1: .* before the call; first: image 0: .*\n", done.stderr)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A tree with the scripts and the program, in which nothing is left to build."""
    root = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "build/release").mkdir(parents=True)
    (root / "build/release/build.ninja").touch()
    (root / "build/release/convladder").symlink_to(PROGRAM)
    (root / "bin").mkdir()
    (root / "bin/cmake").symlink_to("/bin/true")
    return root


def test_run_sh_runs_a_network_and_draws_it(checkout: Path, three_layers: Path) -> None:
    environment = os.environ | {"CONVLADDER_NO_SETUP": "1", "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([str(checkout / "scripts/run.sh"), "network", "--network", str(three_layers), *ONCE,
                           "--variant", "best"],
                          cwd=checkout, env=environment, capture_output=True, encoding="utf-8", timeout=120,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (folder,) = (checkout / "results").iterdir()
    record(folder)
    drawn = {path.name for path in folder.iterdir()}
    assert {"network.json", "op_times-three.svg", "pass_time-three.png", "table.md"} <= drawn
    assert "images/s" in done.stdout and str(folder / "table.md") in done.stdout
