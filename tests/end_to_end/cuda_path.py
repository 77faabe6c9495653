"""The program's own CUDA path: convladder_on_stand_in, which is linked with the stand-in for the CUDA runtime, and the
tests' own cuDNN, cuBLAS, NVML and CUPTI (tests/stand_in/libraries)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Optional, Sequence

import pytest

from conftest import RELEASE, run

PROGRAM = Path(os.environ.get("CONVLADDER_ON_STAND_IN", RELEASE / "tests/convladder_on_stand_in"))
LIBRARIES = PROGRAM.parent / "libraries"

needs_program = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK),
                                   reason="no program on the stand-in: it needs nvcc, zstd and lz4")

LAYER = ["--shape", "2,24,24,8,5", "--batch", "2", "--repetitions", "3"]
"""Kernels of some microseconds, which are soon executed."""

CEILING_OF_REAL_CLOCK = "64"
"""Kernels of the ceilings are so long that they are launched some thousand times, and no more work than has to be executed: by the
real clock, which counts on until a sample is long enough, buffers of 4 MiB take three times as much."""


def settings_of(tmp_path: Path, *, libraries: Sequence[str] = (), library_faults: Sequence[dict[str, Any]] = (),
                dropped: int = 0, cudnn: Optional[dict[str, Any]] = None, **settings: Any) -> dict[str, str]:
    """The environment for these settings of the stand-in, with these libraries of the tests before any others. What they
    are asked for is in tmp_path/calls; `cudnn` is what that library has to offer (cudnn_settings.hpp)."""
    for name in libraries:
        if not (LIBRARIES / name).exists():
            pytest.skip(f"the tests' {name} was not built: its header is not here")
    environment = {**os.environ, "CONVLADDER_STAND_IN": json.dumps({"host_threads": 1, **settings})}
    if "real_clock" in settings:
        environment["CONVLADDER_CEILING_MIB"] = CEILING_OF_REAL_CLOCK
    if libraries:
        environment["LD_LIBRARY_PATH"] = ":".join(str(LIBRARIES / name) for name in libraries)
        environment["CONVLADDER_TEST_LIBRARIES"] = json.dumps(
            {"log": str(tmp_path / "calls"), "dropped": dropped, "faults": list(library_faults),
             "cudnn": cudnn or {}})
    return environment


def on_stand_in(tmp_path: Path, *arguments: object, **settings: Any) -> CompletedProcess[str]:
    """Runs the program with these settings."""
    return run(*arguments, program=PROGRAM, env=settings_of(tmp_path, **settings), cwd=tmp_path)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Of a trace of the stand-in or a log of the libraries, which may be one file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
