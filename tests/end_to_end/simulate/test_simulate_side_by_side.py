"""`convladder simulate` with several files or kernels: the same launch of each, beside each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import assert_refused, run

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
KERNEL = """
.visible .entry NAME(.param .u64 NAME_y, .param .u64 NAME_x)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, STRIDE;
  ld.param.u64 %d1, [NAME_y];
  ld.param.u64 %d2, [NAME_x];
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.u32 %r2, [%d2];
  MORE
  st.global.u32 [%d1], %r2;
  ret;
}
"""
BARRIER = "bar.sync 0;"


def kernel(name: str, stride: int = 4, more: str = "") -> str:
    return KERNEL.replace("NAME", name).replace("STRIDE", str(stride)).replace("MORE", more)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """copy and slow do the same, one is wrong, one leaves its buffers, one does not end."""
    texts = {"copy": kernel("copy"),
             "slow": kernel("slow", 4, BARRIER),
             "wrong": kernel("wrong", 4, "neg.s32 %r2, %r2;"),
             "outside": kernel("outside", 64),
             "endless": kernel("endless", 4, "A: add.u32 %r1, %r1, 1; bra A;"),
             "refused": kernel("refused", 4, "frobnicate.u32 %r1;"),
             "both": kernel("copy") + kernel("slow", 4, BARRIER)}
    for name, text in texts.items():
        (tmp_path / f"{name}.ptx").write_text(HEADER + text, encoding="utf-8")
    return {name: tmp_path / f"{name}.ptx" for name in texts}


def simulate(*options: object):
    return run("simulate", *options, "--verbose", "--block", "64", "--arg", "y=out:u32:64", "--arg", "x=in:u32:iota:64")


def rows(table: str) -> dict[str, list[str]]:
    """By title, which ends where two spaces are."""
    lines = [line.split("  ") for line in table.splitlines()]
    return {cells[0]: [cell.strip() for cell in cells[1:] if cell.strip()] for cells in lines if cells}


def test_counters_stand_beside_each_other_with_ratios(files: dict[str, Path]) -> None:
    done = simulate(files["copy"], files["slow"], files["wrong"])
    assert done.returncode == 0, done
    assert max(map(len, done.stdout.splitlines()[3:])) <= 100
    legend, table = done.stdout.split("\n\n")
    launch = "1x1x1 blocks of 64x1x1 threads"
    assert " ".join(legend.split()) == " ".join(f"{letter} {files[name]}: {name}: {launch}" for letter, name in
                                                [("A", "copy"), ("B", "slow"), ("C", "wrong")])
    shown = rows(table)
    assert shown[""] == ["A", "B", "B/A", "C", "C/A"]
    assert shown["instructions"] == ["18", "20", "1.111", "20", "1.111"]  # nine a warp, and one more
    assert shown["barriers"] == ["0", "2", "0"] and shown["global load sectors"][:3] == ["8", "8", "1.000"]
    assert shown["values of y unlike A's"] == ["0", "63"]
    assert shown["findings"] == ["0", "0", "0"] and shown["came to its end"] == ["yes", "yes", "yes"]
    assert "shared loads" not in shown


def test_more_than_three_go_into_several_tables(files: dict[str, Path]) -> None:
    done = simulate(*[files["copy"]] * 6)
    assert done.returncode == 0, done
    assert [rows(table)[""] for table in done.stdout.split("\n\n")[1:]] == [
        ["A", "B", "B/A", "C", "C/A"], ["A", "D", "D/A", "E", "E/A"], ["A", "F", "F/A"]]


def test_kernels_of_one_file_stand_beside_each_other(files: dict[str, Path]) -> None:
    both = simulate(files["both"], "--entry", "copy", "--entry", "slow")
    apart = simulate(files["copy"], files["slow"])
    assert both.returncode == 0 and both.stdout.split("\n\n")[1] == apart.stdout.split("\n\n")[1]
    each = simulate(files["both"], files["slow"], "--entry", "copy", "--entry", "slow")
    assert each.stdout.split("\n\n")[1] == apart.stdout.split("\n\n")[1]


def test_what_is_wrong_stands_below_and_in_the_exit_code(files: dict[str, Path], tmp_path: Path) -> None:
    done = simulate(files["copy"], files["outside"], files["copy"])
    assert done.returncode == 1 and f"\nB  {files['outside']}\n  memcheck: read of 4 bytes" in done.stdout, done
    done = simulate(files["copy"], files["endless"], "--limit", "20k")
    assert done.returncode == 2 and "\n  stopped after 20,000 instructions" in done.stdout
    assert rows(done.stdout)["came to its end"] == ["yes", "limit"]
    done = simulate(files["wrong"], files["copy"], "--expect", "y=iota:64")
    assert done.returncode == 5 and "  y: 63 of 64 values are wrong; the first is [1]: expected 1, found" in done.stdout
    assert rows(done.stdout)["values not as expected"] == ["63", "0"]
    names = ["wrong", "outside", "endless"]
    done = simulate(*[files[name] for name in names], "--expect", "y=iota:64", "--limit", "20k", "--output",
                    tmp_path / "all.json")
    assert done.returncode == 1
    assert simulate(files["copy"], files["slow"], "--expect", "y=iota:64").returncode == 0
    document = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [one["kernel"] for one in document["simulations"]] == names
    assert [one["file"] for one in document["simulations"]] == [str(files[name]) for name in names]


def test_list_takes_several_files(files: dict[str, Path]) -> None:
    done = run("simulate", files["copy"], files["refused"], "--list")
    assert done.returncode == 0 and f"{files['copy']}: PTX" in done.stdout and "'frobnicate.u32'" in done.stdout
    assert len(json.loads(run("simulate", *files.values(), "--list", "--format", "json").stdout)["files"]) == len(files)


@pytest.mark.parametrize(("names", "options", "words"), [
    (["copy", "nothing"], [], "nothing.ptx: cannot be read"),
    (["copy", "refused"], [], "'frobnicate.u32'"),
    (["copy", "both"], [], "both.ptx: it contains 2 kernels"),
    (["copy", "slow"], ["--entry", "copy"], "slow.ptx: unknown kernel 'copy'"),
    (["copy", "slow", "both"], ["--entry", "copy", "--entry", "slow"], "--entry is given 2 times for 3 files"),
    (["both"], ["--entry", "copy", "--entry", "fast"], "unknown kernel 'fast'"),
    (["both"], ["--entry", "copy", "--entry", "slow", "--list"], "--list takes one --entry"),
    (["copy", "slow"], ["--save", "y=y.npy"], "each of the 2 kernels would write it"),
    (["copy", "slow"], ["--arg", "i32:1"], "copy has 2 parameters, but 3 --arg"),
    (["copy", "slow"], ["--expect", "slow_y=1"], "unknown buffer or variable 'slow_y'"),
])
def test_what_cannot_stand_beside_each_other_is_refused(files: dict[str, Path], names: list[str], options: list[str],
                                                        words: str) -> None:
    assert_refused(simulate(*[files.get(name, f"{name}.ptx") for name in names], *options), words)
