"""`convladder simulate` with CUDA C++: it is compiled where a compiler is, and says what is wrong where not."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import assert_refused, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
COMPILERS = [pytest.param("nvcc", marks=pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")),
             pytest.param("clang", marks=pytest.mark.skipif(shutil.which("clang++") is None,
                                                            reason="clang++ is not installed"))]
SOURCE = """#ifndef TIMES
#define TIMES 2
#endif
__global__ void scale(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = TIMES * i;
}
"""


@pytest.fixture(params=["scale.cu", "-x y's.cu"])
def source(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The name of a file in the folder of the test."""
    (tmp_path / request.param).write_text(SOURCE, encoding="utf-8")
    return request.param


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_source_is_compiled_and_run(source: str, compiler: str, tmp_path: Path) -> None:
    def simulate(*options: str, out: int = 6):
        return run("simulate", "--block", "32", "--arg", f"y=out:f32:{out}", "--arg", "i32:6", "--compiler", compiler,
                   *options, "--", source, cwd=tmp_path)
    done = simulate()
    assert done.returncode == 0 and "y: f32[6]\n  0 2 4 6 8 10\n" in done.stdout, done
    assert "y: f32[6]\n  0 3 6 9 12 15\n" in simulate("--compiler-flags", " -DTIMES=3  -O2").stdout
    done = simulate(out=5)
    assert done.returncode == 1 and f", {source} line 6, block" in done.stdout, done
    assert sorted(tmp_path.iterdir()) == [tmp_path / source]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_the_compiler_refuses_is_said_in_one_line(compiler: str, tmp_path: Path) -> None:
    def simulate(file: str, *options: str):
        return run("simulate", file, "--compiler", compiler, *options, cwd=tmp_path)
    (tmp_path / "wrong.cu").write_text("__global__ void k(int* p) {\n  *p = foo;\n bar();\n}\n", encoding="utf-8")
    said = assert_refused(simulate("wrong.cu"), "wrong.cu: ", "error: ", "foo", "lines more)")
    assert re.search(r"wrong\.cu[(:]2\b", said)
    (tmp_path / "empty.cu").write_text("", encoding="utf-8")
    assert_refused(simulate("empty.cu"), "empty.cu (PTX): it contains no kernel")
    assert_refused(simulate("nowhere.cu"), "nowhere.cu: cannot be read: No such file")
    (tmp_path / "folder.cu").mkdir()
    assert_refused(simulate("folder.cu"), "folder.cu: cannot be read: Is a directory")
    (tmp_path / "binary.cu").write_bytes(bytes(range(256)))
    assert_refused(simulate("binary.cu"), "binary.cu: ", "error")
    for flags in ("-arch=sm_1 --cuda-gpu-arch=sm_1", "--nonsense"):
        assert_refused(simulate("empty.cu", "--compiler-flags", flags), "empty.cu: ")


@pytest.mark.parametrize(("compiler", "words"), [
    ("gcc", ["--compiler gcc: expected nvcc, clang, or the path of one of them"]),
    ("/nowhere/nvcc", ["--compiler /nowhere/nvcc: no such program"]),
    ("/bin/true", ["scale.cu: true: it made no PTX"]),
    ("/bin/false", ["scale.cu: false: it failed and said nothing"]),
])
def test_a_compiler_that_is_none_is_refused(compiler: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "scale.cu").write_text(SOURCE, encoding="utf-8")
    assert_refused(run("simulate", "scale.cu", "--compiler", compiler, cwd=tmp_path), *words)


def test_without_a_compiler_one_line_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "scale.cu").write_text(SOURCE, encoding="utf-8")
    nobody = os.environ | {"PATH": str(tmp_path)}
    done = run("simulate", "scale.cu", "--compiler", "clang", cwd=tmp_path, env=nobody)
    said = assert_refused(done, "scale.cu", "clang was not found")
    assert said.endswith("make PTX elsewhere with 'nvcc -ptx -lineinfo scale.cu'")
    if NVCC is None:
        assert_refused(run("simulate", "scale.cu", cwd=tmp_path, env=nobody), "neither nvcc nor clang was found")
