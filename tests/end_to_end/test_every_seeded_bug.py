"""Whole programs with every kind of bug that the checkers know, under `convladder simulate -- ./program`: each is found,
with the line of the kernel, the line of the host that asked for the memory, and the line of the launch."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, REPOSITORY, is_sanitized, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in"
FOLDER = REPOSITORY / "tests/seeded_programs"
SOURCES = ("every_seeded_bug.cu", "seeded_library.cu")

pytestmark = [pytest.mark.skipif(NVCC is None, reason="nvcc is not installed"),
              pytest.mark.skipif(not (STAND_IN / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]

KERNELS = [(checker, name) for checker in ("memcheck", "initcheck", "racecheck", "synccheck")
           for name in re.findall(r"__global__ void (\w+)\(",
                                  (REPOSITORY / f"tests/seeded_kernels/{checker}.cu").read_text(encoding="utf-8"))]

COMPILE = ("-arch=compute_75", "-lineinfo", "-extended-lambda", "-Xcompiler", "-fPIC", "-diag-suppress", "177")


def nvcc(folder: Path, *words: str) -> None:
    done = subprocess.run([str(NVCC), *words], cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, linked in several ways."""
    folder = tmp_path_factory.mktemp("programs")
    nvcc(folder, *COMPILE, "-g", "-cudart", "shared", "-shared", str(FOLDER / "seeded_library.cu"), "-o", "libseeded.so")
    nvcc(folder, *COMPILE, "-g", "-c", str(FOLDER / "every_seeded_bug.cu"), "-o", "bugs.o")
    link = ("bugs.o", "-cudart", "shared", "-L.", "-lseeded", "-Xlinker", "-rpath=$ORIGIN")
    nvcc(folder, *link, "-o", "bugs")
    nvcc(folder, *link, "-o", "not_moved", "-Xlinker", "-no-pie")
    shutil.copy(folder / "bugs", folder / "stripped")
    subprocess.run(["strip", "stripped"], cwd=folder, check=True)
    return folder


def line_of(comment: str) -> tuple[str, int]:
    """The file and the line that end in this comment."""
    found = [(name, number) for name in SOURCES
             for number, line in enumerate((FOLDER / name).read_text(encoding="utf-8").splitlines(), 1)
             if line.endswith("// " + comment)]
    assert len(found) == 1, (comment, found)
    return found[0]


def process_of(programs: Path, *words: str, program: str = "./bugs", options: tuple[str, ...] = ()) -> dict[str, Any]:
    """What was reported of the program's one process."""
    done = run("simulate", "--format", "json", *options, "--", program, *words, cwd=programs)
    (process,) = json.loads(done.stderr)["processes"]
    return process


def place(host: dict[str, Any]) -> tuple[str, int]:
    return Path(host["file"]).name, host["line"]


@pytest.mark.parametrize("checker, name", KERNELS)
def test_a_seeded_kernel_in_a_program(checker: str, name: str, programs: Path) -> None:
    process = process_of(programs, name, *(["zeros"] if checker == "racecheck" else []))
    source = (REPOSITORY / f"tests/seeded_kernels/{checker}.cu").read_text(encoding="utf-8").splitlines()
    marked = {(mark, number) for number, line in enumerate(source, 1) if "// <- " in line
              for mark in line.split("// <- ")[1].split()}
    found = [one for one in process["findings"] if one["checker"] == checker]
    assert found, process["findings"]
    for one in process["findings"]:
        assert one["kernel"] == name and one["source_file"] == f"{checker}.cu"
        assert (one["checker"], one["source_line"]) in marked, one
        assert place(one["host"]) == line_of("seeded launch")
        if one["allocation"]:
            number = one["allocation"].removeprefix("device memory ")
            assert place(one["memory"]["host"]) == line_of({"1": "in", "2": "out"}[number]), one
    assert process["never_freed"] == []


WRITE = ("write", "shapes::write<float, 5>", True)
"""The mark of the line in the kernel, the kernel, whether the finding names memory."""

