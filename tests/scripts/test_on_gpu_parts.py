"""The bundle's on_gpu.sh on a machine whose GPU, ncu and nvidia-smi are stand-ins: what is planned, what a signal leaves,
what a resumed run measures again, and what is said of old drivers and C libraries."""

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
from typing import Optional

import pytest
from conftest import SCRIPTS

PROGRAM = """#!/bin/sh
printf '%s\\n' "$*" >>"$CALLS"
case "$*" in
  --version) echo "convladder 1.2.3" ;;
  "list --machine --format json") echo '{}' ;;
  "list --machine") if [ -n "$NO_GPU" ]; then printf 'device cuda\\n  %s\\n' "$NO_GPU"; else printf 'device cuda\\n  name  Fake GPU\\n'; fi ;;
  "list --metrics --format json") echo '{"metrics": [{"name": "smsp__inst_executed.sum", "modelled": false},
     {"name": "l1tex__no_longer.sum", "modelled": false}, {"name": "dram__bytes.sum", "modelled": true}]}' ;;
  "list") echo cudnn; echo "$LD_LIBRARY_PATH" >"$CALLS.libraries" ;;
  *--dry-run*)
    case "$*" in
      *"--batch 1,3,8"*) echo "90 cases, 80 to be run, about 1h02m (predicted from something)" ;;
      *"--batch 3"* | *"--budget 0."*) echo "90 cases, 80 to be run, about 2m05s (predicted from something)" ;;
      *) echo "90 cases, 80 to be run, about 5m20s (predicted from something)" ;;
    esac ;;
  *)
    kind=$1
    while [ $# -gt 0 ]; do case "$1" in --output | --resume) folder=$2 ;; esac; shift; done
    [ "$kind" = profile ] && { echo profile >"$folder"; exit 0; }
    mkdir -p "$folder" && echo '{"half": ' >"$folder/$kind.json"
    case "$folder" in *"/${GROWING:-none}")
      # A case now and then, each with one write, as the program does.
      for case in $(seq 120); do
        cases="${cases:+$cases, }$case"
        printf '{"cases": [%s]}' "$cases" >"$folder/$kind.new" && mv "$folder/$kind.new" "$folder/$kind.json"
        sleep 0.5
      done ;;
    *"/${SLOW:-none}") touch "$CALLS.begun"; exec sleep 60 ;; *"/${BROKEN:-none}") echo "it is broken"; exit 4 ;; esac
    echo '{}' >"$folder/$kind.json"
    echo "$kind done" ;;
esac
"""

NCU = """#!/bin/sh
printf '%s\\n' "$*" >>"$CALLS.ncu"
case "$1" in
  --query-metrics) echo "Device Fake"; echo "smsp__inst_executed       Counter    inst    # of instructions" ;;
  --import) echo '"ID","Kernel Name","smsp__inst_executed.sum"'; echo '"","","inst"'; echo '"0","k","7"' ;;
  *) case "$*" in *register-tile*) echo "==ERROR== no"; exit 9 ;; esac ;;
esac
"""


