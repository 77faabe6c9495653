"""cuDNN, cuBLAS, NVML and CUPTI beside the program's CUDA path: what they are asked for and in which order, and what
becomes of a case when they fail. The libraries are the tests' own, found and opened as the real ones."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from conftest import cases, only_with_all, record, run
from cuda_path import LIBRARIES, PROGRAM, lines_of, needs_program, on_stand_in, settings_of

pytestmark = needs_program

ONCE = ["--shape", "2,10,10,4,3", "--batch", "2", "--repetitions", "1", "--benchmark_min_time=0.000001"]


def calls_of(tmp_path: Path, prefix: str) -> dict[int, list[dict[str, Any]]]:
    """What a library was asked for, by process, without calls that follow one of the same name."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in lines_of(tmp_path / "calls"):
        if line.get("call", "").startswith(prefix):
            found[line["process"]].append(line)
    return found


def check_lives(calls: list[dict[str, Any]], prefix: str) -> set[int]:
    """Whatever is used was made before and is not destroyed yet. Returns what is alive in the end."""
    living: set[int] = set()
    for call in calls:
        name = call["call"].removeprefix(prefix).removeprefix("Backend")
        if name.startswith("Create"):
            assert ("object" in call) == (call["status"] == 0), call
            living |= {call["object"]} if call["status"] == 0 else set()
        elif "object" in call:
            assert call["object"] in living, call
            if name.startswith("Destroy"):
                living.remove(call["object"])
    return living


def names(calls: list[dict[str, Any]], prefix: str) -> list[str]:
    """Of calls, each once where it follows itself."""
    found = [call["call"].removeprefix(prefix) for call in calls]
    return [name for before, name in zip(["", *found], found) if name != before]


def run_convolutions(tmp_path: Path, variants: str, *arguments: object, **settings: Any) -> dict[str, dict[str, Any]]:
    """The cases of these variants, by variant."""
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", variants, *ONCE, *arguments, "--output",
                       tmp_path / "out", **settings)
    assert done.stderr == "", done
    found = cases(record(tmp_path / "out"))
    assert done.returncode == int(any(one["status"] == "launch failed" for one in found.values())), done
    return {key.split("/")[1]: one for key, one in found.items()}


CUDNN = "cudnn,cudnn-nhwc,cudnn-any,cudnn-tf32,cudnn-tf32-nhwc"
A, B, FALLBACK = 3, 1, 2
"""cudnnBackendHeurMode_t"""
TENSOR_CORE, DOWN_CONVERT_INPUTS, REDUCED_PRECISION, FFT, WINOGRAD = 0, 1, 2, 3, 5
"""cudnnBackendNumericalNote_t"""


