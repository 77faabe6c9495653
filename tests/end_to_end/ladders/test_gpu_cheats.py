"""Stages of strangers on a GPU that get their work done before or behind the call, on the stand-in for the CUDA runtime:
what stands in the input before a call, and what stands in the output right behind it, is looked at."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from conftest import RELEASE, run
from cuda_path import PROGRAM, needs_program

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


def test_work_before_and_behind_a_call_is_not_the_calls(tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for stage in CHEATS:
        shutil.copy(stage, folder)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "LD_LIBRARY_PATH": str(RELEASE / "stand_in"),
                                "CONVLADDER_STAND_IN": json.dumps({"host_threads": 1})}
    done = run("run", folder, "--device", "cuda", "--output", tmp_path / "out", "--repetitions", 3, "--quiet",
               "--no-report", program=PROGRAM, env=environment)
    assert done.returncode == 1, done
    found = {one["variant"]: (one["status"], one["reason"])
             for one in json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]}
    assert len(found) == len(CHEATS) >= 3
    for stage in CHEATS:
        status, reason = found[stage.stem.split("_", 1)[1].replace("_", "-")]
        line = re.search(r"^// expected: (.*)$", stage.read_text(encoding="utf-8"), re.MULTILINE)
        assert line is not None
        wanted, _, says = line.group(1).partition(", ")
        assert (status, says in (reason or "")) == (wanted, True), (stage.name, status, reason)
