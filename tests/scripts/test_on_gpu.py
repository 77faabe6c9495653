"""The bundle's on_gpu.sh: one line without a GPU, and parts that fail stop no others."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", REPOSITORY / "build/release/convladder")).resolve()

ONE_PART_FAILS = """#!/bin/sh
case "$1 $3" in
  "run cpu") while [ $# -gt 1 ]; do shift; done
             exec {program} run --family cpu --variant flat-vector --layer lenet28.conv1 --batch 1 --repetitions 3 \\
               --benchmark_min_time=0.0005 --output "$1" ;;
  "run simulated") echo "it is broken" >&2; exit 1 ;;
  *) exec {program} "$@" ;;
esac
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle's folder around the program of this build."""
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"not built: {PROGRAM}")
    folder = tmp_path / "bundle"
    shutil.copytree(SCRIPTS / "bundle", folder)
    shutil.copytree(SCRIPTS, folder / "scripts")
    (folder / "convladder").symlink_to(PROGRAM)
    return folder


def on_gpu(bundle: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Calls it in a folder of its own."""
    there = bundle.parent / "there"
    there.mkdir(exist_ok=True)
    return subprocess.run([bundle / "on_gpu.sh", *map(str, arguments)], cwd=there, capture_output=True,
                          encoding="utf-8", check=False, timeout=120)


def test_without_a_gpu_it_says_so_in_one_line_and_does_nothing(bundle: Path) -> None:
    done = on_gpu(bundle)
    if done.returncode != 3 and "device cuda\n  name" in subprocess.run(
            [PROGRAM, "list", "--machine"], capture_output=True, encoding="utf-8", check=True).stdout:
        pytest.skip("this machine has a GPU")
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.count("\n") == 1
    assert "no CUDA device" in done.stderr and "--without-gpu" in done.stderr
    assert not list((bundle.parent / "there").iterdir())
    assert on_gpu(bundle, "--fast").returncode == 2
    assert on_gpu(bundle, "--without-gpu", "--output", bundle).returncode == 2, "a folder that is there"


def test_a_part_that_fails_is_named_and_the_others_are_packed(bundle: Path) -> None:
    (bundle / "convladder").unlink()
    (bundle / "convladder").write_text(ONE_PART_FAILS.format(program=PROGRAM), encoding="utf-8")
    (bundle / "convladder").chmod(0o755)
    done = on_gpu(bundle, "--without-gpu", "--quick", "--output", "out")
    assert done.returncode == 1
    assert "not done: counted: exit status 1 and no record: it is broken" in done.stdout.splitlines()
    there = bundle.parent / "there"
    assert done.stdout.splitlines()[-2:] == [str(there / "out"), str(there / "out.tar.gz")]
    with tarfile.open(there / "out.tar.gz") as archive:
        names = archive.getnames()
    assert {"out/README.md", "out/goals-cpu.md", "out/environment.json", "out/ladder/run.json",
            "out/log/counted.txt"} <= set(names)
    readme = (there / "out" / "README.md").read_text(encoding="utf-8")
    assert "- counted: exit status 1 and no record: it is broken" in readme
    assert "lenet28.conv1 (1)" in readme and "not measured: lenet72.conv2" in readme
