"""Stages of strangers on a GPU that skip work, or have it done before or behind the call, on the stand-in for the CUDA
runtime: what stands in the input before a call, and what stands in the output right behind it, is looked at.

Each says in its file what becomes of it: a status or several, and words of the reason; or that it gains nothing, which
holds for one that is found as well."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import RELEASE, run
from cuda_path import PROGRAM, needs_program, only_with_all

pytestmark = needs_program

CHEATS = sorted((Path(__file__).resolve().parent / "gpu_cheats").iterdir())

PROBLEM = {
    "name": "twice", "dimensions": {"N": {"name": "elements"}},
    "tensors": [{"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
                {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": {"tolerance": 1e-6}}],
    "sizes": ["N3000"], "work": {"flop": "N"}}

REFERENCE = """extern "C" void reference(const double* x, double* y, double* y_scale, int N) {
  for (int i = 0; i < N; ++i) {
    y[i] = 2 * x[i];
    y_scale[i] = y[i] < 0 ? -y[i] : y[i];
  }
}
"""


def time_of(case: dict[str, Any], cache: str) -> float:
    """The median of its calls with the caches so, in ns."""
    return next(one["median"] for one in [case["time"], *case["other_times"]] if one["cache"] == cache)


@pytest.mark.parametrize("stages, settings", [
    pytest.param(CHEATS[:3], {}, id="three"),
    pytest.param(CHEATS, {}, marks=only_with_all, id="all"),
    pytest.param(CHEATS[:1], {"real_clock": {"ramp_ms": 0}}, id="honest-on-the-unkind-device"),
    pytest.param(CHEATS, {"real_clock": {"ramp_ms": 0}}, marks=only_with_all, id="all-on-the-unkind-device"),
])
def test_cheats_of_every_kind_gain_nothing(tmp_path: Path, stages: list[Path], settings: dict[str, Any]) -> None:
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for stage in stages:
        shutil.copy(stage, folder)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "LD_LIBRARY_PATH": str(RELEASE / "stand_in"),
                                "CONVLADDER_STAND_IN": json.dumps({"host_threads": 1, **settings})}
    done = run("run", folder, "--device", "cuda", "--output", tmp_path / "out", "--repetitions", 3, "--quiet",
               "--timeout", 20, "--benchmark_min_time=0.0005", "--no-report", program=PROGRAM, env=environment, timeout=600)
    assert done.returncode == (1 if len(stages) > 1 else 0), done
    found = {one["variant"]: one for one in json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]}
    assert len(found) == len(stages)
    wrong = []
    for stage in stages:
        case = found[stage.stem.split("_", 1)[1].replace("_", "-")]
        line = re.search(r"^// expected: (.*)$", stage.read_text(encoding="utf-8"), re.MULTILINE)
        assert line is not None
        wanted, _, says = line.group(1).partition(", ")
        if wanted == "gains nothing":
            if case["status"] == "ok":
                wrong += [(stage.name, cache) for cache in ("hot", "cold")
                          if not time_of(case, cache) > 0.9 * time_of(found["honest"], cache)]
            elif case["status"] not in ("incorrect", "refused"):
                wrong.append((stage.name, case["status"], case["reason"]))
        elif case["status"] not in wanted.split(" or ") or says not in (case["reason"] or ""):
            wrong.append((stage.name, case["status"], case["reason"]))
    assert wrong == []
