"""Vectors that are wider than the registers of the processor that a program is compiled for: only in functions that are compiled
for such registers, and never passed by value. Otherwise what is carried to other machines does not compile, or computes with
halves where it could with whole vectors."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, only_with_all

FILES = Path(__file__).parent / "wide_vectors"
SHORT_OF_AVX512 = "x86-64-v3"  # of the presets `bundle` and `package`

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="AVX-512 is of x86-64")


def words_of_stage_16() -> list[str]:
    """How this build compiles a file with vectors of AVX-512."""
    commands = PROGRAM.parent / "compile_commands.json"
    if not commands.exists():
        pytest.skip(f"no {commands}")
    found = [one["command"] for one in json.loads(commands.read_text("utf-8"))
             if one["file"].endswith("variants/convolution/cpu/16_winograd_maps.cpp")]
    assert len(found) == 1, found
    words = shlex.split(found[0])
    return words[:words.index("-o")]


def is_clang(words: list[str]) -> bool:
    """Which compiler these are for."""
    return any("clang" in word for word in words)


def own_functions(binary: Path) -> list[str]:
    """Of code over vectors of AVX-512, what was not drawn into the functions that are compiled for them."""
    if not shutil.which("nm"):
        pytest.skip("nm is not installed")
    symbols = subprocess.run(["nm", "--defined-only", binary], capture_output=True, check=True, encoding="utf-8").stdout
    functions = re.findall(r"^\S+ [tTwW] (\S*(?:6Avx512|12Avx512Halves)E\S*)$", symbols, re.MULTILINE)
    assert any("run_avx512" in name for name in functions), "the names of the instruction sets have changed"
    return [name for name in functions if "run_avx512" not in name]


@pytest.mark.parametrize(("file", "complaint"), [
    ("right.cpp", ""), ("returned.cpp", "vector return .*without '?avx512f'? enabled changes the ABI"),
    ("taken.cpp", "vector argument .*without '?avx512f'? enabled changes the ABI"),
    ("named_in_asm.cpp", "impossible constraint in"), ("intrinsic.cpp", "avx512f")])
def test_the_build_refuses_what_cannot_be_carried(file: str, complaint: str, tmp_path: Path) -> None:
    words = words_of_stage_16()
    if is_clang(words) and file == "named_in_asm.cpp":
        pytest.skip("clang takes it: the release build's GCC does not")
    march = [word for word in words if word.startswith("-march=")]
    if is_sanitized():
        assert march == [f"-march={SHORT_OF_AVX512}"], "an old build folder: cmake --preset asan-ubsan -U CONVLADDER_CPU_ARCHITECTURE"
    words = [f"-march={SHORT_OF_AVX512}" if word in march else word for word in words]
    done = subprocess.run([*words, "-o", tmp_path / "out.o", "-c", FILES / file], capture_output=True, check=False,
                          encoding="utf-8", env=os.environ | {"LC_ALL": "C"})
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if complaint:
        assert done.returncode != 0 and any(re.search(complaint, line, re.IGNORECASE) for line in errors), done.stderr
    else:
        assert (done.returncode, errors) == (0, []), done.stderr


@only_with_all  # beside the bundle, which is compiled so
def test_stage_16_compiles_for_less_as_optimised_as_it_is_carried(tmp_path: Path) -> None:
    """It names vectors in an asm, and which lambdas become functions of their own depends on how much is optimised."""
    if is_sanitized():
        pytest.skip("compiled for less, and optimised less, by this build itself")
    words = words_of_stage_16()
    if is_clang(words):
        pytest.skip("clang draws in less")
    words = [f"-march={SHORT_OF_AVX512}" if word.startswith("-march=") else word for word in words]
    done = subprocess.run([*words, "-o", tmp_path / "out.o", "-c", REPOSITORY / "variants/convolution/cpu/16_winograd_maps.cpp"],
                          capture_output=True, check=False, encoding="utf-8", env=os.environ | {"LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    assert own_functions(tmp_path / "out.o") == []


def test_all_code_over_such_vectors_is_drawn_into_functions_for_them() -> None:
    if is_sanitized() or is_clang(words_of_stage_16()):
        pytest.skip("less is drawn in by clang, and where every access is checked")
    assert own_functions(PROGRAM) == []
