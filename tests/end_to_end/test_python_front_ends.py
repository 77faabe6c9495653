"""`convladder simulate -- python program.py` with what compiles kernels in Python: one kernel with shared memory each, whose results
are right, and a race in it that is found. CONVLADDER_PYTHON, or CONVLADDER_PYTHON_NUMBA and so on, names a python with the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import PROGRAM, is_sanitized, run

STAND_IN = PROGRAM.parent / "stand_in"

pytestmark = [pytest.mark.skipif(not (STAND_IN / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]

CUDA = r'''
code = r"""
extern "C" __global__ void total(const float* x, float* out) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();  // barrier
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
"""
'''

END = '''
print("right" if np.array_equal(np.asarray(result), wanted) else f"wrong: {result}")
'''

BEGIN = '''import numpy as np
data = np.arange(512, dtype=np.float32)
wanted = data.reshape(4, 128).sum(1)
'''


@dataclass(frozen=True)
class FrontEnd:
    """A package that compiles kernels."""

    name: str
    packages: tuple[str, ...]
    text: str
    barrier: str = "    pass"  # what stands in its line's place, for a race
    place: str = ""  # of the race, as a finding names it; {line}: that of the comment "read"


NUMBA = BEGIN + '''
from numba import cuda, float32

@cuda.jit
def total(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.blockIdx.x * cuda.blockDim.x + t]
    cuda.syncthreads()  # barrier
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # read
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

out = cuda.device_array(4, np.float32)
total[4, 128](cuda.to_device(data), out)
result = out.copy_to_host()
''' + END

CORE = BEGIN + CUDA + '''
from cuda.bindings import runtime
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
for kind in ("cubin", "ptx", "ltoir"):
    made = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}", link_time_optimization=kind == "ltoir")).compile(kind)
    if kind == "ltoir":
        made = Linker(made, options=LinkerOptions(arch=f"sm_{device.arch}", link_time_optimization=True)).link("cubin")
    status, x = runtime.cudaMalloc(data.nbytes)  # the runtime that is linked into cuda.bindings
    status, out = runtime.cudaMalloc(16)
    runtime.cudaMemcpy(x, data.ctypes.data, data.nbytes, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice)
    launch(stream, LaunchConfig(grid=4, block=128), made.get_kernel("total"), int(x), int(out))
    stream.sync()
    result = np.zeros(4, np.float32)
    runtime.cudaMemcpy(result.ctypes.data, out, 16, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost)
    assert np.array_equal(result, wanted) or "// barrier" not in code, kind
''' + END

TORCH = BEGIN + CUDA + '''
import torch

total = torch.cuda._compile_kernel(code, "total")
out = torch.zeros(4, device="cuda")
total((4, 1, 1), (128, 1, 1), (torch.from_numpy(data).cuda(), out))
result = out.cpu().numpy()
''' + END

CUPY = BEGIN + CUDA + '''
import cupy as cp

x, out = cp.asarray(data), cp.zeros(4, cp.float32)
cp.RawKernel(code, "total")((4,), (128,), (x, out))
result = out.get()
assert np.array_equal(cp.ElementwiseKernel("float32 a", "float32 b", "b = 2 * a + 1", "twice")(x).get(), 2 * data + 1)
assert cp.ReductionKernel("float32 a", "float32 b", "a", "a + b", "b = a", "0", "summed")(x).get() == data.sum()
cp._core.set_routine_accelerators(["cub"])  # from machine code and PTX that CuPy's modules hold
assert x.sum().get() == data.sum() and np.array_equal(cp.sort(-x).get(), np.sort(-data)) and cp.cumsum(x).get()[-1] == data.sum()
''' + END

CUTE = BEGIN + '''
import torch, cutlass, cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

@cute.kernel
def total(x: cute.Tensor, out: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    s = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(128), 16)
    s[t] = x[b * 128 + t]
    cute.arch.sync_threads()  # barrier
    if t == 0:
        summed = cutlass.Float32(0.0)
        for i in range(128):
            summed = summed + s[i]  # read
        out[b] = summed

@cute.jit
def launched(x: cute.Tensor, out: cute.Tensor):
    total(x, out).launch(grid=[4, 1, 1], block=[128, 1, 1])

out = torch.zeros(4, device="cuda")
launched(from_dlpack(torch.from_numpy(data).cuda()), from_dlpack(out))
result = out.cpu().numpy()
''' + END

TILE = BEGIN + '''
import torch, tilelang, tilelang.language as T
configs = {}
configs = configs  # barrier

@tilelang.jit(out_idx=[-1], pass_configs=configs)
def turned(blocks=4, threads=128):
    @T.prim_func
    def main(x: T.Tensor((blocks * threads,), "float32"), out: T.Tensor((blocks * threads,), "float32")):
        with T.Kernel(blocks, threads=threads) as b:
            s = T.alloc_shared((threads,), "float32")
            t = T.get_thread_binding(0)
            s[t] = x[b * threads + t]
            out[b * threads + t] = s[threads - 1 - t]
    return main

result = turned()(torch.from_numpy(data).cuda()).cpu().numpy()
wanted = data.reshape(4, 128)[:, ::-1].reshape(-1)
''' + END

# The compilers of these put the barriers; what is left to a program is a race between blocks.
HELION = BEGIN + '''
import torch, helion, helion.language as hl

@helion.kernel(config=helion.Config(block_sizes=[1]), static_shapes=True)
def total(x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros([x.size(0)], dtype=x.dtype, device=x.device)
    for row in hl.tile(x.size(0)):
        summed = x[row, :].sum(-1)
        out[row] = summed  # barrier
    return out

result = total(torch.from_numpy(data.reshape(4, 128)).cuda()).cpu().numpy()
''' + END

PALLAS = BEGIN + '''
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

def total(x, out):
    row = pl.program_id(0)
    place = row  # barrier
    out[place] = jnp.sum(x[row, :])

result = pl.pallas_call(total, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32), grid=(4,),
                        compiler_params=triton.CompilerParams(num_warps=4, num_stages=1))(data.reshape(4, 128))
''' + END

FRONT_ENDS = [
    FrontEnd("numba", ("numba", "numba_cuda"), NUMBA, place=r"program\.py line .* line {line}|line {line} .*program\.py line "),
    FrontEnd("core", ("cuda.core", "cuda.bindings"), CORE, barrier="", place=r" at line \d+ by thread"),
    FrontEnd("torch", ("torch",), TORCH, barrier="", place=r" at line \d+ by thread"),
    FrontEnd("cupy", ("cupy",), CUPY, barrier="", place=r" at line \d+ by thread"),
    FrontEnd("cute", ("torch", "cutlass"), CUTE, place=r"program\.py line .* line {line}|line {line} .*program\.py line "),
    FrontEnd("tilelang", ("torch", "tilelang"), TILE, place=r" at line \d+ by thread",
             barrier="configs = {tilelang.PassConfigKey.TL_DISABLE_THREAD_STORAGE_SYNC: True}"),
    FrontEnd("helion", ("torch", "helion"), HELION, barrier="        hl.store(out, [0], summed.sum())", place=r"\.py line "),
    FrontEnd("pallas", ("jax", "jax_plugins.xla_cuda13"), PALLAS, barrier="    place = 0", place="PTX line "),
]


def python_with(name: str, *packages: str) -> str:
    """The python for a front end; skips the test where it lacks a package."""
    variable = f"CONVLADDER_PYTHON_{name.upper()}"
    python = os.environ.get(variable) or os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")
    find = f"import importlib.util as u, sys\nsys.exit(not all(map(u.find_spec, {packages!r})))"
    if subprocess.run([python, "-c", find], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"neither {variable} nor CONVLADDER_PYTHON names a python with {', '.join(packages)}")
    return python


def simulated(folder: Path, python: str, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(text, encoding="utf-8")
    environment = dict(os.environ, CUPY_CACHE_DIR=str(folder / "cupy"), TILELANG_CACHE_DIR=str(folder / "tilelang"), **variables)
    return run("simulate", "--", python, "program.py", cwd=folder, env=environment)


@pytest.mark.parametrize("one", FRONT_ENDS, ids=lambda one: one.name)
def test_a_kernel_is_right_and_its_race_is_found(tmp_path: Path, one: FrontEnd) -> None:
    python = python_with(one.name, *one.packages)
    done = simulated(tmp_path, python, one.text)
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["right"], 0), done.stdout + done.stderr
    assert "findings: none" in done.stderr
    text = re.sub(r"^.*(#|//) barrier$", lambda _: one.barrier, one.text, flags=re.MULTILINE)
    assert text != one.text
    done = simulated(tmp_path, python, text)
    line = next((number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# read")), 0)
    assert done.returncode == 1, done.stdout + done.stderr
    races = done.stderr[done.stderr.index("racecheck: "):]
    assert re.search(one.place.format(line=line), re.sub(r"\s+", " ", races)), done.stderr


def test_packages_are_prepared_when_they_are_imported(tmp_path: Path) -> None:
    """Three that only have what is prepared."""
    files = {
        "cuda/bindings/_internal/runtime.py": """
