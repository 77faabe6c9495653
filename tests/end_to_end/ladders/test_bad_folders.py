"""Whatever a folder holds, `convladder run FOLDER` says in one line why it is no ladder, ends with exit code 3, and leaves
nothing behind: neither a record nor a process nor a file in the folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import PROGRAM, assert_refused, is_sanitized, mounted, record, run
from ladder_folders import PROBLEM, REFERENCE_CPP, STAGE, changed_problem, environment, write_ladder

QUICK = ["--device", "cpu", "--repetitions", "3", "--benchmark_min_time=0.0005", "--no-report"]
UNSEEN = 65534
"""The user nobody, who may not read what others have shut."""


@pytest.fixture(scope="module", autouse=True)
def _one_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stages are compiled once, and never into the user's own cache."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["XDG_CACHE_HOME"]
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before


def files_of(folder: Path) -> list[str]:
    """Everything in it, by name."""
    return sorted(str(path) for path in folder.rglob("*"))


def refused(folder: Path, *words: str, **options: Any) -> str:
    """What `run FOLDER` says in its one line; nothing is left of it."""
    out = folder.parent / "out"
    before = files_of(folder.parent)
    line = assert_refused(run("run", folder, *QUICK, "--output", out, **{"timeout": 60, **options}), *words)
    assert files_of(folder.parent) == before
    return line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ladder with nothing wrong."""
    return write_ladder(tmp_path / "ladder")


def test_the_folder_that_the_others_are_made_of_is_right(folder: Path) -> None:
    """Or the tests below would pass for the wrong reason."""
    done = run("run", folder, *QUICK, "--output", folder.parent / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert [one["status"] for one in record(folder.parent / "out")["cases"]] == ["ok"]
    assert files_of(folder) == [str(folder / name) for name in ("01_plain.cpp", "problem.json", "reference.py")]


# ---------------------------------------------------------------------------------------------- what must be there


def test_no_reference(folder: Path) -> None:
    (folder / "reference.py").unlink()
    refused(folder, "no reference: expected reference.cpp or reference.py")


def test_both_references(folder: Path) -> None:
    (folder / "reference.cpp").write_text(REFERENCE_CPP)
    refused(folder, "reference.cpp and reference.py: which of them?")


def test_no_stages(folder: Path) -> None:
    (folder / "01_plain.cpp").rename(folder / "plain.cpp")
    refused(folder, "no stages, such as 01_naive.cu")


def test_two_stages_of_one_rung(folder: Path) -> None:
    (folder / "1_other.cpp").write_text(STAGE)
    refused(folder, "01_plain.cpp and 1_other.cpp have the same rung")


@pytest.mark.parametrize("name", ["02_na\nive.cpp", "02-tiles.cpp", "02 tiles.cu", "02_tiles-of-8.cpp", "0_zero.cpp",
                                  "02.cpp", "99999_far.cpp", "library_onednn-3.cpp"])
def test_a_stage_that_is_misnamed_is_not_left_out_silently(folder: Path, name: str) -> None:
    (folder / name).write_text(STAGE)
    line = refused(folder, "a stage is called 01_name.cu")
    assert name.replace("\n", " ") in line


def test_ten_thousand_stages(folder: Path) -> None:
    for i in range(2, 10001):
        (folder / f"{i}_stage{i}.cpp").touch()
    refused(folder, "more than 1000 stages")


# ------------------------------------------------------------------------------------------------- problem.json


@pytest.mark.parametrize("place, value, words", [
    ("/name", "a/b", "name: expected a name of small letters"),
    ("/include_folders", ["../../tiles"], 'include_folders[0]: expected a folder beside this one, "../NAME"'),
    ("/include_folders", ["../tiles"], "include_folders: '../tiles' is no folder beside this one"),
    ("/tensors/0/name", "a/b", "tensors[0]: name: expected a name of letters"),
    ("/tensors/0/shape", ["N / 3"], "the shape of x: 'N / 3' is 333.3"),
    ("/tensors/0/shape", ["N - 1000"], "the shape of x: 'N - 1000' is 0, it must be a whole number above 0"),
    ("/tensors/0/shape", ["-N"], "the shape of x: '-N' is -1000"),
    ("/tensors/0/shape", ["10 ^ 15"], "x has 2^31 elements or more"),
    ("/tensors/0/shape", ["1 / 0"], "x has 2^31 elements or more"),
    ("/tensors/0/shape", ["(" * 1000 + "N" + ")" * 1000], "longer than 1000 characters"),
    ("/tensors/0/shape", ["(" * 400 + "N" + ")" * 400], "more than 50 levels"),
    ("/tensors/0/shape", ["N"] * 9, "shape: expected at most 8 numbers"),
    ("/derived", {"A": "A + 1"}, "derived: A: unknown name 'A'"),
    ("/derived", {"A": "B", "B": "A"}, "derived: A: unknown name 'B'"),
    ("/derived", {"N": "3"}, "'N' is the name of something else already"),
    ("/sizes", ["M1000"], "sizes"),
    ("/sizes", [""], "sizes"),
    ("/sizes", ["N0"], "elements is 0, it must be 1 to 1000000"),
    ("/sizes", ["N1000001"], "elements is 1000001, it must be 1 to 1000000"),
    ("/sizes", ["N99999999999999999999"], "sizes"),
    ("/counted_sizes", ["N0"], "counted_sizes"),
    ("/work", {"flop": "N - N"}, "work: 'N - N' is 0, it must be above 0"),
    ("/scalars", [{"name": "s", "type": "u8", "value": "N"}], "the scalar s: 'N' is 1000, which u8 does not hold"),
    ("/scalars", [{"name": "s", "type": "f32", "value": "1 / (N - N)"}], "the scalar s"),
    ("/tensors/0", {"name": "x", "role": "in", "type": "u8", "shape": ["N"],
                    "fill": {"kind": "whole", "low": 0, "high": 300}}, "fill: high: expected a value that u8 holds"),
    ("/tensors/0", {"name": "x", "role": "in", "type": "u32", "shape": ["N"],
                    "fill": {"kind": "whole", "low": -1, "high": 3}}, "fill: low: expected a value that u32 holds"),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i32", "shape": ["N"],
                    "fill": {"kind": "constant", "value": 0.5}}, "fill: value: expected a value that i32 holds"),
    ("/tensors/0", {"name": "x", "role": "in", "type": "f16", "shape": ["N"],
                    "fill": {"kind": "uniform", "low": 0, "high": 1e6}}, "fill: high: expected a value that f16 holds"),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i8", "shape": ["N"], "fill": {"kind": "permutation"}},
     "x is a permutation of 1000 numbers, which i8 does not hold"),
    ("/tensors/0/fill", {"kind": "whole", "low": 0.2, "high": 0.8}, "fill: low: expected a whole number"),
])
def test_what_problem_json_may_not_say(tmp_path: Path, place: str, value: Any, words: str) -> None:
    line = refused(write_ladder(tmp_path / "ladder", changed_problem(place, value)), words)
    assert "ladder/problem.json" in line


