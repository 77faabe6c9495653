"""The stand-ins for cuBLAS, cuBLASLt and cuSOLVER. Programs of tests/stand_in/linear_algebra walk through every function
that they have and hold it against float64, or make the mistakes that have to be told. The page that lists the functions
is made of what the libraries have and what was walked through."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import REPOSITORY
from stand_in import LIBRARIES, SOURCES, run_on_stand_in, succeed, toolkit

FOLDER = SOURCES / "linear_algebra"
PAGE = REPOSITORY / "docs/reference/library_functions.md"
NAMES = ("cublas", "cublasLt", "cusolver")
CHECKED = ["memory", "initialization"]


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs `walk` and `mistakes`, with debug information."""
    if not (LIBRARIES / "libcublas.so.13").exists():
        pytest.skip("no stand-in for cuBLAS was built: no OpenBLAS, or no headers")
    cuda = toolkit()
    libraries = next((cuda / name for name in ("lib64", "lib") if (cuda / name / "libcublas.so").exists()), None)
    if libraries is None or not (cuda / "include/cusolverDn.h").exists():
        pytest.skip("no cuBLAS or cuSOLVER to link with")
    folder = tmp_path_factory.mktemp("linear_algebra")

    def compiled(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        succeed("g++", "-std=c++17", "-g", "-O0", "-Wall", "-Wextra", "-Werror", "-isystem", cuda / "include", "-c", source,
                "-o", made)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sorted(FOLDER.glob("*.cpp"))))
    link = [f"-L{libraries}", "-lcublas", "-lcublasLt", "-lcusolver", "-lcudart", f"-Wl,-rpath-link,{libraries}"]
    mistakes = folder / "mistakes.o"
    succeed("g++", *[one for one in objects if one != mistakes], *link, "-o", folder / "walk")
    succeed("g++", mistakes, *link, "-o", folder / "mistakes")
    return folder


@pytest.fixture(name="walked", scope="module")
def _walked(folder: Path) -> set[str]:
    """The functions that were right."""
    done, _ = run_on_stand_in(folder / "walk", folder, checkers=CHECKED, print=True, error_exitcode=1)
    wrong = [line for line in done.stdout.splitlines() if not line.endswith(" ok") and line != "all as documented"]
    assert (wrong, done.returncode) == ([], 0), done.stderr
    counted = re.findall(r"^convladder: (\d+) calls of (\w+) were computed on the host", done.stderr, re.MULTILINE)
    assert [name for _, name in counted] == ["cuBLAS", "cuBLASLt", "cuSOLVER"]
    return {line.removesuffix(" ok") for line in done.stdout.splitlines() if line.endswith(" ok")}


def functions_of(library: str) -> tuple[set[str], set[str]]:
    """What the stand-in has, and what it only answers "not supported" to: those are weak symbols."""
    lines = succeed("nm", "-D", "--defined-only", LIBRARIES / f"libconvladder_{library}.so").splitlines()
    kinds = {line.split()[-1]: line.split()[-2] for line in lines}
    there: set[str] = set()
    missing: set[str] = set()
    for name, kind in kinds.items():
        if f"{name}_v2" in kinds:
            assert kind == "W"  # of cublas.h, the interface before CUDA 4
            continue
        (missing if kind == "W" else there).add(re.sub(r"_v2(_64)?$", r"\1", name))
    return there, missing


LETTERS = re.compile(r"^(cublasI?|cusolverDn)(?!Set|Get|Create|Destroy|Shutdown|(?:Scal|Copy|Dotc?|Swap)Ex)"
                     r"((?:Sc|Dz)(?=asum|nrm2)|(?:Cs|Zd)(?=scal|rot)|HSH|HSS|TST|TSS|[SDCZHsdcz])([a-z]\w*)$")
SETTINGS = re.compile(r"Create|Destroy|Init|Get|Set|Logger|Config|AlgoCheck|bufferSize|StatusName|Property|Params|Version")


def family(name: str) -> tuple[str, str]:
    """`cublasSaxpy_64` is S of `cublas*axpy`; the widths are of one family."""
    name = name.removesuffix("_64").removesuffix("_bufferSize")
    found = LETTERS.match(name)
    return (f"{found[1]}*{found[3]}", found[2]) if found else (name, "")


def table(library: str, walked: set[str]) -> str:
    """The table of a library as it stands on the page."""
    there, missing = functions_of(library)
    rows: dict[str, dict[str, set[str]]] = {}
    for name in there | missing:
        row, letter = family(name)
        kind = "missing" if name in missing else "kept" if SETTINGS.search(name) else "tested" if name in walked else "untested"
        if kind == "kept" and not row.endswith("*") and family(name)[0] in {family(one)[0] for one in walked}:
            continue  # the size of a workspace, beside its function
        rows.setdefault(row, {}).setdefault(kind, set()).add(letter)
    untested = sorted(row for row, kinds in rows.items() if "untested" in kinds)
    assert not untested, f"{library}: functions that no test has walked through: {untested}"
    order = "SDCZHsdcz"

    def letters(found: set[str] | None, row: str) -> str:
        if not found:
            return ""
        return " ".join(sorted(found, key=lambda one: (order.find(one[0]), one))) if "*" in row else "yes"

    lines = ["| function | tested against float64 | answers | not supported |", "|:--|:--|:--|:--|"]
    # What is there comes first, and then what is missing, as many functions in a row as fit.
    for row in sorted(rows):
        kinds = rows[row]
        if "tested" in kinds or "kept" in kinds:
            lines.append(f"| `{row}` | {letters(kinds.get('tested'), row)} | {letters(kinds.get('kept'), row)} | "
                         f"{letters(kinds.get('missing'), row)} |")
    absent = [row for row in sorted(rows) if set(rows[row]) == {"missing"}]
    lines += ["", f"Not supported, {len(absent)} in all, with all their types: "
              + (", ".join(f"`{row}`" for row in absent) or "none") + "."]
    return "\n".join(re.sub(r" +", " ", line) for line in lines)


