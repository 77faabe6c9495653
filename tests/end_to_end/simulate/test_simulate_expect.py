"""`convladder simulate --expect`: what a kernel computed against what it should have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
from conftest import assert_refused, run

KERNEL = """.version 8.0
.target sm_75
.address_size 64
.global .align 4 .b8 total[8];
.visible .entry double_it(.param .u64 double_y, .param .u64 double_x)
{
  .reg .f32 %f;
  .reg .b32 %r;
  .reg .b64 %d<4>;
  mov.u32 %r, %tid.x;
  mul.wide.u32 %d3, %r, 4;
  ld.param.u64 %d1, [double_y];
  ld.param.u64 %d2, [double_x];
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.f32 %f, [%d2];
  add.rn.f32 %f, %f, %f;
  st.global.f32 [%d1], %f;
  st.global.u32 [total+4], 7;
  ret;
}
"""
X = numpy.array([[0, 1, 2], [-3, 1e6, 0.1]], numpy.float32)


def simulate(folder: Path, *more: object, x: numpy.ndarray = X):
    """y = 2 x, in shape 2x3."""
    (folder / "double.ptx").write_text(KERNEL, encoding="utf-8")
    numpy.save(folder / "x.npy", x)
    shape = "x".join(map(str, x.shape))
    return run("simulate", "double.ptx", "--block", x.size, "--arg", f"y=out:f32:{shape}", "--arg", "x=in:@x.npy",
               "--checkers", "memory", *more, cwd=folder)


def expecting(folder: Path, reference: numpy.ndarray, tolerance: str = "", x: numpy.ndarray = X):
    numpy.save(folder / "y.npy", reference)
    return simulate(folder, "--expect", f"y=@y.npy{tolerance}", x=x)


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32, numpy.float64, numpy.int64])
def test_a_right_result_is_as_expected_in_any_type(tmp_path: Path, dtype: type) -> None:
    x = numpy.array([[0, 1, 2], [-3, 4, 5]], numpy.float32)
    done = expecting(tmp_path, (2 * x).astype(dtype), x=x)
    assert done.returncode == 0 and "expectations: met\n  y: 6 values as expected\n" in done.stdout, done


def test_the_first_wrong_value_is_shown(tmp_path: Path) -> None:
    reference = 2 * X
    reference[1, 0] = 6
    reference[1, 2] = 0.25
    done = expecting(tmp_path, reference)
    assert done.returncode == 5, done
    assert "\nexpectations\n  y: 2 of 6 values are wrong; the first is [1, 0]: expected 6, found -6, " in done.stdout
    done = simulate(tmp_path, "--expect", "y=@y.npy", "--format", "json")
    assert done.returncode == 5
    assert json.loads(done.stdout)["expectations"] == [
        {"expectation": "y=@y.npy", "name": "y", "met": False, "elements": 6, "wrong": 2,
         "first_wrong": {"index": [1, 0], "found": "-6", "expected": "6"}, "largest_difference": 12}]


@pytest.mark.parametrize(("tolerance", "factor", "offset", "code"), [
    ("", 1 + 1e-6, 0, 5), (":1e-5", 1 + 1e-6, 0, 0), (":1e-7", 1 + 1e-6, 0, 5), (":0", 1, 0, 0), (":0", 1, 1e-3, 5),
    (":1e-5", 1, 1e-3, 5), (":0,2e-3", 1, 1e-3, 0), (":1e-5,2e-3", 1 + 1e-6, 1e-3, 0), (":0,1e-4", 1, 1e-3, 5),
])
def test_tolerances_are_relative_and_absolute(tmp_path: Path, tolerance: str, factor: float, offset: float,
                                              code: int) -> None:
    reference = 2 * X.astype(numpy.float64) * factor + offset
    assert expecting(tmp_path, reference, tolerance).returncode == code


def test_what_is_not_finite_passes_only_for_itself(tmp_path: Path) -> None:
    nan, inf = numpy.nan, numpy.inf
    x = numpy.array([nan, inf, -inf, 1], numpy.float32)
    assert expecting(tmp_path, 2 * x, ":1", x).returncode == 0
    for i, wrong in [(0, 1), (0, inf), (1, -inf), (1, nan), (1, 3e38), (2, 5), (3, nan), (3, inf)]:
        reference = 2 * x
        reference[i] = wrong
        done = expecting(tmp_path, reference, ":1e30,1e30", x)
        assert done.returncode == 5 and f"1 of 4 values is wrong; the first is [{i}]: " in done.stdout, done


def test_expectations_written_out(tmp_path: Path) -> None:
    done = simulate(tmp_path, "--expect", "y=0,2,4,-6,2e6,0.2:1e-6", "--expect", "x=@x.npy", "--expect",
                    "total:i32=0,7", "--expect", "1=@x.npy:0,0")
    assert done.returncode == 0, done
    assert "total: i32[2]\n  0 7\n" in done.stdout
    done = simulate(tmp_path, "--expect", "total=0,0,0,0,7,0,0,1")
    assert done.returncode == 5
    assert "total: 1 of 8 values is wrong; the first is [7]: expected 1, found 0" in done.stdout
    assert simulate(tmp_path, "--expect", "y=fill:2x3:0:0,3e6").returncode == 0
    assert simulate(tmp_path, "--expect", "y=iota:2x3:1").returncode == 5
    (tmp_path / "y:1.bin").write_bytes((2 * X).tobytes())
    assert simulate(tmp_path, "--expect", "y=@y:1.bin").returncode == 0
    assert simulate(tmp_path, "--expect", "y=@y:1.bin:1e-3").returncode == 0


def test_a_finding_counts_more_than_a_value(tmp_path: Path) -> None:
    (tmp_path / "double.ptx").write_text(KERNEL, encoding="utf-8")
    done = run("simulate", "double.ptx", "--block", "2", "--arg", "y=out:f32:1", "--arg", "x=in:f32:1,2", "--expect",
               "y=3", cwd=tmp_path)
    assert done.returncode == 1 and "memcheck" in done.stdout and "y: 1 of 1 value is wrong" in done.stdout


@pytest.mark.parametrize(("expectation", "words"), [
    ("y", "NAME=CONTENT"),
    ("y=", "NAME=CONTENT"),
    ("=1", "NAME=CONTENT"),
    ("z=1", "unknown buffer or variable 'z'; known:"),
    ("y=1,2", "2 values are expected, but 'y' has 2x3"),
    ("y=@turned.npy", "3x2 values are expected, but 'y' has 2x3"),
    ("y=@flat.npy", "6 values are expected, but 'y' has 2x3"),
    ("y=fill:6:0", "6 values are expected"),
    ("y=@nowhere.npy", "cannot be read"),
    ("y=@flat.npy:x", "expected a tolerance"),
    ("y=@flat.npy:-1", "got '-1'"),
    ("y=@flat.npy:nan", "got 'nan'"),
    ("y=@flat.npy:1,2,3", "got '1,2,3'"),
    ("y=@flat.npy:", "got ''"),
    ("y=1,2,3,4,5,six", "'six'"),
    ("total:f64=1,2", "2 values are expected, but 'total' has 1"),
    ("total:i3=1", "unknown"),
])
def test_an_expectation_that_cannot_be_is_refused(tmp_path: Path, expectation: str, words: str) -> None:
    numpy.save(tmp_path / "turned.npy", X.T.copy())
    numpy.save(tmp_path / "flat.npy", X.ravel())
    assert_refused(simulate(tmp_path, "--expect", expectation), words)
