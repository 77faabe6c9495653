"""The stand-ins for cuRAND, cuFFT, NVRTC, nvJitLink, NVML and cuDNN. Each has a program in tests/stand_in/called_libraries that holds
its functions against sums in double precision, published numbers, or what NVIDIA's documents say."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import REPOSITORY
from stand_in import LIBRARIES, SOURCES, run_on_stand_in, stub_library, succeed, toolkit

FOLDER = SOURCES / "called_libraries"
PAGE = REPOSITORY / "docs/reference/library_functions.md"
# By the program's name: the library as one links with it, and the end of its file's name.
NAMES = {"cufft": ("cufft", "12"), "curand": ("curand", "10"), "nvrtc": ("nvrtc", "13"), "nvml": ("nvidia-ml", "1"),
         "cudnn": ("cudnn", "9"), "nvjitlink": ("nvJitLink", "13")}
ALL = [name for name in NAMES if (FOLDER / f"{name}.cpp").exists()]


def functions_of(library: str) -> dict[str, bool]:
    """The functions of a stand-in, and whether it only answers "not supported": those are weak symbols."""
    lines = succeed("nm", "-D", "--defined-only", LIBRARIES / f"libconvladder_{library}.so").splitlines()
    return {line.split()[-1]: line.split()[-2] == "W" for line in lines if line.split()[-2] in "TW"}


def is_version(function: str) -> bool:
    """Whether it is a further name of a function, with the library's version: "__nvJitLinkCreate_13_0"."""
    return function.startswith("__nvJitLink")


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, linked with libraries that only have the names."""
    cuda = toolkit()
    folder = tmp_path_factory.mktemp("called_libraries")
    there = [name for name in ALL if (LIBRARIES / f"libconvladder_{name}.so").exists()]
    runtime = succeed("nm", "-D", "--defined-only", "--format=just-symbols", LIBRARIES / "libconvladder_cuda.so")
    stub_library(folder, "cudart", re.findall(r"^cuda\w+$", runtime, re.MULTILINE), "13")
    stub_library(folder, "cuda", re.findall(r"^cu[A-Z]\w+$", runtime, re.MULTILINE), "1")
    for name in there:
        stub_library(folder, NAMES[name][0], list(functions_of(name)), NAMES[name][1])

    def build(name: str) -> None:
        succeed("g++", "-std=c++20", "-g", "-Wall", "-Wextra", "-isystem", cuda / "include", FOLDER / f"{name}.cpp",
                f"-L{folder}", f"-l{NAMES[name][0]}", "-lcudart", "-lcuda", "-o", folder / name)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, there))
    return folder


def program_of(folder: Path, name: str) -> Path:
    if not (folder / name).exists():
        pytest.skip(f"no stand-in for {name} in this build")
    return folder / name


def has_compiler() -> bool:
    """Whether something here can compile for NVRTC."""
    cuda = toolkit()
    return (cuda / "bin/nvcc").exists() or any(cuda.glob("lib*/libnvrtc.so.1*"))


@pytest.mark.parametrize("name", ALL)
def test_library_is_as_documented(folder: Path, tmp_path: Path, name: str):
    if name == "nvrtc" and not has_compiler():
        pytest.skip("neither NVRTC nor nvcc")
    checkers = ["memory", "initialization", "race", "synchronization"]
    done, reports = run_on_stand_in(program_of(folder, name), tmp_path, checkers=checkers)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stderr
    assert reports[0]["findings"] == []
    assert "cuGetExportTable" not in reports[0]["not_supported"]  # NVIDIA's NVRTC asks for it, and does well without
    computed = {call["library"] for call in reports[0]["library_calls"]}
    assert computed == {"cufft": {"cuFFT"}, "curand": {"cuRAND"}, "cudnn": {"cuDNN"}}.get(name, set())


def test_nvml_sees_every_gpu_of_the_machine(tmp_path: Path):
    """Those that CUDA_VISIBLE_DEVICES hides as well; each has its own memory."""
    script = """
import ctypes
nvml, cuda = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.CDLL("libcudart.so.13")
nvml.nvmlInit_v2()
count, place = ctypes.c_uint(), ctypes.c_void_p()
nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
cuda.cudaSetDevice(1)  # the machine's 0
cuda.cudaMalloc(ctypes.byref(place), 1 << 20)
for number in range(count.value):
    device, text, memory = ctypes.c_void_p(), ctypes.create_string_buffer(96), (ctypes.c_ulonglong * 3)()
    nvml.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device))
    nvml.nvmlDeviceGetUUID(device, text, 96)
    again = ctypes.c_void_p()
    nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(again))
    nvml.nvmlDeviceGetMemoryInfo(device, memory)
    print(text.value.decode()[-4:], again.value == device.value, memory[2])