@pytest.mark.parametrize("library", NAMES)
def test_page_lists_what_is_there(walked: set[str], library: str, tmp_path: Path):
    wanted = table(library, walked)
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {library} -->\n", f"\n<!-- end of {library} -->"
    if os.environ.get("CONVLADDER_WRITE_PAGES"):
        page = page[:page.index(begin) + len(begin)] + wanted + page[page.index(end):]
        PAGE.write_text(page, encoding="utf-8")
    written = tmp_path / "wanted"
    written.write_text(wanted, encoding="utf-8")
    assert begin + wanted + end in page, f"the table has to be as in {written} (CONVLADDER_WRITE_PAGES=1 writes it)"


def test_sizes_of_32_and_64_bits_are_there_together():
    if not (LIBRARIES / "libconvladder_cublas.so").exists():
        pytest.skip("no stand-in for cuBLAS")
    there, missing = functions_of("cublas")
    assert [name for name in there if f"{name}_64" in missing] == []


@pytest.mark.parametrize("name, code, told", [
    ("short_matrix", 1, ["memcheck: cublasSgemm reads 1024 bytes of B at 0x*, which end 32 bytes past the end of "
                         "'device memory 2' (1024 bytes)", "in (anonymous namespace)::multiply, mistakes.cpp line *"]),
    ("unwritten_matrix", 1, ["initcheck: cublasSgemm reads B, of which nothing has written byte 0 of 'device memory 2'",
                             "in (anonymous namespace)::multiply, mistakes.cpp line *"]),
    ("pointer_of_the_host", 1, ["memcheck: cublasSgemm reads 64 bytes of A at 0x*, which is no memory of the device (a "
                                "pointer of the host?)"]),
    ("wrong_arguments", 2, ["cublasSgemm answered CUBLAS_STATUS_INVALID_VALUE: lda is less than the rows of A"]),
    ("ignored_failure", 2, ["cublasSgemm answered CUBLAS_STATUS_INVALID_VALUE: lda is less than the rows of A"]),
    ("destroyed_twice", 2, ["cublasLtDestroy answered CUBLAS_STATUS_NOT_INITIALIZED: the handle is none that lives"]),
    ("missing_function", 2, ["cublasSgelsBatched is not supported and was called 1 time"]),
    ("graph", 0, ["6 calls of cuBLAS were computed on the host: *"]),
    ("captured_result", 2, ["cublasSdot answered CUBLAS_STATUS_NOT_SUPPORTED: cudaErrorStreamCaptureUnsupported"]),
])
def test_mistakes_are_told(folder: Path, tmp_path: Path, name: str, code: int, told: list[str]):
    done, reports = run_on_stand_in([folder / "mistakes", name], tmp_path, checkers=CHECKED, print=True, error_exitcode=1)
    assert (done.stdout, done.returncode) == ("all as documented\n", code), done.stderr
    lines = [line.removeprefix("convladder: ").strip() for line in done.stderr.splitlines()]
    for one in told:
        pattern = re.escape(one).replace(r"\*", ".*")
        assert any(re.fullmatch(pattern, line) for line in lines), (one, lines)
    libraries = {"cublas": "cuBLAS", "cublasLt": "cuBLASLt", "cusolver": "cuSOLVER", "cusolverDn": "cuSOLVER"}
    for failure in reports[0]["failures"]:
        prefix = re.match("[a-z]+(Lt|Dn)?", failure["call"]).group()
        assert failure["library"] == libraries.get(prefix, ""), failure


def test_versions_are_known_without_a_gpu(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done, _ = run_on_stand_in([folder / "mistakes", "versions"], tmp_path)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done


def test_work_is_the_same_by_the_real_clock_and_without_checkers(folder: Path, tmp_path: Path):
    for settings in ({}, {"real_clock": {"ramp_ms": 0}}):
        done, reports = run_on_stand_in([folder / "mistakes", "graph"], tmp_path, **settings)
        assert (done.stdout, done.returncode) == ("all as documented\n", 0), done
    assert {one["call"]: one["predicted"]["count"] for one in reports[-1]["library_calls"]} == {
        "cublasSaxpy": 2, "cublasSdot": 2, "cublasSscal": 2}
    # No checker looks on: the device is lost, as by a kernel.
    done, _ = run_on_stand_in([folder / "mistakes", "short_matrix"], tmp_path)
    assert "is 13, not 0" in done.stdout and done.returncode == 1


def test_bits_do_not_depend_on_threads(folder: Path, tmp_path: Path):
    found = {run_on_stand_in([folder / "mistakes", "large"], tmp_path, host_threads=threads)[0].stdout for threads in (1, 2, 3)}
    assert len(found) == 1 and found.pop().endswith("all as documented\n")
