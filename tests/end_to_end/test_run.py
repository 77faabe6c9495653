"""A real run from the command line to the record: which cases, how they are measured, what is shown and written."""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import DATASETS, PROGRAM, SMALL, cases, record, run, write_idx

CPU = ["--family", "cpu"]
TWO = ["--variant", "flat-vector,local-accumulation"]
QUICK = ["--repetitions", "3", "--benchmark_min_time=0.0005"]


def measured(folder: Path, *arguments: object, **options: Any) -> dict[str, Any]:
    """The record of a run in which nothing fails."""
    done = run("run", *arguments, "--output", folder, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return record(folder)


def planned(*arguments: object) -> list[str]:
    """The ids that --dry-run lists."""
    done = run("run", *arguments, "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.match(rf"{len(lines) - 2} cases?, \d+ to be run, about \S+ \(predicted", lines[-1])
    return [line.split()[0] for line in lines[1:-1]]


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every stage on a layer of a network and on a user's own shape, with two threads. The buffers of the ceilings are the smallest that
    any machine has without the variable; beside a cache of 480 MiB they would be thirty times as large."""
    folder = tmp_path_factory.mktemp("ladder")
    return measured(folder, *CPU, *QUICK, "--layer", "lenet28.conv1", "--shape", "3,9,9,4,3,2,1", "--batch", "2,3",
                    env=os.environ | {"OMP_NUM_THREADS": "2", "CONVLADDER_CEILING_MIB": "64"})


def test_every_stage_is_verified_and_timed(ladder: dict[str, Any]) -> None:
    assert ladder["complete"]
    listed = [one for one in json.loads(run("list", "--format", "json").stdout)["variants"]
              if one["family"] == "cpu" and "leaves_out" not in one]
    assert [one for one in ladder["variants"] if one["family"] == "cpu"] == listed
    mine = [one for one in ladder["cases"] if one["device"] == "cpu"]
    assert len(mine) == len(ladder["cases"]) == len(listed) * 2 * 2
    for one in mine:
        if one["status"] == "unsupported":  # a stage for other layers than these says why
            assert one["reason"] and one["time"] is None
            assert one["rung"] > 6 if one["rung"] else one["variant"] == "onnxruntime", "a library that is not here, too"
            continue
        assert (one["status"], one["reason"]) == ("ok", None)
        checks = one["verification"]
        for when in ("before", "integers", "after"):
            assert checks[when]["passed"] and checks[when]["unwritten"] == checks[when]["not_finite"] == 0
        assert checks["integers"]["max_scaled_error"] == 0
        assert (checks["images_compared"], checks["images_combined"]) == (one["batch"], 0)
        assert checks["timed_calls_compared"] >= 1
        shape = one["shape"]
        assert checks["elements_compared"] == (
            one["batch"] * shape["out_channels"] * shape["out_height"] * shape["out_width"])


def test_ids_say_device_variant_layer_and_batch(ladder: dict[str, Any]) -> None:
    for one in ladder["cases"]:
        assert one["id"] == f"{one['device']}/{one['variant']}/{one['network']}.{one['layer']}/{one['batch']}"
    assert {f"{one['network']}.{one['layer']}" for one in ladder["cases"]} == {"lenet28.conv1",
                                                                             "shape.C3H9W9M4K3S2P1"}
    assert [one["id"] for one in ladder["cases"]] == ladder["planned"]


def test_medians_and_intervals_are_those_of_the_samples(ladder: dict[str, Any]) -> None:
    timed = [one for one in ladder["cases"] if one["status"] == "ok"]
    assert timed
    for one in timed:
        for time in (one["time"], *one["other_times"]):
            samples = time["samples"]
            assert len(samples) == (1 if time["of"] == "prepare" else 3) and min(samples) > 0
            assert time["median"] == pytest.approx(statistics.median(samples), rel=1e-12)
            assert time["stopped_because"] in ("samples", "once") and time["iterations_per_sample"] >= 1
            if time["interval"]:
                assert min(samples) <= time["interval"]["low"] <= time["median"] <= time["interval"]["high"]
                assert time["interval"]["high"] <= max(samples) and 0 < time["interval"]["level"] < 1


def test_ceilings_are_measured_with_the_cases_and_make_floors(ladder: dict[str, Any]) -> None:
    assert [one["device"] for one in ladder["ceilings"]] == ["cpu"]
    ceilings = ladder["ceilings"][0]
    assert ceilings["reason"] is None and ceilings["choice"].endswith(", 2 threads")
    assert ceilings["buffer_bytes"] == 1 << 26
    limits = {limit["name"]: limit for limit in ceilings["limits"]}
    assert list(limits) == ["FMA peak", "streaming store", "copy"]
    for limit in limits.values():
        assert len(limit["samples"]) >= len(ladder["ladders"]) + 1 and limit["kind"] == "measured"
        assert limit["median"] == pytest.approx(statistics.median(limit["samples"]))
    for one in ladder["ladders"]:
        floor = one["floor"]
        assert floor["operations"] == pytest.approx(floor["flop"] / limits["FMA peak"]["median"])
        assert floor["value"] == max(floor["operations"], floor["bytes"] or 0)
        for row in one["rows"]:
            if row["median_ns"] is None:
                assert row["percent_of_floor"] is None and row["roofline"] is None
                continue
            assert row["roofline"]["gflop_per_s"] == pytest.approx(floor["flop"] / row["median_ns"])
            assert row["roofline"]["roof_gflop_per_s"] <= limits["FMA peak"]["median"]
            assert row["percent_of_floor"]["value"] == pytest.approx(100 * floor["value"] / row["median_ns"])


def test_every_timed_case_says_how_quiet_the_machine_was(ladder: dict[str, Any]) -> None:
    for one in ladder["cases"]:
        if one["time"] is None:
            assert one["quality"] is None
            continue
        quality = one["quality"]
        assert (quality["mark"] == "good") == (quality["reasons"] == [])
        for share in ("load_of_others", "steal"):
            assert quality[share] is None or 0 <= quality[share] <= 1
        assert quality["drift"] is None  # of three samples
        assert quality["anchor_spread"] is None or quality["anchor_spread"] >= 1
    marks = {one["id"]: one["quality"] and one["quality"]["mark"] for one in ladder["cases"]}
    assert all(row["quality"] == marks[row["case"]] for one in ladder["ladders"] for row in one["rows"])


def test_a_busy_machine_is_named(tmp_path: Path) -> None:
    """Beside more loops than there are cores, others have about half of them. In one process, since the clock of one
    that waits for another cannot be relied on here."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        done = run("run", *CPU, *TWO, "--layer", "lenet28.conv1", "--batch", "10", "--isolate", "none", "--budget", "0.3",
                   "--output", tmp_path, "--verbose", env=os.environ | {"OMP_NUM_THREADS": str(os.cpu_count())})
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert done.returncode == 0, done.stderr
    assert all(one["quality"]["mark"] == "disturbed" for one in record(tmp_path)["cases"])
    assert "others used" in record(tmp_path)["cases"][0]["quality"]["reasons"][0]
    assert len(re.findall(r"^ok .* ! disturbed$", done.stdout, re.MULTILINE)) == 2
    assert re.search(r"^2 of 2 cases were measured while the machine was busy \(others used up to [\d.]+ of \d+ cores\)",
                     done.stdout, re.MULTILINE)
    assert "\n~ noisy, ! disturbed: " in done.stdout


def test_a_profiled_run_measures_no_ceilings(tmp_path: Path) -> None:
    profiled = measured(tmp_path, *CPU, *QUICK, "--variant", "flat-vector", "--layer", "lenet28.conv1", "--batch", "2",
                        "--profile-calls", "1")
    assert profiled["ceilings"] == [] and profiled["ladders"][0]["floor"] is None


def test_a_layout_of_its_own_has_an_op_time_and_a_layer_time(ladder: dict[str, Any]) -> None:
    names = [one["variant"] for one in ladder["cases"]]
    if "onednn-blocked" not in names:
        pytest.skip("this build has no oneDNN")
    one = ladder["cases"][names.index("onednn-blocked")]
    assert one["time"]["of"] == "op"
    assert [time["of"] for time in one["other_times"]] == ["layer", "load input", "store output", "prepare"]


def test_the_record_says_what_ran_where(ladder: dict[str, Any]) -> None:
    context = ladder["context"]
    assert context["program"] == json.loads(run("list", "--machine", "--format", "json").stdout)["program"]
    assert context["host"]["name"] == socket.gethostname()
    assert context["command_line"][0] == "run" and "--layer" in context["command_line"]
    assert context["dataset"]["name"] == "synthetic" and re.fullmatch("[0-9a-f]{64}", context["dataset"]["sha256"])
    assert (context["seed"], len(context["sessions"])) == (1, 1)
    assert {one["input"] for one in ladder["cases"]} == {"images", "random"}


def test_a_later_layer_gets_the_activations_before_it(tmp_path: Path) -> None:
    document = measured(tmp_path, *TWO, *CPU, *QUICK, "--layer", "lenet72.conv2", "--batch", "1")
    assert {one["input"] for one in document["cases"]} == {"upstream activations"}


def test_the_plan_is_the_same_each_time_and_the_dry_run_shows_it(tmp_path: Path) -> None:
    arguments = [*CPU, *SMALL, "--variant", "memory-accumulation,flat-vector,compile-time,winograd", "--batch", "3,1,2,3"]
    first = measured(tmp_path / "1", *arguments)["planned"]
    assert measured(tmp_path / "2", *arguments)["planned"] == first == planned(*arguments)
    batches = [int(id_.rsplit("/", 1)[1]) for id_ in first]
    assert batches == sorted(batches) and set(batches) == {1, 2, 3} and len(first) == len(set(first))


def test_a_dry_run_lists_everything_and_writes_nothing(tmp_path: Path) -> None:
    done = run("run", *SMALL, "--batch", "1,2", "--dry-run", cwd=tmp_path)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
    document = measured(tmp_path, *SMALL, "--batch", "1,2")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:-1]] == document["planned"]
    skipped = [one for one in document["cases"] if one["status"] != "ok"]
    for one in skipped:
        assert one["reason"] and one["reason"] in done.stdout
        assert one["time"] is None