def test_cudnn_is_used_in_order_and_stands_beside_the_ladder(tmp_path: Path) -> None:
    found = run_convolutions(tmp_path, f"global-memory,{CUDNN}", libraries=["cudnn"],
                             cudnn={"engines": [{"index": 3, "passes": 5, "workspace": 64}]})
    assert {key: one["status"] for key, one in found.items()} == dict.fromkeys(["global-memory", *CUDNN.split(",")], "ok")
    assert re.fullmatch(
        r"IMPLICIT_PRECOMP_GEMM in FMA math, NCHW, 256 bytes of workspace, cuDNN 9\.\d+\.\d+, fp32; times of its time: "
        r"GEMM in FMA math 1\.[1-4]\d, eng3 1\.[3-7]\d, IMPLICIT_GEMM in FMA math [12]\.\d\d; "
        r"not supported: DIRECT in FMA math", found["cudnn"]["choice"]), found["cudnn"]["choice"]
    assert found["cudnn-any"]["choice"].startswith("WINOGRAD_NONFUSED in FMA math, NCHW, 4096 bytes of workspace")
    assert found["cudnn-tf32"]["choice"].startswith("IMPLICIT_PRECOMP_GEMM in ")
    assert " math, NCHW, 512 bytes of workspace" in found["cudnn-tf32"]["choice"]
    assert "tf32 allowed" in found["cudnn-tf32"]["choice"] and "FMA math" not in found["cudnn-tf32"]["choice"]
    assert found["cudnn-nhwc"]["choice"].startswith("IMPLICIT_PRECOMP_GEMM in FMA math, NHWC")
    assert " math, NHWC, 512 bytes of workspace" in found["cudnn-tf32-nhwc"]["choice"]
    assert {key: one["verification"]["tolerance"] for key, one in found.items()} == {
        "global-memory": 1e-6, "cudnn": 1e-6, "cudnn-nhwc": 1e-6, "cudnn-any": 1e-4, "cudnn-tf32": 1e-3,
        "cudnn-tf32-nhwc": 1e-3}
    by_process = calls_of(tmp_path, "cudnn")
    assert len(by_process) == 5, "each case in a process of its own"
    for calls in by_process.values():
        assert {call["status"] for call in calls} <= {0, 3000}, "3000: asked for a workspace of what is not supported"
        # The first was verified on integers and gave way to the next, which ends with the process.
        last = max(call["object"] for call in calls if call["call"] == "cudnnCreate")
        assert min(check_lives(calls, "cudnn"), default=last) >= last
        calls = calls[:next(i for i, call in enumerate(calls) if call.get("object") == last)]
        order = names(calls, "cudnn")
        assert order[:10] == [
            "Create", "CreateTensorDescriptor", "CreateFilterDescriptor", "CreateConvolutionDescriptor",
            "SetTensor4dDescriptor", "SetFilter4dDescriptor", "SetConvolution2dDescriptor", "SetConvolutionGroupCount",
            "SetConvolutionMathType", "GetConvolutionForwardWorkspaceSize"]
        assert order.index("BackendFinalize") < order.index("ConvolutionForward") and order[-1] == "Destroy"


CHOICES: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"algorithms": {"GEMM": {"passes": 1}}}, {"cudnn": "GEMM in FMA math", "cudnn-tf32": "GEMM in default math"}),
    ({"algorithms": {"IMPLICIT_GEMM": {"passes": 1}}}, {"cudnn": "IMPLICIT_GEMM in FMA math"}),
    # Quick only with tensor cores, or only without.
    ({"algorithms": {"GEMM in tensor op math": {"passes": 1}}},
     {"cudnn": "IMPLICIT_PRECOMP_GEMM in FMA math", "cudnn-tf32": "GEMM in tensor op math"}),
    ({"algorithms": {"GEMM in FMA math": {"passes": 1}}},
     {"cudnn": "GEMM in FMA math", "cudnn-tf32": "IMPLICIT_PRECOMP_GEMM in "}),
    # Each of what a heuristic names, by its notes; one that all of them name is one.
    ({"engines": [{"index": 7, "tile": 3, "passes": 1, "workspace": 64, "modes": [A, B, FALLBACK]}]},
     {"cudnn": "eng7_k2=3, NCHW, 64 bytes", "cudnn-nhwc": "eng7_k2=3, NHWC", "cudnn-tf32": "eng7_k2=3"}),
    ({"engines": [{"index": 7, "tile": 3, "passes": 3}, {"index": 7, "tile": 4, "passes": 1, "modes": [B]}]},
     {"cudnn": "eng7_k2=4"}),
    ({"engines": [{"index": 8, "passes": 1, "modes": [FALLBACK]}]}, {"cudnn": "eng8"}),
    ({"engines": [{"index": 9, "passes": 1, "error": 1e-4, "notes": [TENSOR_CORE]}]},
     {"cudnn": "IMPLICIT_PRECOMP_GEMM", "cudnn-any": "WINOGRAD_NONFUSED", "cudnn-tf32-nhwc": "eng9, NHWC"}),
    ({"engines": [{"index": 9, "passes": 1, "notes": [DOWN_CONVERT_INPUTS]},
                  {"index": 10, "passes": 1, "notes": [REDUCED_PRECISION, TENSOR_CORE]}]},
     {"cudnn": "IMPLICIT_PRECOMP_GEMM", "cudnn-tf32": "IMPLICIT_PRECOMP_GEMM"}),
    ({"engines": [{"index": 11, "passes": 1, "error": 1e-5, "notes": [FFT]}],
      "algorithms": {"WINOGRAD_NONFUSED": {"passes": 3}}},
     {"cudnn": "IMPLICIT_PRECOMP_GEMM", "cudnn-tf32": "IMPLICIT_PRECOMP_GEMM", "cudnn-any": "eng11"}),
]


