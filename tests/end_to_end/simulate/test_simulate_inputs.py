"""What `convladder simulate` gives a kernel beside numbers and buffers: addresses, structures, variables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
from conftest import assert_refused, run

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"
KERNELS = """
.global .align 4 .u32 counter = 5;
.global .align 8 .u64 place;
.const .align 4 .b8 _ZN1a5tableE[16];
.const .align 4 .b8 _ZN1b5tableE[16];

// y[i] = x[i] * w + table[i] for {float* x; int n; float* y; struct {double w; char c;} in; short h[3];}
.visible .entry scale(.param .align 8 .b8 scale_a[48])
{
  .reg .pred %p;
  .reg .f32 %f<4>;
  .reg .f64 %w;
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [scale_a+8];
  setp.ge.s32 %p, %r1, %r2;
  @%p bra DONE;
  ld.param.u64 %d1, [scale_a];
  ld.param.u64 %d2, [scale_a+16];
  ld.param.f64 %w, [scale_a+24];
  cvt.rn.f32.f64 %f1, %w;
  mul.wide.s32 %d3, %r1, 4;
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  mov.u64 %d4, _ZN1a5tableE;
  add.s64 %d4, %d4, %d3;
  ld.global.f32 %f2, [%d1];
  ld.const.f32 %f3, [%d4];
  fma.rn.f32 %f2, %f2, %f1, %f3;
  st.global.f32 [%d2], %f2;
  ld.param.s8 %r2, [scale_a+32];
  ld.param.s16 %r3, [scale_a+44];
  add.s32 %r2, %r2, %r3;
  setp.ne.u32 %p, %r1, 0;
  @%p bra DONE;
  ld.global.u32 %r1, [counter];
  add.s32 %r1, %r1, %r2;
  st.global.u32 [counter], %r1;
  ld.global.u64 %d5, [place];
  st.global.u32 [%d5], %r1;
DONE:
  ret;
}

