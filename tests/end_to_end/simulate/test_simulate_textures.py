"""`convladder simulate` with textures and surfaces: what kernels read and write, against NumPy."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from conftest import assert_refused, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
KERNELS = Path(__file__).parent / "texture_kernels.cu"
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")

REFERENCES = """.version 8.0
.target sm_75
.address_size 64
.global .texref image;
.global .surfref result;
.visible .entry copy(.param .u32 copy_n)
{
  .reg .b32 %r<12>;
  .reg .f32 %f<5>;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  tex.1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [image, {%f1}];
  shl.b32 %r6, %r1, 2;
  txq.width.b32 %r7, [image];
  cvt.rn.f32.u32 %f2, %r7;
  sust.b.1d.b32.trap [result, {%r6}], {%r2};
  ret;
}
.visible .entry take(.param .u64 take_t, .param .u64 take_y)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [take_t];
  ld.param.u64 %d2, [take_y];
  mov.u32 %r1, 1;
  tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1}];
  st.global.u32 [%d2], %r2;
  ret;
}
"""


@pytest.fixture
def references(tmp_path: Path) -> Path:
    """A file with a texture reference and a surface reference."""
    file = tmp_path / "references.ptx"
    file.write_text(REFERENCES, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PTX that nvcc made, once for all tests."""
    file = tmp_path_factory.mktemp("kernels") / "texture_kernels.ptx"
    subprocess.run([NVCC, "-ptx", "-lineinfo", KERNELS, "-o", file], check=True)
    return file


def texel(index: numpy.ndarray, size: int, mode: str) -> numpy.ndarray:
    """Which texel an index is, -1 for the border."""
    if mode == "border":
        return numpy.where((index < 0) | (index >= size), -1, index)
    if mode == "clamp":
        return numpy.clip(index, 0, size - 1)
    if mode == "wrap":
        return index % size
    mirrored = index % (2 * size)
    return numpy.where(mirrored < size, mirrored, 2 * size - 1 - mirrored)


def linear(image: numpy.ndarray, coordinates: list[numpy.ndarray], mode: str, normalized: bool) -> numpy.ndarray:
    """A linear filter, x first, of an image of as many axes (and channels behind them), weights of 8 bits."""
    axes = len(coordinates)
    sum_ = 0.0
    parts = []
    for axis, at in enumerate(coordinates):
        size = image.shape[axes - 1 - axis]
        place = at.astype(numpy.float64) * (size if normalized else 1) - 0.5
        first = numpy.floor(place)
        weight = numpy.floor((place - first) * 256 + 0.5) / 256
        parts.append([(texel(first.astype(int) + side, size, mode), weight if side else 1 - weight) for side in (0, 1)])
    for corner in range(2 ** axes):
        chosen = [parts[axis][corner >> axis & 1] for axis in range(axes)]
        weight = numpy.prod([one[1] for one in chosen], axis=0)
        value = image[tuple(one[0] for one in reversed(chosen))].astype(numpy.float64)
        outside = numpy.any([one[0] < 0 for one in chosen], axis=0)
        value = numpy.where(outside.reshape(outside.shape + (1,) * (value.ndim - 1)), 0, value)
        sum_ = sum_ + weight.reshape(weight.shape + (1,) * (value.ndim - 1)) * value
    return sum_


def points(count: int, seed: int, low: float = -2, high: float = 3) -> numpy.ndarray:
    return numpy.random.default_rng(seed).uniform(low, high, (count, 4)).astype(numpy.float32)


