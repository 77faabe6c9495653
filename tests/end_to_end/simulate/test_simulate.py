"""`convladder simulate` with PTX that the project has never seen: results, files, findings, and bad input."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import assert_refused, run, start

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"

SCALE = """
.visible .entry scale(.param .u64 scale_x, .param .u64 scale_y, .param .f32 scale_factor, .param .u32 scale_n)
{
  .reg .pred %p;
  .reg .f32 %f<3>;
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [scale_n];
  setp.ge.s32 %p, %r1, %r4;
  @%p bra DONE;
  ld.param.u64 %d1, [scale_x];
  ld.param.u64 %d2, [scale_y];
  ld.param.f32 %f1, [scale_factor];
  mul.wide.s32 %d3, %r1, 4;
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d1];
  mul.rn.f32 %f2, %f2, %f1;
  st.global.f32 [%d2], %f2;
DONE:
  ret;
}
"""

PAIR = """
.visible .entry pair(.param .align 4 .b8 pair_numbers[8], .param .u64 pair_y)
{
  .reg .b32 %r<3>;
  .reg .b64 %d;
  ld.param.u32 %r1, [pair_numbers];
  ld.param.u32 %r2, [pair_numbers+4];
  sub.s32 %r1, %r1, %r2;
  ld.param.u64 %d, [pair_y];
  st.global.u32 [%d], %r1;
  ret;
}
"""


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    """A file with two kernels."""
    file = tmp_path / "kernels.ptx"
    file.write_text(HEADER + SCALE + PAIR, encoding="utf-8")
    return file


def scale(ptx: Path, *more: object, x: str = "x=in:f32:1,2,3,4,5", y: str = "y=out:f32:5", n: int = 5,
          block: str = "32"):
    """Runs the kernel `scale`."""
    return run("simulate", ptx, "--entry", "scale", "--block", block, "--arg", x, "--arg", y, "--arg", "f32:2.5",
               "--arg", f"i32:{n}", *more)


def test_the_text_shows_values_counters_and_findings(ptx: Path) -> None:
    done = scale(ptx)
    assert done.returncode == 0, done.stderr
    assert "scale: 1x1x1 blocks of 32x1x1 threads\n" in done.stdout
    assert "y: f32[5]\n  2.5 5 7.5 10 12.5\n" in done.stdout
    assert "findings: none\n" in done.stdout
    assert "smsp__inst_executed.sum" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_without_counters_results_are_the_same_and_nothing_is_said_to_be_counted(ptx: Path, tmp_path: Path) -> None:
    for checkers in ("all", "none"):
        documents = {}
        for more in ((), ("--no-counters",)):
            file = tmp_path / "all.json"
            done = scale(ptx, "--grid", "4", "--checkers", checkers, *more, "--output", file, x="in:f32:iota:1000",
                         y="y=out:f32:1000", n=1000, block="256")
            assert done.returncode == 0, done.stderr
            assert ("\ncounters: nothing was counted (--no-counters)\n" in done.stdout) == bool(more)
            assert ("smsp__inst_executed" in done.stdout) != bool(more)
            documents[more] = json.loads(file.read_text(encoding="utf-8"))
        assert documents[()]["outputs"] == documents["--no-counters",]["outputs"]
        assert documents[()]["counters"] and documents["--no-counters",]["counters"] is None
    side_by_side = run("simulate", ptx, ptx, "--entry", "scale", "--no-counters", "--arg", "in:f32:1", "--arg",
                       "out:f32:1", "--arg", "f32:2", "--arg", "i32:1")
    assert side_by_side.returncode == 0 and "not counted" in side_by_side.stdout, side_by_side
    assert_refused(run("simulate", "--no-counters", "--", "/bin/true"), "--no-counters")


def test_a_long_buffer_is_cut_in_the_text_and_whole_in_the_json(ptx: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    done = scale(ptx, "--grid", "4", "--output", document, x="in:f32:iota:1000", y="y=out:f32:10x100", n=1000,
                 block="256")
    assert done.returncode == 0, done.stderr
    assert "y: f32[10x100]\n  0 2.5 5 7.5 10 12.5 15 17.5 … 2480 2482.5 2485 2487.5 2490 2492.5 2495 2497.5\n" \
        in done.stdout
    everything = json.loads(document.read_text(encoding="utf-8"))
    assert everything["kernel"] == "scale"
    assert everything["grid"] == [4, 1, 1] and everything["block"] == [256, 1, 1]
    assert everything["findings"] == [] and everything["fault"] is None
    assert everything["outputs"] == [{"name": "y", "type": "f32", "shape": [10, 100],
                                      "values": [2.5 * i for i in range(1000)]}]
    # 32 warps load once each, the last with 8 of its lanes.
    assert everything["counters"]["smsp__sass_data_bytes_mem_global_op_ld.sum"] == 4000
    assert everything["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 32


def test_json_on_the_standard_output_stands_alone(ptx: Path) -> None:
    done = scale(ptx, "--format", "json")
    assert [2.5, 5, 7.5, 10, 12.5] == json.loads(done.stdout)["outputs"][0]["values"]


def test_arrays_come_from_numpy_and_go_back(ptx: Path, tmp_path: Path) -> None:
    values = numpy.linspace(-3, 3, 60, dtype=numpy.float32).reshape(6, 10)
    numpy.save(tmp_path / "x.npy", values)
    done = scale(ptx, "--save", f"y={tmp_path}/y.npy", "--save", f"1={tmp_path}/y.bin", "--save",
                 f"x={tmp_path}/x.json", x=f"x=in:@{tmp_path}/x.npy", y="y=out:f32:6x10", n=60, block="64")
    assert done.returncode == 0, done.stderr
    result = numpy.load(tmp_path / "y.npy")
    assert result.dtype == numpy.float32 and numpy.array_equal(result, values * numpy.float32(2.5))
    assert (tmp_path / "y.bin").read_bytes() == result.tobytes()
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["shape"] == [6, 10]


def test_a_structure_is_passed_by_value(ptx: Path, tmp_path: Path) -> None:
    (tmp_path / "pair.bin").write_bytes(struct.pack("<ii", 7, 9))
    done = run("simulate", ptx, "--entry", "pair", "--arg", f"bytes:@{tmp_path}/pair.bin", "--arg", "out:i32:1")
    assert done.returncode == 0, done.stderr
    assert "pair_y: i32[1]\n  -2\n" in done.stdout


def test_an_access_behind_a_buffer_is_reported_with_its_name(ptx: Path) -> None:
    done = scale(ptx, n=6)
    assert done.returncode == 1
    assert "'x'" in done.stdout and "ld.global.f32" in done.stdout
    assert "findings: none" not in done.stdout


def test_list_names_kernels_and_parameters(ptx: Path) -> None:
    done = run("simulate", ptx, "--list")
    assert done.returncode == 0, done.stderr
    assert "bytes of shared memory\n" in done.stdout
    for words in (["scale"], ["0", "scale_x", "8 bytes"], ["2", "scale_factor", "4 bytes"], ["0", "pair_numbers"]):
        assert any(all(word in line for word in words) for line in done.stdout.splitlines()), words


def test_list_names_every_kind_of_memory(tmp_path: Path) -> None:
    file = tmp_path / "memory.ptx"
    file.write_text(HEADER + ".extern .shared .align 4 .b8 rows[];\n.visible .entry k()\n.maxntid 64\n{\n"
                    ".local .b8 depot[24];\n.shared .b8 tile[40];\nret;\n}\n", encoding="utf-8")
    assert "  1 instruction, 40 bytes of shared memory and what --shared adds, 24 bytes of local memory per thread, " \
           "at most 64 threads per block\n" in run("simulate", file, "--list").stdout
    assert_refused(run("simulate", file, "--shared", 232448), "232488 bytes together with the kernel")
    assert_refused(run("simulate", file, "--block", "65"), "65 threads", "compiled for at most 64")


def test_a_file_is_refused_where_ptxas_and_a_linker_would_refuse_it(tmp_path: Path) -> None:
    file = tmp_path / "refused.ptx"

    def refused(text: str, *options: str) -> Any:
        file.write_text(HEADER + text, encoding="utf-8")
        return run("simulate", file, *options)

    sized = ".visible .entry k() .reqntid 64, 1, 1\n{\nret;\n}\n"
    for block in ("32", "8,8", "1", "65"):
        assert_refused(refused(sized, "--block", block), "compiled for 64 x 1 x 1 (.reqntid)")
    assert refused(sized, "--block", "64").returncode == 0
    assert "64 x 1 x 1 threads per block and no others\n" in refused(sized, "--list").stdout
    body = ".visible .entry k()\n{\n.reg .b32 %r<3>; .reg .b16 %h; .reg .b64 %d;\n"
    assert_refused(refused(body + "add.s16 %h, %h, %r1;\nret;\n}\n"), f"{file}:", "%r1 (.b32) does not fit .s16")
    missing = ".extern .global .b32 x;\n.extern .func f();\n"
    assert_refused(refused(missing + body + "ld.global.b32 %r1, [x];\nret;\n}\n"), "undefined reference", "'x'")
    assert_refused(refused(missing + body + "call f;\nret;\n}\n"), "'f'")
    assert_refused(refused(".func f(.param .b32 a);\n.func f(.param .b64 a)\n{\nret;\n}\n" + body + "ret;\n}\n"),
                   "prototype doesn't match", "'f'")


def test_kernels_whose_names_are_letters_keep_them(tmp_path: Path) -> None:
    file = tmp_path / "letters.ptx"
    file.write_text(HEADER + "".join(f".visible .entry {name}()\n{{\nret;\n}}\n" for name in ("f", "i", "d", "_Z1fv")),
                    encoding="utf-8")
    lines = run("simulate", file, "--list").stdout.splitlines()
    for name in ("f", "i", "d"):
        assert name in [line.strip() for line in lines], lines
    assert "float" not in "\n".join(lines)


MIXED = """
.global .align 4 .b8 table[24];
.const .align 4 .u32 _ZN1a5limitE = 7;
.global .align 1 .b8 $str[4] = {37, 100, 10, 0};
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 list);
.visible .entry strange(.param .u64 strange_x)
{
  .reg .b32 %r<3>;
  .reg .f32 %f<3>;
  frobnicate.f32 %f1, %f2;
  mov.u32 %r1, 1;
  add.f77 %f1, %f2, %f2;
  frobnicate.f32 %f2, %f1;
  ret;
}
.visible .entry plain() { ret; }
"""


def test_list_says_what_cannot_be_run_and_where(tmp_path: Path) -> None:
    file = tmp_path / "mixed.ptx"
    file.write_text(HEADER + MIXED, encoding="utf-8")
    lines = {words: 1 + (HEADER + MIXED).split(words)[0].count("\n") for words in ("frobnicate", "add.f77")}
    done = run("simulate", file, "--list")
    assert done.returncode == 0 and max(map(len, done.stdout.splitlines()[1:])) <= 100, done
    head, strange, plain = done.stdout.split("\n\n")
    assert head.startswith(f"{file}: PTX 8.0 for sm_75, 2 kernels, of which 1 cannot be run here\n")
    assert "  table " in head and "24 bytes of global memory" in head
    assert "  a::limit " in head and "4 bytes of constant memory" in head and "$str" not in head
    assert "cannot be run here:\n" in strange and "strange_x" in strange
    for words, line in lines.items():
        assert f"    line {line}: '{words}" in strange and strange.count(words) == 1
    assert "cannot be run" not in plain and "1 instruction, " in plain
    document = json.loads(run("simulate", file, "--list", "--format", "json").stdout)
    assert [one["line"] for one in document["kernels"][0]["refusals"]] == list(lines.values())
    assert document["kernels"][1]["refusals"] == []
    assert run("simulate", file, "--list", "--entry", "plain").stdout.count("instruction") == 1


@pytest.mark.parametrize(("options", "words"), [
    (["--entry", "scael"], ["kernels.ptx", "unknown kernel 'scael'; known: scale, pair"]),
    ([], ["2 kernels", "--entry", "scale, pair"]),
    (["--entry", "scale"], ["scale has 4 parameters, but 0 --arg"]),
    (["--entry", "scale", "--block", "33,32"], ["--block 33,32", "1056 threads", "at most 1024"]),
    (["--entry", "scale", "--block", "1,1,65"], ["--block 1,1,65", "1 to 64", "'65'"]),
    (["--entry", "scale", "--block", "0"], ["--block 0", "1 to 1024"]),
    (["--entry", "scale", "--grid", "1,65536"], ["--grid 1,65536", "65535"]),
    (["--entry", "scale", "--grid", "1,1,1,1"], ["--grid 1,1,1,1", "X[,Y[,Z]]"]),
    (["--entry", "scale", "--grid", "-3"], ["--grid"]),
    (["--entry", "scale", "--shared", "232449"], ["--shared", "232448"]),
])
def test_a_launch_that_cannot_be_is_refused(ptx: Path, options: list[str], words: list[str]) -> None:
    assert_refused(run("simulate", ptx, *options), *words)


@pytest.mark.parametrize(("change", "words"), [
    ({"x": "u8:300"}, ["u8:300", "0 to 255"]),
    ({"x": "i32:5"}, ["--arg i32:5", "4 bytes", "parameter 0 (scale_x) has 8"]),
    ({"x": "y=in:f32:1"}, ["'y' is already"]),
    ({"y": "out:f32:-1"}, ["out:f32:-1"]),
    ({"x": "in:f32:@nowhere.npy"}, ["nowhere.npy: cannot be read"]),
])
def test_a_wrong_argument_is_refused(ptx: Path, change: dict[str, str], words: list[str]) -> None:
    assert_refused(scale(ptx, **change), *words)


@pytest.mark.parametrize(("output", "words"), [
    ("z=z.npy", ["unknown buffer or variable 'z'; known:"]),
    ("y=y.txt", ["y.txt", ".bin, .npy or .json"]),
    ("y", ["NAME=FILE"]),
    ("y=/nowhere/y.bin", ["cannot write /nowhere/y.bin"]),
])
def test_an_output_that_cannot_be_is_refused(ptx: Path, output: str, words: list[str]) -> None:
    assert_refused(scale(ptx, "--save", output), *words)


@pytest.mark.parametrize(("save", "words"), [
    (lambda file: file.write_bytes(b"\x93NUMPY\x01\x00"), ["byte 8", "ends inside its header"]),
    (lambda file: numpy.save(file, numpy.zeros(3, numpy.complex64)), ["'<c8'", "known: |i1"]),
    (lambda file: numpy.save(file, numpy.zeros((3, 2), numpy.float32, order="F")), ["Fortran"]),
    (lambda file: numpy.save(file, numpy.zeros(3, ">f4")), ["big-endian"]),
    (lambda file: numpy.save(file, numpy.zeros(0, numpy.float32)), ["has no elements"]),
    (lambda file: numpy.save(file, numpy.zeros(3, numpy.float64)), ["holds f64, not f32"]),
])
def test_an_array_that_cannot_be_a_buffer_is_refused(ptx: Path, tmp_path: Path, save, words: list[str]) -> None:
    save(tmp_path / "x.npy")
    assert_refused(scale(ptx, x=f"in:f32:@{tmp_path}/x.npy"), "x.npy", *words)


def test_ptx_that_is_wrong_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ptx"
    file.write_text(HEADER + ".visible .entry k()\n{\n  frobnicate.f32;\n  ret;\n}\n", encoding="utf-8")
    assert_refused(run("simulate", file), f"{file}:6:3: ", "frobnicate.f32")
    file.write_text("int main() {}\n", encoding="utf-8")
    assert_refused(run("simulate", file), f"{file}:1:1: ")
    file.write_text(HEADER, encoding="utf-8")
    assert_refused(run("simulate", file), "no kernel")
    assert_refused(run("simulate", tmp_path / "nowhere.ptx"), "nowhere.ptx: cannot be read")


SUM_OF_NEIGHBOURS = """
.visible .entry neighbours(.param .u64 neighbours_y)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  .shared .align 4 .b8 tile[132];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mad.lo.s32 %r2, %r1, 4, %r2;
  st.shared.u32 [%r2+4], %r1;
  ld.shared.u32 %r3, [%r2];
  ld.param.u64 %d1, [neighbours_y];
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r1, [%d1];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3;
  ret;
}
"""


@pytest.fixture
def buggy(tmp_path: Path) -> Path:
    """A kernel that reads an uninitialised buffer, and shared memory without a barrier."""
    file = tmp_path / "neighbours.ptx"
    file.write_text(HEADER + SUM_OF_NEIGHBOURS, encoding="utf-8")
    return file


@pytest.mark.parametrize(("check", "buffer", "found"), [
    ("all", "y=out:i32:32", {"initcheck", "racecheck"}),
    ("race", "y=out:i32:32", {"racecheck"}),
    ("initialization,memory", "y=out:i32:32=0", {"initcheck"}),  # tile[0] is never written
    ("memory", "y=out:i32:31=0", {"memcheck"}),
    ("memory,synchronization", "y=out:i32:32", set()),
    ("none", "y=out:i32:32", set()),
])
def test_checkers_find_what_they_look_for(buggy: Path, check: str, buffer: str, found: set[str]) -> None:
    done = run("simulate", buggy, "--block", "32", "--arg", buffer, "--checkers", check, "--format", "json")
    assert done.returncode == (1 if found else 0), done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert {one["checker"] for one in findings} == found
    line = HEADER.count("\n") + 1 + SUM_OF_NEIGHBOURS[:SUM_OF_NEIGHBOURS.index("ld.global")].count("\n")
    assert all(one["ptx_line"] == line for one in findings if one["allocation"] == "y" and one["opcode"][:2] == "ld")


def test_an_unknown_checker_is_refused(buggy: Path) -> None:
    assert_refused(run("simulate", buggy, "--arg", "out:i32:32", "--checkers", "rase"), "unknown checker 'rase'; known: race")


def test_host_threads_change_nothing(ptx: Path) -> None:
    documents = {scale(ptx, "--grid", "300", "--threads", threads, "--format", "json", x="x=in:f32:iota:9000",
                       y="y=out:f32:9000", n=9000).stdout for threads in (1, 2, 7)}
    assert len(documents) == 1
    assert_refused(scale(ptx, "--threads", 0), "--threads", "1 to 1024")


# --- limits -------------------------------------------------------------------------------------------------------

SPIN = """
.visible .entry spin(.param .u64 spin_y)
{
  .reg .b32 %r<2>;
  .reg .b64 %d;
  ld.param.u64 %d, [spin_y];
  mov.u32 %r1, %tid.x;
AGAIN:
  mad.lo.s32 %r1, %r1, 3, 1;
  INSIDE
  bra AGAIN;
}
"""


STORE = "st.global.u32 [%d], %r1;"


def spin(folder: Path, inside: str) -> Path:
    """A kernel that does not end."""
    file = folder / "spin.ptx"
    file.write_text(HEADER + SPIN.replace("INSIDE", inside), encoding="utf-8")
    return file


@pytest.fixture(params=["", STORE, "bar.sync 0;"], ids=["registers", "stores", "barriers"])
def endless(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Kernels that do not end, in several ways."""
    return spin(tmp_path, request.param)


