"""Stages in Python: `solve` on the CPU with whatever Python there is, and kernels of Triton, Gluon, Numba, Warp, TileLang and CuTe DSL with the
Python that CONVLADDER_PYTHON names, where it has them. CONVLADDER_LIGER names a clone of Liger-Kernel for stages around public kernels."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, record, run
from ladder_folders import environment, write_ladder

NUMPY = "def solve(x, y, N):\n    y[...] = 2 * x\n"
EXAMPLES = REPOSITORY / "docs/examples/python_stages"
PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")
FEW = ["--repetitions", "3", "--benchmark_min_time=0.0005"]

pytestmark = [pytest.mark.skipif(is_sanitized(), reason="Python cannot load a library with sanitizers")]


def has(*packages: str) -> bool:
    names = ", ".join(packages)
    return subprocess.run([PYTHON, "-c", f"import {names}"], capture_output=True, check=False).returncode == 0


def needs(*packages: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not has(*packages), reason=f"CONVLADDER_PYTHON names no python with {', '.join(packages)}")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PYTHON", raising=False)


def measured(folder: Path, tmp_path: Path, *options: str, python: str | None = None) -> dict[str, Any]:
    """Runs the folder and returns its cases by stage."""
    result = tmp_path / "results"
    run("run", str(folder), *FEW, "--no-report", "--no-reuse", "--output", str(result), *options, check=False,
        env=environment(PYTHON=python))
    return {one["variant"]: one for one in record(result)["cases"]}


# ---------------------------------------------------------------------------------------------------------- solve on the CPU


def test_solve_gets_arrays_that_lie_where_the_harness_put_them(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "doubled", None, **{
        "01_plain.py": NUMPY,
        "02_half.py": "# @title Half of it\n# @hypothesis it is wrong\ndef solve(x, y, N):\n    y[: N // 2] = 2 * x[: N // 2]\n",
        "03_beside.py": "from twice import twice\n\ndef solve(x, y, N):\n    twice(x, y)\n",
        "04_raises.py": "def solve(x, y, N):\n    y[...] = 2 * x\n    raise ValueError(f'no {N}')\n",
        "05_writes.py": "def solve(x, y, N):\n    x[0] = 1\n",
        "06_chosen.py": "# @parameter FACTOR 2 3\ndef solve(x, y, N):\n    y[...] = FACTOR * x\n"})
    (folder / "twice.py").write_text("import numpy as np\n\ndef twice(x, y):\n    np.multiply(x, 2, out=y)\n")
    cases = measured(folder, tmp_path)
    assert {name: one["status"] for name, one in cases.items()} == {
        "plain": "ok", "half": "incorrect", "beside": "ok", "raises": "launch failed", "writes": "launch failed", "chosen": "ok"}
    assert cases["raises"]["reason"] == "04_raises.py:3: ValueError: no 1000"
    assert re.match(r"05_writes.py:2: ValueError: .*read-only", cases["writes"]["reason"])
    assert cases["chosen"]["choice"] == "FACTOR=2"
    assert cases["plain"]["time"]


@pytest.mark.parametrize("text, words", [
    ("def solve(x, y):\n    pass\n", r"01_plain\.py:1: solve: too many positional arguments; expected def solve\(x, y, N\)"),
    ("answer = 42\n", r"01_plain\.py: it does not define solve, and has no @launch; expected def solve\(x, y, N\)"),
    ("def solve(x, y, N:\n", r"01_plain\.py:1: SyntaxError: "),
    ("import os\nos._exit(0)\n", r"its compiler ended without a result"),
    ("raise RuntimeError('not\\ntoday')\n", r"01_plain\.py:1: RuntimeError: today"),
    ("# @launch kernel grid(N)\ndef kernel(x, y, N):\n    pass\n", r"01_plain\.py:1: @launch kernel: it is a function, no kernel of Triton"),
    ("# @launch kernel grid(N)\n", r"01_plain\.py:1: @launch kernel: the module has nothing of that name"),
])
def test_what_does_not_compile_is_said_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    folder = write_ladder(tmp_path / "doubled", None, **{"01_plain.py": text, "02_right.py": NUMPY, "01_right.cpp": ""})
    (folder / "01_right.cpp").unlink()
    case = measured(folder, tmp_path)["plain"]
    assert case["status"] == "does not compile"
    assert re.search(words, case["reason"]), case["reason"]


def test_a_package_that_is_not_installed_is_named(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "doubled", None, **{"01_plain.py": NUMPY, "02_other.py": "import no_such_package\n" + NUMPY})
    result = tmp_path / "results"
    done = run("run", str(folder), *FEW, "--no-report", "--output", str(result), env=environment(PYTHON=None))
    assert "/usr/bin/python3 has no module 'no_such_package'" in done.stdout + done.stderr
    nowhere = run("run", str(folder), *FEW, "--no-report", "--output", str(tmp_path / "other"), check=False,
                  env=environment(PYTHON="/no/such/python"))
    assert "/no/such/python was not found (PYTHON names another)" in nowhere.stdout + nowhere.stderr


def test_a_change_of_a_module_beside_the_stage_is_seen(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "doubled", None,
                          **{"01_plain.py": "from factor import FACTOR\n\ndef solve(x, y, N):\n    y[...] = FACTOR * x\n"})
    (folder / "factor.py").write_text("FACTOR = 2\n")
    assert measured(folder, tmp_path)["plain"]["status"] == "ok"
    (folder / "factor.py").write_text("FACTOR = 2.5\n")
    assert measured(folder, tmp_path / "again")["plain"]["status"] == "incorrect"


def test_untrusted_stages_are_confined_and_say_what_they_raised(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the answers")
    folder = write_ladder(tmp_path / "doubled", None, **{
        "01_plain.py": NUMPY,
        "02_reads.py": f"def solve(x, y, N):\n    open({str(secret)!r}).read()\n    y[...] = 2 * x\n",
        "03_starts.py": "import os\n\ndef solve(x, y, N):\n    os.system('true')\n    os.fork()\n    y[...] = 2 * x\n"})
    cases = measured(folder, tmp_path, "--untrusted")
    assert cases["plain"]["status"] == "ok"
    assert cases["reads"]["status"] in ("crashed", "launch failed") and "PermissionError" in cases["reads"]["reason"]
    assert cases["starts"]["status"] not in ("ok", "incorrect")


def test_a_module_cannot_open_more_than_it_could_read(tmp_path: Path) -> None:
    """It runs where the answer is written, and could ask for the whole disk to be readable later."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the answers")
    text = f"""import atexit, json, os, sys

def forge():
    answer = json.loads(open(sys.argv[2]).read())
    answer["read"].append({str(secret)!r})
    answer["interpreter"]["prefix"] = "/"
    open(sys.argv[2], "w").write(json.dumps(answer))

if len(sys.argv) > 2:
    atexit.register(forge)

def solve(x, y, N):
    open({str(secret)!r}).read()
    y[...] = 2 * x
"""
    cases = measured(write_ladder(tmp_path / "doubled", None, **{"01_plain.py": NUMPY, "02_forges.py": text}), tmp_path)
    assert cases["plain"]["status"] == "ok"
    assert cases["forges"]["status"] == "does not compile"
    assert "elsewhere" in cases["forges"]["reason"]