@needs_nvcc
def test_a_bilateral_filter(kernels: Path, tmp_path: Path) -> None:
    image = numpy.random.default_rng(1).integers(0, 256, (24, 40, 4), numpy.uint8)
    gauss = numpy.exp(-numpy.arange(-2, 3) ** 2 / 8).astype(numpy.float32)
    numpy.save(tmp_path / "image.npy", image)
    numpy.save(tmp_path / "gauss.npy", gauss)
    done = run("simulate", kernels, "--entry", "bilateral", "--grid", "3,2", "--block", "16,16", "--arg",
               "image=texture,2d,as-float:@image.npy", "--arg", "out=out:u8:24x40x4", "--arg", "i32:40", "--arg",
               "i32:24", "--arg", "f32:0.3", "--arg", "in:@gauss.npy", "--save", "out=out.npy", cwd=tmp_path)
    assert done.returncode == 0, done
    floats = numpy.pad(image / 255, ((2, 2), (2, 2), (0, 0)), mode="edge")
    total = numpy.zeros((24, 40, 4))
    weights = numpy.zeros((24, 40, 1))
    for i in range(5):
        for j in range(5):
            part = floats[i:i + 24, j:j + 40]
            distance = ((part - image / 255)[:, :, :3] ** 2).sum(axis=2, keepdims=True)
            weight = gauss[i] * gauss[j] * numpy.exp(-distance / (2 * 0.3 ** 2))
            weights += weight
            total += weight * part
    expected = 255 * total / weights + 0.5
    found = numpy.load(tmp_path / "out.npy")
    assert numpy.all(numpy.abs(found + 0.5 - expected) <= 0.5 + 1e-3)


@needs_nvcc
@pytest.mark.parametrize("mode", ["clamp", "wrap", "mirror", "border"])
def test_a_volume_whose_handle_is_in_a_structure(kernels: Path, tmp_path: Path, mode: str) -> None:
    volume = numpy.random.default_rng(2).random((5, 6, 7)).astype(numpy.float32)
    at = points(200, 3)
    numpy.save(tmp_path / "volume.npy", volume)
    numpy.save(tmp_path / "at.npy", at)
    done = run("simulate", kernels, "--entry", "volume", "--grid", "2", "--block", "128", "--buffer",
               f"v=texture,3d,linear,normalized,{mode}:@volume.npy", "--buffer", "y=out:f32:200", "--arg",
               "struct:{@v,@y,i32:200}", "--arg", "in:@at.npy", "--save", "y=y.npy", cwd=tmp_path)
    assert done.returncode == 0, done
    expected = linear(volume, [at[:, 0], at[:, 1], at[:, 2]], mode, True)
    assert numpy.allclose(numpy.load(tmp_path / "y.npy"), expected, rtol=0, atol=1e-6)


@needs_nvcc
def test_layers_whose_handle_is_in_a_variable(kernels: Path, tmp_path: Path) -> None:
    layers = numpy.random.default_rng(4).random((3, 6, 8, 2)).astype(numpy.float16)
    at = points(100, 5, -1, 9)
    numpy.save(tmp_path / "layers.npy", layers)
    numpy.save(tmp_path / "at.npy", at)
    done = run("simulate", kernels, "--entry", "layered", "--block", "128", "--buffer",
               "t=texture,2d-layers,linear:@layers.npy", "--set", "layers=@t", "--arg", "y=out:f32:100x2", "--arg",
               "in:@at.npy", "--arg", "i32:100", "--save", "y=y.npy", cwd=tmp_path)
    assert done.returncode == 0, done
    found = numpy.load(tmp_path / "y.npy")
    for i in range(100):
        layer = int(at[i, 2])
        layer = 2 if layer < 0 else min(layer, 2)  # an index without a sign
        expected = linear(layers[layer], [at[i:i + 1, 0], at[i:i + 1, 1]], "clamp", False)
        assert numpy.allclose(found[i], expected, rtol=0, atol=1e-6), i


@needs_nvcc
def test_surfaces_of_three_dimensions_and_of_layers(kernels: Path, tmp_path: Path) -> None:
    texels = numpy.random.default_rng(6).integers(-32768, 32768, (3, 5, 9, 2)).astype(numpy.int16)
    numpy.save(tmp_path / "texels.npy", texels)
    done = run("simulate", kernels, "--entry", "copy_surfaces", "--grid", "2,1", "--block", "8,8", "--arg",
               "surface,in,3d:@texels.npy", "--arg", "to=surface,out,2d-layers:i16:3x5x9x2", "--arg", "i32:9", "--arg",
               "i32:5", "--save", "to=to.npy", cwd=tmp_path)
    assert done.returncode == 0, done
    shifted = texels[:, :, numpy.minimum(numpy.arange(9) + 1, 8), ::-1]
    assert numpy.array_equal(numpy.load(tmp_path / "to.npy"), shifted)


@needs_nvcc
def test_a_table_in_linear_memory(kernels: Path) -> None:
    done = run("simulate", kernels, "--entry", "table", "--block", "32", "--arg", "y=out:i32:6", "--arg",
               "texture,buffer:i32:iota:12:-5", "--arg", "i32:6", "--expect", "y=0,0,-3,0,3,6")
    assert done.returncode == 0, done


