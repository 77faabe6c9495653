"""An installed tree, moved away from where it was installed: everything is found from the program's own place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from conftest import PROGRAM, REPOSITORY, assert_refused, is_sanitized

BUILD = PROGRAM.parent
CASE = ["--shape", "1,8,8,2,3", "--batch", "2", "--repetitions", "3", "--benchmark_min_time=0.0005"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Installed under a umask that keeps others out, below a DESTDIR, then moved into a folder with a blank in its name."""
    if is_sanitized():
        pytest.skip("nobody installs a sanitized build: it names the places of its sources, and an emulator cannot run it")
    if not (BUILD / "cmake_install.cmake").is_file():
        pytest.skip(f"{BUILD} is no build folder")
    folder = tmp_path_factory.mktemp("install")
    done = subprocess.run(["sh", "-c", 'umask 077; exec cmake --install "$0" --prefix /first/place', str(BUILD)],
                          env={**os.environ, "DESTDIR": str(folder)}, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "the program wrote its manual and completions"
    (folder / "first/place").rename(folder / "moved tree")
    yield folder / "moved tree"
    shutil.rmtree(folder)


def installed(tree: Path, *arguments: object, program: str = "bin/convladder", **options: object) -> subprocess.CompletedProcess[str]:
    """Calls it with nothing in the environment but what is needed to be quick."""
    environment = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "CONVLADDER_CEILING_MIB": "4", "LC_ALL": "C"}
    return subprocess.run([str(tree / program), *map(str, arguments)], env=environment, capture_output=True,
                          encoding="utf-8", check=False, timeout=120, **options)


def test_it_is_readable_by_everybody_and_names_no_other_place(tree: Path) -> None:
    for path in [tree, *tree.rglob("*")]:
        mode = path.stat().st_mode
        assert mode & 0o444 == 0o444 and (mode & 0o111 == 0o111 or not path.is_dir()), path
        assert not path.name.endswith(".pyc")
        # nvcc puts a kernel's file into its machine code by the path that it was called with; nothing prints that.
        said = re.sub(rb"/[ -~]*\.cu\0", b"", path.read_bytes() if path.is_file() else b"")
        assert str(REPOSITORY).encode() not in said, path
    listed = {str(path.relative_to(tree)) for path in tree.rglob("*")}
    assert {"bin/convladder", "share/convladder/scripts/report.py", "share/convladder/results/run.schema.json",
            "share/doc/convladder/LICENSE", "share/man/man1/convladder.1"} <= listed
    libraries = tree / "lib/convladder/stand_in"
    assert (BUILD / "stand_in").is_dir() == libraries.is_dir()


