"""Untrusted stages on a GPU that skip work, or have it done before or behind the call, on the stand-in for the CUDA
runtime: what stands in the input before a call, and what stands in the output right behind it, is looked at.

Each says in its file what becomes of it: a status or several, and words of the reason; or that it gains nothing, which
holds for one that is found as well."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import RELEASE, only_with_all, run
from cuda_path import CEILING_OF_REAL_CLOCK, PROGRAM, lines_of, needs_program

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


UNKIND = {"real_clock": {"ramp_ms": 0}}


def run_stages(tmp_path: Path, stages: list[Path], *arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Runs these stages, with these settings of the stand-in."""
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for stage in stages:
        shutil.copy(stage, folder)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "LD_LIBRARY_PATH": str(RELEASE / "stand_in"),
                                "CONVLADDER_STAND_IN": json.dumps({"host_threads": 1, **settings}),
                                "CONVLADDER_CEILING_MIB": CEILING_OF_REAL_CLOCK}
    return run("run", folder, "--device", "cuda", "--output", tmp_path / "out", "--quiet", "--timeout", 20, "--no-report",
               *arguments, program=PROGRAM, env=environment, timeout=600)


@pytest.mark.parametrize("stages, settings", [
    pytest.param(CHEATS[:3] + CHEATS[-1:], UNKIND, id="some-on-the-unkind-device"),
    pytest.param(CHEATS, UNKIND, marks=only_with_all, id="all-on-the-unkind-device"),
    pytest.param(CHEATS, {}, marks=only_with_all, id="all-by-a-virtual-clock"),
])
def test_cheats_of_every_kind_gain_nothing(tmp_path: Path, stages: list[Path], settings: dict[str, Any]) -> None:
    done = run_stages(tmp_path, stages, "--repetitions", 3, "--benchmark_min_time=0.0005", **settings)
    assert done.returncode == 1, done
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


def test_every_call_is_looked_at_before_anything_else_is_done(tmp_path: Path) -> None:
    """In the order in which it came to the device: a call, by itself between two events, and the copy of what it left."""
    done = run_stages(tmp_path, CHEATS[:1], "--repetitions", 1, "--benchmark_min_time=0.002", trace=str(tmp_path / "trace"), **UNKIND)
    assert done.returncode == 0, done
    work = [re.sub(r"^convladder::\(anonymous namespace\)::|<.*>$", "", entry["what"]) for entry in lines_of(tmp_path / "trace")]
    work = [what for what in work if what not in ("gauge_clocks", "[CUDA memset]")]  # of the clock that is measured beside
    ahead = [work[at - 1] if work[at - 1] != "gauge_read" else work[at - 2] for at in range(len(work))]
    behind = [work[at + 3] for at in range(2, len(work) - 3)
              if ahead[at] == "replace_elements" and work[at:at + 3] == ["event", "twice", "event"]]
    assert len(behind) > 2 * 64, "hot and cold calls, more than are timed in one bunch"
    assert set(behind) == {"copy_chosen_elements"}