@pytest.mark.parametrize(("limit", "words"), [(["2M"], "after 2,000,000 instructions"), (["0.2s"], "after 0.2 s"),
                                              (["1h", "300k"], "after 300,000 instructions")])
def test_an_endless_loop_ends_at_its_limit(endless: Path, limit: list[str], words: str) -> None:
    options = [word for one in limit for word in ("--limit", one)]
    done = run("simulate", endless, "--grid", "9", "--block", "64", "--arg", "inout:u32:0", "--checkers", "memory",
               *options)
    assert done.returncode == 2, done
    line = 1 + endless.read_text(encoding="utf-8").split("bra AGAIN")[0].count("\n")
    assert f"stopped {words}, with 0 of 9 blocks done: 'bra' in spin, PTX line {line}, block (0, 0, 0), " in done.stdout
    assert "smsp__inst_executed.sum" in done.stdout


def test_a_limit_ends_the_same_way_in_every_run(endless: Path) -> None:
    options = ["--grid", "9", "--block", "64", "--arg", "inout:u32:0", "--checkers", "none", "--limit", "100k"]
    done = {run("simulate", endless, *options, "--threads", threads, "--format", "json").stdout
            for threads in (1, 2, 7)}
    assert len(done) == 1
    assert json.loads(done.pop())["stopped"].startswith("after 100,000 instructions")


