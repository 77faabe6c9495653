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


TENSOR_SOURCE = """#include <cuda.h>
// Doubles tiles of 32 x 16 numbers in shared memory, which they reach and leave by tensor maps.
__global__ void doubled(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) float tile[16][32];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned at = __cvta_generic_to_shared(&tile), barrier = __cvta_generic_to_shared(&arrived);
  const int x = blockIdx.x * 32, y = blockIdx.y * 16;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(barrier) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(at), "l"(&from), "r"(x), "r"(y), "r"(barrier) : "memory");
  }
  __syncthreads();
#ifndef NO_WAIT
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra w; }"
               ::"r"(barrier) : "memory");
#endif
  for (int i = 0; i < 16; ++i) tile[i][((threadIdx.x / 4) ^ (i % 8)) * 4 + threadIdx.x % 4] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&to), "r"(x), "r"(y), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
"""


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_tensor_maps_are_arguments(tmp_path: Path) -> None:
    (tmp_path / "tiles.cu").write_text(TENSOR_SOURCE, encoding="utf-8")

    def simulate(flags: str = "", tensor: str = "120x45:box=32x16:swizzle=128", kind: str = "out"):
        return run("simulate", "tiles.cu", "--compiler", "nvcc", "--compiler-flags", f"-arch=sm_90 {flags}",
                   "--block", "32", "--grid", "4,3", "--buffer", "x=in:f32:iota:45x120", "--buffer",
                   f"y={kind}:f32:{'45x120' if kind == 'out' else 'fill:45x120:0'}", "--arg", f"tensor:@x:f32:{tensor}",
                   "--arg", "to=tensor:@y:f32:120x45:box=32x16:swizzle=128", "--save", "y=y.npy", cwd=tmp_path)
    done = simulate()
    assert done.returncode == 0 and "0 2 4 6 8 10 12 14 … 10784 10786 10788" in done.stdout, done
    done = simulate("-DNO_WAIT")
    assert done.returncode == 1 and "initcheck: read of 4 bytes" in done.stdout and "tiles.cu line 19" in done.stdout, done
    done = simulate(tensor="120x46:box=32x16:swizzle=128")
    assert done.returncode == 1 and "bytes past the end of 'x'" in done.stdout, done
    assert "'y', which is only to be read" in simulate(kind="in").stdout
    assert_refused(simulate(tensor="120x45:box=32x16:swizzle=64"), "128 bytes in dimension 0; 64 are possible")