@pytest.mark.parametrize("answer, words", [
    ({"read": [], "launches": []}, "0 launches were compiled of 1"),
    ({"read": [], "launches": [{"ptx": "/etc/passwd"}]}, "it left its PTX outside of its folder"),
    ({"read": [], "launches": [{"ptx": "PTX", "entry": "k", "grid": None, "block": None, "shared": None,
                                "parameters": [[{"type": "i32", "value": "1 +"}]]}]}, "args: expected a number"),
    ({"read": [], "launches": [{"ptx": "P" * 5000}]}, "it left its PTX outside of its folder"),
    ({"read": [7], "launches": []}, "its compiler left a result that cannot be read"),
    ([[[[]]]], "its compiler"),
])
def test_an_answer_that_a_module_forges_is_refused_in_one_line(tmp_path: Path, answer: Any, words: str) -> None:
    text = f"""# @launch k grid(N)
import atexit, json, os, sys

def forge():
    scratch = os.path.dirname(sys.argv[2])
    open(scratch + "/k.ptx", "w").write(".visible .entry k(.param .u32 n) {{ ret; }}")
    open(sys.argv[2], "w").write({json.dumps(answer)!r}.replace("PTX", scratch + "/k.ptx"))

atexit.register(forge)
"""
    folder = write_ladder(tmp_path / "doubled", None, **{"01_plain.py": NUMPY, "01_forges.py": text})
    cases = measured(folder, tmp_path, "--device", "simulated")
    assert cases["forges"]["status"] == "does not compile"
    assert words in cases["forges"]["reason"] and "\n" not in cases["forges"]["reason"], cases["forges"]["reason"]


