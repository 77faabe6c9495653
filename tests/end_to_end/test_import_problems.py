"""`convladder import-problems`, and runs of the folders that it makes."""
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, assert_refused, cases, record, run

sys.path.insert(0, str(REPOSITORY / "tests/scripts"))

from problem_sets import MODULE, PYTHON, needs_torch, write_definition, write_module, write_task  # noqa: E402

@pytest.fixture(autouse=True)
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python with torch is the one that the program uses."""
    monkeypatch.setenv("PYTHON", PYTHON)


GATED = '''#include <cstdint>
extern "C" void solve(const float* x, const uint8_t* mask, const float* weight, const float* bias, float* y, float gain, int ROWS,
                      int FEATURES, int WIDTH) {
  for (int r = 0; r < ROWS; ++r) {
    for (int w = 0; w < WIDTH; ++w) {
      float sum = bias[w];
      for (int f = 0; f < FEATURES; ++f) sum += x[r * FEATURES + f] * weight[w * FEATURES + f];
      sum *= mask[r] != 0 ? gain : 0;
      y[r * WIDTH + w] = sum > 0 ? sum : 0.25f * sum;
    }
  }
}
'''
FORGETFUL = GATED.replace("f < FEATURES", "f < FEATURES - 1")
SEGMENTS = '''#include <cmath>
#include <cstdint>
#include <cstring>
static float wide(uint16_t bits) { uint32_t all = uint32_t(bits) << 16; float value; std::memcpy(&value, &all, 4); return value; }
static uint16_t narrow(float value) { uint32_t all; std::memcpy(&all, &value, 4); return uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16); }
extern "C" void solve(const uint16_t* table, const int32_t* indptr, const int64_t* indices, float* means, uint16_t* largest, float gain,
                      int NUMROWS, int NUMPARTS, int NUMPICKED) {
  for (int p = 0; p < NUMPARTS; ++p) {
    float most = -INFINITY, sums[24] = {};
    for (int i = indptr[p]; i < indptr[p + 1]; ++i) {
      for (int c = 0; c < 24; ++c) {
        const float value = wide(table[indices[i] * 24 + c]);
        sums[c] += value;
        most = value > most ? value : most;
      }
    }
    for (int c = 0; c < 12; ++c) means[p * 12 + c] = gain * sums[c] / float(indptr[p + 1] - indptr[p]);
    largest[p] = narrow(most);
  }
}
'''
PICKED = '''#include <cstdint>
extern "C" void solve(const float* x, const int64_t* picked, float* y, int SIZE, int GROUPS) {
  for (int g = 0; g < GROUPS; ++g) {
    for (int i = 0; i < SIZE; ++i) y[g * SIZE + i] = x[g * SIZE + i] + x[g * SIZE + picked[g]];
  }
}
'''

CURIOUS = '''
import os, socket
for path in ({secret!r}, "/etc/passwd"):
    try:
        open(path).read()
    except OSError:
        pass
    else:
        raise RuntimeError("it read " + path)
try:
    open({beside!r}, "w")
except OSError:
    pass
else:
    raise RuntimeError("it wrote")
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
except OSError:
    pass
else:
    raise RuntimeError("it has a socket")
if "CONVLADDER_TEST_SECRET" in os.environ:
    raise RuntimeError("it sees the environment")
'''


def statuses(folder: Path, *sizes: str) -> dict[str, str]:
    """What became of a folder's stages."""
    output = folder.parent / f"run-{folder.name}"
    words = [word for size in sizes for word in ("--size", size)]
    done = run("run", folder, *words, "--repetitions", "3", "--benchmark_min_time=0.0005", "--no-report", "--output", output)
    assert (output / "run.json").exists(), done.stderr
    return {name: one["status"] for name, one in cases(record(output)).items()}


@needs_torch
@pytest.mark.parametrize("write, name, right", [
    (lambda folder: write_module(folder / "level1"), "level1-7-gated-rows", GATED),
    (write_definition, "segment-means", SEGMENTS),
    (lambda folder: write_task(folder / "tasks"), "tasks-picked", PICKED),
], ids=["module", "definition", "task"])
def test_a_stage_for_an_imported_problem_is_measured(tmp_path: Path, write, name: str, right: str) -> None:
    write(tmp_path / "sources")
    done = run("import-problems", tmp_path / "sources", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "out" / name
    (folder / "01_naive.cpp").write_text(right, encoding="utf-8")
    found = statuses(folder)
    assert found and set(found.values()) == {"ok"}


@needs_torch
def test_a_stage_that_forgets_a_term_is_wrong(tmp_path: Path) -> None:
    write_module(tmp_path / "level1")
    assert run("import-problems", tmp_path / "level1", "--output", tmp_path / "out").returncode == 0
    folder = tmp_path / "out/level1-7-gated-rows"
    (folder / "01_naive.cpp").write_text(FORGETFUL, encoding="utf-8")
    (folder / "02_right.cpp").write_text(GATED, encoding="utf-8")
    found = statuses(folder, "ROWS9FEATURES70WIDTH2")
    assert sorted(found.values()) == ["incorrect", "ok"]


@needs_torch
def test_what_is_imported_sees_nothing_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the key", encoding="utf-8")
    text = CURIOUS.format(secret=str(tmp_path / "secret"), beside=str(tmp_path / "beside")) + MODULE
    write_module(tmp_path / "set", text)
    done = run("import-problems", tmp_path / "set", "--output", tmp_path / "out", env=os.environ | {"CONVLADDER_TEST_SECRET": "1"})
    if "confined less" in done.stderr:
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "beside").exists()


def test_sources_that_are_none_get_one_line(tmp_path: Path) -> None:
    assert_refused(run("import-problems", tmp_path / "nothing"), "nothing is not there")
    assert_refused(run("import-problems", tmp_path), "expected a KernelBench module, a definition.json or a task.yml")


def test_a_program_without_its_scripts_says_so(tmp_path: Path) -> None:
    from conftest import PROGRAM
    import shutil
    copy = shutil.copy(PROGRAM, tmp_path / "convladder")
    assert_refused(run("import-problems", tmp_path, program=Path(copy)), "scripts/import_problems.py was not found")
