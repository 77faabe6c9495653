"""scripts/ncu.sh and scripts/nsys.sh, with profilers on PATH that write down how they were called."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", REPOSITORY / "build/release/convladder")).resolve()
CASE = ["--variant", "shared-memory", "--layer", "lenet72.conv2", "--batch", "100"]
LAUNCHES_PER_CALL = 1

FAKE = """#!/bin/sh
printf '%s\\n' "$@" >"{folder}/arguments"
while [ "$1" != "{program}" ]; do shift; done
"$@" >"{folder}/program.out" 2>&1
code=$?
[ "$code" -eq 0 ] || exit "$code"
exit {code}
"""


@pytest.fixture(autouse=True)
def _needs_the_cuda_family() -> None:
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"not built: {PROGRAM}")
    if "variants of family cuda" not in subprocess.run([PROGRAM, "list"], capture_output=True, encoding="utf-8",
                                                       check=True).stdout:
        pytest.skip("no cuda family in this build")


def call(script: str, *arguments: object, path: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the script with nothing on PATH but the system's tools and what the test adds."""
    environment = {"PATH": f"{path}:/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"),
                   "CONVLADDER_PROGRAM": str(PROGRAM), "OMP_NUM_THREADS": "1"}
    return subprocess.run([SCRIPTS / script, *map(str, arguments)], env=environment, capture_output=True,
                          encoding="utf-8", timeout=120, check=False)


def installed(script: str) -> bool:
    """Whether this machine has the real tool where `call` looks."""
    return any(Path(folder, Path(script).stem).exists() for folder in ("/usr/bin", "/bin"))


def fake(script: str, folder: Path, code: int = 0) -> str:
    """A profiler that runs what it is given; returns its folder."""
    tool = folder / Path(script).stem
    tool.write_text(FAKE.format(folder=folder, program=PROGRAM, code=code), encoding="utf-8")
    tool.chmod(0o755)
    return str(folder)


def value_after(arguments: list[str], option: str) -> str:
    assert arguments.count(option) == 1
    return arguments[arguments.index(option) + 1]


@pytest.mark.parametrize("calls", [1, 3])
def test_ncu_gets_the_range_and_the_exact_number_of_launches(tmp_path: Path, calls: int) -> None:
    output = tmp_path / "profile"
    done = call("ncu.sh", *CASE, "--calls", calls, "--output", output, path=fake("ncu.sh", tmp_path))
    assert done.returncode == 0, done.stderr
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8").splitlines()
    assert "--nvtx" in arguments
    assert value_after(arguments, "--nvtx-include") == "convladder@profile/"
    assert value_after(arguments, "--launch-count") == str(calls * LAUNCHES_PER_CALL)
    assert value_after(arguments, "--set") == "full"
    assert value_after(arguments, "--export").startswith(str(output))
    assert value_after(arguments, "--profile-calls") == str(calls)
    assert value_after(arguments, "--isolate") == "none"
    assert [value_after(arguments, option) for option in ("--variant", "--layer", "--batch")] == CASE[1::2]
    assert done.stdout.splitlines()[-1] == str(output)


def test_the_program_takes_the_command(tmp_path: Path) -> None:
    output = tmp_path / "profile"
    done = call("ncu.sh", *CASE[:4], "--batch", 2, "--output", output, path=fake("ncu.sh", tmp_path))
    assert done.returncode == 0, done.stderr
    record = json.loads((output / "run/run.json").read_text(encoding="utf-8"))
    assert [case["id"] for case in record["cases"]] == ["cuda/shared-memory/lenet72.conv2/2"]
    assert record["cases"][0]["status"] in ("ok", "skipped")
    assert record["context"]["options"]["profile_calls"] == 1


def test_nsys_records_the_range(tmp_path: Path) -> None:
    done = call("nsys.sh", *CASE, "--calls", 20, "--output", tmp_path / "profile", path=fake("nsys.sh", tmp_path))
    assert done.returncode == 0, done.stderr
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8").splitlines()
    assert arguments[0] == "profile"
    assert {"--trace=cuda,nvtx", "--capture-range=nvtx", "--nvtx-capture=profile@convladder",
            "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0"} <= set(arguments)
    assert value_after(arguments, "--profile-calls") == "20"
    assert f"{20 * LAUNCHES_PER_CALL} launches" in done.stderr