.visible .entry add_one(.param .u64 add_y, .param .u64 add_x)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  ld.param.u64 %d1, [add_y];
  ld.param.u64 %d2, [add_x];
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.u32 %r2, [%d2];
  add.s32 %r2, %r2, 1;
  st.global.u32 [%d1], %r2;
  ret;
}
"""
STRUCTURE = "struct:{@x,i32:4,u64:@y+4,{f64:0.5,i8:-2},i16:[1,30,7]}"
"""Padding: 4 bytes before y, 7 behind the inner structure, 2 at the end; the third short lies at byte 44."""


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    """A file with two kernels and variables."""
    file = tmp_path / "kernels.ptx"
    file.write_text(HEADER + KERNELS, encoding="utf-8")
    return file


def scale(ptx: Path, *more: object, structure: str = STRUCTURE):
    return run("simulate", ptx, "--entry", "scale", "--block", "32", "--arg", structure, "--buffer",
               "x=in:f32:2,4,6,8", "--buffer", "y=inout:f32:fill:6:-1", "--buffer", "z=out:i32:2=0", "--set",
               "place=@z+4", *more)


def add_one(ptx: Path, first: str, second: str, threads: int = 4):
    return run("simulate", ptx, "--entry", "add_one", "--block", threads, "--arg", first, "--arg", second)


def test_a_structure_holds_addresses_numbers_and_arrays(ptx: Path) -> None:
    done = scale(ptx)
    assert done.returncode == 0, done
    assert "y: f32[6]\n  -1 1 2 3 4 -1\n" in done.stdout
    assert "z: i32[2]\n  0 10\n" in done.stdout  # 5 + (-2) + 7, where the variable points to
    assert "\nx: " not in done.stdout


def test_variables_are_set_and_read(ptx: Path, tmp_path: Path) -> None:
    numpy.save(tmp_path / "table.npy", numpy.array([10, 20, 30, 40], numpy.float32))
    for value in ("f32:10,20,30,40", f"@{tmp_path}/table.npy", "struct:{f32:[10,20],{f32:30},f32:40}"):
        done = scale(ptx, "--set", f"a::table={value}", "--set", "counter=i32:100", "--save",
                     f"counter={tmp_path}/counter.npy", "--save", f"a::table:f32={tmp_path}/t.json", "--save",
                     f"_ZN1b5tableE={tmp_path}/b.bin")
        assert done.returncode == 0, done
        assert "y: f32[6]\n  -1 11 22 33 44 -1\n" in done.stdout
        assert "counter: i32[1]\n  105\n" in done.stdout
        assert numpy.load(tmp_path / "counter.npy").tolist() == [105]
        assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["values"] == [10, 20, 30, 40]
        assert (tmp_path / "b.bin").read_bytes() == bytes(16)


def test_an_initial_value_is_read_as_the_type_that_is_named(ptx: Path, tmp_path: Path) -> None:
    assert scale(ptx, "--save", f"counter:u16={tmp_path}/c.npy").returncode == 0
    found = numpy.load(tmp_path / "c.npy")
    assert found.dtype == numpy.uint16 and found.tolist() == [10, 0]
    assert scale(ptx, "--save", f"counter={tmp_path}/c.npy").returncode == 0
    assert numpy.load(tmp_path / "c.npy").tolist() == [10, 0, 0, 0]


def test_two_parameters_share_a_buffer(ptx: Path) -> None:
    assert "a: i32[4]\n  2 3 4 5\n" in add_one(ptx, "a=inout:i32:1,2,3,4", "@a").stdout
    done = add_one(ptx, "y=@a", "a=inout:i32:1,2,3,4")
    assert done.returncode == 0 and "a: i32[4]\n  2 3 4 5\n" in done.stdout
    done = add_one(ptx, "@a+8", "a=inout:i32:1,2,3,4", 2)
    assert done.returncode == 0 and "a: i32[4]\n  1 2 2 3\n" in done.stdout
    done = add_one(ptx, "@a+12", "a=inout:i32:1,2,3,4", 2)
    assert done.returncode == 1 and "past the end of 'a' (16 bytes)" in done.stdout


@pytest.mark.parametrize(("argument", "words"), [
    ("@b", "unknown buffer 'b'; known: a"), ("@", "as @x or @x+64 (bytes), got '@'"), ("@a+17", "'a' has 16 bytes"),
    ("@a+", "got '@a+'"), ("@a+-4", "got '@a+-4'"), ("@a+4+4", "got"), ("@a+99999999999999999999", "got"),
    ("a", "or @ and a buffer's name, got 'a'"), ("@a-4", "unknown buffer"),
])
def test_an_address_that_cannot_be_is_refused(ptx: Path, argument: str, words: str) -> None:
    assert_refused(add_one(ptx, argument, "a=inout:i32:1,2,3,4"), f"--arg {argument}", words)


@pytest.mark.parametrize(("structure", "words"), [
    ("{", "at the end"), ("{}", "'' is no field"), ("{@x", "',' or '}' was expected at the end"),
    ("{@x}", "8 bytes, but parameter 0 (scale_a) has 48"), ("{@x,i32:1}x", "nothing was expected before 'x'"),
    ("{@x,i32:5.5}", "'5.5'"), ("{@x,i16:70000}", "-32768 to 32767"), ("{@x,5}", "'5' is no field"),
    ("{f33:1}", "unknown type 'f33'"), ("{i32:[1,2}", "'2}'"), ("{i32:[]}", "''"), ("[1]", "'{' was expected"),
    ("{" * 20 + "i8:1" + "}" * 20, "nested too deep"), ("{@nobody,i32:4,@y,{f64:0.5,i8:-2},i16:[1,30,7]}", "'nobody'"),
    ("{f64:[" + "1," * 5000 + "1]}", "larger than a kernel's parameters"),
])
def test_a_structure_that_cannot_be_is_refused(ptx: Path, structure: str, words: str) -> None:
    assert_refused(scale(ptx, structure=f"struct:{structure}"), "--arg struct:", words)


@pytest.mark.parametrize(("option", "value", "words"), [
    ("--set", "counter=i64:1", "8 bytes, but the variable has 4"),
    ("--set", "count=i32:1", "unknown variable 'count'; known: counter"),
    ("--set", "counter", "NAME=TYPE:CONTENT"),
    ("--set", "=i32:1", "NAME=TYPE:CONTENT"),
    ("--set", "counter=", "NAME=TYPE:CONTENT"),
    ("--set", "counter=i32", "content is missing"),
    ("--set", "counter=g:1", "unknown type 'g'"),
    ("--set", "counter=i32:x", "'x'"),
    ("--set", "place=@x", "already set"),
    ("--set", "counter=@x", "8 bytes, but"),
    ("--set", "counter=@nowhere.npy", "cannot be read"),
    ("--set", "a::table=struct:{@nobody,@x}", "unknown buffer 'nobody'"),
    ("--set", "scale_a=i32:1", "unknown variable"),
    ("--buffer", "x=in:f32:1", "the name 'x' is already used"),
    ("--buffer", "in:f32:1", "NAME=in:"),
    ("--buffer", "q=f32:1", "NAME=in:"),
    ("--buffer", "q=@x", "NAME=in:"),
    ("--save", "count=x.npy", "unknown buffer or variable"),
    ("--save", "counter:f64=x.npy", "4 bytes are no whole number of f64"),
    ("--save", "counter:f33=x.npy", "unknown buffer or variable"),
])
def test_a_buffer_or_variable_that_cannot_be_is_refused(ptx: Path, option: str, value: str, words: str) -> None:
    said = assert_refused(scale(ptx, option, value), words)
    assert f"{option} {value}: " in said or "nowhere.npy" in said
