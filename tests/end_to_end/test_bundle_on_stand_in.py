"""scripts/bundle.sh and its on_gpu.sh from end to end: a bundle around the program on the stand-in for the CUDA runtime,
unpacked elsewhere and run there, with smaller cases than anybody would measure on a GPU."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from conftest import REPOSITORY, SCRIPTS, complaints, left_behind, only_with_all
from cuda_path import LIBRARIES, PROGRAM, needs_program

pytestmark = [needs_program, pytest.mark.skipif(not shutil.which("strip"), reason="strip is not installed")]

# In the place of the program: the same words, but a few stages, small layers and few images. What `--dry-run` counts is
# what was asked for.
SMALLER = """#!/bin/bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
words=()
all=" $* "
while (($#)); do
  case "$1" in
    --network)
      if [[ $all == " run "* ]]; then words+=(--layer lenet28.conv1); else words+=(--network lenet28); fi
      shift
      ;;
    --layer) words+=(--layer lenet28.conv1) && shift ;;
    --shape) words+=(--shape 2,9,9,4,3) && shift ;;
    --batch) words+=(--batch 2) && shift ;;
    --budget) words+=(--repetitions 2) && shift ;;
    *) words+=("$1") ;;
  esac
  shift
done
case "$all" in
  *" --dry-run "* | *" --resume "*) exec "$here/program" ${all} ;;
  " network "* | *" --leave-one-out "*) [[ $all == *" --batch "* ]] || words+=(--batch 2) ;;
  *" --problem "*) ;;
  " run "*) words+=(--variant global-memory,vectors-of-four,cudnn,cudnn-tf32) ;;
esac
exec "$here/program" "${words[@]}"
"""


@pytest.fixture(name="made", scope="module")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that bundle.sh makes around the program that is there, with a cmake that builds nothing."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(SCRIPTS, clone / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "results/published", clone / "results/published")
    for schema in REPOSITORY.glob("results/*.schema.json"):
        shutil.copy(schema, clone / "results")
    shutil.copy(REPOSITORY / "LICENSE", clone)
    (clone / "tools").mkdir()
    (clone / "tools/cmake").write_text("#!/bin/sh\n", encoding="utf-8")
    (clone / "tools/cmake").chmod(0o755)
    toolkit = clone / "toolkit"
    for folder in ("include", "lib64"):
        (toolkit / folder).mkdir(parents=True)
    for library in LIBRARIES.glob("cupti/libcupti.so.*"):
        shutil.copy(library, toolkit / "lib64")
        (toolkit / "EULA.txt").write_text("terms\n", encoding="utf-8")
    build = clone / "build/bundle"
    build.mkdir(parents=True)
    (build / "build.ninja").touch()
    (build / "CMakeCache.txt").write_text(f"CONVLADDER_CUPTI_INCLUDE_DIR:PATH={toolkit}/include\n", encoding="utf-8")
    shutil.copy(PROGRAM, build / "convladder")
    environment = {**os.environ, "PATH": f"{clone}/tools:{os.environ['PATH']}", "CONVLADDER_NO_SETUP": "1", "CI": "true"}
    done = subprocess.run([clone / "scripts/bundle.sh", "--output", clone / "out"], env=environment, capture_output=True,
                          encoding="utf-8", check=False)
    assert done.returncode == 0, done
    return clone / "out/convladder-bundle.tar.gz"


class Machine:
    """A machine with a GPU where the bundle was unpacked."""

    def __init__(self, archive: Path, folder: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extractall(folder)
        self.bundle = folder / "convladder-bundle"
        (self.bundle / "convladder").rename(self.bundle / "program")
        (self.bundle / "convladder").write_text(SMALLER, encoding="utf-8")
        (self.bundle / "convladder").chmod(0o755)
        self.there = folder / "there"
        self.there.mkdir()
        libraries = [str(LIBRARIES / name) for name in ("cudnn", "cublas", "nvml")]
        self.environment = {**os.environ, "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ":".join(libraries),
                            "CONVLADDER_STAND_IN": json.dumps({"host_threads": 1, "trace": str(folder / "trace")}),
                            "PYTHON": sys.executable}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen([self.bundle / "on_gpu.sh", *map(str, arguments)], cwd=self.there, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True)

    def call(self, *arguments: object) -> tuple[int, str]:
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=280)
        return process.returncode, said

    def archive(self, name: str) -> set[str]:
        with tarfile.open(self.there / f"{name}.tar.gz") as packed:
            return {entry.removeprefix(f"{name}/") for entry in packed.getnames()}

    def record(self, name: str) -> dict[str, Any]:
        """A record of the folder `out`, valid."""
        path = self.there / "out" / name
        assert complaints(path) == []
        return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(name="machine")
def unpack(made: Path, tmp_path: Path) -> Iterator[Machine]:
    yield Machine(made, tmp_path)


def test_a_bundle_measures_on_a_machine_that_has_only_libraries(machine: Machine) -> None:
    missing = [name for name in ("cudnn", "cublas", "nvml", "cupti") if not (LIBRARIES / name).exists()]
    if missing:
        pytest.skip(f"not built, since their headers are not here: {', '.join(missing)}")
    if shutil.which("ncu", path="/usr/bin:/bin") or shutil.which("nsys", path="/usr/bin:/bin"):
        pytest.skip("this machine has NVIDIA's profilers")
    status, said = machine.call("--quick", "--only", "ladder,overlap,profiles,ncu,goals", "--output", "out")
    # What is missing is named, all else is done.
    assert status == 1, said
    assert [line for line in said.splitlines() if line.startswith("not done")] == ["not done: ncu: ncu is not installed"]
    assert {"README.md", "environment.json", "ladder/run.json", "overlap/network.json", "profiles/lenet72.txt",
            "goals-cuda.md", "log/ladder.txt", "log/profiles.txt"} <= machine.archive("out")
    stages = {one["id"].split("/")[1]: one["status"] for one in machine.record("ladder/run.json")["cases"]}
    assert stages == dict.fromkeys(["global-memory", "vectors-of-four", "cudnn", "cudnn-tf32"], "ok")
    assert {one["status"] for one in machine.record("overlap/network.json")["cases"]} == {"ok"}
    profile = (machine.there / "out/profiles/lenet72.txt").read_text(encoding="utf-8")
    assert "[CUDA memcpy HtoD]" in profile and "predicted" in profile, "the bundle's CUPTI records"
    assert "no timeline: nsys is not installed" in said
    goals = (machine.there / "out/goals-cuda.md").read_text(encoding="utf-8")
    assert "lenet28.conv1" in goals and "not measured" in goals


@only_with_all
def test_a_hang_up_leaves_an_archive_and_resume_completes_it(machine: Machine) -> None:
    process = machine.start("--quick", "--only", "ladder,fused", "--output", "out")
    record = machine.there / "out/fused/run.json"
    while not record.exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGHUP)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 129, said
    assert not left_behind()
    assert {"ladder/run.json", "README.md"} <= machine.archive("out")
    assert "- fused: interrupted" in (machine.there / "out/README.md").read_text(encoding="utf-8")
    done = [one["id"] for one in machine.record("fused/run.json")["cases"]]

    status, said = machine.call("--resume", "out", "--only", "ladder,fused")
    assert status == 0 and "== ladder: done before" in said, said
    after = machine.record("fused/run.json")
    assert after["complete"] and len(after["cases"]) > len(done) and len(after["context"]["sessions"]) == 2
    assert "All parts are done" in (machine.there / "out/README.md").read_text(encoding="utf-8")
