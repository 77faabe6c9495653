"""What a newcomer does first, with an installed program: `convladder new softmax && convladder run softmax`, then change a
stage, break one, and run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import PROGRAM, REPOSITORY, cases, record, run

SIZE = "R48C96"
QUICK = ["--size", SIZE, "--repetitions", "3", "--benchmark_min_time=0.0005"]
NVCC = shutil.which("nvcc") or (os.access("/usr/local/cuda/bin/nvcc", os.X_OK) or None)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program below a prefix of its own, with an empty cache."""
    build = PROGRAM.parent
    cmake = shutil.which("cmake")
    if cmake is None or not (build / "cmake_install.cmake").exists():
        pytest.skip("there is no cmake, or the program does not lie in its build")
    if shutil.which("c++") is None and "CXX" not in os.environ:
        pytest.skip("there is no C++ compiler for the stages")
    place = tmp_path_factory.mktemp("installed")
    done = subprocess.run([cmake, "--install", str(build), "--prefix", str(place / "prefix")], capture_output=True,
                          encoding="utf-8", check=False, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"the build cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        yield place / "prefix/bin/convladder"


@pytest.fixture(scope="module")
def softmax(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """A new ladder, the record of its first run, and what that printed."""
    work = tmp_path_factory.mktemp("work")
    made = run("new", "softmax", program=installed, cwd=work)
    assert (made.returncode, made.stderr) == (0, ""), made
    assert "'convladder run softmax' compiles, verifies and measures it." in made.stdout
    done = run("run", "softmax", *QUICK, "--output", "first", program=installed, cwd=work)
    assert (done.returncode, done.stderr) == (0, ""), done
    return work / "softmax", work / "first", done.stdout


def libraries() -> dict[str, int]:
    """What has been built, and when."""
    return {str(path): path.stat().st_mtime_ns for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*.so")}


def copied(softmax: tuple[Path, Path, str], tmp_path: Path) -> Path:
    """The ladder, for a test to change."""
    return Path(shutil.copytree(softmax[0], tmp_path / "softmax"))


def stages(document: dict[str, Any], device: str) -> dict[str, dict[str, Any]]:
    """The cases on a device by their stages' names."""
    return {one["variant"]: one for one in cases(document).values() if one["device"] == device}


def test_the_first_run_shows_everything(softmax: tuple[Path, Path, str]) -> None:
    _folder, out, printed = softmax
    document = record(out)
    on_cpu = stages(document, "cpu")
    assert len(on_cpu) >= 2 and {one["status"] for one in on_cpu.values()} == {"ok"}
    for one in on_cpu.values():
        assert one["time"]["median"] > 0 and one["verification"]["after"]["passed"]
    assert f"cpu softmax.{SIZE}" in printed and "x prev" in printed
    for name in ("ladder.svg", "ladder.png", "report.html", "table.md"):
        assert (out / name).stat().st_size > 0, name
    counted = stages(document, "simulated")
    on_gpu = stages(document, "cuda")  # skipped; not there at all in a build without CUDA
    assert not on_gpu or set(counted) == set(on_gpu)
    if NVCC is not None and any(one["status"] == "ok" for one in counted.values()):
        assert all(one["counters"]["totals"] and one["time"] is None for one in counted.values())
        assert (out / "counters.svg").stat().st_size > 0
        explained = run("explain", out / "run.json")  # although the program has a problem of that name itself
        assert (explained.returncode, explained.stderr) == (0, "") and f"softmax.{SIZE}" in explained.stdout
    title = document["variants"][0]["title"]
    assert title in printed and title in (out / "report.html").read_text(encoding="utf-8")


def test_a_copy_of_a_ladder_holds_the_headers_that_it_shares(tmp_path: Path) -> None:
    """Nothing stands beside a folder of one's own, so the copy names no folder beside it."""
    sharing = [path for path in REPOSITORY.glob("variants/*/problem.json") if "include_folders" in path.read_text(encoding="utf-8")]
    assert len(sharing) >= 3
    for path in sharing:
        problem = json.loads(path.read_text(encoding="utf-8"))
        made = run("new", problem["name"], "--from", problem["name"], cwd=tmp_path)
        assert (made.returncode, made.stderr) == (0, "")
        copy = tmp_path / problem["name"]
        shared = [file for folder in problem.pop("include_folders") for file in (path.parent / folder).iterdir()]
        assert json.loads((copy / "problem.json").read_text(encoding="utf-8")) == problem
        assert shared and all((copy / file.name).read_bytes() == file.read_bytes() for file in shared)


def test_only_what_has_changed_is_built(softmax: tuple[Path, Path, str], installed: Path) -> None:
    folder, out, _printed = softmax
    before = libraries()
    assert len(before) >= 3
    again = [*QUICK, "--device", "cpu", "--no-report"]
    done = run("run", folder, *again, "--output", out.parent / "same", program=installed)
    assert done.returncode == 0 and libraries() == before
    stage = folder / "01_naive.cpp"
    stage.write_text(stage.read_text(encoding="utf-8") + "// a remark\n", encoding="utf-8")
    done = run("run", folder, *again, "--output", out.parent / "changed", program=installed)
    after = libraries()
    assert done.returncode == 0 and len(after.keys() - before.keys()) == 1
    assert {path: after[path] for path in before} == before


def test_only_what_has_changed_is_measured(softmax: tuple[Path, Path, str], installed: Path, tmp_path: Path) -> None:
    """Also where only a header has changed, which does not show in a library's name."""
    folder = copied(softmax, tmp_path)
    include = '#include "factor.h"\n'
    stage = folder / "01_naive.cpp"
    stage.write_text(stage.read_text(encoding="utf-8") + include, encoding="utf-8")
    (folder / "factor.h").write_text("inline int factor() { return 1; }\n", encoding="utf-8")
    (folder / "03_aborts.cpp").write_text("#include <cstdlib>\n" + 'extern "C" void solve(const float*, float*, int, int)'
                                          " { std::abort(); }\n", encoding="utf-8")

    def measured(name: str, *more: str) -> set[str]:
        done = run("run", folder, *QUICK, "--device", "cpu", "--no-report", "--output", tmp_path / name, *more,
                   program=installed)
        assert done.returncode == 1, done  # one of them aborts
        found = stages(record(tmp_path / name), "cpu")
        assert {one: case["status"] for one, case in found.items()} == {"naive": "ok", "threads": "ok",
                                                                        "aborts": "crashed"}
        return {one for one, case in found.items() if "taken_over" not in case}

    assert measured("first") == {"naive", "threads", "aborts"}
    assert measured("same") == {"aborts"}  # what failed is tried again
    (folder / "factor.h").write_text("inline int factor() { return 2; }\nint used = factor();\n", encoding="utf-8")
    assert measured("header") == {"naive", "aborts"}
    assert measured("all", "--no-reuse") == {"naive", "threads", "aborts"}
    reference = folder / "reference.cpp"
    reference.write_text(reference.read_text(encoding="utf-8") + "int more = 1;\n", encoding="utf-8")
    assert measured("reference") == {"naive", "threads", "aborts"}


def test_broken_stages_leave_the_others_standing(softmax: tuple[Path, Path, str], installed: Path,
                                                 tmp_path: Path) -> None:
    folder = copied(softmax, tmp_path)
    head = "#include <cstdlib>\nextern \"C\" void solve(const float* x, float* y, int R, int C) {\n"
    (folder / "03_hangs.cpp").write_text(head + "  for (volatile int i = 0; i == 0;) y[0] = x[0];\n}\n")
    (folder / "04_aborts.cpp").write_text(head + "  std::abort();\n}\n")
    (folder / "05_typo.cpp").write_text(head + "  y[0] = x[0]\n}\n")
    (folder / "06_other.cpp").write_text(head.replace("int R, int C", "long R, long C") + "}\n")
    (folder / "08_nowhere.cpp").write_text('extern "C" double elsewhere(double);\n' + head + "  y[0] = elsewhere(x[0]);\n}\n")
    (folder / "09_no_library.cpp").write_text("// @title x\n// @libraries notthere\n" + head + "}\n")
    (folder / "07_copies.cpp").write_text(head + "  for (int i = 0; i < R * C; ++i) y[i] = x[i];\n}\n")
    done = run("run", folder, *QUICK, "--device", "cpu", "--no-report", "--timeout", "2", "--output", tmp_path / "out",
               program=installed)
    assert done.returncode == 1, done
    found = stages(record(tmp_path / "out"), "cpu")
    hangs = found["hangs"]["status"]  # beside other tests it may have waited for a processor
    assert hangs == "timeout" or (hangs == "not judged" and "the machine was busy" in found["hangs"]["reason"])
    assert {name: one["status"] for name, one in found.items()} == {
        "naive": "ok", "threads": "ok", "hangs": hangs, "aborts": "crashed", "typo": "does not compile",
        "other": "does not compile", "copies": "incorrect", "nowhere": "does not compile",
        "no-library": "does not compile"}
    assert "08_nowhere.cpp:4: undefined reference to `elsewhere'" in found["nowhere"]["reason"], found["nowhere"]["reason"]
    assert "cannot find -lnotthere" in found["no-library"]["reason"], found["no-library"]["reason"]
    for name in ("typo", "nowhere", "no-library"):
        assert f"{name} does not compile: {found[name]['reason']}\n" in done.stdout
    assert "05_typo.cpp:3" in found["typo"]["reason"] and "expected ';'" in found["typo"]["reason"]
    assert found["naive"]["time"]["median"] > 0 and found["hangs"]["time"] is None


def test_an_index_too_far_is_found_with_its_line(softmax: tuple[Path, Path, str], installed: Path,
                                                 tmp_path: Path) -> None:
    if NVCC is None:
        pytest.skip("there is no nvcc to compile the stages")
    folder = copied(softmax, tmp_path)
    good = (folder / "01_naive.cu").read_text(encoding="utf-8")
    bad = good.replace("for (int c = 1; c < C; ++c)", "for (int c = 1; c <= C; ++c)")
    assert bad != good
    (folder / "01_naive.cu").write_text(bad, encoding="utf-8")
    line = 1 + bad[:bad.index("c <= C")].count("\n")
    done = run("run", folder, *QUICK, "--device", "simulated", "--no-report", "--output", tmp_path / "out",
               program=installed)
    found = stages(record(tmp_path / "out"), "simulated")
    if found["naive"]["status"] == "skipped":
        pytest.skip(found["naive"]["reason"])
    assert done.returncode == 1, done
    assert f"01_naive.cu line {line}" in found["naive"]["reason"], found["naive"]["reason"]
    assert "bytes past the end of 'x'" in found["naive"]["reason"]
    assert {one["status"] for name, one in found.items() if name != "naive"} == {"ok"}