def test_submissions_in_python_are_ranked(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "doubled", None, **{"01_plain.py": NUMPY})
    people = tmp_path / "people"
    people.mkdir()
    (people / "alice.py").write_text(NUMPY)
    (people / "bob.py").write_text("def solve(x, y, N):\n    y[...] = x\n")
    (people / "grades.py").write_text("print('no stage')\n")
    (people / "carol").mkdir()
    (people / "carol/solve.py").write_text("from mine import twice\n\ndef solve(x, y, N):\n    y[...] = twice(x)\n")
    (people / "carol/mine.py").write_text("def twice(x):\n    return 2 * x\n")
    done = run("rank", str(folder), str(people), "--rounds", "10", "--budget", "0", "--output", str(tmp_path / "ranked"), check=False, env=environment())
    table = done.stdout + done.stderr
    ranked = record(tmp_path / "ranked", "rank")
    states = {one["name"]: one["status"] for one in ranked["cases"] if one["name"] != "plain"}
    assert states == {"alice": "ok", "bob": "incorrect", "carol": "ok"}, table
    assert "grades.py" in table


@needs("numba", "torch")
def test_numba_and_torch_are_stages_on_the_cpu_too(tmp_path: Path) -> None:
    """Both find their libraries where nothing may be written and no program may be started."""
    folder = example("softmax", tmp_path)
    cases = measured(folder, tmp_path, "--device", "cpu", python=PYTHON)
    assert {name: (case["status"], case.get("reason")) for name, case in cases.items()} == {
        name: ("ok", None) for name in ("numpy", "numba-cpu", "torch")}
    apart = measured(folder, tmp_path / "apart", "--device", "cpu", "--untrusted", python=PYTHON)
    assert {case["status"] for case in apart.values()} == {"ok"}, apart


# ---------------------------------------------------------------------------------------------------------- kernels


simulates = pytest.mark.skipif(not (PROGRAM.parent / "stand_in/libcudart.so.13").exists(), reason="no stand-in in this build")


def counted(folder: Path, tmp_path: Path, *options: str) -> dict[str, Any]:
    return measured(folder, tmp_path, "--device", "simulated", *options, python=PYTHON)


def example(name: str, tmp_path: Path, *stages: str) -> Path:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    for file in folder.iterdir():
        if stages and file.name[0].isdigit() and file.name not in stages:
            file.unlink()
    return folder


def changed(file: Path, old: str, new: str) -> int:
    """Replaces a text that stands there once; returns the number of its line."""
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def instructions(case: dict[str, Any]) -> float:
    return case["counters"]["totals"]["smsp__inst_executed.sum"]


PACKAGES = {"numba": "numba.cuda", "warp": "warp", "triton": "triton", "gluon": "triton", "cute": "cutlass", "tilelang": "tilelang"}


@simulates
@needs("triton")
@pytest.mark.parametrize("name", ["softmax", "matmul", "attention"])
def test_kernels_are_verified_checked_and_counted(tmp_path: Path, name: str) -> None:
    cases = counted(example(name, tmp_path), tmp_path)
    assert cases["naive"]["status"] == "ok"
    for stage, case in cases.items():
        if stage in PACKAGES and not has(PACKAGES[stage]):
            assert case["status"] == "skipped" and "has no module" in case["reason"]
            continue
        assert case["status"] == "ok", (stage, case.get("reason"))
        assert instructions(case) > 0
    assert instructions(cases["triton"]) < instructions(cases["naive"])


@simulates
@needs("triton")
def test_a_mask_that_is_forgotten_is_found_with_its_line(tmp_path: Path) -> None:
    folder = example("softmax", tmp_path, "04_triton.py")
    changed(folder / "04_triton.py", "# @builds-on numba\n", "#\n")
    line = changed(folder / "04_triton.py", "mask=inside, other=-float(\"inf\")", "")
    case = counted(folder, tmp_path)["triton"]
    assert case["status"] != "ok"
    assert re.search(rf"memcheck: .*'x' .*04_triton\.py line {line}\b", json.dumps(case)), case