@pytest.mark.parametrize("content, words", [
    (b"", "not valid JSON"),
    (b"\x7fELF\x02\x01\x01\x00\x00\x00", "not valid JSON"),
    (json.dumps(PROBLEM).replace("doubled", "doubl\xe9d").encode("latin-1"), "not valid JSON"),
    (b"[" * 100000 + b"]" * 100000, "problem.json"),
    (b'{"name":' * 5000 + b"1" + b"}" * 5000, "problem.json"),
    (b"[]", "problem.json"),
    (json.dumps(PROBLEM).encode() + b" " * (100 << 20), "larger than the limit of 1048576 bytes"),
], ids=["empty", "binary", "Latin-1", "lists in lists", "objects in objects", "a list", "100 MB"])
def test_what_is_no_problem_json(folder: Path, content: bytes, words: str) -> None:
    (folder / "problem.json").write_bytes(content)
    refused(folder, words, "problem.json")


@pytest.mark.parametrize("name", ["problem.json", "01_plain.cpp", "reference.py"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop of links", "link out of the folder", "link to nothing"])
def test_what_is_no_file(folder: Path, name: str, kind: str) -> None:
    path = folder / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop of links":
        (folder / "second").symlink_to(path)
        path.symlink_to(folder / "second")
    elif kind == "link to nothing":
        path.symlink_to(folder / "nothing")
    else:
        outside = folder.parent / name
        outside.write_text(STAGE)
        path.symlink_to(outside)
    line = refused(folder, name, timeout=20)
    if kind == "link out of the folder":
        assert "a link to a file outside of the folder" in line


@pytest.mark.parametrize("name", ["problem.json", "01_plain.cpp", "reference.py"])
def test_what_may_not_be_read(tmp_path: Path, name: str) -> None:
    """By the user nobody, since root may read everything."""
    if os.getuid() != 0:
        user: dict[str, Any] = {}
    elif run("--version", user=UNSEEN, group=UNSEEN).returncode == 0:
        user = {"user": UNSEEN, "group": UNSEEN, "extra_groups": []}
    else:
        pytest.skip("the user nobody cannot start the program")
    work = Path(subprocess.run(["mktemp", "-d"], capture_output=True, encoding="utf-8", check=True).stdout.strip())
    try:
        folder = write_ladder(work / "ladder")
        (folder / name).chmod(0)
        for path in (work, folder):
            path.chmod(0o755)
        (work / "cache").mkdir()
        (work / "cache").chmod(0o777)
        refused(folder, name, "cannot be read: Permission denied",
                env=environment(XDG_CACHE_HOME=str(work / "cache")), **user)
    finally:
        shutil.rmtree(work)


# ---------------------------------------------------------------------------------------------- references


@pytest.mark.parametrize("text, words", [
    ("def reference(x, N)\n    return x\n", "SyntaxError"),
    ("def refrence(x, N):\n    return x\n", "it does not define a function reference"),
    ("def reference(x):\n    return x\n", "TypeError"),
    ("def reference(x, N):\n    return 1 / 0\n", "ZeroDivisionError: division by zero (line 2)"),
    ("def reference(x, N):\n    return x[1:]\n", "'y' has the shape (999,), not (1000,)"),
    ("def reference(x, N):\n    return x / 0 * 0\n", "element 0 of y is nan"),
    ("def reference(x, N):\n    y = 2 * x\n    y[7] = float('inf')\n    return y\n", "element 7 of y is inf"),
    ("def reference(x, N):\n    return 2 * x, -abs(x)\n", "element 0 of y_scale is -"),
    ("def reference(x, N):\n    return {'z': x}\n", "it returned 'z', which is none of y"),
    ("def reference(x, N):\n    pass\n", "it did not return 'y'"),
    ("def reference(x, N):\n    return 'text'\n", "'y' has the shape ()"),
    ("def reference(x, N):\n    raise SystemExit(0)\n", "SystemExit: 0 (line 2)"),
    ("import sys\nsys.exit('no')\n", "SystemExit: no (line 2)"),
    ("import os\ndef reference(x, N):\n    os._exit(0)\n", "reference.py"),
    ("import os\ndef reference(x, N):\n    os.abort()\n", "reference.py"),
    ("import nowhere_to_be_found\n", "ModuleNotFoundError"),
])
def test_python_references(tmp_path: Path, text: str, words: str) -> None:
    refused(write_ladder(tmp_path / "ladder", reference=text), "reference.py", words)


@pytest.mark.parametrize("body, words", [
    ("y[0] = 1", "expected ';'"),
    ("int* nothing = nullptr; asm volatile(\"\" : \"+r\"(nothing)); *nothing = 1;", "ABORTING" if is_sanitized() else "Segmentation fault"),
    ("__builtin_trap();", "reference.cpp"),
    ("exit(0);", "reference.cpp"),
    ("throw 5;", "reference.cpp"),
    ("throw std::runtime_error(\"too\\nmuch\");", "too much"),
    ("y[3] = 0.0 / (N - 1000);", "element 3 of y is nan"),
])
def test_references_in_cpp(tmp_path: Path, body: str, words: str) -> None:
    folder = write_ladder(tmp_path / "ladder", reference=None)
    includes = "#include <cstdlib>\n#include <stdexcept>\n"
    (folder / "reference.cpp").write_text(includes + REFERENCE_CPP.replace("\n}", f"\n  {body}\n}}"))
    refused(folder, "reference.cpp", words)


def test_a_reference_with_another_signature(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "ladder", reference=None)
    (folder / "reference.cpp").write_text(REFERENCE_CPP.replace("double* y_scale, ", ""))
    refused(folder, "reference.cpp", "reference(const double* x, double* y, double* y_scale, int N)")


def test_a_reference_that_never_ends(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "ladder", reference="def reference(x, N):\n    while True: pass\n")
    refused(folder, "reference.py", "no answer", "within 1 s", env=environment(CONVLADDER_REFERENCE_SECONDS="1"))


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "", "1e9"])
def test_a_time_that_is_none(folder: Path, seconds: str) -> None:
    refused(folder, "CONVLADDER_REFERENCE_SECONDS: expected", env=environment(CONVLADDER_REFERENCE_SECONDS=seconds))


