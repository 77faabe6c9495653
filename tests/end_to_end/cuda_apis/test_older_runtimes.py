"""Programs that were linked with CUDA 12 or 11: functions and structures as they were then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stand_in import LIBRARIES, REDIRECTION, SOURCES, run_on_stand_in, stub_library, succeed, toolkit

SOURCE = SOURCES / "older_runtime.c"
FUNCTIONS = sorted(set(re.findall(r"^int (cuda\w+)\(", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)))


@pytest.mark.parametrize("runtime", ["11", "12"])
def test_a_program_of_an_older_runtime(tmp_path: Path, runtime: str):
    toolkit()
    stub_library(tmp_path, "cudart", FUNCTIONS, {"11": "11.0", "12": "12"}[runtime])
    program = tmp_path / "older_runtime"
    succeed("gcc", "-std=c17", "-Wall", f"-DRUNTIME={runtime}", SOURCE, "-o", program, f"-L{tmp_path}",
            "-lcudart")
    done, reports = run_on_stand_in(program, tmp_path)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stdout + done.stderr
    assert reports[0]["not_supported"] == {{"11": "cudaBindTexture", "12": "cudaMemcpyBatchAsync"}[runtime]: 1}


@pytest.mark.parametrize("version, options", [("11080", ["-fPIE", "-pie"]), ("12090", ["-fno-pie", "-no-pie"]), ("10020", [])])
def test_the_version_of_a_runtime_within_the_program_decides(tmp_path: Path, version: str, options: list[str]):
    """Its functions are stand-ins for those of the toolkit's archive: each would end the program."""
    toolkit()
    if not REDIRECTION.exists():
        pytest.skip("nothing is redirected in this build")
    exported = succeed("nm", "-D", "--defined-only", "--format=just-symbols", LIBRARIES / "libconvladder_cuda.so")
    names = {*re.findall(r"^(?:__)?cuda[A-Z]\w*$", exported, re.MULTILINE), *FUNCTIONS, "cudaNobodyKnows"}
    runtime = tmp_path / "runtime.c"
    runtime.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        f'int {name}(void) {{ puts("its own {name}"); exit(4); }}\n' for name in sorted(names - {"cudaRuntimeGetVersion"}))
        + f"int cudaRuntimeGetVersion(int* version) {{ *version = {version}; return 0; }}\n", encoding="utf-8")
    program = tmp_path / "older_runtime"
    major = version[:2]
    succeed("gcc", "-std=c17", f"-DRUNTIME={major}", "-DWITH_UNKNOWN", *options, SOURCE, runtime, "-o", program)
    done, reports = run_on_stand_in(program, tmp_path)
    if major == "10":
        assert (done.stdout, done.returncode) == ("", 3), done
        assert re.fullmatch(r"convladder: \S+ has a CUDA runtime linked into it for which nothing here stands in "
                            r"\(libcudart.so.10\): compile it with CUDA 11, 12 or 13\n", done.stderr)
        return
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stdout + done.stderr
    assert reports[0]["not_supported"] == {{"11": "cudaBindTexture", "12": "cudaMemcpyBatchAsync"}[major]: 1,
                                           "cudaNobodyKnows": 1}


@pytest.mark.parametrize("library", ["libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"])
def test_symbols_carry_the_version_that_programs_ask_for(library: str):
    toolkit()
    text = succeed("readelf", "-V", "-d", "-W", LIBRARIES / library)
    assert f"Library soname: [{library}]" in text
    assert re.search(rf"Name: {re.escape(library)}\b", text)