@simulates
@needs("numba.cuda")
def test_a_barrier_that_is_forgotten_is_found_with_its_line(tmp_path: Path) -> None:
    folder = example("softmax", tmp_path, "02_numba.py")
    line = changed(folder / "02_numba.py", "    most = part[0]\n    cuda.syncthreads()\n", "    most = part[0]\n\n")
    case = counted(folder, tmp_path)["numba"]
    if "finds no NVVM that it can use" in (case["reason"] or ""):
        pytest.skip(case["reason"])  # an older Numba than that of numba-cuda
    assert case["status"] in ("unsafe", "incorrect")  # the race may change the result
    assert re.search(rf"racecheck: .*02_numba\.py line {line}\b", case["reason"]), case["reason"]


@simulates
@needs("triton")
def test_an_autotuned_kernel_has_its_configurations_as_an_axis(tmp_path: Path) -> None:
    folder = example("softmax", tmp_path, "04_triton.py")
    file = folder / "04_triton.py"
    changed(file, "# @builds-on numba\n", "# @parameter CONFIG 0 1\n")
    changed(file, "# @parameter BLOCK 1024 2048 8192\n# @parameter num_warps 4 8\n", "")
    changed(file, "@triton.jit\n", "@triton.autotune([triton.Config({'BLOCK': 1024}, num_warps=2), triton.Config({'BLOCK': 1024}, "
            "num_warps=8)], key=['C'])\n@triton.jit\n")
    result = tmp_path / "sweep"
    run("sweep", str(folder), "--device", "simulated", "--output", str(result), env=environment(PYTHON=PYTHON))
    text = next(result.rglob("*.json")).read_text()
    assert "CONFIG=0" in text and "CONFIG=1" in text
    changed(file, "CONFIG 0 1", "CONFIG 2")
    case = counted(folder, tmp_path)["triton"]
    assert "CONFIG is 2, but @triton.autotune has 2 configurations, from 0" in case["reason"]


@simulates
@needs("triton")
def test_several_kernels_and_descriptors_that_the_kernel_makes(tmp_path: Path) -> None:
    """Each kernel is a module of its own; a descriptor lies in memory that the launch allocates for each block."""
    folder = example("softmax", tmp_path, "01_naive.cu")
    (folder / "02_two.py").write_text("""# @parameter BLOCK 512
# @launch shifted grid(R) args(x, y, C, BLOCK)
# @launch divided grid(R) args(y, C)
import triton
import triton.language as tl

@triton.jit
def shifted(x, y, C, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * C + at, mask=at < C, other=-float("inf"))
    tl.store(y + tl.program_id(0) * C + at, tl.exp(values - tl.max(values, axis=0)), mask=at < C)

@triton.jit
def divided(y, C, BLOCK: tl.constexpr = 512):
    at = tl.arange(0, BLOCK)
    values = tl.load(y + tl.program_id(0) * C + at, mask=at < C, other=0.0)
    tl.store(y + tl.program_id(0) * C + at, values / tl.sum(values, axis=0), mask=at < C)
""")
    (folder / "03_descriptors.py").write_text("""# @target sm_90
# @parameter BLOCK 512
# @requires C == 512
# @launch rows grid(div(R, 4))
import triton
import triton.language as tl

@triton.jit
def rows(x, y, R, C, BLOCK: tl.constexpr):
    row = tl.program_id(0) * 4
    a = tl.make_tensor_descriptor(x, shape=[R, C], strides=[C, 1], block_shape=[4, BLOCK // 2])
    b = tl.make_tensor_descriptor(y, shape=[R, C], strides=[C, 1], block_shape=[4, BLOCK // 2])
    left, right = a.load([row, 0]), a.load([row, BLOCK // 2])
    most = tl.maximum(tl.max(left, axis=1), tl.max(right, axis=1))
    left, right = tl.exp(left - most[:, None]), tl.exp(right - most[:, None])
    total = tl.sum(left, axis=1) + tl.sum(right, axis=1)
    b.store([row, 0], left / total[:, None])
    b.store([row, BLOCK // 2], right / total[:, None])
""")
    cases = counted(folder, tmp_path, "--size", "R16C512")
    assert [(name, case["status"], case.get("reason")) for name, case in cases.items() if case["status"] != "ok"] == []
    assert len(cases["two"]["counters"]["kernels"]) == 2


