"""A stage sees no variable of the environment but those that docs/how/measuring.md lists."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from conftest import PROGRAM, is_sanitized, run
from ladder_folders import STAGE as PLAIN
from ladder_folders import write_ladder

REPOSITORY = Path(__file__).resolve().parents[3]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"

SECRETS = {"SECRET_TOKEN": "a", "AWS_SECRET_ACCESS_KEY": "b", "LD_PRELOAD": "/nowhere/such.so", "HOME_OF": "c", "XOMP_A": "d",
           "SSH_AUTH_SOCK": "/e", "LD_LIBRARY_PATHS": "f", "omp_num_threads": "g", "PYTHONPATH": "/h", "LD_AUDIT": ""}
MEASURING = {"OMP_NUM_THREADS": "1", "LANG": "C.UTF-8", "CUDA_VISIBLE_DEVICES": "0", "CONVLADDER_ANYTHING": "1"}

LISTS = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern char** environ;
static bool is_listed(const char* name) {
  const char* const all[] = {LISTED};
  for (const char* const one : all) {
    const std::size_t size = std::strlen(one);
    const bool is_family = one[size - 1] == '*';
    if (std::strncmp(one, name, size - is_family) == 0 && (is_family || name[size] == '=')) return true;
  }
  return false;
}
static void tell() {
  std::fputs("others:", stderr);
  int listed = 0;
  for (char** one = environ; *one != nullptr; ++one) {
    if (is_listed(*one)) {
      ++listed;
    } else {
      std::fprintf(stderr, " %.*s", static_cast<int>(std::strcspn(*one, "=")), *one);
    }
  }
  std::fprintf(stderr, " listed: %d\\n", listed);
  std::_Exit(3);
}
"""
STAGE = LISTS + """
extern "C" void solve(const float* x, float* y, int N) { tell(); }
"""
EARLY = LISTS + """
static const bool early = (tell(), true);
extern "C" void solve(const float* x, float* y, int N) { y[0] = early; }
"""
CUDA = LISTS + """
extern "C" void solve(const float* x, float* y, int N) { tell(); }
"""
SHOWS = """
extern char** environ;
__asm__(".section .rodata\\n.global taken\\ntaken: .incbin \\"/proc/self/environ\\"\\n.byte 0\\n.global past\\npast:\\n.previous\\n");
extern const char taken[], past[];
extern "C" void solve(const float* x, float* y, int N) { for (int i = 0; i < N; ++i) y[i] = 2 * x[i]; }
"""


def documented() -> list[str]:
    """The names of the list in docs/how/measuring.md, in which "OMP_*" stands for many."""
    text = (REPOSITORY / "docs/how/measuring.md").read_text(encoding="utf-8")
    item = re.search(r"\*\*The environment is emptied\*\*.*?\): (.*?) Tokens", text, re.DOTALL)
    assert item is not None
    return re.findall(r"`([A-Z_]+\*?)`", item.group(1))


def telling(source: str) -> str:
    """The source with the list."""
    return source.replace("LISTED", ", ".join(f'"{name}"' for name in documented()))


@pytest.mark.skipif(is_sanitized(), reason="sanitizers complain about a stage that ends its process")
@pytest.mark.parametrize("how", ["run", "run --untrusted", "loaded", "rank", "simulated"])
def test_nothing_but_what_is_documented(tmp_path: Path, how: str) -> None:
    if how == "simulated" and (NVCC is None or not STAND_IN.exists()):
        pytest.skip("no nvcc, or no stand-in")
    stage = {"loaded": {"01_tell": EARLY}, "simulated": {"01_tell.cu": CUDA}}.get(how, {"01_tell": STAGE})
    folder = write_ladder(tmp_path / "ladder", **{name: telling(source) for name, source in stage.items()})
    environment = os.environ | SECRETS | MEASURING | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    if how == "rank":
        (tmp_path / "hands").mkdir()
        shutil.copy(folder / "01_tell.cpp", tmp_path / "hands/alice.cpp")
        (folder / "01_tell.cpp").unlink()
        (folder / "01_plain.cpp").write_text(PLAIN)
        done = run("rank", folder, tmp_path / "hands", "--output", tmp_path / "out", env=environment, timeout=300)
        cases = json.loads((tmp_path / "out/rank.json").read_text(encoding="utf-8"))["cases"]
        reasons = [one["reason"] for one in cases if one["name"] == "alice"]
    else:
        done = run("run", folder, "--output", tmp_path / "out", "--repetitions", 2, "--benchmark_min_time=0.001", "--no-report",
                   "--device", "simulated" if how == "simulated" else "cpu", *(["--untrusted"] if "untrusted" in how else []),
                   env=environment, timeout=300)
        cases = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]
        reasons = [one["reason"] for one in cases]
    assert reasons, done
    least = 1 if how == "simulated" else len(MEASURING)
    for reason in reasons:
        told = re.search(r"ended with exit code 3 before it answered: others:(.*) listed: ([0-9]+)$", reason)
        assert told is not None and told.group(1) == "" and int(told.group(2)) >= least, reason


def test_a_compiler_sees_no_secret(tmp_path: Path) -> None:
    """Where the kernel does not keep it from reading its environment, there is nothing in it."""
    folder = write_ladder(tmp_path / "ladder", **{"01_shows": SHOWS})
    environment = os.environ | SECRETS | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    run("run", folder, "--output", tmp_path / "out", "--repetitions", 2, "--benchmark_min_time=0.001", "--no-report",
        "--device", "cpu", env=environment, timeout=300)
    for library in (tmp_path / "cache").rglob("*.so"):
        assert b"SECRET_TOKEN" not in library.read_bytes()