def test_what_a_reference_prints_disturbs_nothing(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "ladder", reference="import os\nprint('loaded')\ndef reference(x, N):\n"
                          "    print('{}'); os.write(2, b'heard')\n    return 2 * x\n")
    done = run("run", folder, *QUICK, "--output", tmp_path / "out", "--benchmark_format=json")
    assert (done.returncode, "heard" in done.stderr) == (0, False)
    found = json.loads(done.stdout)["benchmarks"]
    assert len([one for one in found if "aggregate_name" not in one]) == 3


def test_without_numpy(folder: Path) -> None:
    hidden = folder.parent / "hidden"
    hidden.mkdir()
    (hidden / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\")\n")
    refused(folder, "reference.py", "No module named 'numpy'", env=environment(PYTHONPATH=str(hidden)))


# ---------------------------------------------------------------------------------------------- the machine


def test_a_cache_that_cannot_be_made(folder: Path) -> None:
    blocked = folder.parent / "blocked"
    blocked.write_text("a file where a folder is wanted")
    refused(folder, "blocked/convladder/stages", "cannot be made", env=environment(XDG_CACHE_HOME=str(blocked)))


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    yield from mounted(tmp_path / "tiny", ["size=16k"])


def test_a_cache_without_room(folder: Path, tiny: Path) -> None:
    (tiny / "convladder").mkdir()
    (tiny / "filler").write_bytes(b" " * 8192)
    done = run("run", folder, *QUICK, "--output", folder.parent / "out", env=environment(XDG_CACHE_HOME=str(tiny)))
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1, done
    assert "No space left" in done.stderr
    assert not (folder.parent / "out").exists()