@pytest.mark.parametrize("cudnn, expected", [pytest.param(*one, marks=only_with_all) if at in (2, 3, 4, 8, 9) else one
                                             for at, one in enumerate(CHOICES)])
def test_cudnn_is_the_quickest_of_what_its_class_allows(tmp_path: Path, cudnn: dict[str, Any],
                                                        expected: dict[str, str]) -> None:
    found = run_convolutions(tmp_path, ",".join(expected), libraries=["cudnn"], cudnn=cudnn)
    for name, choice in expected.items():
        assert found[name]["status"] == "ok" and found[name]["choice"].startswith(choice), found[name]
        assert found[name]["choice"].count("eng7_k2=3") <= 1


@pytest.mark.parametrize("quickest, why", [
    # It says that it runs, and does not; it has no room; it is less accurate than its name and its notes say.
    ({"algorithms": {"GEMM": {"passes": 1, "status": 5000}}},
     "GEMM in FMA math (cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED)"),
    ({"algorithms": {"GEMM": {"passes": 1, "workspace": 10**12}}},
     "GEMM in FMA math (needs 1000000000000 bytes of workspace, "),
    ({"algorithms": {"GEMM": {"passes": 1, "error": 1e-4}}}, "GEMM in FMA math (off by 1.0e-04)"),
    ({"engines": [{"index": 7, "passes": 1, "error": 1e-4}]}, "eng7 (off by 1.0e-04)"),
    ({"engines": [{"index": 7, "passes": 0}]}, "eng7 (off by inf)"),
    ({"engines": [{"index": 7, "passes": 1, "status": 5000}]},
     "eng7 (cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED)"),
    ({"engines": [{"index": 7, "passes": 1, "size_status": 5000}]},
     "eng7 (cudnnBackendFinalize: CUDNN_STATUS_EXECUTION_FAILED)"),
])
def test_what_of_cudnn_cannot_be_used_is_passed_over_and_named(tmp_path: Path, quickest: dict[str, Any],
                                                               why: str) -> None:
    one = run_convolutions(tmp_path, "cudnn", libraries=["cudnn"], cudnn=quickest)["cudnn"]
    assert one["status"] == "ok" and one["choice"].startswith("IMPLICIT_PRECOMP_GEMM in FMA math"), one
    assert f"passed over: {why}" in one["choice"]


def test_without_its_graph_interface_cudnn_has_its_algorithms(tmp_path: Path) -> None:
    one = run_convolutions(tmp_path, "cudnn", libraries=["cudnn"], library_faults=[
        {"call": "cudnnBackendCreateDescriptor", "status": 1001}])["cudnn"]
    assert one["status"] == "ok" and one["choice"].startswith("IMPLICIT_PRECOMP_GEMM in FMA math")
    assert "passed over: graph (cudnnBackendCreateDescriptor: CUDNN_STATUS_NOT_INITIALIZED)" in one["choice"]


