"""The bundle and the package as they are carried: built from the sources, for one GPU architecture, and run elsewhere. Minutes, so
only `scripts/test.sh --all` does it; other tests make them of a program that is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from conftest import REPOSITORY, SCRIPTS, complaints

pytestmark = pytest.mark.skipif("CONVLADDER_ALL_TESTS" not in os.environ, reason="scripts/test.sh --all builds it")

CASES = ["run", "--family", "cpu", "--shape", "20,12,11,24,3", "--batch", "2", "--repetitions", "3",
         "--benchmark_min_time=0.0005", "--isolate", "none"]
# What AVX-512 has beyond AVX2: registers of 64 bytes, masks, and the upper half of 32 registers.
OF_AVX512 = re.compile(r"%(?:zmm|k[1-7]\b|[xy]mm(?:1[6-9]|2\d|3[01]))")


def made(*words: object) -> None:
    environment = {**os.environ, "CONVLADDER_NO_SETUP": "1", "CI": "true"}
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def assert_runs(folder: Path, *program: object) -> dict[str, str]:
    """All stages that this processor can run are right; all in one process. Returns how each was computed."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([*map(str, program), *CASES, "--output", str(folder)], env=environment, capture_output=True, check=False,
                          encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert complaints(folder / "run.json") == []
    found = json.loads((folder / "run.json").read_text("utf-8"))["cases"]
    states = {one["variant"]: one["status"] for one in found}
    assert states["winograd-map-lanes"] == "ok" and set(states.values()) <= {"ok", "skipped", "unsupported"}, states
    return {one["variant"]: one["choice"] or "" for one in found}


@pytest.fixture(name="bundle", scope="module")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    made(SCRIPTS / "bundle.sh", "--architectures", "90", "--output", folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with tarfile.open(folder / "convladder-bundle.tar.gz") as packed:
        packed.extractall(elsewhere)
    return elsewhere / "convladder-bundle"


def test_the_bundle_runs_where_it_was_unpacked(bundle: Path, tmp_path: Path) -> None:
    assert_runs(tmp_path / "out", bundle / "convladder")
    program = json.loads((tmp_path / "out/run.json").read_text("utf-8"))["program"]
    assert "-march=x86-64-v3" in program["cpu_variant_flags"]
    if shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists():
        assert program["cuda_architectures"] == "90-real 90-virtual"


def test_instructions_of_avx512_are_in_functions_for_it_alone(bundle: Path) -> None:
    """OpenSSL's, in assembly, choose by the processor as well; they have C's names."""
    assert bundle.exists()
    listing = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", REPOSITORY / "build/bundle/convladder"],
                               stdout=subprocess.PIPE, encoding="utf-8")
    function = ""
    functions: dict[str, str] = {}
    for line in listing.stdout or ():
        if line.endswith(">:\n"):
            function = line.split("<", 1)[1][:-3]
        elif OF_AVX512.search(line):
            functions[function] = line.strip()
    assert listing.wait() == 0
    assert any("run_avx512" in name for name in functions), "nothing was found where there must be some"
    assert {name: line for name, line in functions.items() if name.startswith("_Z") and "run_avx512" not in name} == {}


def test_the_bundle_runs_on_a_processor_without_avx512(bundle: Path, tmp_path: Path) -> None:
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("qemu-x86_64 (Debian's package qemu-user) is not installed")
    choices = assert_runs(tmp_path / "out", emulator, "-cpu", "Haswell", bundle / "convladder")
    assert choices["winograd-map-lanes"].startswith("avx2"), choices


def test_the_package_runs_where_it_was_unpacked(tmp_path: Path) -> None:
    if not shutil.which("dpkg-deb"):
        pytest.skip("dpkg-deb is not installed")
    made(SCRIPTS / "package.sh", "--architectures", "90")
    package = max((REPOSITORY / "build").glob("convladder_*.deb"), key=lambda file: file.stat().st_mtime)
    made("dpkg-deb", "-x", package, tmp_path / "root")
    assert_runs(tmp_path / "out", tmp_path / "root/usr/bin/convladder")