def test_references_of_the_file_are_bound(references: Path, tmp_path: Path) -> None:
    done = run("simulate", references, "--entry", "copy", "--block", "4", "--arg", "i32:0", "--set",
               "image=texture:f32:1,2,4,8", "--set", "result=surface,out:f32:4", "--expect", "result=1,2,4,8", "--save",
               f"result={tmp_path}/result.json")
    assert done.returncode == 0 and "result: f32[4]\n  1 2 4 8\n" in done.stdout, done
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["values"] == [1, 2, 4, 8]
    listed = run("simulate", references, "--list").stdout
    assert "  image " in listed and " .texref\n" in listed and " .surfref\n" in listed
    done = run("simulate", references, "--entry", "copy", "--arg", "i32:0", "--set", "result=surface,out:f32:4")
    assert done.returncode == 1 and "the .texref 'image', which nothing is bound to" in done.stdout, done


def test_a_number_that_is_no_handle_is_a_finding(references: Path) -> None:
    for argument in ("u64:1", "u64:0", "u64:18446744073709551615", "in:i32:1,2", "surface,1d:i32:1,2"):
        done = run("simulate", references, "--entry", "take", "--arg", argument, "--arg", "y=out:i32:1")
        assert done.returncode == 1 and "memcheck: access to a texture by the handle 0x" in done.stdout, done
        done = run("simulate", references, "--entry", "take", "--checkers", "none", "--arg", argument, "--arg",
                   "y=out:i32:1")
        assert done.returncode == 1 and "the kernel was stopped: memcheck: access to a texture" in done.stdout, done


def test_a_surface_that_is_only_read_is_not_to_be_written(references: Path) -> None:
    done = run("simulate", references, "--entry", "copy", "--block", "2", "--arg", "i32:0", "--set",
               "image=texture:f32:1,2", "--set", "result=surface,in:f32:5,6")
    assert done.returncode == 1 and "of 'result', which is only to be read" in done.stdout, done


@pytest.mark.parametrize("argument, said", [
    ("texture,linera:i32:1,2", "unknown word of a texture 'linera'"),
    ("surface,wrap:i32:1,2", "unknown word of a surface 'wrap'"),
    ("texture,1d,2d:i32:1,2", "unknown word of a texture '2d'"),
    ("texture:f64:1,2", "a texel has no elements f64"),
    ("texture:i32", "the buffer's content is missing"),
    ("texture:f32:fill:2x2x2:1", "3 sizes may mean several things"),
    ("texture,2d:f32:1,2", "the shape is 2, but this geometry has 2 sizes"),
    ("texture,1d:f32:fill:4x3:1", "2 or 4 channels"),
    ("texture,linear:i32:1,2", "no linear filter"),
    ("texture,as-float:u32:1,2", "32-bit integers cannot be read as normalized floats"),
    ("texture,buffer,linear:f32:1,2", "linear memory has no linear filter"),
    ("texture,srgb:f32:1,2", "sRGB"),
    ("texture,cube:f32:fill:5x2x2:1", "six square faces"),
    ("surface,out:f32:0", "at least 1"),
    ("texture:@nowhere.npy", "nowhere.npy: cannot be read"),
])
def test_what_is_wrong_is_said_in_one_line(references: Path, argument: str, said: str) -> None:
    done = run("simulate", references, "--entry", "take", "--arg", argument, "--arg", "out:i32:1")
    assert_refused(done, said)


def test_references_that_do_not_fit_are_refused(references: Path) -> None:
    def copy(*options: str):
        return run("simulate", references, "--entry", "copy", "--arg", "i32:0", *options)
    assert_refused(copy("--set", "imgae=texture:f32:1"), "--set imgae=texture:f32:1: ", "imgae", "image")
    assert_refused(copy("--set", "image=surface:f32:1"), "image")
    assert_refused(copy("--set", "image=u64:1"), "image")
    assert_refused(copy("--set", "image=texture:f32:1", "--set", "image=texture:f32:1"), "already")
    assert_refused(run("simulate", references, "--entry", "take", "--arg", "t=texture:i32:1,2", "--arg", "@t+4"),
                   "'t' is a handle, nothing can be added to it")
