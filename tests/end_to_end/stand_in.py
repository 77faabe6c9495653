"""Programs for the stand-in for CUDA: compiled at test time, from sources of this repository, and run on it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY

LIBRARIES = Path(os.environ.get("CONVLADDER_STAND_IN_LIBRARIES", PROGRAM.parent / "stand_in"))
REDIRECTION = LIBRARIES / "libconvladder_redirection.so"
SOURCES = REPOSITORY / "tests/stand_in"


def toolkit() -> Path:
    """The CUDA toolkit's folder; skips the test where there is none, or no stand-in."""
    if not (LIBRARIES / "libcuda.so.1").exists():
        pytest.skip("no stand-in was built: sanitizers, no CUDA headers, or no zstd or lz4")
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    folder = Path(nvcc).resolve().parents[1]
    if not (folder / "include/cuda.h").exists():
        pytest.skip("no cuda.h")
    return folder


def succeed(*command: object, **options: Any) -> str:
    """Runs a command that has to succeed; returns what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def stub_library(folder: Path, name: str, functions: list[str], version: str | None = None) -> Path:
    """A library to link with, as toolkits have them: functions that do nothing, under the name that is looked for when
    the program runs."""
    source = folder / f"{name}.c"
    source.write_text("".join(f"void {function}(void) {{}}\n" for function in functions), encoding="utf-8")
    library = folder / f"lib{name}.so"
    soname = f"lib{name}.so.{version}"
    script = []
    if name == "cudart":
        map_file = folder / f"{name}.map"
        map_file.write_text(f"{soname} {{ global: *; }};\n", encoding="utf-8")
        script = [f"-Wl,--version-script={map_file}"]
    succeed("gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", *script, source, "-o", library)
    return library


def driver_functions() -> list[str]:
    """All that libcuda.so.1 has."""
    names = succeed("nm", "-D", "--defined-only", "--format=just-symbols", LIBRARIES / "libconvladder_cuda.so")
    return re.findall(r"^cu[A-Z]\w*$", names, re.MULTILINE)


def run_on_stand_in(program: Path | list[Path | str], tmp_path: Path, *arguments: str, **settings: Any):
    """Runs a program on it, or a command; returns it and what it and those before it in this folder have reported."""
    report = tmp_path / "report.jsonl"
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(LIBRARIES),
        **({"LD_AUDIT": str(REDIRECTION)} if REDIRECTION.exists() else {}),
        "CONVLADDER_STAND_IN": json.dumps({"report": str(report), "host_threads": 1, **settings}),
    }
    command = [*(program if isinstance(program, list) else [program]), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120)
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    return done, [json.loads(line) for line in lines]
