"""The libraries beside the CPU ladder that a machine may have or not: how they are found, and what is said where they are not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import record, run

VARIABLE = "CONVLADDER_ONNXRUNTIME"
SHAPES = ["--shape", "3,9,9,4,3,2,1", "--shape", "1,28,28,50,5", "--batch", "1,70"]
QUICK = ["--repetitions", "2", "--benchmark_min_time=0.0005"]


def cases_of(folder: Path, variants: str, **environment: str) -> list[dict[str, Any]]:
    done = run("run", "--variant", f"unrolled-taps,{variants}", *SHAPES, *QUICK, "--output", folder,
               env=os.environ | environment)
    assert (done.returncode, done.stderr) == (0, "")
    return [one for one in record(folder)["cases"] if one["variant"] != "unrolled-taps"]


@pytest.mark.parametrize("file, reason", [
    ("/no/such/library.so", "/no/such/library.so not found ("),
    ("libm.so.6", "libm.so.6 has no OrtGetApiBase"),
    (__file__, "test_cpu_libraries.py not found ("),
], ids=["nothing", "another library", "no library"])
def test_a_library_that_is_not_there_is_unsupported_and_says_why(tmp_path: Path, file: str, reason: str) -> None:
    for one in cases_of(tmp_path, "onnxruntime", **{VARIABLE: file}):
        assert one["status"] == "unsupported" and reason in one["reason"], one
        assert f"{VARIABLE}=FILE names the library" in one["reason"]
    assert reason in record(tmp_path)["context"]["libraries"]["ONNX Runtime"]


@pytest.mark.parametrize("variant, library", [("onnxruntime", "ONNX Runtime"), ("xnnpack", "XNNPACK")])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_library_is_verified_and_says_its_version(tmp_path: Path, variant: str, library: str, threads: str) -> None:
    listed = json.loads(run("list", "--format", "json").stdout)["variants"]
    if not any(one["name"] == variant for one in listed):
        pytest.skip(f"this build has no {library}")
    found = cases_of(tmp_path, variant, OMP_NUM_THREADS=threads)
    version = record(tmp_path)["context"]["libraries"][library]
    if all(one["status"] == "unsupported" for one in found):
        pytest.skip(f"{library}: {version}")
    assert len(found) == 4
    for one in found:
        assert (one["status"], one["reason"]) == ("ok", None)
        assert version in one["choice"]
        assert one["time"]["of"] == ("op" if variant == "xnnpack" else "layer")
        assert one["verification"]["before"]["max_scaled_error"] < 1e-6 and one["verification"]["integers"]["passed"]