@pytest.mark.parametrize("arguments, part, values", [
    (["--family", "cpu"], 0, {"cpu"}),
    (["--device", "cpu"], 0, {"cpu"}),
    (["--variant", "flat-vector,cached-tile"], 1, {"flat-vector", "cached-tile"}),
    (["--variant", "flat-vector", "--variant", "cached-tile"], 1, {"flat-vector", "cached-tile"}),
    (["--network", "lenet28"], 2, {"lenet28.conv1"}),
    (["--network", "lenet28,lenet72"], 2, {"lenet28.conv1", "lenet72.conv1", "lenet72.conv2"}),
    (["--layer", "conv1"], 2, {"lenet28.conv1", "lenet72.conv1"}),
    (["--layer", "lenet72.conv2,lenet28.conv1"], 2, {"lenet72.conv2", "lenet28.conv1"}),
    (["--shape", "1,8,8,2,3", "--shape", "2,9,9,3,3,1,1"], 2, {"shape.C1H8W8M2K3", "shape.C2H9W9M3K3P1"}),
    (["--shape", "1,8,8,2,3", "--network", "lenet28"], 2, {"shape.C1H8W8M2K3", "lenet28.conv1"}),
    (["--benchmark_filter=^cpu/flat.*conv[2]"], 1, {"flat-vector"}),
    (["--batch", "1"], 3, {"1"})])