BUGS = {
    "helper": ("12 bytes past the end of 'device memory 1' (2048 bytes)", *WRITE),
    "managed": ("12 bytes past the end of 'managed memory 1'", *WRITE),
    "pinned": ("32 bytes past the end of 'pinned memory 1'", "write", "shapes::write<double, 5>", True),
    "registered": ("12 bytes past the end of 'registered memory 1'", *WRITE),
    "pitched": ("16 bytes past the end of 'device memory 1' (1024 bytes)", *WRITE),
    "asynchronous": ("12 bytes past the end of 'device memory 1'", *WRITE),
    "array": ("access to 4 bytes at byte 128 of row 0", "draw", "shapes::draw", True),
    "of_library": ("12 bytes past the end of 'device memory 1'", *WRITE),
    "in_library": ("0 bytes past the end of 'device memory 1' (256 bytes)", "in_library",
                   "seeded_library::(anonymous namespace)::write", True),
    "in_threads": ("12 bytes past the end of 'device memory ", *WRITE),
    "used_again": ("inside 'device memory 1', which was freed", "write", "shapes::write<float, 1>", True),
    "freed": ("inside 'device memory 1', which was freed", "write", "shapes::write<float, 1>", True),
    "host_pointer": (", which is no memory of the device (a pointer of the host?)", "write", "shapes::write<float, 1>", False),
    "null_pointer": ("write of 4 bytes at 0x0, a null pointer", "write", "shapes::write<float, 1>", False),
    "device_variable": ("0 bytes past the end of 'counters' (64 bytes)", "count", "shapes::count", False),
    "constant": ("read of 4 bytes at 0x", "read_table", "shapes::read_table", False),
    "constant_written": ("a trap was executed", None, "shapes::write_table", False),
    "lambda": ("0 bytes past the end of 'device memory 1'", "launches", "shapes::each<(anonymous namespace)::lambda()::"
               "{lambda(int)#1}>", True),
    "too_little_shared": ("write of 4 bytes at offset 256 of 256 bytes of shared memory", "grown_stack",
                          "shapes::grown_stack", False),
    "heap_freed_twice": ("which malloc has not returned or which is freed", "heap", "shapes::heap", False),
    "freed_twice": ("cudaFree of 'device memory 1', which was freed already", None, "", True),
    "freed_in_the_middle": ("cudaFree of byte 4 of 'device memory 1', not of its begin", None, "", True),
    "host_memory_freed": ("cudaFree of no memory of the device", None, "", False),
    "pinned_freed_as_device": ("cudaFree of 'pinned memory 1', which another call frees", None, "", True),
}


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_of_a_whole_program(name: str, programs: Path) -> None:
    problem, mark, kernel, has_memory = BUGS[name]
    process = process_of(programs, name)
    (one,) = process["findings"]
    assert problem in one["problem"] and one["checker"] == "memcheck" and one["kernel"] == kernel, one
    if mark == "launches":
        assert (one["source_file"], one["source_line"]) == line_of(f"launches: {name}")
    elif mark:
        assert (one["source_file"], one["source_line"]) == line_of(f"faulty: {mark}")
    assert place(one["host"]) == line_of(f"launches: {name}")
    assert one["host"]["text"].startswith(("(anonymous namespace)::", "seeded_library::run, ")), one["host"]
    assert (one["memory"] is not None) == has_memory, one
    if has_memory:
        assert place(one["memory"]["host"]) == line_of(f"allocates: {name}")
    assert "_Z" not in json.dumps(process) and "device_stub" not in json.dumps(process)


@pytest.mark.parametrize("name, call, error", [
    ("too_many_threads", "cudaLaunchKernel", "cudaErrorInvalidConfiguration"),
    ("copied_beyond", "cudaMemcpy", "cudaErrorInvalidValue"),
])
def test_a_call_that_fails_is_named_with_its_line(name: str, call: str, error: str, programs: Path) -> None:
    process = process_of(programs, name)
    (failure,) = process["failures"]
    assert (failure["call"], failure["name"]) == (call, error) and place(failure["host"]) == line_of(f"launches: {name}")
    said = re.sub(r"\s+", " ", run("simulate", "--", "./bugs", name, cwd=programs).stderr)
    assert f"{call} answered {error} in (anonymous namespace)::{name}, every_seeded_bug.cu line {line_of(f'launches: {name}')[1]}" in said


def test_memory_that_is_never_freed(programs: Path) -> None:
    (one,) = process_of(programs, "never_freed", options=("--leak-check",))["findings"]
    assert one["problem"] == "'device memory 1' (2048 bytes) is never freed"
    assert place(one["memory"]["host"]) == line_of("allocates: never_freed")


@pytest.mark.parametrize("program, knows_lines", [("./not_moved", True), ("./stripped", False)])
def test_a_program_that_is_linked_differently(program: str, knows_lines: bool, programs: Path) -> None:
    (one,) = process_of(programs, "helper", program=program)["findings"]
    assert one["kernel"] == "shapes::write<float, 5>" and (one["source_file"], one["source_line"]) == line_of("faulty: write")
    if knows_lines:
        assert place(one["host"]) == line_of("launches: helper")
        assert place(one["memory"]["host"]) == line_of("allocates: helper")
    else:
        for host in (one["host"], one["memory"]["host"]):
            assert host["text"] == "stripped (compile it with -g for the line)"
    (one,) = process_of(programs, "in_library", program=program)["findings"]
    assert place(one["memory"]["host"]) == line_of("allocates: in_library")


def test_kernels_that_only_differ_in_their_parameters_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "names.cu").write_text("""
        static __global__ void same(int* to) { *to = 1; }
        static __global__ void same(float* to) { *to = 1; }
        namespace { template <typename T> __global__ void own(T* to) { *to = 1; } }
        int main() {
          void* to;
          cudaMalloc(&to, 4);
          same<<<1, 1>>>(static_cast<int*>(to));
          same<<<1, 1>>>(static_cast<float*>(to));
          own<<<1, 1>>>(static_cast<int*>(to));
        }""", encoding="utf-8")
    for options in ((), ("-rdc=true",)):  # which gives static kernels other names
        nvcc(tmp_path, "-arch=compute_75", "-cudart", "shared", *options, "names.cu", "-o", "names")
        kernels = process_of(tmp_path, program="./names")["kernels"]
        assert [kernel["name"] for kernel in kernels] == ["(anonymous namespace)::own<int>", "same(float*)", "same(int*)"]
