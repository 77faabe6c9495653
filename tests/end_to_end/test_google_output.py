"""Google Benchmark's flags and formats: its own tools read what a run writes."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, cases, record, run, without_load

TWO = ["--family", "cpu", "--variant", "flat-vector,local-accumulation", *SMALL, "--batch", "1,2"]
IDS = [f"cpu/{variant}/shape.C1H8W8M2K3/{batch}" for batch in (1, 2) for variant in
       ("local-accumulation", "flat-vector")]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The standard output of a run, the file it wrote, and its record."""
    folder = tmp_path_factory.mktemp("google")
    done = run("run", *TWO, "--output", folder, "--benchmark_format=json", f"--benchmark_out={folder}/google.json", "--verbose")
    assert done.returncode == 0
    lines = without_load(done.stderr).splitlines()
    assert sum(line.startswith("ok ") for line in lines) == len(IDS), "the lines of the cases go where they do not disturb"
    assert any(line.startswith("cpu: FMA peak ") for line in lines), "and those of the ceilings"
    return {"stdout": json.loads(done.stdout), "file": json.loads((folder / "google.json").read_text()),
            "record": record(folder)}


def test_the_standard_output_is_json_and_nothing_else(written: dict[str, Any]) -> None:
    assert list(written["stdout"]) == ["context", "benchmarks"]
    context = written["stdout"]["context"]
    assert context["executable"] == "convladder"
    assert {"date", "host_name", "num_cpus", "mhz_per_cpu", "caches", "load_avg"} <= set(context)
    assert written["file"]["benchmarks"] == written["stdout"]["benchmarks"]


def test_every_sample_is_a_repetition(written: dict[str, Any]) -> None:
    """The fields that compare.py and report.py read."""
    for id_, case in cases(written["record"]).items():
        runs = [one for one in written["file"]["benchmarks"]
                if one["run_name"] == id_ and one["run_type"] == "iteration"]
        assert [one["repetition_index"] for one in runs] == [0, 1, 2]
        for one, sample in zip(runs, case["time"]["samples"]):
            assert (one["name"], one["repetitions"], one["threads"], one["time_unit"]) == (id_, 3, 1, "ns")
            assert one["iterations"] == case["time"]["iterations_per_sample"]
            assert one["real_time"] == one["cpu_time"] == pytest.approx(sample, rel=1e-9)
            assert {"family_index", "per_family_instance_index"} <= set(one)


def test_the_aggregates_are_those_of_the_samples(written: dict[str, Any]) -> None:
    for id_, case in cases(written["record"]).items():
        samples = case["time"]["samples"]
        expected = {"mean": statistics.mean(samples), "median": statistics.median(samples),
                    "stddev": statistics.stdev(samples), "cv": statistics.stdev(samples) / statistics.mean(samples)}
        found = {one["aggregate_name"]: one for one in written["file"]["benchmarks"]
                 if one["run_name"] == id_ and one["run_type"] == "aggregate"}
        assert set(found) == set(expected)
        for name, one in found.items():
            assert one["name"] == f"{id_}_{name}"
            assert one["real_time"] == pytest.approx(expected[name], rel=1e-6)
            assert one["aggregate_unit"] == ("percentage" if name == "cv" else "time")


def test_compare_would_pair_the_runs_by_name(written: dict[str, Any]) -> None:
    """As compare.py's partition_benchmarks does: by name and unit, in the order of the file."""
    names = list(dict.fromkeys(one["run_name"] for one in written["file"]["benchmarks"]))
    assert names == IDS == written["record"]["planned"]
    assert {one["time_unit"] for one in written["file"]["benchmarks"]} == {"ns"}


def test_aggregates_only(tmp_path: Path) -> None:
    done = run("run", *TWO, "--output", tmp_path, "--benchmark_format=json", "--benchmark_report_aggregates_only")
    runs = json.loads(done.stdout)["benchmarks"]
    assert {one["run_type"] for one in runs} == {"aggregate"} and len(runs) == 4 * len(IDS)


def test_filter_and_repetitions(tmp_path: Path) -> None:
    done = run("run", "--family", "cpu", "--shape", "1,8,8,2,3", "--batch", "1,2", "--output", tmp_path,
               "--benchmark_format=json", "--benchmark_filter=/flat.*2$", "--benchmark_repetitions=5",
               "--benchmark_min_time=0.01")
    runs = [one for one in json.loads(done.stdout)["benchmarks"] if one["run_type"] == "iteration"]
    assert [one["name"] for one in runs] == [IDS[3]] * 5
    options = record(tmp_path)["context"]["options"]
    assert (options["repetitions"], options["sample_milliseconds"]) == (5, 10)


def test_a_file_beside_the_usual_lines(tmp_path: Path) -> None:
    """Without --benchmark_format the terminal stays as it is; the format of the file can be chosen."""
    done = run("run", *TWO, "--output", tmp_path, f"--benchmark_out={tmp_path}/google.txt",
               "--benchmark_out_format=console")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/run.json"
    text = (tmp_path / "google.txt").read_text()
    assert f"{IDS[0]}_median" in text and "\x1b" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["google.txt", "run.json"]


def test_a_device_is_written_to(tmp_path: Path) -> None:
    done = run("run", *TWO, "--quiet", "--output", tmp_path, "--benchmark_out=/dev/stdout")
    assert done.returncode == 0
    assert list(json.loads(done.stdout[:done.stdout.rindex("}") + 1])) == ["context", "benchmarks"]
    assert Path("/dev/stdout").is_symlink()


def test_flags_of_googles_own_are_passed_on(tmp_path: Path) -> None:
    done = run("run", *TWO, "--output", tmp_path, "--benchmark_min_warmup_time=0.001", "--benchmark_color=false")
    assert (done.returncode, done.stderr) == (0, "")
    assert record(tmp_path)["context"]["options"]["google_benchmark_flags"] == [
        "--benchmark_min_warmup_time=0.001", "--benchmark_color=false"]