@simulates
@needs("triton")
@pytest.mark.parametrize("head, words", [
    ("# @launch double grid(N)", r"'BLOCK' is a tl.constexpr: give it values by @parameter BLOCK"),
    ("# @launch double grid(N) args(x, y)\n# @parameter BLOCK 64", r"the kernel takes x, y, N: 3 arguments, and gets 2"),
    ("# @launch double grid(N) args(x, y, N, N)", r"'BLOCK' is a tl.constexpr and gets N, which depends on the size"),
    ("# @launch double grid(N)\n# @parameter BLOCK 63", r"power of 2"),
    ("# @launch double grid(N)\n# @parameter BLOCK 64\n# @parameter num_ctas 2\n# @target sm_90", r"num_ctas is 2: clusters cannot be launched"),
])
def test_launches_that_do_not_fit_are_said_in_one_line(tmp_path: Path, head: str, words: str) -> None:
    text = head + """
import triton
import triton.language as tl

@triton.jit
def double(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < N), mask=at < N)
"""
    folder = write_ladder(tmp_path / "doubled", None, **{"01_plain.py": text})
    case = counted(folder, tmp_path)["plain"]
    assert case["status"] == "does not compile"
    assert re.search(words, case["reason"]), case["reason"]


LIGER = os.environ.get("CONVLADDER_LIGER", "")
ROWS = {"dimensions": {"R": {"name": "rows"}, "C": {"name": "columns", "to": 4096}}, "sizes": ["R8C500"],
        "scalars": [{"name": "gate", "type": "f32", "value": "1.5"}], "work": {"flop": "5 * R * C"}}
A = {"name": "a", "role": "in", "type": "f32", "shape": ["R", "C"]}
B = {"name": "b", "role": "in", "type": "f32", "shape": ["R", "C"]}
Y = {"name": "y", "role": "out", "type": "f32", "shape": ["R", "C"], "compare": {"tolerance": 1e-5}}
PUBLIC = {
    "softmax": ([A], "def reference(a, gate, R, C):\n    e = np.exp(a - a.max(1, keepdims=True))\n    return e / e.sum(1, keepdims=True)\n",
                "# @parameter BLOCK_SIZE 512\n# @launch _softmax_single_block_forward_kernel grid(R) args(y, C, a, C, C)\n"
                "from liger_kernel.ops.softmax import _softmax_single_block_forward_kernel\n"),
    "geglu": ([A, B], "def reference(a, b, gate, R, C):\n    return 0.5 * a * (1 + np.tanh(0.7978845608028654 * (a + 0.044715 * a**3))) * b\n",
              "# @parameter BLOCK_SIZE 512\n# @parameter n_cols 500\n# @requires C == 500\n"
              "# @launch _geglu_tanh_forward_kernel grid(R) args(a, b, y, C)\n"
              "from liger_kernel.ops.geglu import _geglu_tanh_forward_kernel\n"),
    "swiglu": ([A, B], "def reference(a, b, gate, R, C):\n    return gate * a / (1 + np.exp(-gate * a)) * b\n",
               "# @parameter BLOCK_SIZE 512\n# @parameter n_cols 500\n# @requires C == 500\n"
               "# @launch _swiglu_forward_kernel grid(R) args(a, b, y, C, gate)\n"
               "from liger_kernel.ops.swiglu import _swiglu_forward_kernel\n"),
}


@simulates
@needs("triton", "torch")
@pytest.mark.skipif(not LIGER, reason="CONVLADDER_LIGER names no clone of Liger-Kernel")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_kernels_are_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(LIGER) / "src"))
    inputs, reference, stage = PUBLIC[name]
    folder = write_ladder(tmp_path / "public", {**ROWS, "name": "public", "tensors": [*inputs, Y]}, "import numpy as np\n\n" + reference,
                          **{"01_public.py": stage})
    case = counted(folder, tmp_path)["public"]
    assert case["status"] == "ok", case.get("reason")
    assert instructions(case) > 0
