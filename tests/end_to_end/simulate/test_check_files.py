"""`convladder check FILE`: kernels are looked at without running them, and what is said of them is true where they run."""

from __future__ import annotations

import functools
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import REPOSITORY, assert_refused, run

KERNELS = Path(__file__).parent / "looked_at.cu"
NVCC = shutil.which("nvcc") or ("/usr/local/cuda/bin/nvcc" if Path("/usr/local/cuda/bin/nvcc").exists() else None)
CLANG = shutil.which("clang++") or shutil.which("clang")
Found = tuple[str, str, str]  # severity, kind, "found/possible" or ""

COMPILERS = [
    pytest.param("nvcc", marks=pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")),
    pytest.param("clang", marks=pytest.mark.skipif(CLANG is None, reason="clang is not installed")),
]


@functools.cache
def looked_at(compiler: str) -> tuple[int, dict[str, Any]]:
    done = run("check", KERNELS, "--block", "128", "--compiler", compiler, "--format", "json")
    assert done.stderr == "", done.stderr
    return done.returncode, json.loads(done.stdout)["files"][0]


def planted(compiler: str) -> dict[int, set[Found]]:
    """What the kernels' own text says of each line."""
    known: dict[int, set[Found]] = {}
    for number, line in enumerate(KERNELS.read_text(encoding="utf-8").splitlines(), 1):
        match = re.search(r"// (by \w+: )?(FINDING|note) ([a-z0-9-]+)(?: (\d+/\d+))?$", line)
        if match and match[1] in (None, f"by {compiler}: "):
            known[number] = {(match[2].lower(), match[3], match[4] or "")}
    return known


def cost_of(lint: dict[str, Any]) -> str:
    return "{found:g}/{possible:g}".format(**lint["cost"]) if "cost" in lint else ""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_planted_line_is_found_and_no_other(compiler: str) -> None:
    code, file = looked_at(compiler)
    assert code == 1
    text = KERNELS.read_text(encoding="utf-8").splitlines()
    found: dict[int, set[Found]] = {}
    for kernel in file["kernels"]:
        begins = next(n for n, line in enumerate(text, 1) if f" {kernel['name'].split('(')[0]}(" in line)
        for lint in kernel["lints"]:
            line = lint["places"][0]["line"] if lint["places"] else begins
            found.setdefault(line, set()).add((lint["severity"], lint["kind"], cost_of(lint)))
    want = planted(compiler)
    wrong = {n: (want.get(n), found.get(n), text[n - 1]) for n in set(want) | set(found) if want.get(n) != found.get(n)}
    assert not wrong
    understood = sum(kernel["understood"] for kernel in file["kernels"])
    assert understood > 0.9 * sum(kernel["accesses"] for kernel in file["kernels"])


@pytest.mark.parametrize("kernel", ["every_second", "columns", "points", "tile_by_columns", "every_second_bank", "padded_tile",
                                    "swizzled_tile", "backwards", "aligned_vectors"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_cost_is_what_the_simulator_counts(compiler: str, kernel: str) -> None:
    words = ["--arg", "out:f32:100000", "--arg", "in:f32:iota:100000"]
    if kernel in ("backwards", "aligned_vectors"):
        words += ["--arg", "i32:200"]
    done = run("simulate", KERNELS, "--entry", kernel, "--block", "128", "--compiler", compiler, *words, "--lines", "--format", "json")
    assert done.returncode == 0, done
    counted = {line["line"]: line["counters"] for line in json.loads(done.stdout)["lines"][0]["lines"]}
    _, file = looked_at(compiler)
    lints = next(one["lints"] for one in file["kernels"] if one["name"].split("(")[0] == kernel)
    costs = {lint["places"][0]["line"]: lint for lint in lints if lint["kind"] in ("sectors", "banks")}
    ways = [(op, "l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum") for op in ("ld", "st")]
    for number, counters in counted.items():
        if number in costs and costs[number]["kind"] == "sectors":
            shown = {counters[sectors] / counters[requests] for _, sectors, requests in ways if counters.get(requests)}
            assert costs[number]["cost"]["found"] in shown, (number, shown, costs[number])
        moved = sum(value for name, value in counters.items() if "data_bytes_mem_global" in name)
        sectors = sum(counters.get(name, 0) for _, name, _ in ways)
        assert number in costs or 32 * sectors < 2 * moved or moved == 0, (number, sectors, moved)
        conflicts = sum(value for name, value in counters.items() if "bank_conflicts" in name)
        assert (conflicts > 0) == (number in costs and costs[number]["kind"] == "banks"), (number, conflicts)


def test_the_answer_is_a_table_and_an_exit_code(tmp_path: Path) -> None:
    if NVCC is None and CLANG is None:
        pytest.skip("neither nvcc nor clang is installed")
    done = run("check", KERNELS, "--block", "128", "--kernel", "^(columns|leaves_early)$")
    assert done.returncode == 0 and done.stderr == "", done
    assert "2 kernels looked at, 0 findings, 1 note" in done.stdout
    assert "columns: blocks of 128 threads" in done.stdout and "leaves_early" not in done.stdout
    assert "looked_at.cu:" in done.stdout and max(map(len, done.stdout.splitlines())) <= 100
    assert "leaves_early" in run("check", KERNELS, "--kernel", "leaves_early", "--verbose").stdout
    markdown = run("check", KERNELS, "--block", "128", "--kernel", "one_beyond", "--format", "markdown", "--output", tmp_path / "a.md")
    assert markdown.returncode == 1, markdown
    assert "| FINDING |" in (tmp_path / "a.md").read_text(encoding="utf-8")
    assert run("check", KERNELS, "--kernel", "one_beyond").returncode == 0, "of how many threads it has nothing is known"


def test_what_is_found_is_shown_at_the_lines_of_a_change(tmp_path: Path) -> None:
    if NVCC is None and CLANG is None:
        pytest.skip("neither nvcc nor clang is installed")
    record = tmp_path / "lints.json"
    run("check", KERNELS, "--block", "128", "--format", "json", "--output", record)
    schema = json.loads((REPOSITORY / "results/lints.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(record.read_text(encoding="utf-8")), schema)
    page = (REPOSITORY / "docs/use/check_files.md").read_text(encoding="utf-8")
    kinds = schema["$defs"]["lint"]["properties"]["kind"]["enum"]
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE) == kinds
    done = run("export", record, "--to", "sarif", "--sources", KERNELS.parent)
    assert done.returncode == 0, done
    results = json.loads(done.stdout)["runs"][0]["results"]
    shown = {(result["ruleId"], result["level"], place["physicalLocation"]["region"]["startLine"])
             for result in results for place in result["locations"] if "physicalLocation" in place}
    text = KERNELS.read_text(encoding="utf-8").splitlines()
    barrier = next(n for n, line in enumerate(text, 1) if "FINDING barrier" in line)
    columns = next(n for n, line in enumerate(text, 1) if "note sectors 32/4" in line)
    assert ("lint-barrier", "error", barrier) in shown and ("lint-sectors", "note", columns) in shown, shown
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["lint-barrier"] == "A barrier that some threads of a block skip"
    suite = run("export", record, "--to", "junit").stdout
    assert "barrier_under_a_bound" in suite and "leaves_early" in suite


def test_a_block_that_cannot_be_launched_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "large.ptx").write_text(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry large()\n.reqntid 128, 1, 1\n{\n"
        ".shared .align 4 .b8 tile[300000];\n.reg .b32 %r<2>;\nmov.u32 %r1, tile;\nret;\n}\n", encoding="utf-8")
    done = run("check", tmp_path / "large.ptx")
    assert done.returncode == 1 and "cannot be launched on NVIDIA H100" in " ".join(done.stdout.split()), done


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.ptx").write_text(".version 8.0\n.target sm_75\n.address_size 64\n", encoding="utf-8")
    (tmp_path / "broken.ptx").write_text("no PTX", encoding="utf-8")
    assert_refused(run("check", tmp_path / "empty.ptx"), "no kernel in it")
    assert_refused(run("check", tmp_path / "broken.ptx"), "broken.ptx:1:1:")
    assert_refused(run("check", tmp_path / "missing.ptx"), "missing.ptx")
    assert_refused(run("check", KERNELS, "convolution"), "neither a .cu nor a .ptx file")
    assert_refused(run("check", KERNELS, "--schedules", "3"), "--schedules is for ladders")
    assert_refused(run("check", KERNELS, "--block", "2000"), "--block 2000")
    assert_refused(run("check", KERNELS, "--gpu", "h1000"), "unknown GPU 'h1000'")
    assert_refused(run("check", "--block", "128"), "--block is for files of kernels")
    assert_refused(run("check", "--format", "markdown"), "--format markdown is for files of kernels")
    assert_refused(run("check", "convolution", "softmax"), "one ladder at a time")
