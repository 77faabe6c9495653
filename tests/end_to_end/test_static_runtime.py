"""Programs as plain nvcc and CMake link them, with the CUDA runtime as a part of them, and libraries that are so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, REPOSITORY, assert_refused, run
from stand_in import REDIRECTION, succeed, toolkit

SOURCES = REPOSITORY / "tests/stand_in/static_runtime"
pytestmark = pytest.mark.skipif(not REDIRECTION.exists(),
                                reason="nothing is redirected in this build: another processor, or no stand-in")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs that are linked in all the ways that matter."""
    nvcc = toolkit() / "bin/nvcc"
    folder = tmp_path_factory.mktemp("static")
    common = [nvcc, "-g", "-lineinfo"]
    links = [
        [nvcc, SOURCES / "sorted.cu", "-o", "sorted"],
        [*common, "-rdc=true", SOURCES / "several_files.cu", SOURCES / "other_file.cu", "-o", "several_files"],
        [*common, "-shared", "-Xcompiler", "-fPIC", SOURCES / "library.cu", "-o", "library.so"],
        [*common, "-c", SOURCES / "sum.cu", "-o", "sum.o"],
    ]
    for running in [subprocess.Popen(words, cwd=folder) for words in links]:
        assert running.wait(300) == 0
    succeed(nvcc, "sum.o", "-o", "sum", cwd=folder)
    succeed(nvcc, "-Xcompiler", "-no-pie", "-Xlinker", "-z,now", "sum.o", "-o", "fixed", cwd=folder)
    succeed(nvcc, "-Xcompiler", "-static", "sum.o", "-o", "all_static", cwd=folder)
    succeed("strip", "sum", "-o", "stripped", cwd=folder)
    succeed("cc", SOURCES / "opens_library.c", "-o", "opens_library", cwd=folder)
    return folder


@pytest.mark.parametrize("words, printed", [
    (["./sum"], "999 2997\n"), (["./fixed"], "999 2997\n"), (["./sorted"], "sorted\n"),
    (["./several_files"], "managed 47, device 40\n"),
    (["./opens_library", "./library.so"], "before main's call 496, by it 496\nbefore main's call 496, by it 496\n"),
])
def test_a_program_runs_as_it_was_linked(words: list[str], printed: str, programs: Path) -> None:
    done = run("simulate", "--", *words, cwd=programs)
    assert (done.stdout, done.returncode) == (printed, 0), done
    assert "\nfindings: none\n" in done.stderr and "not supported" not in done.stderr


@pytest.mark.parametrize("program", ["./sum", "./fixed"])
def test_findings_have_their_lines_and_their_exit_code(program: str, programs: Path) -> None:
    done = run("simulate", "--", program, "past the end", cwd=programs)
    said = re.sub(r"\s+", " ", done.stderr)
    assert done.returncode == 1 and "memcheck: write of 4 bytes" in said, done
    assert re.search(r"by cudaMallocManaged in main, sum.cu line \d+ launched in main, sum.cu line \d+", said), said


def in_shell(script: str, folder: Path, options: str = "") -> subprocess.CompletedProcess[str]:
    """Runs commands after `eval "$(convladder simulate --env)"`, twice, as if a profile had done so already."""
    ready = f'eval "$("$0" simulate --env {options})"; eval "$("$0" simulate --env {options})"; '
    return subprocess.run(["sh", "-c", ready + script, str(PROGRAM)], cwd=folder, capture_output=True, encoding="utf-8",
                          timeout=120, check=False)


def test_in_a_shell_that_is_ready_nothing_is_silent(programs: Path) -> None:
    done = in_shell('./sum; echo $?; ./sum "past the end"; echo $?; ./stripped ignore; echo $?; ./all_static ignore; echo $?; '
                    'echo $LD_AUDIT', programs)
    lines = done.stdout.splitlines()
    assert lines[0:4] == ["999 2997", "0", "999 2997", "1"], done
    # Most C libraries crash where a static program loads another one, before anybody is asked.
    assert lines[-3] == "2" and lines[-2] in {"3", "139"} and lines[-1] == str(REDIRECTION), done
    assert done.stderr.count("convladder: stripped asks the driver for tables") == 1
    assert done.stderr.count("nvcc -cudart shared") == 1


def test_what_has_no_names_is_told_before_it_starts(programs: Path) -> None:
    assert_refused(run("simulate", "--", "./stripped", cwd=programs), "do not strip it, or link it with nvcc -cudart shared")
    said = "all_static is linked with -static, so nothing can stand in for its CUDA: link it without"
    assert_refused(run("simulate", "--", "./all_static", cwd=programs), said)
    done = run("simulate", "--", "sh", "-c", "./all_static ignore", cwd=programs)
    assert done.returncode == 3 and said in done.stderr, done


def test_cmake_and_ctest_as_they_are(programs: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None or shutil.which("ctest") is None:
        pytest.skip("no cmake")
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.20)
project(tests LANGUAGES CUDA)
enable_testing()
add_executable(sum "{SOURCES}/sum.cu")
add_test(NAME right COMMAND sum)
add_test(NAME ignores_errors COMMAND sum "past the end")
add_test(NAME stripped COMMAND "{programs}/stripped" ignore)
""", encoding="utf-8")
    environment = {**os.environ, "CUDACXX": str(toolkit() / "bin/nvcc")}
    succeed("cmake", "-S", tmp_path, "-B", tmp_path / "b", env=environment)
    succeed("cmake", "--build", tmp_path / "b", env=environment)
    done = in_shell("ctest --test-dir b -j2", tmp_path)
    assert done.returncode == 8, done  # ctest's for tests that failed
    passed = dict(re.findall(r"Test +#\d: (\w+) [.* ]*(Passed|Failed)", done.stdout))
    assert passed == {"right": "Passed", "ignores_errors": "Failed", "stripped": "Failed"}, done.stdout


def test_a_library_without_names_is_redirected_by_functions_that_lead_to_it(tmp_path: Path) -> None:
    archives = sorted(toolkit().glob("**/libcudart_static.a"))
    if not archives:
        pytest.skip("no libcudart_static.a")
    (tmp_path / "map").write_text("{ global: _cuda*; devices_inside; local: *; };\n", encoding="utf-8")
    succeed("cc", "-shared", "-fPIC", SOURCES / "hands_on.c", "-Wl,--version-script=map", archives[0], "-ldl", "-lrt", "-lpthread",
            "-o", "hands_on.so", cwd=tmp_path)
    succeed("strip", "hands_on.so", cwd=tmp_path)
    text = """
import ctypes
library = ctypes.CDLL("./hands_on.so")
place, host = ctypes.c_void_p(), ctypes.create_string_buffer(64)
print(library.devices_inside(), library._cudaMalloc(ctypes.byref(place), ctypes.c_size_t(64)))
print(library._cudaMemcpy(host, place, ctypes.c_size_t(64), 2))
"""
    done = run("simulate", "--gpu-count", "3", "--", "/usr/bin/python3", "-c", text, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("3 0\n0\n", 1), done
    assert "initcheck: copy to the host of 64 bytes" in done.stderr and "not supported" not in done.stderr