print(nvml.nvmlDeviceGetHandleByIndex_v2(count.value, ctypes.byref(device)))
"""
    command = ["env", "CUDA_VISIBLE_DEVICES=2,0", "/usr/bin/python3", "-c", script]
    done, _ = run_on_stand_in(command, tmp_path, gpu_count=3)
    assert done.stdout.splitlines() == ["2d30 True 1048576", "2d31 True 0", "2d32 True 0", "2"], done.stdout + done.stderr


def test_nvcc_compiles_where_nvrtc_is_missing(folder: Path, tmp_path: Path):
    """A dlopen in front of the loader's lets none of NVIDIA's be found."""
    if not (toolkit() / "bin/nvcc").exists():
        pytest.skip("no nvcc")
    source = tmp_path / "none.c"
    source.write_text("""#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* dlopen(const char* name, int flags) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return name != NULL && strstr(name, "/libnvrtc.so") != NULL ? NULL : next(name, flags);
}
""", encoding="utf-8")
    succeed("gcc", "-shared", "-fPIC", source, "-o", tmp_path / "none.so")
    command = ["env", f"LD_PRELOAD={tmp_path / 'none.so'}", str(program_of(folder, "nvrtc"))]
    done, _ = run_on_stand_in(command, tmp_path)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stderr


def test_memory_is_checked(folder: Path, tmp_path: Path):
    """Findings name the call and the argument; a missing function makes the process fail."""
    program_of(folder, "cufft")
    program_of(folder, "curand")
    source = tmp_path / "mistakes.cpp"
    source.write_text("""#include <cuda_runtime.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>
int main() {
  float* memory = nullptr;
  cudaMalloc(&memory, 4000);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandGenerateUniform(generator, memory, 100);
  cufftHandle plan;
  cufftPlan1d(&plan, 64, CUFFT_C2C, 1);
  cufftExecC2C(plan, (cufftComplex*)memory, (cufftComplex*)memory, CUFFT_FORWARD);
  curandGenerateUniform(generator, memory, 1001);
  cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_COMPLEX, nullptr);
  return 0;
}
""", encoding="utf-8")
    succeed("g++", "-isystem", toolkit() / "include", source, f"-L{folder}", "-lcufft", "-lcurand", "-lcudart", "-o",
            tmp_path / "mistakes")
    done, reports = run_on_stand_in(tmp_path / "mistakes", tmp_path, checkers=["memory", "initialization"], print=True,
                                    error_exitcode=3)
    assert done.returncode == 3
    problems = [finding["problem"] for finding in reports[0]["findings"]]
    assert any("curandGenerateUniform writes 4004 bytes of outputPtr" in one for one in problems), problems
    assert any("cufftExecC2C reads idata, of which nothing has written byte 400" in one for one in problems), problems
    assert reports[0]["not_supported"] == {"cufftXtSetCallback": 1}
    assert "cufftXtSetCallback is not supported and was called 1 time" in done.stderr
    assert "1 call of cuFFT was computed on the host" in done.stderr


@pytest.mark.parametrize("name", ALL)
def test_page_lists_what_is_there(folder: Path, name: str):
    program_of(folder, name)
    program = (FOLDER / f"{name}.cpp").read_text(encoding="utf-8")
    functions = {one: missing for one, missing in functions_of(name).items() if not is_version(one)}
    tested = sorted(one for one, missing in functions.items() if not missing and re.search(rf"\b{one}\b", program))
    others = sorted(one for one, missing in functions.items() if not missing and one not in tested)
    missing = sorted(one for one, is_missing in functions.items() if is_missing)
    rows = [("tested", tested), ("there as well", others), ("not supported", missing)]
    wanted = "| | functions |\n|:--|:--|\n" + "\n".join(
        f"| {what} | {', '.join(f'`{one}`' for one in names) or 'none'} |" for what, names in rows)
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    if os.environ.get("CONVLADDER_WRITE_PAGES"):
        page = page[:page.index(begin) + len(begin)] + wanted + page[page.index(end):]
        PAGE.write_text(page, encoding="utf-8")
    assert page[page.index(begin) + len(begin):page.index(end)] == wanted, "CONVLADDER_WRITE_PAGES=1 writes it anew"