def test_no_home(folder: Path) -> None:
    """Without one stages are kept in the folder for temporary files."""
    done = run("run", folder, *QUICK, "--output", folder.parent / "out",
               env=environment(HOME=None, XDG_CACHE_HOME=None, TMPDIR=str(folder.parent)))
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder.parent / f"convladder-{os.getuid()}/stages").is_dir()


NO_COMPILER = {"PATH": "/nowhere", "CXX": None}


def test_no_compiler(folder: Path) -> None:
    """A machine that can compile nothing is no fault of the stages: they are skipped, as where there is no GPU."""
    done = run("run", folder, *QUICK, "--output", folder.parent / "out", env=environment(**NO_COMPILER))
    assert done.returncode == 0, done
    (case,) = record(folder.parent / "out")["cases"]
    assert (case["status"], case["reason"]) == ("skipped", "no C++ compiler was found")


def test_no_compiler_for_the_reference(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "ladder", reference=None)
    (folder / "reference.cpp").write_text(REFERENCE_CPP)
    refused(folder, "reference.cpp: no C++ compiler was found", env=environment(**NO_COMPILER))


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{PROGRAM}" run ladder --device cpu'
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert_refused(done, "ladder")


# ---------------------------------------------------------------------------------------------- the command line


def test_an_empty_ladder(tmp_path: Path) -> None:
    assert_refused(run("run", "", "--dry-run", cwd=tmp_path), "got an empty string")


def test_two_ladders(folder: Path) -> None:
    assert_refused(run("run", folder, folder, "--dry-run"), "ladder")


def test_a_ladder_and_a_problem(folder: Path) -> None:
    assert_refused(run("run", folder, "--problem", "softmax", "--dry-run"), "--problem")


@pytest.mark.parametrize("word, words", [
    ("nothing-here", ["nothing-here", "no folder with a problem.json"]),
    ("/", ["no problem.json"]),
    (".", ["no problem.json"]),
    ("a\nb", ["a b"]),
])
def test_what_is_no_ladder(tmp_path: Path, word: str, words: list[str]) -> None:
    assert_refused(run("run", word, "--dry-run", cwd=tmp_path), *words)
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("size, words", [
    ("N0", "elements is 0, it must be 1 to 1000000"), ("N", "--size N"), ("M5", "--size M5"), ("N5N6", "--size N5N6"),
    ("N1000001", "it must be 1 to 1000000"), ("N1.5", "--size N1.5")])
def test_sizes_that_are_none(folder: Path, size: str, words: str) -> None:
    assert_refused(run("run", folder, "--size", size, *QUICK, "--output", folder.parent / "out"), words)
    assert not (folder.parent / "out").exists()


PEEKING = {
    "reference.py": "def reference(x, N):\n    try:\n        open({secret!r}).read()\n    except OSError:\n        return 2 * x\n"
                    "    return 3 * x\n",
    "reference.cpp": """#include <cstdio>
extern "C" void reference(const double* x, double* y, double* y_scale, int N) {{
  const bool can_read = std::fopen("{secret}", "r") != nullptr;
  for (int i = 0; i < N; ++i) y[i] = (can_read ? 3 : 2) * x[i];
}}
""",
}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
@pytest.mark.parametrize("name", PEEKING)
@pytest.mark.parametrize("is_ones_own", [True, False])
def test_the_reference_of_another_user_is_confined(tmp_path: Path, name: str, is_ones_own: bool) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of this user", encoding="utf-8")
    folder = write_ladder(tmp_path / "ladder", reference=None)
    (folder / name).write_text(PEEKING[name].format(secret=str(secret)), encoding="utf-8")
    if not is_ones_own:
        for path in [folder, *folder.iterdir()]:
            os.chown(path, UNSEEN, UNSEEN)
    done = run("run", folder, *QUICK, "--output", tmp_path / "out")
    status, = (one["status"] for one in record(tmp_path / "out")["cases"])
    assert status == ("incorrect" if is_ones_own else "ok"), done