def test_what_was_found_before_a_limit_counts_more(tmp_path: Path) -> None:
    done = run("simulate", spin(tmp_path, STORE), "--block", "64", "--arg", "inout:u8:0", "--limit", "100k")
    assert done.returncode == 1 and "stopped after 100,000" in done.stdout and "memcheck" in done.stdout


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_shows_what_was_found_until_then(tmp_path: Path, sent: int) -> None:
    process = start("simulate", spin(tmp_path, STORE), "--block", "64", "--arg", "inout:u8:0", "--limit", "none",
                    stdout=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(sent)
    process.send_signal(sent)  # as timeout does
    shown, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "stopped by an interrupt, with 0 of 1 blocks done: '" in shown, shown
    assert "findings\n  memcheck: " in shown, shown


@pytest.mark.parametrize("limits", [["0"], ["-3"], ["abc"], ["3x"], [""], ["30s,5"], ["nan"], ["inf"], ["1e400"],
                                    ["none", "3s"], ["1s", "2s"], ["1M", "2M"], ["1e30"], ["99999999h"], ["s"]])
def test_a_limit_that_cannot_be_is_refused(ptx: Path, limits: list[str]) -> None:
    assert_refused(scale(ptx, *[word for one in limits for word in ("--limit", one)]), "--limit")


def test_a_kernel_within_its_limit_is_left_alone(ptx: Path) -> None:
    for limit in ("1k", "1min", "none"):
        done = scale(ptx, "--limit", limit)
        assert done.returncode == 0 and "stopped" not in done.stdout, done


# --- what is only to be read --------------------------------------------------------------------------------------

WRITE = """
.visible .entry write(.param .u64 write_x)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<3>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [write_x];
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1];
  HOW
  ret;
}
"""


@pytest.mark.parametrize(("how", "kind"), [
    ("st.global.u32 [%d1], %r2;", "write of 4 bytes"),
    ("st.u32 [%d1], %r2;", "write of 4 bytes"),
    ("st.global.v2.u32 [%d1], {%r2, %r2};", "write of 8 bytes"),
    ("st.global.u8 [%d1+3], %r2;", "write of 1 bytes"),
    ("atom.global.add.u32 %r3, [%d1], 0;", "atomic access of 4 bytes"),
    ("red.global.max.u32 [%d1], %r2;", "atomic access of 4 bytes"),
    ("setp.eq.u32 %p, %r1, 5; @%p st.global.u32 [%d1], %r2;", "write of 4 bytes at byte 20"),
])
def test_a_write_into_an_input_is_found(tmp_path: Path, how: str, kind: str) -> None:
    file = tmp_path / "write.ptx"
    text = HEADER + WRITE.replace("HOW", how).replace(".reg .b64 %d<3>;", ".reg .b64 %d<3>; .reg .pred %p;")
    file.write_text(text, encoding="utf-8")

    def write(argument: str, *more: str, threads: int = 1 if "v2" in how else 32):
        return run("simulate", file, "--block", threads, "--arg", argument, *more)
    line = 1 + text.split(how)[0].count("\n")
    done = write("x=in:u32:iota:64")
    assert done.returncode == 1, done
    assert f"  memcheck: {kind}" in done.stdout and "of 'x', which is only to be read: '" in done.stdout
    assert f", PTX line {line}, block (0, 0, 0), thread (" in done.stdout and done.stdout.count("memcheck") == 1
    # It is written all the same, as on hardware; who does not ask, and who may write, is told nothing.
    for argument, options in [("x=in:u32:iota:64", ["--checkers", "none"]), ("x=inout:u32:iota:64", []),
                              ("x=out:u32:64=0", [])]:
        assert write(argument, *options).returncode == 0
    done = run("simulate", file, "--block", "1", "--arg", "@x", "--buffer", "x=in:u32:iota:64", "--expect",
               "x=iota:64", "--checkers", "memory")
    assert done.returncode == (0 if "%p" in how else 1)
