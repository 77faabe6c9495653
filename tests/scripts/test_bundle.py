"""scripts/bundle.sh around a program that is built already, with a cmake that builds nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

NINJA = shutil.which("ninja", path="/usr/bin:/bin") or ""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the scripts, and ninja, a program in C++, in the place of ours."""
    if not NINJA:
        pytest.skip("ninja is not in /usr/bin")
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "results/published", tmp_path / "results/published")
    for schema in REPOSITORY.glob("results/*.schema.json"):
        shutil.copy(schema, tmp_path / "results")
    shutil.copy(REPOSITORY / "LICENSE", tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/cmake").write_text('#!/bin/sh\necho "$*" >>"$CALLS"\n', encoding="utf-8")
    (tmp_path / "tools/cmake").chmod(0o755)
    return tmp_path


def made(clone: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{clone}/tools:/usr/bin:/bin", "CONVLADDER_NO_SETUP": "1", "CI": "true",
                   "CALLS": str(clone / "calls")}
    return subprocess.run([clone / "scripts/bundle.sh", "--output", clone / "out", *map(str, arguments)],
                          env=environment, capture_output=True, encoding="utf-8", check=False, timeout=60)


def configured(clone: Path) -> str:
    """The last words with which cmake was asked to configure."""
    return [line for line in (clone / "calls").read_text("utf-8").splitlines() if "--preset" in line][-1]


def toolkit(folder: Path, version: str) -> Path:
    """A CUDA toolkit with an nvcc that says its version, CUPTI and its licence."""
    for part in ("bin", "include", "lib64", "doc"):
        (folder / part).mkdir(parents=True)
    (folder / "bin/nvcc").write_text(
        f'#!/bin/sh\nif [ "$1" = --list-gpu-arch ]; then printf "compute_%s\\n" 80 90 100\n'
        f'else echo "Cuda compilation tools, release {version}, V{version}.1"; fi\n', encoding="utf-8")
    (folder / "bin/nvcc").chmod(0o755)
    return folder


def build_of(clone: Path, name: str, cuda: Path) -> None:
    folder = clone / "build" / name
    folder.mkdir(parents=True)
    (folder / "build.ninja").touch()
    (folder / "CMakeCache.txt").write_text(f"CONVLADDER_CUPTI_INCLUDE_DIR:PATH={cuda}/include\n", encoding="utf-8")
    shutil.copy(NINJA, folder / "convladder")


def test_a_bundle_of_another_toolkit_has_its_cupti_with_the_licence(clone: Path) -> None:
    cuda = toolkit(clone / "cuda-12.4", "12.4")
    shutil.copy("/usr/bin/true", cuda / "lib64/libcupti.so.12")
    (cuda / "doc/EULA.txt").write_text("terms\n", encoding="utf-8")
    build_of(clone, "bundle-cuda12", cuda)
    done = made(clone, "--toolkit", cuda)
    assert done.returncode == 0, done.stderr
    calls = (clone / "calls").read_text(encoding="utf-8")
    assert f"-DCMAKE_CUDA_COMPILER={cuda}/bin/nvcc" in calls and "bundle-cuda12" in calls
    with tarfile.open(clone / "out/convladder-bundle-cuda12.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"on_gpu.sh", "parts.sh", "run_parts.sh", "program.sh", "run.sh", "lib/libcupti.so.12",
            "lib/LICENCE-OF-CUPTI.txt", "lib/glibc-version"} <= names
    assert (clone / "out/convladder-bundle-cuda12/lib/glibc-version").read_text(encoding="utf-8").startswith("2.")


def test_without_its_licence_cupti_stays_out(clone: Path) -> None:
    cuda = toolkit(clone / "cuda-12.4", "12.4")
    shutil.copy("/usr/bin/true", cuda / "lib64/libcupti.so.12")
    build_of(clone, "bundle-cuda12", cuda)
    done = made(clone, "--toolkit", cuda)
    assert done.returncode == 0 and "CUPTI stays out: no licence" in done.stderr
    assert not (clone / "out/convladder-bundle-cuda12/lib/libcupti.so.12").exists()


def test_a_folder_that_is_no_toolkit_is_named(clone: Path) -> None:
    done = made(clone, "--toolkit", clone)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"{clone}/bin/nvcc does not say its version" in done.stderr


def test_architectures_are_set_also_where_others_were_before_and_all_come_back(clone: Path) -> None:
    cuda = toolkit(clone / "cuda-12.4", "12.4")
    build_of(clone, "bundle-cuda12", cuda)
    done = made(clone, "--toolkit", cuda, "--architectures", "100,80,90a")
    assert done.returncode == 0, done.stderr
    # PTX of the newest that later GPUs run: what is compiled for 90a runs on no other.
    assert configured(clone).split()[-1] == "-DCMAKE_CUDA_ARCHITECTURES=100-real;80-real;90a-real;100-virtual"
    assert made(clone, "--toolkit", cuda).returncode == 0
    assert configured(clone).split()[-1] == "-UCMAKE_CUDA_ARCHITECTURES"


@pytest.mark.parametrize(("asked", "said"), [
    ("60", "does not know '60', only 80 90 100"), ("90,95", "does not know '95'"), ("90b", "does not know '90b'"),
    ("sm_90", "expected numbers as 80,90, got 'sm_90'"), ("90,", "got '90,'"), ("", "--architectures needs a list")])
def test_what_no_nvcc_knows_is_named_before_anything_is_built(clone: Path, asked: str, said: str) -> None:
    cuda = toolkit(clone / "cuda-12.4", "12.4")
    build_of(clone, "bundle-cuda12", cuda)
    done = made(clone, "--toolkit", cuda, "--architectures", asked)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr and not (clone / "calls").exists()