def test_filters(arguments: list[str], part: int, values: set[str]) -> None:
    batch = [] if "--batch" in arguments else ["--batch", "1"]
    family = [] if "--family" in arguments or "--device" in arguments else CPU
    # A dry run tries what it predicts: two variants are enough where it is not these that are chosen.
    few = TWO if part > 1 else []
    shown = planned(*arguments, *batch, *family, *few)
    assert {id_.split("/")[part] for id_ in shown} == values


@pytest.mark.parametrize("arguments, reason, fewest, most", [
    (["--repetitions", "7", "--precision", "1", "--budget", "0"], "samples", 7, 7),
    (["--benchmark_repetitions=4"], "samples", 4, 4),
    (["--precision", "1", "--budget", "100"], "interval", 6, 100),
    (["--precision", "0", "--budget", "0"], "budget", 3, 3),
    (["--precision", "0", "--budget", "1000"], "samples", 100, 100)])
def test_what_ends_the_sampling(tmp_path: Path, arguments: list[str], reason: str, fewest: int, most: int) -> None:
    document = measured(tmp_path, *CPU, *TWO, "--shape", "1,8,8,2,3", "--batch", "2", "--benchmark_min_time=0.0005",
                        *arguments)
    for one in document["cases"]:
        assert one["time"]["stopped_because"] == reason
        assert fewest <= len(one["time"]["samples"]) <= most


def test_the_length_of_a_sample_is_as_asked(tmp_path: Path) -> None:
    """Not the time it took, which is the machine's business, but that a longer sample has more calls."""
    short = measured(tmp_path / "s", *CPU, *TWO, *SMALL, "--batch", "1", "--benchmark_min_time=0.0001")
    long = measured(tmp_path / "l", *CPU, *TWO, *SMALL, "--batch", "1", "--benchmark_min_time=0.02s")
    for id_, one in cases(short).items():
        assert cases(long)[id_]["time"]["iterations_per_sample"] >= one["time"]["iterations_per_sample"] > 0