@pytest.mark.parametrize("script", ["ncu.sh", "nsys.sh"])
def test_print_only_prints_what_would_be_run(tmp_path: Path, script: str) -> None:
    options = [*CASE, "--output", tmp_path / "profile"]
    printed = call(script, *options, "--print-only", path=fake(script, tmp_path))
    assert printed.returncode == 0
    assert not (tmp_path / "arguments").exists()
    assert not (tmp_path / "profile").exists()
    run = call(script, *options, path=fake(script, tmp_path))
    assert run.returncode == 0, run.stderr
    command = shlex.split(printed.stdout)
    assert command[0] == Path(script).stem
    assert command[1:] == (tmp_path / "arguments").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("script", ["ncu.sh", "nsys.sh"])
def test_without_the_profiler_the_command_is_printed(tmp_path: Path, script: str) -> None:
    if installed(script):
        pytest.skip(f"{Path(script).stem} is installed")
    done = call(script, *CASE, "--output", tmp_path / "profile")
    assert done.returncode == 3
    assert shlex.split(done.stdout)[0] == Path(script).stem
    assert "is not installed" in done.stderr
    assert call(script, *CASE, "--print-only").returncode == 0
    assert not (tmp_path / "profile").exists()


def test_own_options_go_to_the_profiler(tmp_path: Path) -> None:
    done = call("ncu.sh", "--variant", "global-memory", "--shape", "1,8,8,2,3", "--batch", 2, "--print-only", "--",
                "--section", "Occupancy", path=fake("ncu.sh", tmp_path))
    command = shlex.split(done.stdout)
    assert value_after(command, "--section") == "Occupancy"
    assert "--set" not in command
    assert value_after(command, "--shape") == "1,8,8,2,3"


def test_ncu_leaves_the_clocks_as_they_are_unless_told(tmp_path: Path) -> None:
    path = fake("ncu.sh", tmp_path)
    own = shlex.split(call("ncu.sh", *CASE, "--print-only", path=path).stdout)
    assert value_after(own, "--clock-control") == "none"
    told = shlex.split(call("ncu.sh", *CASE, "--print-only", "--", "--clock-control", "base", path=path).stdout)
    assert value_after(told, "--clock-control") == "base"


def test_a_library_has_no_known_number_of_launches(tmp_path: Path) -> None:
    if "cudnn" not in subprocess.run([PROGRAM, "list"], capture_output=True, encoding="utf-8", check=True).stdout:
        pytest.skip("no cuDNN in this build")
    done = call("ncu.sh", "--variant", "cudnn", "--layer", "lenet72.conv2", "--print-only",
                path=fake("ncu.sh", tmp_path))
    if done.returncode == 2:
        assert "libcudnn" in done.stderr  # its library is not here, so it runs no shape
    else:
        assert "--launch-count" not in done.stdout


def test_a_profiler_that_fails_is_an_error(tmp_path: Path) -> None:
    done = call("ncu.sh", *CASE[:4], "--batch", 2, "--output", tmp_path / "profile",
                path=fake("ncu.sh", tmp_path, code=7))
    assert done.returncode == 1
    assert "exit status 7" in done.stderr


@pytest.mark.parametrize("arguments, said", [
    ([], "--variant is missing"),
    (["--variant", "shared-memory"], "--layer or --shape"),
    ([*CASE, "--shape", "1,8,8,2,3"], "only one of them"),
    (["--variant"], "--variant needs a value"),
    ([*CASE, "--calls", "0"], "--calls"),
    ([*CASE, "--call", "2"], "--calls"),
    (["--variant", "shared-memry", "--layer", "lenet72.conv2"], "shared-memory"),
    (["--variant", "shared-memory", "--layer", "lenet72.conv9"], "lenet72.conv2"),
    (["--variant", "shared-memory", "--layer", "conv1"], "name one of them"),
    ([*CASE[:4], "--batch", "x"], "--batch"),
])
@pytest.mark.parametrize("script", ["ncu.sh", "nsys.sh"])
def test_bad_usage_is_one_line(script: str, arguments: list[str], said: str) -> None:
    done = call(script, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(script) and len(done.stderr.splitlines()) == 1
    assert said in done.stderr


@pytest.mark.parametrize("script", ["ncu.sh", "nsys.sh"])
def test_help_has_examples_and_exit_statuses(script: str) -> None:
    done = call(script, "--help")
    assert done.returncode == 0
    assert "examples:" in done.stdout and "exit status:" in done.stdout
