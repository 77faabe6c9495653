"""scripts/tidy.py and scripts/lint.sh with a clang-tidy of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from calls import call_process
from conftest import SCRIPTS

CLANG_TIDY = """#!/bin/sh
for file; do :; done
case "$file" in
  *clean*) exit 0 ;;
  *crash*) echo "stack dump" >&2; exit 139 ;;
esac
echo "shared.hpp:3:1: error: in a header of many [misc-x,-warnings-as-errors]"
echo "  int line;"
echo "$file:7:2: error: in $file [misc-y,-warnings-as-errors]"
echo "1 warning generated." >&2
exit 1
"""


@pytest.fixture
def tidy(tmp_path: Path) -> list[str]:
    """tidy.py's options for a folder with a clang-tidy and a build of four sources."""
    program = tmp_path / "clang-tidy"
    program.write_text(CLANG_TIDY)
    program.chmod(0o755)
    sources = ["one.cpp", "two.cpp", "clean.cpp", "crash.cpp"]
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([{"directory": str(tmp_path), "file": source, "command": "c++"} for source in sources]))
    (tmp_path / "host.hpp").write_text("// what __global__ means\nint host();\n")
    (tmp_path / "kernel.hpp").write_text("__device__ int kernel();\n")
    return ["--clang-tidy", str(program), "--build", str(tmp_path), "--jobs", "2"]


def test_each_finding_is_told_once(tidy: list[str], tmp_path: Path) -> None:
    done = call_process("tidy.py", *tidy, input="one.cpp\ntwo.cpp\nclean.cpp\n", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("shared.hpp:3:1") == 1 and done.stdout.count("  int line;") == 1
    assert "one.cpp:7:2" in done.stdout and "two.cpp:7:2" in done.stdout
    assert done.stderr == "tidy: findings: 3; files with findings: 2 of 3\n"


def test_clean_files_say_nothing(tidy: list[str], tmp_path: Path) -> None:
    done = call_process("tidy.py", *tidy, input="clean.cpp\n", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_clang_tidy_that_dies_is_a_finding(tidy: list[str], tmp_path: Path) -> None:
    done = call_process("tidy.py", *tidy, input="crash.cpp\n", cwd=tmp_path)
    assert done.returncode == 1 and "crash.cpp: clang-tidy ended with 139:\nstack dump" in done.stdout


def test_what_cannot_be_checked_is_named(tidy: list[str], tmp_path: Path) -> None:
    done = call_process("tidy.py", *tidy, input="clean.cpp\nelsewhere.cpp\nkernel.hpp\n", cwd=tmp_path)
    assert done.returncode == 0 and "left out" in done.stderr and "elsewhere.cpp kernel.hpp" in done.stderr
    done = call_process("tidy.py", *tidy, input="host.hpp\n", cwd=tmp_path)
    assert done.returncode == 1 and "host.hpp:7:2" in done.stdout and "left out" not in done.stderr


@pytest.mark.parametrize("tool", ["format", "tidy"])
def test_another_version_is_77(tmp_path: Path, tool: str) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "dirname", "realpath", "grep", "git", "nproc"):
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    other = folder / f"clang-{tool}"
    other.write_text("#!/bin/sh\necho 'Debian version 13.0.1'\n".replace("/bin/sh", str(folder / "bash")))
    other.chmod(0o755)
    done = call_process("lint.sh", f"--{tool}", str(SCRIPTS.parent / "variants/convolution/problem.cpp"),
                        env={**os.environ, "PATH": str(folder)})
    assert done.returncode == 77
    assert f"clang-{tool} 14 is not there" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("arguments", "message"), [
    (["--format", "--tidy"], "leave nothing to check"),
    (["--jobs", "none"], "--jobs needs a number"),
    (["--changed", "no-such-commit"], "'no-such-commit' is no commit"),
    (["--changed", "--format", "README.md"], "leave out"),
    (["no_such_file.cpp"], "no such file"),
    (["--nonsense"], "unknown argument '--nonsense'"),
])
def test_a_mistake_is_one_line(arguments: list[str], message: str) -> None:
    done = call_process("lint.sh", *arguments, cwd=SCRIPTS.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr.splitlines()[-1]


def test_files_since_a_commit(tmp_path: Path) -> None:
    if shutil.which("clang-format-14") is None:
        pytest.skip("clang-format 14 is not there")
    (tmp_path / "scripts").mkdir()
    for name in ("common.sh", "lint.sh"):
        shutil.copy2(SCRIPTS / name, tmp_path / "scripts")
    shutil.copy2(SCRIPTS.parent / ".clang-format", tmp_path)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True,
                       capture_output=True)

    def lint(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["scripts/lint.sh", "--format", *arguments], cwd=tmp_path, capture_output=True,
                              encoding="utf-8", check=False, timeout=60)

    git("init", "--initial-branch", "main")
    (tmp_path / "old.cpp").write_text("int   old;\n")
    git("add", ".")
    git("commit", "--message", "one")
    git("checkout", "-b", "branch")
    (tmp_path / "new.cpp").write_text("int   committed;\n")
    git("add", "new.cpp")
    git("commit", "--message", "two")
    assert lint("--changed").returncode == 0  # nothing since the last commit
    done = lint("--changed", "main")
    assert done.returncode == 1 and "new.cpp" in done.stderr and "old.cpp" not in done.stderr
    assert "old.cpp" in lint().stderr
    (tmp_path / "untracked.cpp").write_text("int   untracked;\n")
    done = lint("--changed")
    assert done.returncode == 1 and "untracked.cpp" in done.stderr and "new.cpp" not in done.stderr
