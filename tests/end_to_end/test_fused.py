"""The problem fused-convolution, and fused variants in `convladder network`: from the command line to the records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import assert_refused, complaints, run

FUSED = "fused-register-tile"
SEPARATE = "separate-register-tile"
PROBLEM = ["run", "--problem", "fused-convolution"]
PARTS = ["part convolution", "part bias", "part tanh", "part max_pool"]


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
    done = run(*PROBLEM, "--network", written(tmp_path, (2, 2)), "--device", "cpu", "--variant", f"{SEPARATE},{FUSED}",
               "--batch", "1,3", "--repetitions", 4, "--benchmark_min_time=0.0001", "--verbose", "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    record = read(tmp_path / "out" / "run.json")
    cases = {case["id"]: case for case in record["cases"]}
    assert set(cases) == {f"cpu/{name}/pooled.conv1/{batch}" for name in (SEPARATE, FUSED) for batch in (1, 3)}
    for name, case in cases.items():
        assert case["status"] == "ok" and case["problem"] == "fused-convolution" and case["input"] == "images"
        checks = case["verification"]
        assert all(checks[when]["passed"] for when in ("integers", "before", "after"))
        # The whole-number problem takes relu in the place of tanh, and there nothing is rounded.
        assert checks["integers"]["max_scaled_error"] == 0
        others = [time["of"] for time in case["other_times"] if time["of"] != "prepare"]
        assert others == (PARTS if SEPARATE in name else [])
        assert all(len(time["samples"]) == 1 for time in case["other_times"] if time["of"] in PARTS), "in one round of four"
        assert all(word in done.stdout for word in ("convolution ", " + bias ", " + tanh ", " + max_pool "))
    for ladder in record["ladders"]:
        separate, fused = ladder["rows"]
        assert (separate["variant"], fused["variant"]) == (SEPARATE, FUSED)
        assert fused["x_previous"]["value"] == pytest.approx(separate["median_ns"] / fused["median_ns"])


def test_the_simulated_device_counts_both_sides(tmp_path: Path) -> None:
    done = run(*PROBLEM, "--network", written(tmp_path, (2, 2)), "--device", "simulated", "--batch", 2,
               "--output", tmp_path)
    if "no PTX" in done.stdout or "no case remains" in done.stderr:
        pytest.skip("no compiler for kernels in this build")
    assert (done.returncode, done.stderr) == (0, "")
    cases = {case["variant"]: case for case in read(tmp_path / "run.json")["cases"]}
    separate, fused = cases[SEPARATE]["counters"], cases[FUSED]["counters"]
    assert len(separate["kernels"]) == 4 and len(fused["kernels"]) == 1
    for kind, metrics in {"totals": ["smsp__inst_executed.sum"],
                          "modelled": ["dram__bytes_read.sum", "dram__bytes_write.sum"]}.items():
        for metric in metrics:
            assert 0 < fused[kind][metric] < separate[kind][metric], metric


def test_a_network_gives_the_same_classes(tmp_path: Path) -> None:
    done = run("network", "--network", written(tmp_path, (2, 2)), "--device", "cpu", "--weights", "random",
               "--variant", f"register-tile,{FUSED}", "--variant", f"conv2={FUSED}", "--repetitions", 1, "--output", tmp_path)
    # The last choice names a layer that cannot be fused.
    assert "it is not followed by tanh or relu" in done.stdout
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
    done = run(*PROBLEM, "--network", network, "--device", "simulated", "--variant", FUSED, "--output", tmp_path / "a")
    if "no case remains" in done.stderr:
        pytest.skip("no compiler for kernels in this build")
    assert done.returncode == 0 and "overlap" in done.stdout
    cases = read(tmp_path / "a" / "run.json")["cases"]
    assert {case["batch"] for case in cases} == {10, 100, 1000}
    assert all(case["status"] == "unsupported" and "overlap" in case["reason"] for case in cases)
    assert_refused(run(*PROBLEM, "--network", "lenet27"), "lenet27", "lenet28")
    assert_refused(run(*PROBLEM, "--variant", "fused-register"), "fused-register", FUSED)
    assert_refused(run(*PROBLEM, "--layer", "lenet72.conv2"), "lenet72.conv2", "lenet72.conv1")
    assert_refused(run(*PROBLEM, "--shape", "1,9,9,2,3"), "--size")
    assert_refused(run(*PROBLEM, "--leave-one-out"), "fused-convolution leaves an idea out")


@pytest.mark.parametrize("problem, layer", [("max-pooling", "pool1"), ("fully-connected", "fc1"), ("bias", "conv1")])
def test_layers_of_networks_are_sizes_of_other_problems_as_well(tmp_path: Path, problem: str, layer: str) -> None:
    network = written(tmp_path, (3, 2))
    done = run("run", "--problem", problem, "--network", network, "--device", "cpu", "--batch", 2, "--repetitions", 2,
               "--benchmark_min_time=0.0001", "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    record = read(tmp_path / "out" / "run.json")
    assert {(case["network"], case["layer"], case["problem"]) for case in record["cases"]} == {("pooled", layer, problem)}
    sizes = [case["shape"] for case in record["cases"]]
    if problem == "max-pooling":
        assert all((size["pool_size"], size["pool_stride"], size["height"]) == (3, 2, 20) for size in sizes)
    assert_refused(run("run", "--problem", "relu", "--network", network), "no layer of these networks", "relu")