def executable(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


class Bundle:
    """A bundle's folder whose program is a stand-in, and the folder that it is called in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bundle"
        shutil.copytree(SCRIPTS / "bundle", self.folder)
        (self.folder / "scripts").symlink_to(SCRIPTS)
        executable(self.folder / "convladder", PROGRAM)
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.there = folder / "there"
        self.there.mkdir()
        self.calls_file = folder / "calls"
        self.environment = {"PATH": f"{self.tools}:/usr/bin:/bin", "CALLS": str(self.calls_file), "HOME": str(folder),
                            "PYTHON": sys.executable}

    def start(self, *arguments: object, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen([self.folder / "on_gpu.sh", *map(str, arguments)], cwd=self.there,
                                env={**self.environment, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                encoding="utf-8", start_new_session=True)

    def call(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **variables)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def calls(self) -> list[str]:
        """What the program was asked for since the last call of this, without what only looks."""
        if not self.calls_file.exists():
            return []
        lines = self.calls_file.read_text(encoding="utf-8").splitlines()
        self.calls_file.unlink()
        return [line for line in lines if "--output" in line or "--resume" in line]

    def names_in_archive(self, name: str) -> set[str]:
        with tarfile.open(self.there / f"{name}.tar.gz") as archive:
            return {entry.removeprefix(f"{name}/") for entry in archive.getnames()}

    def text_in_archive(self, name: str, file: str) -> str:
        with tarfile.open(self.there / f"{name}.tar.gz") as archive:
            packed = archive.extractfile(f"{name}/{file}")
            assert packed is not None
            return packed.read().decode()

    def wait_for(self, file: Path, process: subprocess.Popen[str]) -> None:
        while not file.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)


def alive_in_session(session: int) -> list[str]:
    listed = subprocess.run(["ps", "-s", str(session), "-o", "stat=,args="], capture_output=True, encoding="utf-8",
                            check=False).stdout
    return [line for line in listed.splitlines() if not line.startswith("Z")]


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path)


def parts_in(output: str) -> list[str]:
    return [line.split()[0] for line in output.splitlines() if line[:1].isalpha() and " about " in line
            and not line.startswith(("in all", "left out"))]


def test_the_plan_verifies_first_and_does_nothing(bundle: Bundle) -> None:
    done = bundle.call("--dry-run")
    assert done.returncode == 0, done.stderr
    assert parts_in(done.stdout) == ["environment", "verified", "ladder", "networks", "overlap", "fused", "leave-one-out",
                                     "others", "alexnet", "profiles", "sweep", "counted", "ncu", "goals", "charts"]
    assert not list(bundle.there.iterdir()) and not bundle.calls()
    quick = bundle.call("--dry-run", "--quick").stdout
    assert not {"others", "alexnet", "sweep"} & set(parts_in(quick)), "quick means minutes"


def test_minutes_take_what_fits_and_name_the_rest(bundle: Bundle) -> None:
    # A whole part takes 5 minutes and a quick one 2, but all of `verified` an hour.
    done = bundle.call("--dry-run", "--minutes", 15)
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if not line.startswith("left out")}
    assert lines["verified"].split()[1:] == ["quick", "about", "2", "min"]
    assert lines["ladder"].split()[1:] == ["full", "about", "5", "min"] and lines["charts"].split()[1] == "quick"
    assert lines["networks"].split()[1] == "full"
    assert "left out: overlap: about 2 min, and --minutes 15 leaves" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("at most 15 min")
    minutes = int(done.stdout.splitlines()[-1].split("about ")[1].split()[0])
    assert minutes <= 15
    hours = bundle.call("--dry-run", "--minutes", 600).stdout
    assert "verified       full   about 62 min" in hours, "a fourth of ten hours"
    shortest = bundle.call("--dry-run", "--minutes", 1)
    assert "ladder         quick" in shortest.stdout, "some of it is better than nothing"


def test_only_these_parts(bundle: Bundle) -> None:
    done = bundle.call("--only", "fused,overlap", "--output", "out")
    assert done.returncode == 0, done.stdout
    assert [call.split()[:4] for call in bundle.calls()] == [["network", "--device", "cuda", "--overlap"],
                                                            ["run", "--device", "cuda", "--problem"]]
    assert {"environment.json", "overlap/network.json", "fused/run.json", "README.md"} <= bundle.names_in_archive("out")
    assert bundle.call("--only", "fused,lader").returncode == 2


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_leaves_an_archive_and_a_run_that_goes_on(bundle: Bundle, number: signal.Signals, status: int) -> None:
    process = bundle.start("--only", "ladder,overlap,fused", "--output", "out", SLOW="overlap")
    begun = Path(f"{bundle.calls_file}.begun")
    for _ in range(200):
        if begun.exists():
            break
        time.sleep(0.05)
    os.kill(process.pid, number)
    process.communicate(timeout=20)
    assert process.returncode == status
    readme = (bundle.there / "out/README.md").read_text(encoding="utf-8")
    assert "- overlap: interrupted" in readme and "- fused: not begun" in readme and "--resume" in readme
    assert "\nDone: environment, ladder." in readme
    assert "ladder/run.json" in bundle.names_in_archive("out")
    assert subprocess.run(["pgrep", "-s", str(process.pid)], capture_output=True, check=False).stdout == b""
    assert len(bundle.calls()) == 2

    done = bundle.call("--resume", "out", "--only", "ladder,overlap,fused")
    assert done.returncode == 0, done.stdout
    assert [call.split()[:2] for call in bundle.calls()] == [["network", "--resume"], ["run", "--device"]]
    assert "== ladder: done before" in done.stdout
    assert "All parts are done" in (bundle.there / "out/README.md").read_text(encoding="utf-8")


def test_a_kill_leaves_an_archive_with_the_cases_of_the_part_at_work(bundle: Bundle) -> None:
    """At any moment it is whole, and the program does not outlive the script."""
    process = bundle.start("--only", "ladder,overlap", "--output", "out", GROWING="overlap")
    bundle.wait_for(bundle.there / "out.tar.gz", process)
    looks = 0
    while "overlap/network.json" not in bundle.names_in_archive("out") or looks < 20:
        assert process.poll() is None, "the archive was not renewed before the part's end"
        looks += 1
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)
    assert "ladder/run.json" in bundle.names_in_archive("out")
    cases = json.loads(bundle.text_in_archive("out", "overlap/network.json"))["cases"]
    assert cases and cases == list(range(1, len(cases) + 1))
    assert "- overlap: at work when this was written" in bundle.text_in_archive("out", "README.md")
    if shutil.which("setpriv"):
        for _ in range(100):
            if not alive_in_session(process.pid):
                break
            time.sleep(0.05)
        assert not alive_in_session(process.pid)

    done = bundle.call("--resume", "out", "--only", "ladder")
    assert done.returncode == 0, "its own parts are done"
    assert "not done, of an earlier call: overlap: cut short: this script was killed" in done.stdout
    readme = (bundle.there / "out/README.md").read_text(encoding="utf-8")
    assert "- overlap: cut short" in readme and "All parts" not in readme


def test_a_full_disk_leaves_the_archive_of_what_was_done(bundle: Bundle) -> None:
    """An archive that cannot be written whole does not take the place of the one before."""
    text = bundle.folder.joinpath("convladder").read_text(encoding="utf-8")
    filling = 'case "$folder" in *"/fused") head -c 300000 /dev/urandom >"$folder/one"; head -c 300000 /dev/urandom >"$folder/two" ;; esac\n'
    executable(bundle.folder / "convladder", text.replace('    echo "$kind done"', f'    {filling}    echo "$kind done"'))
    limited = subprocess.run(["bash", "-c", 'ulimit -f 400; exec "$0" "$@"', bundle.folder / "on_gpu.sh", "--only", "ladder,fused",
                              "--output", "out"], cwd=bundle.there, env=bundle.environment, capture_output=True,
                             encoding="utf-8", check=False, timeout=60)
    assert limited.returncode == 1 and "the archive could not be renewed" in limited.stderr, limited
    assert "not done: archive" in limited.stdout
    names = bundle.names_in_archive("out")
    assert "ladder/run.json" in names and "fused/one" not in names
    assert not list(bundle.there.glob("*.partial")), "the room it took is given back"


def test_a_resumed_call_tells_of_the_parts_of_all_calls(bundle: Bundle) -> None:
    first = bundle.call("--only", "ladder,overlap", "--output", "out", BROKEN="overlap")
    assert first.returncode == 1
    second = bundle.call("--resume", "out", "--only", "fused")
    assert second.returncode == 0, second.stdout
    assert "not done, of an earlier call: overlap: exit status 4: it is broken" in second.stdout
    readme = (bundle.there / "out/README.md").read_text(encoding="utf-8")
    assert "- overlap: exit status 4: it is broken" in readme and "Done: environment, ladder, fused." in readme
    assert bundle.call("--resume", "out", "--only", "overlap").returncode == 0
    readme = (bundle.there / "out/README.md").read_text(encoding="utf-8")
    assert "All parts are done: environment, ladder, overlap, fused." in readme


def test_what_does_not_end_when_it_is_asked_to_is_killed(bundle: Bundle) -> None:
    text = bundle.folder.joinpath("convladder").read_text(encoding="utf-8")
    executable(bundle.folder / "convladder", text.replace("exec sleep 60", "trap '' TERM; sleep 150; sleep 150"))
    process = bundle.start("--only", "ladder,overlap", "--output", "out", SLOW="overlap")
    bundle.wait_for(Path(f"{bundle.calls_file}.begun"), process)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=50)
    assert process.returncode == 143
    assert "- overlap: interrupted" in bundle.text_in_archive("out", "README.md")


def test_what_failed_is_named_and_tried_again_if_it_has_no_record(bundle: Bundle) -> None:
    done = bundle.call("--only", "ladder,fused", "--output", "out", BROKEN="ladder")
    assert done.returncode == 1
    assert "not done: ladder: exit status 4: it is broken" in done.stdout
    assert bundle.call("--resume", "out", "--only", "ladder,fused").returncode == 0
    assert "run --resume" in bundle.calls()[2]
    other = bundle.call("--resume", "out", "--without-gpu")
    assert other.returncode == 2 and "Fake GPU" in other.stderr


def test_a_part_that_is_too_slow_is_ended(bundle: Bundle, tmp_path: Path) -> None:
    text = f"""source {bundle.folder}/run_parts.sh; ended_by=''; run_watched {tmp_path}/log 1 sh -c 'echo begun; sleep 30'
echo status $?"""
    begin = time.monotonic()
    done = subprocess.run(["bash", "-c", text], capture_output=True, encoding="utf-8", check=False, timeout=30)
    assert done.stdout.splitlines() == ["begun", "status 124"]
    assert time.monotonic() - begin < 10


def test_ncu_goes_on_without_a_metric_and_without_a_variant(bundle: Bundle) -> None:
    executable(bundle.tools / "ncu", NCU)
    bundle.environment["CONVLADDER_PROGRAM"] = str(bundle.folder / "convladder")
    done = bundle.call("--only", "ncu", "--output", "out")
    assert done.returncode == 1
    calls = Path(f"{bundle.calls_file}.ncu").read_text(encoding="utf-8").splitlines()
    measured = [call for call in calls if "--nvtx" in call]
    assert len(measured) == 7 and all("--metrics smsp__inst_executed.sum --force" in call for call in measured)
    assert all("--clock-control none" in call for call in measured)
    assert "not counted on this GPU: l1tex__no_longer.sum" in done.stdout
    assert "ncu failed for register-tile" in done.stdout
    names = bundle.names_in_archive("out")
    assert "ncu/vectors-of-four.lenet72.conv2.8.csv" in names
    assert "ncu/register-tile.lenet72.conv2.8.csv" not in names


def test_a_driver_that_is_too_old_is_named_with_what_would_run(bundle: Bundle) -> None:
    executable(bundle.tools / "nvidia-smi", "#!/bin/sh\necho 550.54.14\n")
    why = "no CUDA device (the driver runs CUDA up to 12.4; this program needs CUDA 13.0, driver 580 or later)"
    done = bundle.call(NO_GPU=why)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert f"{why}; nvidia-smi: driver 550.54.14; a bundle of a CUDA 12 toolkit runs with it" in done.stderr
    executable(bundle.tools / "nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    assert "nvidia-smi" not in bundle.call(NO_GPU="no CUDA device (none)").stderr


def test_an_old_c_library_is_named_in_one_line(bundle: Bundle) -> None:
    (bundle.folder / "lib").mkdir()
    (bundle.folder / "lib/glibc-version").write_text("99.1\n", encoding="utf-8")
    done = bundle.call("--dry-run")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("on_gpu.sh: this bundle needs glibc 99.1 or later; this machine has 2.")
    (bundle.folder / "lib/glibc-version").write_text("2.9\n", encoding="utf-8")
    assert bundle.call("--dry-run").returncode == 0


@pytest.mark.parametrize("library", ["cudnn/lib/libcudnn.so.9", "cu13/lib/libcublas.so.13", "cuda_cupti/lib/libcupti.so.12"])
def test_libraries_are_found_where_pip_puts_them(bundle: Bundle, tmp_path: Path, library: str) -> None:
    there = tmp_path / "site" / "nvidia" / library
    there.parent.mkdir(parents=True)
    there.touch()
    done = bundle.call("--only", "ladder", "--output", "out", PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0, done.stdout
    found = Path(f"{bundle.calls_file}.libraries").read_text(encoding="utf-8").strip().split(":")
    assert str(there.parent) in found


@pytest.mark.parametrize("arguments, said", [
    (["--minutes", "0"], "--minutes"), (["--minutes", "soon"], "--minutes"), (["--only"], "--only needs a value"),
    (["--resume", "nowhere"], "nowhere"), (["--output", "a", "--resume", "b"], "only one"), (["--fast"], "--fast"),
])
def test_bad_usage_is_one_line(bundle: Bundle, arguments: list[str], said: str) -> None:
    done = bundle.call(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