def test_the_python_package_finds_the_program_of_its_own_tree(tree: Path, tmp_path: Path) -> None:
    package = tree / "lib/convladder/stand_in/python"
    if not package.is_dir():
        pytest.skip("no stand-in in this build")
    done = subprocess.run(["/usr/bin/python3", "-c", "import convladder\nfrom convladder import program\n"
                           "print(program.program(), program.scripts(), convladder.version(), sep='\\n')"], cwd=tmp_path,
                          env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
                          capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.splitlines()[:2] == [str(tree / "bin/convladder"), str(tree / "share/convladder/scripts")], done.stderr
    assert done.stdout.splitlines()[2].startswith("convladder ")


def test_a_run_and_its_report_in_an_empty_folder(tree: Path, tmp_path: Path) -> None:
    assert installed(tree, "list").returncode == 0
    done = installed(tree, "run", *CASE, "--variant", "flat-vector", "--output", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = installed(tree, "report", "mine/run.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine/report.html").stat().st_size > 10000
    record = json.loads((tmp_path / "mine/run.json").read_text(encoding="utf-8"))
    assert str(REPOSITORY) not in json.dumps(record)


def test_a_link_to_it_leads_to_its_own_files(tree: Path, tmp_path: Path) -> None:
    """As from /usr/local/bin; and scripts of somebody else beside the link are left alone."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/convladder").symlink_to(tree / "bin/convladder")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/report.py").write_text("raise SystemExit('not ours')\n", encoding="utf-8")
    done = installed(tmp_path, "report", "--help")
    assert done.returncode == 0
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    assert_refused(installed(tmp_path, "report", "run.json", cwd=tmp_path), "run.json")


def test_the_scripts_beside_it_find_it(tree: Path, tmp_path: Path) -> None:
    scripts = tree / "share/convladder/scripts"
    done = subprocess.run([str(scripts / "ncu.sh"), "--variant", "shared-memory", "--layer", "lenet28.conv1", "--print-only"],
                          capture_output=True, encoding="utf-8", check=False, env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path)
    if "unknown variant" not in done.stderr:  # as in a build without a compiler of CUDA
        assert str(tree / "share/convladder/convladder").replace(" ", "\\ ") in done.stdout
        assert " --output ./results/" in done.stdout and not (tree / "share/convladder/results/profiles").exists()
    done = subprocess.run([str(scripts / "slurm.sh"), "plan", "--no-such-option"], capture_output=True, encoding="utf-8",
                          check=False, env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path)
    assert done.returncode == 3 and "unknown option '--no-such-option'" in done.stderr
    done = subprocess.run([str(tree / "share/convladder/on_gpu.sh"), "--dry-run", "--without-gpu", "--quick"],
                          capture_output=True, encoding="utf-8", check=False, env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "")


def test_the_manual_has_every_command_and_option(tree: Path) -> None:
    page = tree / "share/man/man1/convladder.1"
    text = page.read_text(encoding="utf-8")
    said = text.replace("\\-", "-")
    commands = re.findall(r"^  ([a-z]+)  +\S", installed(tree).stdout.split("\nexamples:")[0], re.MULTILINE)
    assert len(commands) > 10
    for command in set(commands) - {"help"}:
        assert f".SS {command}\n" in text
        for option in re.findall(r"^  (--[a-z_-]+)", installed(tree, command, "--help").stdout, re.MULTILINE):
            assert option in said
    if shutil.which("groff"):
        for terminal in ("utf8", "latin1"):
            done = subprocess.run(["groff", "-ww", "-man", f"-T{terminal}", "-k", str(page)], capture_output=True,
                                  encoding="utf-8", errors="replace", check=False)
            assert (done.returncode, done.stderr) == (0, "")
            assert "exactly this many samples" in done.stdout


@pytest.mark.parametrize("line, expected", [
    ("convladder expl", ["explain"]),
    ("convladder help expl", ["explain"]),
    ("convladder run --dev", ["--device"]),
    ("convladder run --device ", ["cpu", "cuda", "simulated"]),
    ("convladder run --device=cu", ["cuda"]),  # bash replaces what stands behind the '='
    ("convladder run --device cpu,s", ["cpu,simulated"]),
    ("convladder run --isolate ", ["process", "none"]),
    ("convladder explain --format js", ["json"]),
    ("convladder run --layer lenet28.conv1 --network lenet7", ["lenet70", "lenet72"]),
    ("convladder run max", ["max-pooling", "max file"]),
    ("convladder nothing --", []),
])
def test_bash_completes(tree: Path, tmp_path: Path, line: str, expected: list[str]) -> None:
    (tmp_path / "max file").touch()
    script = tree / "share/bash-completion/completions/convladder"
    asked = 'source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; _convladder "$3"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", asked, "bash", str(script), line, str(tree / "bin/convladder")],
                          cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    assert done.stdout.split("\n")[:-1] == (expected or [""])


@pytest.mark.parametrize("shell, script", [("zsh", "share/zsh/site-functions/_convladder"),
                                           ("fish", "share/fish/vendor_completions.d/convladder.fish")])
def test_other_shells_read_theirs(tree: Path, shell: str, script: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(tree / script)], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_processor_without_its_instructions_is_told_in_one_line(tree: Path) -> None:
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("qemu-x86_64 is not installed (Debian's qemu-user)")
    done = subprocess.run([emulator, "-cpu", "Nehalem", str(tree / "bin/convladder"), "--version"], capture_output=True,
                          encoding="utf-8", check=False)
    assert_refused(done, "this processor lacks", "AVX2")
