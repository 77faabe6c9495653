"""`convladder simulate -- ./program`: whole CUDA programs, unmodified, without a GPU."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import PROGRAM, REPOSITORY, assert_refused, is_sanitized, run, start

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in"
REDIRECTION = STAND_IN / "libconvladder_redirection.so"
SOURCE = REPOSITORY / "tests/seeded_programs/seeded_program.cu"
SCHEMA = json.loads((REPOSITORY / "results/simulated_program.schema.json").read_text(encoding="utf-8"))

pytestmark = [pytest.mark.skipif(NVCC is None, reason="nvcc is not installed"),
              pytest.mark.skipif(not (STAND_IN / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]


def line_of(comment: str) -> int:
    """The line of the source that ends in this comment."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if re.search(rf"// {re.escape(comment)}($|:)", line)]
    assert len(found) == 1, (comment, found)
    return found[0]


def nvcc(folder: Path, *words: str) -> None:
    """Compiles or links in a folder; what it says is the test's."""
    done = subprocess.run([str(NVCC), *words], cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the seeded program, linked as nvcc does by itself, and with the shared runtime and an RPATH."""
    folder = tmp_path_factory.mktemp("programs")
    nvcc(folder, "-arch=compute_75", "-lineinfo", "-g", "-c", str(SOURCE), "-o", "seeded.o")
    nvcc(folder, *([] if REDIRECTION.exists() else ["-cudart", "shared"]), "seeded.o", "-o", "seeded")
    nvcc(folder, "-cudart", "shared", "seeded.o", "-o", "rpath", "-Xlinker", "-rpath=" + str(folder / "real"),
         "-Xlinker", "--disable-new-dtags")
    # Another libcudart.so.13 where the program looks first: empty, so that a program that finds it cannot start.
    (folder / "real").mkdir()
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", str(folder / "real/libcudart.so.13"),
                    "-Wl,-soname,libcudart.so.13"], check=True)
    (folder / "real/libcudart.so.12").symlink_to("libcudart.so.13")
    return folder


def simulate(programs: Path, *words: str, options: tuple[str, ...] = (), **others: Any) -> subprocess.CompletedProcess[str]:
    """The seeded program, with these arguments."""
    return run("simulate", *options, "--", "./seeded", *words, cwd=programs, **others)


def finding(done: subprocess.CompletedProcess[str], checker: str) -> str:
    """The text of the one finding of a checker, on one line."""
    findings = re.findall(rf"^  {checker}: .*\n(?:    .*\n)*", done.stderr, re.MULTILINE)
    assert findings, done.stderr
    return re.sub(r"\s+", " ", findings[0])


@pytest.mark.parametrize("bug, checker, kernel_line, memory, place", [
    ("bounds", "memcheck", "copy line", "a", "bounds launch"),
    ("uninitialized", "initcheck", "copy line", "b", "uninitialized launch"),
    ("race", "racecheck", "race line", "", "race launch"),
    ("misaligned", "memcheck", "misaligned line", "b", "misaligned launch"),
    ("barrier", "synccheck", "barrier line", "", "barrier launch"),
    ("freed", "memcheck", "copy line", "a", "freed launch"),
    ("double free", "memcheck", "", "a", "double free"),
    ("host read", "memcheck", "", "b", "host read"),
    ("host memcpy", "memcheck", "", "b", "host memcpy"),
])
def test_seeded_bugs_are_found_with_their_host_lines(bug: str, checker: str, kernel_line: str, memory: str, place: str,
                                                     programs: Path) -> None:
    done = simulate(programs, bug)
    text = finding(done, checker)
    if kernel_line:
        if bug != "race":  # whichever of the two accesses is second
            assert f"seeded_program.cu line {line_of(kernel_line)} by block (0, 0, 0), thread (" in text
        assert f"launched in main, seeded_program.cu line {line_of(place)}" in text
    else:
        assert text.endswith(f" in main, seeded_program.cu line {line_of(place)} ")
    if memory:
        number = "ab".index(memory) + 1
        assert f"device memory {number}: 256 bytes by cudaMalloc in main, seeded_program.cu line {line_of(memory + chr(39) + 's line')}" in text
    if bug.startswith("host"):
        assert done.returncode == 128 + signal.SIGSEGV and "ended by SIGSEGV" in done.stderr
    else:
        assert done.returncode == 1 and f"done: {bug}\n" in done.stdout, done


def test_a_leak_is_shown_and_a_finding_where_asked_for(programs: Path) -> None:
    done = simulate(programs, "leak")
    assert done.returncode == 0 and "\nfindings: none\n" in done.stderr, done
    line = line_of("b's line")
    assert f"\nnever freed: 256 bytes\n  256 bytes by cudaMalloc in main, seeded_program.cu line {line}\n" in done.stderr
    done = simulate(programs, "leak", options=("--leak-check",))
    assert done.returncode == 1 and "'device memory 2' (256 bytes) is never freed" in finding(done, "memcheck")
    assert "never freed" not in simulate(programs).stderr


@pytest.mark.parametrize("words, options, code", [
    ([], [], 0), (["", "5"], [], 5), (["bounds", "5"], [], 5), (["bounds"], ["--error-exitcode", "9"], 9),
    (["bounds"], ["--error-exitcode", "0"], 0), (["bounds"], ["--checkers", "race"], 0), (["_exit"], [], 7),
    (["found and aborted"], [], 128 + signal.SIGABRT),
])
def test_exit_codes(words: list[str], options: list[str], code: int, programs: Path) -> None:
    assert simulate(programs, *words, options=tuple(options)).returncode == code


def test_output_of_the_program_is_untouched_and_so_are_its_streams(programs: Path) -> None:
    done = run("simulate", "--", "sh", "-c", "cat; echo to stderr >&2; ./seeded; exit 3", cwd=programs, input="to cat\n")
    assert done.stdout == "to cat\ndone: \n" and done.returncode == 3
    assert done.stderr.startswith("to stderr\nconvladder: sh on the simulated NVIDIA H100 SXM, exit code 3\n")


def test_tables_are_in_the_layout_of_nvprof_and_fit_100_columns(programs: Path) -> None:
    done = simulate(programs, "bounds", options=("--gpu", "v100"))
    assert all(len(line) <= 100 for line in done.stderr.splitlines()), done.stderr
    assert "on the simulated NVIDIA V100 SXM2\n" in done.stderr
    header = r"  Time\(%\) +Time +Calls +Avg +Min +Max  Name\n"
    row = r" +\d+\.\d\d +\d\S* [nµm]?s +1 +\d\S* \S+ +\d\S* \S+ +\d\S* \S+  "
    assert re.search(rf"GPU activities, predicted times \(nothing here is measured\)\n{header}{row}copy\n", done.stderr)
    assert re.search(rf"API calls, predicted .*\n{header}(.*\n)+?{row}cudaLaunchKernel\n", done.stderr)
    assert re.search(r"\n +launches +instructions +loaded +stored .*\n.*\n +1 +61 +8 +8 .*  copy\n", done.stderr)
    assert re.search(r"\nsimulated in .* thread instructions/s\nmost memory: 512 bytes of the device, .* of the host\n",
                     done.stderr)


def test_json_is_the_same_in_every_run_and_with_any_threads(programs: Path, tmp_path: Path) -> None:
    texts = []
    for threads in ("1", "3", "3"):
        file = tmp_path / f"{len(texts)}.json"
        done = simulate(programs, "bounds", options=("--threads", threads, "--output", str(file)))
        assert done.returncode == 1
        texts.append((file.read_bytes(), done.stderr[:done.stderr.index("simulated in")]))
    assert texts[0] == texts[1] == texts[2]
    document = json.loads(texts[0][0])
    assert list(jsonschema.Draft7Validator(SCHEMA).iter_errors(document)) == []
    (process,) = document["processes"]
    assert process["findings"][0]["memory"]["host"]["line"] == line_of("a's line")
    assert process["kernels"][0]["counters"]["smsp__inst_executed.sum"] == 61
    printed = simulate(programs, "bounds", options=("--format", "json"))
    assert json.loads(printed.stderr) == document and printed.stdout == "done: bounds\n"


def test_processes_that_the_program_starts_report_as_well(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    done = run("simulate", "--output", file, "--", "sh", "-c", "./seeded race & ./seeded; wait; ./seeded _exit", cwd=programs)
    assert done.returncode == 7 and "convladder: 2 processes of sh on" in done.stderr
    document = json.loads(file.read_text(encoding="utf-8"))
    assert list(jsonschema.Draft7Validator(SCHEMA).iter_errors(document)) == []
    assert [one["arguments"] for one in document["processes"]] == [["./seeded"], ["./seeded", "race"]]
    assert [one["arguments"] for one in document["ended_without_report"]] == [["./seeded", "_exit"]]
    assert "\n  ./seeded race\n  " in done.stderr and "./seeded _exit ended without a report" in done.stderr


def test_a_fork_has_no_device_once_its_parent_has_used_it(programs: Path) -> None:
    done = simulate(programs, "fork later")
    assert done.returncode == 0 and done.stdout.startswith("the child's error is 3\n"), done  # initialization error
    done = simulate(programs, "fork first")
    assert done.returncode == 0 and "error" not in done.stdout and "2 processes of" in done.stderr, done


def test_what_was_seen_before_a_crash_is_reported(programs: Path) -> None:
    done = simulate(programs, "found and aborted")
    assert "ended by SIGABRT\n" in done.stderr and "0 bytes past the end of 'device memory 1'" in finding(done, "memcheck")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_handed_on_and_the_report_comes(sent: int, programs: Path) -> None:
    process = start("simulate", "--", "./seeded", "sleep", cwd=programs, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "asleep\n"
    process.send_signal(sent)
    _, said = process.communicate(timeout=20)
    name = signal.Signals(sent).name
    assert process.returncode == 128 + sent and f"ended by {name}\n" in said and "cudaMalloc" in said


def test_a_signal_at_any_moment_ends_the_program(programs: Path) -> None:
    """Also between its start and the moment at which its process is known."""
    for step in range(100):
        process = start("simulate", "--", "/bin/sleep", "60", cwd=programs, stdout=subprocess.DEVNULL)
        time.sleep(0.0003 * step)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode != 0


def test_calls_that_fail_are_named(programs: Path) -> None:
    done = simulate(programs, "error")
    assert "error 1: invalid argument" in done.stdout and "cudaMemset answered cudaErrorInvalidValue" in done.stderr


def test_environment_for_a_shell_comes_first_and_once(tmp_path: Path) -> None:
    """Whatever was put in front meanwhile; what the user has set stays."""
    script = ('eval "$("$0" simulate --env)"; export LD_LIBRARY_PATH="/a b:$LD_LIBRARY_PATH" LD_AUDIT="/c${LD_AUDIT:+:$LD_AUDIT}" PYTHONPATH=/d\n'
              'eval "$("$0" simulate --env)"; eval "$("$0" simulate --env)"; for one in LD_LIBRARY_PATH LD_AUDIT PYTHONPATH TRITON_PTXAS_PATH '
              'TRITON_PTXAS_BLACKWELL_PATH; do eval "echo \\"\\$$one\\""; done')
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH")}
    done = subprocess.run(["sh", "-c", script, str(PROGRAM)], cwd=tmp_path, env={**environment, "TRITON_PTXAS_PATH": "/my $ptxas"},
                          capture_output=True, encoding="utf-8", timeout=60, check=False)
    libraries, audit, python, ptxas, other_ptxas = done.stdout.splitlines()
    assert libraries == f"{STAND_IN}:/a b:{STAND_IN}", done
    assert audit == (f"/c:{REDIRECTION}" if REDIRECTION.exists() else "/c")
    assert (python, ptxas, other_ptxas) == (f"{STAND_IN}/python:/d", "/my $ptxas", f"{STAND_IN}/python/ptxas-blackwell")


def test_environment_for_a_shell(programs: Path) -> None:
    script = 'eval "$("$0" simulate --env --checkers memory)"; ./seeded bounds; echo $?; ./seeded race; echo $?; ./seeded "" 4; echo $?'
    done = subprocess.run(["sh", "-c", script, str(PROGRAM)], cwd=programs, capture_output=True, encoding="utf-8",
                          timeout=60, check=False)
    assert done.stdout == "done: bounds\n1\ndone: race\n0\ndone: \n4\n", done
    assert f"convladder:   device memory 1: 256 bytes by cudaMalloc in main, seeded_program.cu line {line_of(chr(97) + chr(39) + 's line')}\n" in done.stderr
    assert all(line.startswith("convladder: ") for line in done.stderr.splitlines())


SAMPLED = """
    #include <cstdio>
    __global__ void scale(const float* a, float* b) { int i = blockIdx.x * blockDim.x + threadIdx.x; b[i] = 2 * a[i]; }
    __device__ float* target;
    __device__ __noinline__ void put() { target[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
    __global__ void by_function() { put(); }
    __global__ void past_the_end(float* b) { int i = blockIdx.x * blockDim.x + threadIdx.x; b[i + 1] = 1; }
    __global__ void in_turn(volatile int* turn) {  // each block waits for the one before it
      while (*turn != int(blockIdx.x)) {}
      *turn = int(blockIdx.x) + 1;
    }
    int main(int argc, char**) {
      float *a, *b;
      int* turn;
      cudaMalloc(&a, 1000 * 256);
      cudaMalloc(&b, 1000 * 256);
      cudaMalloc(&turn, 4);
      cudaMemset(a, 0, 1000 * 256);
      cudaMemset(turn, 0, 4);
      cudaMemcpyToSymbol(target, &b, sizeof b);
      by_function<<<1000, 64>>>();  // the blocks that a sample leaves out would have written their part
      scale<<<8, 64>>>(b, a);
      scale<<<1000, 64>>>(b, a);
      scale<<<1000, 64>>>(a, b);
      in_turn<<<100, 1>>>(turn);
      if (argc > 1) past_the_end<<<1000, 64>>>(b);
      int version = 0;
      cudaDriverGetVersion(&version);
      printf("%d %s\\n", version, cudaGetErrorName(cudaDeviceSynchronize()));
    }
"""


def test_a_sample_of_the_blocks_and_the_cost_of_all(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "sampled.cu").write_text(SAMPLED, encoding="utf-8")
    nvcc(tmp_path, "-arch=compute_75", "sampled.cu", "-o", "sampled")

    def kernels(*words: str, code: int) -> dict[str, Any]:
        done = run("simulate", *words, "--output", "report.json", "--", "./sampled", cwd=tmp_path)
        assert (done.stdout, done.returncode) == ("13000 cudaSuccess\n", code), done.stdout + done.stderr
        report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        jsonschema.validate(report, SCHEMA)
        assert report["processes"][0]["findings"] == []
        return {kernel["name"]: kernel for kernel in report["processes"][0]["kernels"]}

    whole, sample = kernels(code=0), kernels("--sample", "10", code=2)
    # All blocks do the same, so counts are those of the whole run.
    for counter in ("smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"):
        assert sample["scale"]["counters"][counter] == pytest.approx(whole["scale"]["counters"][counter])
    assert (whole["scale"]["blocks"], whole["scale"]["blocks_run"]) == (2008, 2008) and "host_seconds" not in whole["scale"]
    assert (sample["scale"]["blocks"], sample["scale"]["blocks_run"]) == (2008, 28)
    assert 0 < sample["scale"]["host_seconds"]["low"] <= sample["scale"]["host_seconds"]["high"]
    assert sample["in_turn"]["blocks_run"] == 10

    # The last block is in the sample; other findings there are none.
    done = run("simulate", "--sample", "2", "--", "./sampled", "more", cwd=tmp_path)
    assert done.returncode == 1 and "findings: 1\n" in done.stderr, done.stderr
    assert "by block (999, 0, 0), thread (63, 0, 0)" in done.stderr

    done = run("simulate", "--estimate", "--", "./sampled", cwd=tmp_path)
    assert done.returncode == 0 and "findings" not in done.stderr, done.stderr
    assert re.search(r"^the whole run would take about \d", done.stderr, re.MULTILINE), done.stderr
    assert re.search(r"s +3 +2,008 +72  scale$", done.stderr, re.MULTILINE), done.stderr

    done = run("simulate", "--driver-version", "12.4", "--", "./sampled", cwd=tmp_path)
    assert done.stdout == "12040 cudaErrorInsufficientDriver\n", done.stderr


def test_what_cannot_be_simulated_is_said_in_one_line(programs: Path, tmp_path: Path) -> None:
    def refused(*words: str, said: str) -> None:
        assert_refused(run("simulate", *words, cwd=programs), said)
    refused("--", "./nowhere", said="./nowhere: no such file")
    refused("--", "nowhere-at-all", said="nowhere-at-all: not found on PATH")
    refused("--", "seeded", said="did you mean ./seeded?")
    refused("--", "./seeded.o", said="./seeded.o: not executable")
    refused("--", "/", said="/: not a file")
    refused("--", said="-- is followed by the program")
    refused("./seeded", said="./seeded is a program: convladder simulate [options] -- ./seeded")
    refused("--grid", "2", "--", "./seeded", said="--grid is for a kernel")
    refused("--gpu", "gtx", "--", "./seeded", said="unknown GPU 'gtx'")
    refused("--memory", "much", "--", "./seeded", said="--memory much: expected a size")
    refused("--sample", "1", "--", "./seeded", said="--sample: expected a whole number from 2")
    refused("--driver-version", "12", "--", "./seeded", said="--driver-version 12: expected the CUDA version of a driver")
    refused("--env", "--estimate", said="--estimate runs a program")
    refused("--error-exitcode", "256", "--", "./seeded", said="--error-exitcode")
    refused("--env", "--", "./seeded", said="--env prints")
    refused("--leak-check", "nowhere.ptx", said="--leak-check is for a program")
    lone = tmp_path / "convladder"  # as in a build without CUDA's headers
    shutil.copy(PROGRAM, lone)
    assert_refused(run("simulate", "--", "./seeded", program=lone, cwd=programs), "no libraries stand in for the CUDA runtime")
    done = run("simulate", "--env", program=lone)
    assert done.returncode == 3 and done.stdout == "false\n", done


def test_programs_without_cuda_and_those_that_find_another_runtime(programs: Path) -> None:
    done = run("simulate", "--", "true")
    assert done.returncode == 2 and "nothing of it has called CUDA" in re.sub(r"\s+", " ", done.stderr)
    assert run("simulate", "--", "false").returncode == 1
    # DT_RPATH goes before LD_LIBRARY_PATH.
    loaded = {**os.environ, "LD_LIBRARY_PATH": str(STAND_IN)}
    assert subprocess.run(["./rpath"], cwd=programs, env=loaded, capture_output=True, check=False).returncode != 0
    if REDIRECTION.exists():
        done = run("simulate", "--", "./rpath", "bounds", cwd=programs)
        assert done.returncode == 1 and done.stdout == "done: bounds\n", done


def test_an_installed_program_finds_its_libraries(programs: Path, tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no cmake")
    subprocess.run([cmake, "--install", str(PROGRAM.parent), "--prefix", str(tmp_path / "installed")], check=True,
                   capture_output=True)
    moved = tmp_path / "moved"  # wherever it is
    (tmp_path / "installed").rename(moved)
    installed = {file.name for file in (moved / "lib/convladder/stand_in").iterdir()}
    assert installed == {file.name for file in (PROGRAM.parent / "stand_in").iterdir()} and installed >= {
        "libconvladder_cuda.so", "libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}
    done = run("simulate", "--", "./seeded", "bounds", cwd=programs, program=moved / "bin/convladder")
    assert done.returncode == 1 and done.stdout == "done: bounds\n", done
    assert "0 bytes past the end of 'device memory 1'" in finding(done, "memcheck")


def test_kernels_in_machine_code_only(programs: Path) -> None:
    nvcc(programs, "-cudart", "shared", "-gencode", "arch=compute_75,code=sm_75", str(SOURCE), "-o", "machine_code")
    done = run("simulate", "--", "./machine_code", "bounds", cwd=programs)
    said = re.sub(r"\s+", " ", done.stderr)
    assert done.returncode == 2 and "findings: none in what was seen" in said, done
    assert "the program holds machine code for sm_75 and no PTX: compile it with -gencode arch=" in said


def test_the_example_of_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs/use/stand_in.md").read_text(encoding="utf-8")
    commands, shown = re.findall(r"```sh\n(.*?)```\n```text\n(.*?)```\n", page, re.DOTALL)[0]
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/release").symlink_to(PROGRAM.parent)
    path = f"{Path(str(NVCC)).parent}:{os.environ['PATH']}"
    done = subprocess.run(["sh", "-c", commands], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
                          env={**os.environ, "PATH": path}, timeout=60)
    assert done.returncode == 1, done
    # Lines of the PTX depend on the compiler; where the page has an ellipsis, anything may stand.
    pattern = re.sub(r"PTX\\ line\\ \d+", r"PTX\\ line\\ \\d+", re.escape(shown)).replace("…", "(?s:.*)")
    assert re.fullmatch(pattern, done.stdout + done.stderr), done.stdout + done.stderr
