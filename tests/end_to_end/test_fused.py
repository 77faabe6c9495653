"""`convladder fused`, and fused variants in `convladder network`: from the command line to the records and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import assert_refused, complaints, run
from validate_record import problems

FUSED = "fused-register-tile"


def written(folder: Path, pool: tuple[int, int]) -> Path:
    """A small network with a convolution that can be fused, if the pooling allows it, and one that cannot."""
    network = {
        "name": "pooled", "title": "Pooled", "input": {"channels": 1, "height": 24, "width": 24},
        "layers": [{"name": "conv1", "type": "convolution", "out_channels": 5, "kernel": 5, "bias": True},
                   {"name": "activation1", "type": "tanh"},
                   {"name": "pool1", "type": "max_pool", "size": pool[0], "stride": pool[1]},
                   {"name": "conv2", "type": "convolution", "out_channels": 4, "kernel": 3},
                   {"name": "fc1", "type": "fully_connected", "out_features": 10},
                   {"name": "softmax", "type": "softmax"}], "batches": [3]}
    path = folder / "pooled.json"
    path.write_text(json.dumps(network), encoding="utf-8")
    return path


def read(path: Path) -> dict[str, Any]:
    """A record that is valid by its schema and by the rules beyond it."""
    assert complaints(path) == []
    return json.loads(path.read_text(encoding="utf-8"))


def test_both_sides_are_verified_and_measured_in_turns(tmp_path: Path) -> None:
    done = run("fused", "--network", written(tmp_path, (2, 2)), "--device", "cpu", "--variant", FUSED, "--batch", "1,3",
               "--repetitions", 4, "--sample", 0.1, "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(len(line) <= 100 for line in done.stdout.splitlines() if str(tmp_path) not in line), done.stdout
    record = read(tmp_path / "out" / "fused.json")
    assert [case["id"] for case in record["cases"]] == [f"cpu/{FUSED}/pooled.conv1/{batch}" for batch in (1, 3)]
    for case in record["cases"]:
        assert all(check["passed"] for check in case["verification"].values())
        assert [step["type"] for step in case["separate"]] == ["convolution", "bias", "tanh", "max_pool"]
        assert case["separate"][0]["implementation"] == "register-tile"
        sums = [sum(samples) for samples in zip(*(step["time"]["samples"] for step in case["separate"]))]
        assert case["sum"]["samples"] == pytest.approx(sums)
        ratios = [one / fused for one, fused in zip(sums, case["fused"]["time"]["samples"])]
        assert case["ratio"]["samples"] == pytest.approx(ratios) and len(ratios) == 4
    case["status"] = "incorrect"
    assert [place for place, _ in problems(record)] == ["$.cases[1].ratio", "$.cases[1].reason"]


def test_the_simulated_device_counts_both_sides(tmp_path: Path) -> None:
    done = run("fused", "--network", written(tmp_path, (2, 2)), "--device", "simulated", "--batch", 2,
               "--output", tmp_path)
    if "no PTX" in done.stdout or "no case is left" in done.stderr:
        pytest.skip("no compiler for kernels in this build")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(len(line) <= 100 for line in done.stdout.splitlines() if str(tmp_path) not in line), done.stdout
    case, = read(tmp_path / "fused.json")["cases"]
    assert case["ratio"] is None and case["sum"] is None
    for kind, metrics in {"totals": ["smsp__inst_executed.sum"],
                          "modelled": ["dram__bytes_read.sum", "dram__bytes_write.sum"]}.items():
        for metric in metrics:
            separate = sum(step["counters"][kind][metric] for step in case["separate"])
            assert 0 < case["fused"]["counters"][kind][metric] < separate, metric


def test_a_network_gives_the_same_classes(tmp_path: Path) -> None:
    done = run("network", "--network", written(tmp_path, (2, 2)), "--device", "cpu", "--weights", "random",
               "--variant", f"register-tile,{FUSED}", "--variant", f"conv2={FUSED}", "--repetitions", 1, "--output", tmp_path)
    # The last choice names a layer that cannot be fused.
    assert "it is not followed by tanh or relu and then max_pool" in done.stdout
    record = read(tmp_path / "network.json")
    separate, fused, refused = record["cases"]
    assert [case["status"] for case in record["cases"]] == ["ok", "ok", "unsupported"]
    assert [step["name"] for step in separate["steps"]][:4] == ["conv1", "conv1 bias", "activation1", "pool1"]
    assert [step["name"] for step in fused["steps"]] == ["conv1", "conv2", "fc1", "softmax"]
    assert fused["steps"][0]["fused_with"] == ["activation1", "pool1"]
    assert [step["implementation"] for step in fused["steps"]][:2] == [FUSED, "register-tile"]
    assert refused["reason"].startswith(f"conv2 ({FUSED}): ")
    assert done.returncode == 0


def test_what_cannot_be_fused_says_why(tmp_path: Path) -> None:
    network = written(tmp_path, (3, 2))
    done = run("fused", "--network", network, "--device", "simulated", "--output", tmp_path / "a", "--quiet")
    if "no case is left" in done.stderr:
        pytest.skip("no compiler for kernels in this build")
    assert done.returncode == 0 and "overlap" in done.stdout
    case, = read(tmp_path / "a" / "fused.json")["cases"]
    assert case["status"] == "unsupported" and "overlap" in case["reason"]
    assert_refused(run("fused", "--network", "lenet27"), "lenet27", "lenet28")
    assert_refused(run("fused", "--variant", "fused-register"), "fused-register", FUSED)
    assert_refused(run("fused", "--layer", "lenet72.conv2"), "lenet72.conv2", "lenet72.conv1")
    assert_refused(run("fused", "--output", tmp_path / "a", "--device", "cpu"), "fused.json", "already exists")
