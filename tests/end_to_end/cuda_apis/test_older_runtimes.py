"""Programs that were linked with CUDA 12 or 11: functions and structures as they were then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stand_in import LIBRARIES, SOURCES, run_on_stand_in, stub_library, succeed, toolkit


@pytest.mark.parametrize("runtime", ["11", "12"])
def test_a_program_of_an_older_runtime(tmp_path: Path, runtime: str):
    toolkit()
    source = SOURCES / "older_runtime.c"
    functions = sorted(set(re.findall(r"^int (cuda\w+)\(", source.read_text(encoding="utf-8"), re.MULTILINE)))
    stub_library(tmp_path, "cudart", functions, {"11": "11.0", "12": "12"}[runtime])
    program = tmp_path / "older_runtime"
    succeed("gcc", "-std=c17", "-Wall", f"-DRUNTIME={runtime}", source, "-o", program, f"-L{tmp_path}",
            "-lcudart")
    done, reports = run_on_stand_in(program, tmp_path)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stdout + done.stderr
    assert reports[0]["not_supported"] == {{"11": "cudaBindTexture", "12": "cudaMemcpyBatchAsync"}[runtime]: 1}


@pytest.mark.parametrize("library", ["libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"])
def test_symbols_carry_the_version_that_programs_ask_for(library: str):
    toolkit()
    text = succeed("readelf", "-V", "-d", "-W", LIBRARIES / library)
    assert f"Library soname: [{library}]" in text
    assert re.search(rf"Name: {re.escape(library)}\b", text)
