"""A stage of a user's own among the built-in convolutions, as a rung of the ladder and in networks (--with)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, assert_refused, cases, record
from conftest import run as run_program

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"
QUICK = ["--repetitions", "2", "--benchmark_min_time=0.0002"]

needs_cuda = pytest.mark.skipif(NVCC is None or not STAND_IN.exists(), reason="no nvcc, or no stand-in")

CONVOLUTION = """// @title A loop over everything
// @hypothesis nothing is better
extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int height,
                      int width, int out_channels, int kernel, int stride, int padding, int groups) {
  const int rows = (height + 2 * padding - kernel) / stride + 1;
  const int columns = (width + 2 * padding - kernel) / stride + 1;
  const int of_group = in_channels / groups;
  for (int at = 0; at < batch * out_channels * rows * columns; ++at) {
    const int x = at % columns, y = at / columns % rows, m = at / columns / rows % out_channels;
    const int b = at / columns / rows / out_channels;
    const int group = m / (out_channels / groups);
    float sum = 0;
    for (int c = 0; c < of_group; ++c)
      for (int p = 0; p < kernel; ++p)
        for (int q = 0; q < kernel; ++q) {
          const int h = y * stride + p - padding, w = x * stride + q - padding;
          if (h < 0 || h >= height || w < 0 || w >= width) continue;
          sum += input[((b * in_channels + group * of_group + c) * height + h) * width + w] *
                 weights[((m * of_group + c) * kernel + p) * kernel + q];
        }
    output[at] = SIGN sum;
  }
}
"""
TWO_LAYERS = {
    "name": "two", "title": "Two layers", "input": {"channels": 1, "height": 12, "width": 12},
    "layers": [{"name": "conv1", "type": "convolution", "out_channels": 3, "kernel": 3},
               {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
               {"name": "conv2", "type": "convolution", "out_channels": 2, "kernel": 3, "bias": True},
               {"name": "fc1", "type": "fully_connected", "out_features": 10, "bias": True},
               {"name": "softmax", "type": "softmax"}], "batches": [4]}


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Any:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path_factory.getbasetemp() / "stages")}
    return lambda *words, **options: run_program(*words, **{"env": environment, "cwd": tmp_path} | options)


def test_a_stage_from_outside_runs_two_batches_in_one_process(run: Any, tmp_path: Path) -> None:
    """What it holds on the device goes with the case, and not with the next one's device."""
    (tmp_path / "my_conv.cpp").write_text(CONVOLUTION.replace("SIGN", ""))
    done = run("run", "--with", "my_conv.cpp", "--shape", "4,9,8,6,3,2,1", "--batch", "2,3", "--variant", "my-conv",
               "--isolate", "none", *QUICK, "--output", tmp_path / "out")
    assert done.returncode == 0, done
    assert [one["status"] for one in record(tmp_path / "out")["cases"]] == ["ok", "ok"]


def test_links_of_a_stage_from_outside_stay_in_its_folder(run: Any, tmp_path: Path) -> None:
    """Whether the file itself or what it includes leads out, also by a hidden folder."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/loop.cpp").write_text(CONVOLUTION.replace("SIGN", ""))
    (tmp_path / "own").mkdir()
    shape = ["--shape", "4,9,8,6,3,2,1", "--batch", "2", "--variant", "loop", *QUICK]
    (tmp_path / "own/loop.cpp").symlink_to("../elsewhere/loop.cpp")
    assert_refused(run("run", "--with", "own/loop.cpp", *shape), "loop.cpp: a link to a file outside of the folder")
    (tmp_path / "own/loop.cpp").unlink()
    (tmp_path / "own/loop.cpp").write_text('#include ".lib/loop.cpp"\n')
    (tmp_path / "own/.lib").symlink_to("../elsewhere")
    done = run("run", "--with", "own/loop.cpp", *shape, "--output", tmp_path / "out")
    assert done.returncode == 1, done
    assert "a link to a file outside of the folder" in done.stdout or ".lib/loop.cpp: Permission denied" in done.stdout, done
    (tmp_path / "own/.lib").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "own/src")
    (tmp_path / "own/.lib").symlink_to("src")
    done = run("run", "--with", "own/loop.cpp", *shape, "--output", tmp_path / "out2")
    assert done.returncode == 0, done


def test_a_stage_from_outside_is_a_rung_of_the_convolution(run: Any, tmp_path: Path) -> None:
    shape = ["--shape", "4,9,8,6,3,2,1", "--batch", "2", "--variant", "memory-accumulation,my-conv"]
    (tmp_path / "my_conv.cpp").write_text(CONVOLUTION.replace("SIGN", ""))
    done = run("run", "--with", "my_conv.cpp", *shape, *QUICK, "--output", tmp_path / "out")
    assert done.returncode == 0, done
    document = record(tmp_path / "out")
    mine = next(one for one in document["variants"] if one["name"] == "my-conv")
    highest = max(one["rung"] for one in document["variants"])
    assert mine["rung"] == highest and mine["builds_on"] and mine["title"] == "A loop over everything"
    (found,) = [one for one in document["cases"] if one["variant"] == "my-conv"]
    assert found["status"] == "ok" and found["time"]["median"] > 0

    (tmp_path / "my_conv.cpp").write_text(CONVOLUTION.replace("SIGN", "-"))
    done = run("run", "--with", "my_conv.cpp", *shape, *QUICK, "--output", tmp_path / "wrong")
    assert done.returncode == 1, done
    (found,) = [one for one in record(tmp_path / "wrong")["cases"] if one["variant"] == "my-conv"]
    assert found["status"] == "incorrect"

    assert_refused(run("run", "--with", "missing.cpp", *shape), "missing.cpp")
    assert_refused(run("run", "--with", "my conv.txt", *shape), "expected a file .cu, .cpp, .ptx or .py")
    (tmp_path / "flat_vector.cpp").write_text(CONVOLUTION.replace("SIGN", ""))
    assert_refused(run("run", "--with", "flat_vector.cpp"), "a variant is called 'flat-vector' already")


def cuda_convolution() -> str:
    """The same with a thread for each output."""
    kernel = CONVOLUTION.replace("SIGN", "").replace('extern "C" void solve', "__global__ void mine").replace(
        "for (int at = 0; at < batch * out_channels * rows * columns; ++at) {",
        "const int at = blockIdx.x * blockDim.x + threadIdx.x;\n  if (at < batch * out_channels * rows * columns) {")
    return kernel + """
extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int height,
                      int width, int out_channels, int kernel, int stride, int padding, int groups) {
  const int rows = (height + 2 * padding - kernel) / stride + 1, columns = (width + 2 * padding - kernel) / stride + 1;
  mine<<<(batch * out_channels * rows * columns + 63) / 64, 64>>>(input, weights, output, batch, in_channels, height, width,
                                                                  out_channels, kernel, stride, padding, groups);
}
"""


@needs_cuda
def test_a_cuda_stage_from_outside_is_counted(run: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(cuda_convolution())
    done = run("run", "--with", "mine.cu", "--shape", "4,9,8,6,3,2,1", "--batch", "10", "--family", "cuda", "--device",
               "simulated", "--variant", "global-memory,mine", "--output", tmp_path / "out")
    assert done.returncode == 0, done
    mine = cases(record(tmp_path / "out"))["simulated/mine/shape.C4H9W8M6K3S2P1/10"]
    assert mine["status"] == "ok" and mine["counters"]["exact"], mine
    assert [one["architecture"] for one in mine["resources"]] == ["sm_80", "sm_90"]


@pytest.fixture(name="network")
def _network(run: Any, tmp_path: Path) -> Any:
    (tmp_path / "two.json").write_text(json.dumps(TWO_LAYERS), encoding="utf-8")
    return lambda *arguments, **options: run("network", "--network", tmp_path / "two.json", "--repetitions", 2, *arguments, **options)


def test_a_stage_from_outside_computes_the_convolutions_of_a_network(run: Any, network: Any, tmp_path: Path) -> None:
    (tmp_path / "my_conv.cpp").write_text(CONVOLUTION.replace("SIGN", ""))
    (tmp_path / "wrong.cpp").write_text(CONVOLUTION.replace("SIGN", "-"))
    (tmp_path / "worse.cpp").write_text("int solve(;")
    with_them = ["--with", "my_conv.cpp", "--with", "wrong.cpp", "--with", "worse.cpp", "--device", "cpu"]
    done = network(*with_them, "--output", "out")
    assert done.returncode == 1 and "my-conv" in done.stdout, done
    found = cases(record(tmp_path / "out", "network"))
    assert found["cpu/my-conv/two/4"]["status"] == "ok"
    assert [one["implementation"] for one in found["cpu/my-conv/two/4"]["steps"] if one["type"] == "convolution"] == [
        "my-conv", "my-conv"]
    assert found["cpu/wrong/two/4"]["status"] == "incorrect" and "conv1" in found["cpu/wrong/two/4"]["reason"]
    assert found["cpu/worse/two/4"]["status"] == "does not compile" and "worse.cpp" in found["cpu/worse/two/4"]["reason"]
    assert len(found) == 4  # and the default choice

    done = network(*with_them, "--variant", "conv1=my-conv,conv2=memory-accumulation", "--output", "mixed")
    assert done.returncode == 0, done
    (mixed,) = cases(record(tmp_path / "mixed", "network")).values()
    assert [one["implementation"] for one in mixed["steps"] if one["type"] == "convolution"] == [
        "my-conv", "memory-accumulation"]
    assert run("network", "--resume", tmp_path / "mixed", cwd="/").returncode == 0
    profiled = run("profile", "--network", "two.json", "--with", "my_conv.cpp", "--variant", "my-conv", "--batch", 4)
    assert profiled.returncode == 0 and "conv1" in profiled.stdout, profiled
    assert_refused(network("--with", "missing.cpp"), "missing.cpp")
    assert_refused(network("--with", "my_conv.cpp", "--variant", "my-cov"), "unknown variant 'my-cov'; known: my-conv")


@needs_cuda
def test_a_cuda_stage_from_outside_is_counted_in_a_network(network: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(cuda_convolution())
    done = network("--with", "mine.cu", "--device", "simulated", "--variant", "mine,global-memory", "--variant",
                   "conv2=mine", "--batch", 4, "--output", "out")
    assert done.returncode == 0, done
    found = cases(record(tmp_path / "out", "network"))
    alone, mixed, own = (found[f"simulated/{name}/two/4"]["steps"] for name in ("mine", "conv2=mine", "global-memory"))

    def kernels(steps: list[dict[str, Any]]) -> list[str]:
        return [kernel["kernel"] for one in steps if one["type"] == "convolution" for kernel in one["counters"]["kernels"]]

    assert kernels(alone) == ["mine", "mine"]
    assert [name == "mine" for name in kernels(mixed)] == [False, True]
    # What is built in counts on this device what it counts on its own.
    for mine, usual in zip(alone, own):
        if mine["type"] != "convolution":
            assert mine["counters"] == usual["counters"], mine["name"]