def test_the_default_folder_and_the_lines(tmp_path: Path) -> None:
    done = run("run", *CPU, *TWO, *SMALL, "--batch", "1", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    whole, words, path = done.stdout.rstrip().rsplit("\n\n", 2)
    assert words.startswith("best: ") and all(len(line) <= 100 for line in words.splitlines())
    lines = whole.splitlines()
    notes, table = lines[:lines.index("")], lines[lines.index("") + 1:]
    table = [line for line in table if not line.startswith(("~ noisy, ", "~1: ", "?, < and >: "))]
    assert re.fullmatch(rf"results/{re.escape(socket.gethostname())}-\d{{8}}-\d{{6}}/run\.json", path)
    assert any(re.fullmatch(r"cpu: FMA peak \S+ GFLOP/s, streaming store \S+ GB/s, copy \S+ GB/s \(measured, "
                            r"\d+ samples\)", line) for line in notes)
    assert any(re.fullmatch(r"medians of \d+ to \d+ samples, known to ±\S+% to ±\S+%, ratios to ±\S+% to "
                            r"±\S+%", line) for line in notes)
    assert not any(line.startswith("ok ") for line in notes), "a line for each case is for --verbose"
    document = record((tmp_path / path).parent)
    (ladder,) = document["ladders"]
    titles = {one["name"]: one["title"] for one in document["variants"]}
    assert len(table) == 2 + len(ladder["rows"]) and all(len(line) <= 100 for line in table)
    for line, row in zip(table[2:], ladder["rows"]):
        assert titles[row["variant"]] in line and line.rstrip().endswith(("%", "-", "?"))
    assert record((tmp_path / path).parent)["complete"]


def test_quiet_says_where_it_is_and_nothing_else(tmp_path: Path) -> None:
    done = run("run", *TWO, *SMALL, "--batch", "1", "--quiet", "--output", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/run.json\n", "")


def test_a_terminal_sees_progress_with_the_time_left(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [str(PROGRAM), "run", *CPU, *TWO, *SMALL, "--batch", "1,2,3,4,5,6,7,8", "--output", str(tmp_path),
               "--benchmark_min_time=0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        lines = process.stdout.read() if process.stdout else b""
    os.close(ours)
    assert process.returncode == 0
    assert re.search(rb" \d+/16, about \d+s left  (verifying|measuring) cpu/", shown)
    assert shown.endswith(b"\r\x1b[K"), "the line is gone at the end"
    assert b"\x1b" not in lines


@pytest.fixture(scope="module")
def real_data() -> Path:
    """The folder with mnist/ and fashion-mnist-sample/."""
    if not (DATASETS / "mnist").is_dir() or not (DATASETS / "fashion-mnist-sample").is_dir():
        pytest.skip(f"no real images in {DATASETS}: set CONVLADDER_DATASETS")
    return DATASETS


def test_real_images_are_named_in_the_record(tmp_path: Path, real_data: Path) -> None:
    document = measured(tmp_path, *CPU, *TWO, *QUICK, "--layer", "lenet28.conv1", "--batch", "10", "--data",
                        real_data / "mnist")
    assert document["context"]["dataset"] == {
        "name": "MNIST test", "source": "t10k-images-idx3-ubyte.gz", "images": 10000, "height": 28, "width": 28,
        "sha256": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"}
    assert {one["status"] for one in document["cases"]} == {"ok"}


def test_a_batch_larger_than_the_data(tmp_path: Path, real_data: Path) -> None:
    """The 900 images are gone through again."""
    document = measured(tmp_path, *CPU, *TWO, *SMALL, "--batch", "1000", "--data",
                        real_data / "fashion-mnist-sample")
    dataset = document["context"]["dataset"]
    assert (dataset["name"], dataset["images"]) == ("Fashion-MNIST sample of 900", 900)
    for one in document["cases"]:
        assert one["status"] == "ok"
        assert one["verification"]["images_compared"] == 1000


def test_unknown_images_are_used_and_called_unknown(tmp_path: Path) -> None:
    document = measured(tmp_path / "run", *CPU, *TWO, *SMALL, "--batch", "30", "--data", write_idx(tmp_path / "data"))
    dataset = document["context"]["dataset"]
    assert (dataset["name"], dataset["images"], dataset["height"], dataset["width"]) == ("unknown IDX files", 12, 6, 5)
    assert {one["status"] for one in document["cases"]} == {"ok"}