ALGORITHMS = ["IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "WINOGRAD_NONFUSED"]


@pytest.mark.parametrize("how, status, reason", [
    ({"size_status": 3000}, "unsupported", r"cuDNN 9\.\d+\.\d+ has nothing for this shape in NCHW, fp32"),
    ({"status": 3000}, "unsupported", r"cuDNN 9\.\d+\.\d+ has nothing for this shape in NCHW, fp32"),
    ({"status": 5000}, "launch failed",
     "cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED, IMPLICIT_GEMM in FMA math"),
    ({"error": 1e-3}, "launch failed", r"off by 1\.0e-03, IMPLICIT_GEMM in FMA math"),
])
def test_cudnn_runs_nothing_that_was_not_timed(tmp_path: Path, how: dict[str, Any], status: str, reason: str) -> None:
    one = run_convolutions(tmp_path, "cudnn", libraries=["cudnn"],
                           cudnn={"algorithms": {name: how for name in ALGORITHMS}})["cudnn"]
    assert one["status"] == status and re.fullmatch(reason, one["reason"]), one
    (calls,) = calls_of(tmp_path, "cudnn").values()
    tried = [call for call in calls if call["call"] == "cudnnConvolutionForward"]
    assert len(tried) == (0 if "size_status" in how else 3), "each once, and none because nothing else is left"


def test_the_transposes_are_in_the_layer_time_of_nhwc_alone(tmp_path: Path) -> None:
    found = run_convolutions(tmp_path, "cudnn,cudnn-nhwc", libraries=["cudnn"])
    plain, own = ({one["of"]: one["median"] for one in [found[name]["time"], *found[name]["other_times"]]}
                  for name in ("cudnn", "cudnn-nhwc"))
    assert "load input" not in plain and {"op", "layer", "load input", "store output"} <= set(own)
    assert own["layer"] >= own["op"] + own["load input"] / 2 + own["store output"] / 2
    # One channel in: NCHW and NHWC are the same, and only the output is transposed, with the op.
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", "cudnn-nhwc", "--shape", "1,6,5,40,3", "--batch",
                       "2", *ONCE[ONCE.index("--repetitions"):], "--output", tmp_path / "one", libraries=["cudnn"])
    (one,) = record(tmp_path / "one")["cases"]
    assert done.returncode == 0 and one["status"] == "ok", one
    assert "load input" not in {time["of"] for time in [one["time"], *one["other_times"]]}


@pytest.mark.parametrize("call, first, status, text", [
    ("Create", 1, 1001, "CUDNN_STATUS_NOT_INITIALIZED"),
    ("CreateFilterDescriptor", 2, 4004, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
    ("SetConvolution2dDescriptor", 1, 2000, "CUDNN_STATUS_BAD_PARAM"),
    ("ConvolutionForward", 8, 5000, "CUDNN_STATUS_EXECUTION_FAILED"),  # in the midst of timing
])
def test_a_cudnn_that_fails_costs_its_case_alone(tmp_path: Path, call: str, first: int, status: int, text: str) -> None:
    found = run_convolutions(tmp_path, "global-memory,cudnn", libraries=["cudnn"],
                             library_faults=[{"call": f"cudnn{call}", "from": first, "status": status}])
    assert found["global-memory"]["status"] == "ok"
    assert found["cudnn"]["status"] == "launch failed"
    assert found["cudnn"]["reason"].startswith(f"cudnn{call}") and found["cudnn"]["reason"].endswith(f": {text}")
    for calls in calls_of(tmp_path, "cudnn").values():
        assert not check_lives(calls, "cudnn")


@pytest.mark.parametrize("source, why", [
    ("int nothing;", "libcudnn.so.9 has no cudnnGetVersion"),
    ("", "not found"),
])
def test_a_cudnn_that_cannot_be_used_is_left_out_and_says_why(tmp_path: Path, source: str, why: str) -> None:
    """A library without its functions, and a file that is none."""
    library = tmp_path / "libcudnn.so.9"
    if source:
        (tmp_path / "empty.c").write_text(source, encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "empty.c", "-o", library], check=True)
    else:
        library.write_text("no library\n", encoding="utf-8")
        (tmp_path / "libcudnn.so").symlink_to(library)
    environment = {**settings_of(tmp_path), "LD_LIBRARY_PATH": str(tmp_path)}
    done = run("run", "--device", "cuda", "--variant", "global-memory,cudnn", *ONCE, "--output", tmp_path / "out",
               program=PROGRAM, env=environment)
    assert done.returncode == 0 and done.stderr == "", done
    found = {key.split("/")[1]: one for key, one in cases(record(tmp_path / "out")).items()}
    assert found["global-memory"]["status"] == "ok" and found["cudnn"]["status"] == "unsupported"
    assert why in found["cudnn"]["reason"]


