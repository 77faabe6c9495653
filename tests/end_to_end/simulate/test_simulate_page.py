"""docs/use/simulate.md: its commands run, print what the page says, and compute the right results."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest
from conftest import PROGRAM, REPOSITORY, run
from test_simulate_textures import linear

PAGE = REPOSITORY / "docs/use/simulate.md"
ELIDED = "…"


class Example(NamedTuple):
    """A block of commands, and the lines that are shown of its output."""

    commands: str
    shown: list[str]

    @property
    def kernel(self) -> str:
        """Whose PTX the commands run."""
        return re.search(r"examples/(\w+)\.(?:ptx|cu)\b", self.commands)[1]


def examples() -> list[Example]:
    """In the order of the page."""
    blocks = re.findall(r"```sh\n(.*?)```\n```text\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [Example(commands, shown.splitlines()) for commands, shown in blocks]


def run_example(example: Example, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a folder that looks like the repository after a build."""
    (folder / "build/release").mkdir(parents=True, exist_ok=True)
    for link, target in {"build/release/convladder": PROGRAM, "docs": REPOSITORY / "docs",
                         "devices": REPOSITORY / "devices"}.items():
        if not (folder / link).exists():
            os.symlink(target, folder / link)
    return subprocess.run(["bash", "-e", "-c", example.commands], cwd=folder, capture_output=True, encoding="utf-8",
                          timeout=300, check=False)


def of_kernel(kernel: str, words: str = "") -> Example:
    """The page's example for a kernel whose commands hold the words."""
    return next(one for one in examples() if one.kernel == kernel and words in one.commands)


@pytest.mark.parametrize("example", examples(), ids=lambda one: one.kernel)
def test_an_example_prints_what_the_page_shows(example: Example, tmp_path: Path) -> None:
    if "clang++" in example.commands and shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed")
    done = run_example(example, tmp_path)
    assert done.returncode == (1 if "findings" in example.shown else 0), done.stderr
    lines = iter(done.stdout.splitlines())
    for shown in example.shown:
        if shown and shown != ELIDED:
            assert shown in lines, f"not in the output, or not in this order: {shown}\n{done.stdout}"


def test_every_kernel_has_an_example() -> None:
    kernels = {path.stem for path in (REPOSITORY / "docs/examples").glob("*.cu")}
    assert {one.kernel for one in examples()} == kernels
    assert kernels == {path.stem for path in (REPOSITORY / "docs/examples").glob("*.ptx")}


def test_the_transpose_is_one(tmp_path: Path) -> None:
    assert run_example(of_kernel("transpose", "--save"), tmp_path).returncode == 0
    matrix = numpy.arange(80 * 50, dtype=numpy.float32).reshape(80, 50)
    assert numpy.array_equal(numpy.load(tmp_path / "transposed.npy"), matrix.T)


def test_the_reduction_is_the_sum(tmp_path: Path) -> None:
    assert run_example(of_kernel("reduction"), tmp_path).returncode == 0
    assert numpy.load(tmp_path / "sum.npy")[0] == numpy.load(tmp_path / "x.npy").sum(dtype=numpy.float64)


def test_the_histogram_counts(tmp_path: Path) -> None:
    assert run_example(of_kernel("histogram", "--save"), tmp_path).returncode == 0
    values = numpy.load(tmp_path / "values.npy")
    assert values.dtype == numpy.uint8 and len(values) == 20000
    assert numpy.array_equal(numpy.load(tmp_path / "bins.npy"), numpy.bincount(values, minlength=256))


def test_the_scan_makes_running_sums(tmp_path: Path) -> None:
    assert run_example(of_kernel("scan"), tmp_path).returncode == 0
    expected = numpy.cumsum(numpy.load(tmp_path / "scan_x.npy"), dtype=numpy.int32)
    assert numpy.array_equal(numpy.load(tmp_path / "scan_y.npy"), expected)
    document = json.loads((tmp_path / "scan.json").read_text(encoding="utf-8"))
    assert document["outputs"][0]["values"] == expected.tolist()


def test_the_rotation_turns(tmp_path: Path) -> None:
    assert run_example(of_kernel("rotation"), tmp_path).returncode == 0
    image = numpy.load(tmp_path / "image.npy")
    row, column = numpy.mgrid[0:30, 0:40].astype(numpy.float32)
    x, y = column + numpy.float32(0.5 - 20), row + numpy.float32(0.5 - 15)
    sine, cosine = numpy.float32(0.6), numpy.float32(0.8)
    u = (x * cosine - y * sine) / numpy.float32(40) + numpy.float32(0.5)
    v = (x * sine + y * cosine) / numpy.float32(30) + numpy.float32(0.5)
    expected = linear(image, [u.ravel(), v.ravel()], "border", True).reshape(30, 40)
    # The kernel fuses multiplications and additions: a weight may be the next of 256.
    assert numpy.abs(numpy.load(tmp_path / "turned.npy") - expected).max() <= 50 / 256


def test_the_bug_is_found_where_it_is(tmp_path: Path) -> None:
    """The write in line 9 and the read in line 15 have no barrier between them."""
    example = of_kernel("broken_transpose")
    done = run_example(example._replace(commands=example.commands.rstrip() + " --output broken.json\n"), tmp_path)
    assert done.returncode == 1
    findings = json.loads((tmp_path / "broken.json").read_text(encoding="utf-8"))["findings"]
    source = (REPOSITORY / "docs/examples/broken_transpose.cu").read_text(encoding="utf-8").splitlines()
    races = [one for one in findings if one["checker"] == "racecheck"]
    assert {(one["source_file"], one["source_line"]) for one in races} <= \
        {("broken_transpose.cu", n) for n, line in enumerate(source, 1) if "tile[" in line and "float tile" not in line}
    assert any(one["opcode"] == "ld.shared.f32" for one in races)
    exported = run("export", tmp_path / "broken.json", "--to", "sarif", "--sources", REPOSITORY / "docs")
    places = [one["locations"][0]["physicalLocation"] for one in json.loads(exported.stdout)["runs"][0]["results"]]
    assert {(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in places} == \
        {("examples/broken_transpose.cu", one["source_line"]) for one in findings}