import ctypes
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
names = {name: b"f" for name in ("_cudaGetDeviceCount", "_cudaIsNoFunction", "getDriverEglFrame")}
__pyx_capi__ = {name: new(1, names[name], None) for name in names}
""",
        "jax/_src/hardware_utils.py": "def has_visible_nvidia_gpu():\n    return False\n",
        "cupy/__init__.py": "from cupy import cuda\n",
        "cupy/cuda.py": "def set_allocator(allocator):\n    print('allocator', allocator)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = simulated(tmp_path, "/usr/bin/python3", """
import ctypes, os
from cuda.bindings._internal import runtime
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
ours = ctypes.cast(ctypes.CDLL("libcudart.so.13").cudaGetDeviceCount, ctypes.c_void_p).value
print([get(capsule, b"f") in {ours: 1} for capsule in runtime.__pyx_capi__.values()])
import cupy
from jax._src import hardware_utils
print(hardware_utils.has_visible_nvidia_gpu(), os.environ["XLA_FLAGS"].split()[-1], os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"])
print(os.environ["CUTE_DSL_LINEINFO"])
""", XLA_FLAGS="--mine", XLA_PYTHON_CLIENT_ALLOCATOR="bfc")
    assert done.stdout.splitlines() == ["[True, False, False]", "allocator None", "True --mine bfc", "1"], done.stdout + done.stderr


WARP = '''
import sys
import warp as wp

@wp.kernel
def total(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    wp.tile_store(out, wp.tile_sum(wp.tile_load(x[i], shape=128)), offset=i)

if len(sys.argv) > 1:
    wp.compile_aot_module(sys.modules[__name__], arch=90, module_dir=sys.argv[1], use_ptx=True)
else:
    wp.zeros(4, dtype=float, device="cuda:0")
'''


def test_warp_says_its_way_and_that_works(tmp_path: Path) -> None:
    python = python_with("warp", "warp")
    done = simulated(tmp_path, python, WARP)
    assert done.returncode != 0
    assert "Warp's way is to compile to PTX" in re.sub(r"\s+", " ", done.stderr)
    subprocess.run([python, "program.py", "made"], cwd=tmp_path, check=True, capture_output=True)
    (ptx,) = tmp_path.glob("made/*.ptx")
    (entry,) = re.findall(r"\.entry (\w+_forward)\(", ptx.read_text(encoding="utf-8", errors="replace"))
    done = run("simulate", ptx, "--entry", entry, "--grid", "4", "--block", "256", "--arg", "struct:{i32:[4,256],u64:1024,u64:256}",
               "--arg", "struct:{@x,u64:0,i32:[4,128,0,0],i32:[512,4,0,0],i32:2,i32:0}",
               "--arg", "struct:{@y,u64:0,i32:[4,0,0,0],i32:[4,0,0,0],i32:1,i32:0}",
               "--buffer", "x=in:f32:iota:512", "--buffer", "y=out:f32:4", "--expect", "y=8128,24512,40896,57280")
    assert done.returncode == 0, done.stdout + done.stderr


def test_machine_code_with_lines_runs(tmp_path: Path) -> None:
    """What `nvcc -cubin -lineinfo` writes holds its PTX; without -lineinfo one line says what to do."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(nvcc).exists():
        pytest.skip("no nvcc")
    (tmp_path / "kernel.cu").write_text('extern "C" __global__ void f(int* x) {\n  x[threadIdx.x] = 7;\n}\n', encoding="utf-8")
    text = """
import ctypes
from pathlib import Path
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
status = cuda.cuModuleLoadData(ctypes.byref(module), Path("kernel.cubin").read_bytes())
print(status)
if status == 0:
    cuda.cuModuleGetFunction(ctypes.byref(function), module, b"f")
    cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
    cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
"""

    def loaded(*options: str) -> subprocess.CompletedProcess[str]:
        subprocess.run([nvcc, "-cubin", "-arch=sm_90", *options, "kernel.cu"], cwd=tmp_path, check=True)
        return simulated(tmp_path, "/usr/bin/python3", text)

    done = loaded("-lineinfo")
    assert (done.stdout, done.returncode) == ("0\n", 1), done.stderr
    assert "memcheck: write of 4 bytes" in done.stderr and "kernel.cu line 2" in done.stderr, done.stderr
    done = loaded()
    assert done.stdout == "209\n"  # CUDA_ERROR_NO_BINARY_FOR_GPU
    assert "or with -lineinfo" in re.sub(r"\s+", " ", done.stderr), done.stderr