def network(tmp_path: Path, *arguments: object, **settings: Any) -> tuple[dict[str, Any], str]:
    """The case of a small network and what was printed."""
    done = on_stand_in(tmp_path, "network", "--network", "lenet28", "--variant", "best", "--device", "cuda", "--batch", "2",
                       "--repetitions", "2", *arguments, "--output", tmp_path / "out", **settings)
    assert done.stderr == "", done
    (one,) = record(tmp_path / "out", "network")["cases"]
    return one, done.stdout


def test_cublas_is_used_in_order(tmp_path: Path) -> None:
    one, _ = network(tmp_path, "--operator", "fully_connected=cublas", libraries=["cublas"])
    assert one["status"] == "ok", one["reason"]
    implementations = {step["implementation"] for step in one["steps"] if step["type"] == "fully_connected"}
    assert implementations == {"cublas"}
    (calls,) = calls_of(tmp_path, "cublas").values()
    check_lives(calls, "cublas")
    assert {call["status"] for call in calls} == {0}
    for made in {call["object"] for call in calls if call["call"] == "cublasCreate"}:
        order = names([call for call in calls if call["object"] == made], "cublas")
        assert order[:3] == ["Create", "SetMathMode", "Sgemm"]


@pytest.mark.parametrize("call, first, status, text", [
    ("Create", 1, 1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    ("SetMathMode", 2, 7, "CUBLAS_STATUS_INVALID_VALUE"),
    ("Sgemm", 5, 13, "CUBLAS_STATUS_EXECUTION_FAILED"),
])
def test_a_cublas_that_fails_is_a_status(tmp_path: Path, call: str, first: int, status: int, text: str) -> None:
    one, _ = network(tmp_path, "--operator", "fully_connected=cublas", libraries=["cublas"],
                     library_faults=[{"call": f"cublas{call}", "from": first, "status": status}])
    assert one["status"] == "launch failed"
    assert one["reason"].startswith(f"cublas{call}") and one["reason"].endswith(text)
    (calls,) = calls_of(tmp_path, "cublas").values()
    check_lives(calls, "cublas")


def gpu_of(tmp_path: Path) -> dict[str, str]:
    """What the record says of the GPU."""
    return next(one["facts"] for one in record(tmp_path / "out")["context"]["devices"] if one["kind"] == "cuda")


def test_nvml_says_how_the_gpu_is_set_up_and_does(tmp_path: Path) -> None:
    one = run_convolutions(tmp_path, "global-memory", libraries=["nvml"])["global-memory"]
    assert one["status"] == "ok"
    assert one["device_state"] == {}, "by the virtual clock nothing is warm, and nothing is held down"
    facts = gpu_of(tmp_path)
    assert (facts["UUID"], facts["driver"], facts["MIG mode"]) == ("GPU-of-the-tests", "580.65.06", "on")
    assert facts["other processes on it"] == "40"


@pytest.mark.parametrize("call, status, absent", [
    ("nvmlInit", 9, {"UUID", "driver", "MIG mode", "compute mode"}),
    ("nvmlDeviceGetHandleByPciBusId", 6, {"UUID", "driver", "MIG mode", "compute mode"}),
    ("nvmlDeviceGetUUID", 15, {"UUID"}),
    ("nvmlDeviceGetComputeRunningProcesses", 4, {"other processes on it"}),
])
def test_an_nvml_that_fails_leaves_out_what_it_did_not_say(tmp_path: Path, call: str, status: int,
                                                           absent: set[str]) -> None:
    one = run_convolutions(tmp_path, "global-memory", libraries=["nvml"],
                           library_faults=[{"call": call, "status": status}])["global-memory"]
    assert one["status"] == "ok"
    facts = gpu_of(tmp_path)
    assert facts["name"] == "NVIDIA H100 SXM (simulated)" and not absent & set(facts)
    assert ("UUID" in facts) == ("UUID" not in absent)


def profile(tmp_path: Path, *arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Of a small network, with everything that happens in tmp_path/calls."""
    return on_stand_in(tmp_path, "profile", "--network", "lenet28", "--device", "cuda", "--batch", "2", "--cut", "100",
                       *arguments, libraries=["cupti"], trace=str(tmp_path / "calls"), trace_calls=True, **settings)


def test_cupti_records_one_pass_after_all_others(tmp_path: Path) -> None:
    done = profile(tmp_path)
    assert done.returncode == 0 and done.stderr == "", done
    assert done.stdout.splitlines()[0].endswith(", predicted, but host phases measured")
    lines = lines_of(tmp_path / "calls")
    cupti = [i for i, line in enumerate(lines) if line.get("call", "").startswith("cupti")]
    process = lines[cupti[0]]["process"]
    assert lines[cupti[0]]["call"] == "cuptiActivityRegisterCallbacks"
    assert all(lines[i]["process"] == process for i in cupti)
    own = [(i, line) for i, line in enumerate(lines) if line["process"] == process]
    events = [i for i, line in own if line.get("what") == "event"]
    assert events and max(events) < cupti[0], "steps are timed before, never while it records"
    enabled = [i for i in cupti if lines[i]["call"] == "cuptiActivityEnable"]
    flushed = [i for i in cupti if lines[i]["call"] == "cuptiActivityFlushAll"]
    assert len(flushed) == 1 and len(enabled) == 6
    kernels = [line for i, line in own if enabled[-1] < i < flushed[0] and not line.get("what", "[").startswith("[")]
    assert len(kernels) > 5
    rows = [line for line in done.stdout.splitlines() if line.endswith("[CUDA memcpy HtoD]")]
    assert len(rows) == 1 and "cudaLaunchKernel" in done.stdout
    # The rows of kernels add up to the kernels of that pass.
    document = profile_json(tmp_path)
    gpu = next(group["rows"] for group in document["profile"]["groups"] if group["group"] == "GPU activities")
    of_kernels = [row for row in gpu if not row["name"].startswith("[")]
    assert sum(row["calls"] for row in of_kernels) == len(kernels)
    assert sum(row["total_ns"] for row in of_kernels) == sum(line["end_ns"] - line["begin_ns"] for line in kernels)


def profile_json(tmp_path: Path) -> dict[str, Any]:
    """The same once more as JSON."""
    done = profile(tmp_path, "--format", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)[0]


def test_a_network_is_recorded_after_its_measured_passes(tmp_path: Path) -> None:
    one, _ = network(tmp_path, libraries=["cupti"], trace=str(tmp_path / "calls"), trace_calls=True)
    groups = {group["group"]: group["rows"] for group in one["profile"]["groups"]}
    assert {"GPU activities", "API calls", "layers", "host phases"} <= set(groups)
    lines = lines_of(tmp_path / "calls")
    first = next(i for i, line in enumerate(lines) if line.get("call", "").startswith("cupti"))
    own = [line for line in lines[first:] if line["process"] == lines[first]["process"]]
    events = [i for i, line in enumerate(own) if line.get("what") == "event"]
    enabled = [i for i, line in enumerate(own) if line.get("call") == "cuptiActivityEnable"]
    assert len(events) == 2 * len(one["steps"]), "the steps of the profile, once: all that is measured is over"
    assert max(events) < enabled[1], "and they are timed before it records"
    assert sum(line.get("call") == "cuptiActivityFlushAll" for line in own) == 1


@pytest.mark.parametrize("fault, returncode, why", [
    ({"call": "cuptiActivityEnable", "status": 35}, 0,
     "no CUPTI (cuptiActivityEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)"),
    ({"call": "cuptiActivityRegisterCallbacks", "status": 39}, 0, "no CUPTI (cuptiActivityRegisterCallbacks"),
    ({"call": "cuptiActivityEnable", "from": 3, "status": 999}, 1, "launch failed: cuptiActivityEnable"),
    ({"call": "cuptiActivityFlushAll", "status": 999}, 1, "launch failed: cuptiActivityFlushAll"),
    ({"call": "cuptiActivityGetNextRecord", "from": 4, "status": 999}, 1, "CUPTI dropped 1 activity records"),
])
def test_a_cupti_that_fails_is_one_line(tmp_path: Path, fault: dict[str, Any], returncode: int, why: str) -> None:
    done = profile(tmp_path, library_faults=[fault])
    assert done.returncode == returncode and done.stderr.count("\n") == 1 and why in done.stderr, done
    assert ("host phases" in done.stdout) == (returncode == 0) and "GPU activities" not in done.stdout


def test_records_that_cupti_has_lost_are_an_error(tmp_path: Path) -> None:
    done = profile(tmp_path, dropped=3)
    assert done.returncode == 1 and "CUPTI dropped 3 activity records" in done.stderr, done


def test_the_machine_names_every_library_that_was_found_or_not(tmp_path: Path) -> None:
    found = ["cudnn", "cublas", "nvml", "cupti"]
    done = on_stand_in(tmp_path, "list", "--machine", "--format", "json", libraries=found)
    assert (done.returncode, done.stderr) == (0, ""), done
    machine = json.loads(done.stdout)
    versions, files = machine["libraries"], machine["library_files"]
    assert re.fullmatch(r"9\.\d+\.\d+", versions["cuDNN"]) and re.fullmatch(r"1\d\.\d+\.\d+", versions["cuBLAS"])
    assert versions["NVML"] == "580.65.06" and versions["CUPTI"].isdigit()
    assert versions["CUDA runtime"].startswith("CUDA 1") and versions["CUDA driver"].startswith("580.65.06, CUDA 1")
    for name, folder in (("cuDNN", "cudnn"), ("cuBLAS", "cublas"), ("NVML", "nvml"), ("CUPTI", "cupti")):
        assert Path(files[name]).parent == LIBRARIES / folder, files
    text = on_stand_in(tmp_path, "list", "--machine", libraries=found).stdout
    assert f"  {'cuDNN':<22} {versions['cuDNN']}, {files['cuDNN']}\n" in text
    # What is not there says why, and nothing else suffers.
    (tmp_path / "libcudnn.so.9").write_text("no library\n", encoding="utf-8")
    (tmp_path / "libcudnn.so").symlink_to("libcudnn.so.9")
    done = run("list", "--machine", "--format", "json", program=PROGRAM,
               env={**settings_of(tmp_path), "LD_LIBRARY_PATH": str(tmp_path)})
    machine = json.loads(done.stdout)
    assert machine["libraries"]["cuDNN"].startswith("libcudnn.so.9 not found (") and "cuDNN" not in machine["library_files"]
    assert set(versions) == set(machine["libraries"]) >= {
        "CUDA driver", "CUDA runtime", "CUPTI", "NVML", "ONNX Runtime", "XNNPACK", "cuBLAS", "cuDNN", "oneDNN"}
    assert all(machine["libraries"].values())
