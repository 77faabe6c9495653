"""Commits as sides of a duel: built once, whatever happens meanwhile, and refused in one line. The small repositories
copy the program that is tested; test_bisect.py builds real commits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest

from commit_repositories import CMAKE, MISSING, commit, git, small_repository
from conftest import PROGRAM, assert_refused, mounted, run, start, wait_for

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

TINY = ["--variant", "memory-accumulation", "--family", "cpu", "--shape", "1,8,8,2,3", "--batch", "2", "--rounds", "13"]
NOTHING = ["--variant", "winograd", "--family", "cpu", "--shape", "1,8,8,2,2", "--batch", "2"]
"""A case that no build runs, because it does not suit the stage: for what is about building alone. Exit code 4."""


@pytest.fixture(name="repository")
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In a folder with spaces, with two commits; builds are kept below tmp_path."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    folder = small_repository(tmp_path / "a repository")
    (folder / "note").write_text("x", encoding="utf-8")
    commit(folder, "A note")
    return folder


def builds(tmp_path: Path) -> list[Path]:
    """The finished ones."""
    return sorted((tmp_path / "a cache/convladder/builds").glob("*/convladder"))


def duel(repository: Path, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Called in the repository."""
    return run("duel", *words, *TINY, cwd=repository, **options)


def build(repository: Path, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Only builds."""
    return run("duel", *words, *NOTHING, cwd=repository, **options)


def test_both_sides_are_built_once(tmp_path: Path, repository: Path) -> None:
    before = git(repository, "status", "--porcelain") + git(repository, "rev-parse", "HEAD")
    output = tmp_path / "duel.json"
    done = duel(repository, "--base-commit", "first", "--new-commit", "HEAD", "--output", output)
    assert done.returncode in (0, 2, 4), done
    assert "built commit" in done.stderr and "(The first)" in done.stderr
    document = json.loads(output.read_text(encoding="utf-8"))
    first, head = (git(repository, "rev-parse", name) for name in ("first", "HEAD"))
    assert Path(document["base"]["path"]).parent.name.startswith(first)
    assert Path(document["new"]["path"]).parent.name.startswith(head)
    assert f"the base is commit {first[:9]} (first): The first" in document["notes"]
    assert len(builds(tmp_path)) == 2
    assert before == git(repository, "status", "--porcelain") + git(repository, "rev-parse", "HEAD")
    assert len(git(repository, "worktree", "list").splitlines()) == 1, "no worktree is left"
    again = build(repository, "--base-commit", "HEAD~1", "--new-commit", "main", "--quiet")
    assert (again.returncode, again.stderr) == (4, "")


def test_names_that_git_knows(tmp_path: Path, repository: Path) -> None:
    """A tag, a branch with a slash, a place before HEAD, some digits: of a folder inside it, and from outside."""
    git(repository, "branch", "topic/faster", "first")
    inside = repository / "inside"
    inside.mkdir()
    digits = git(repository, "rev-parse", "first")
    for name in ("first", "topic/faster", "HEAD~1", digits[:10], "@~"):
        done = run("duel", "--base-commit", name, "--dry-run", *TINY, cwd=inside)
        assert done.returncode == 0 and f"the base is commit {digits[:9]} ({name})" in done.stdout, done
    done = run("duel", "--base-commit", "first", "--repository", repository, "--dry-run", *TINY, cwd=tmp_path)
    assert done.returncode == 0 and digits[:9] in done.stdout
    assert builds(tmp_path) == [], "a dry run builds nothing"


def test_what_is_no_commit_is_one_line(tmp_path: Path, repository: Path) -> None:
    assert_refused(duel(repository, "--base-commit", "nobody"), "--base-commit nobody", "no such commit")
    assert_refused(duel(repository, "--base-commit", "-x"), "--base-commit -x", "no such commit")
    assert_refused(duel(repository, "--base-commit", ""), "--base-commit", "got an empty string")
    assert_refused(duel(repository, "--base-commit", "first^{tree}"), "no such commit")
    assert_refused(duel(repository, "--base-commit", "first..HEAD"), "no such commit")
    assert_refused(duel(tmp_path, "--base-commit", "HEAD"), "no repository to take commits from")
    assert_refused(duel(repository, "--base-commit", "HEAD", "--repository", tmp_path / "none"), "no such folder")
    assert_refused(duel(repository, "--base-commit", "first", "--base", PROGRAM), "--base-commit and --base")
    assert_refused(duel(repository, "--base-commit", "first", "--new-commit", "HEAD~1"), "both commit", "The first")
    assert_refused(duel(repository, "--repository", "."), "--repository", "--base-commit")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{repository}", shallow], check=True)
    assert_refused(duel(shallow, "--base-commit", git(repository, "rev-parse", "first")), "the clone is shallow")
    assert builds(tmp_path) == []


def only_with(tmp_path: Path, *names: str) -> dict[str, str]:
    """An environment whose path leads to these programs only."""
    folder = tmp_path / "programs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(str(shutil.which(name)))
    return os.environ | {"PATH": str(folder)}


def test_tools_that_are_missing_are_named(tmp_path: Path, repository: Path) -> None:
    words = ["--base-commit", "first"]
    assert_refused(duel(repository, *words, env=only_with(tmp_path)), "git was not found")
    assert_refused(duel(repository, *words, env=only_with(tmp_path, "git")), "cmake was not found")
    assert_refused(duel(repository, *words, env=only_with(tmp_path, "git", "cmake")), "no C++ compiler")


def test_a_commit_that_does_not_build(tmp_path: Path, repository: Path) -> None:
    (repository / "CMakeLists.txt").write_text(CMAKE.replace("-E copy", "-E nonsense") % PROGRAM, encoding="utf-8")
    commit(repository, "Does not build")
    (repository / "CMakeLists.txt").write_text('project(convladder)\nmessage(FATAL_ERROR "out of luck")\n', encoding="utf-8")
    commit(repository, "Does not configure")
    (repository / "CMakeLists.txt").unlink()
    commit(repository, "Something else")
    done = duel(repository, "--base-commit", "HEAD~2")
    assert done.returncode == 3 and "building commit" in done.stderr and "(Does not build) failed:" in done.stderr
    log = next((tmp_path / "a cache/convladder/builds").glob("*.log"))
    assert str(log) in done.stderr and "FAILED" in log.read_text(encoding="utf-8")
    assert_refused(duel(repository, "--base-commit", "HEAD~1"), "configuring commit", "CMake Error at", "out of luck")
    assert_refused(duel(repository, "--base-commit", "HEAD"), "holds no convladder")
    assert builds(tmp_path) == [] and len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_commit_too_old(tmp_path: Path, repository: Path) -> None:
    script = repository / "old.sh"
    script.write_text("#!/bin/sh\necho \"convladder: unknown command 'serve-about'\" >&2\nexit 3\n", encoding="utf-8")
    script.chmod(0o755)
    (repository / "CMakeLists.txt").write_text(CMAKE % "${CMAKE_SOURCE_DIR}/old.sh", encoding="utf-8")
    old = commit(repository, "Too old")
    done = duel(repository, "--base-commit", old)
    assert done.returncode == 3 and "too old for a duel" in done.stderr.splitlines()[-1], done
    done = duel(repository, "--bisect", "--base-commit", "first", "--new-commit", old)
    assert done.returncode == 125 and "cannot be told" in done.stdout, done
    assert duel(repository, "--bisect", "--base-commit", old, "--new-commit", "first").returncode == 128
    assert len(builds(tmp_path)) == 2


def test_what_a_bisection_is_told(tmp_path: Path, repository: Path) -> None:
    """Only a regression is bad; what is wrong with the recipe stops the bisection."""
    bisect = ["--bisect", "--base-commit", "first"]
    done = duel(repository, *bisect, "--extra-work", "150")
    if "CONTAMINATED" in done.stdout:
        assert done.returncode == 125
    else:
        assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "bisect: bad (exit code 1)"), done
    done = duel(repository, *bisect)
    assert done.returncode in (0, 125), done
    assert done.stdout.splitlines()[-1].startswith("bisect: good" if done.returncode == 0 else "bisect: cannot be told")
    assert duel(repository, *bisect, "--new-commit", "first").returncode == 0
    for wrong in (["--varaint", "x"], ["--layer", "conv9"], ["--device", "simulated"], ["--selftest"], ["--new", PROGRAM],
                  ["--tau", "nan"], ["--output", tmp_path / "no/where"]):
        done = run("duel", *bisect, *wrong, cwd=repository)
        assert (done.returncode, done.stdout) == (128, ""), done
        assert len(done.stderr.splitlines()) == 1
    for base in ("HEAD~1", "@~", "bisect/bad", "nobody"):
        assert duel(repository, "--bisect", "--base-commit", base).returncode == 128
    assert duel(repository, "--bisect").returncode == 128
    assert duel(tmp_path, *bisect).returncode == 128
    assert duel(repository, "--bisct", "--base-commit", "first").returncode == 128, "a misspelt recipe marks nothing"
    threads = os.environ | {"OMP_NUM_THREADS": "none"}
    assert duel(repository, *bisect, env=threads).returncode == 128
    (repository / "CMakeLists.txt").unlink()
    commit(repository, "Something else")
    done = duel(repository, *bisect)
    assert done.returncode == 125 and "holds no convladder" in done.stderr


def test_git_is_told_in_its_own_words(repository: Path) -> None:
    """`git bisect run` itself, over commits of which some do not build: the first bad one is among those skipped."""
    for number in range(3):
        (repository / "CMakeLists.txt").write_text("nothing", encoding="utf-8")
        commit(repository, f"Nothing {number}")
    git(repository, "bisect", "start", "HEAD", "first")
    done = subprocess.run(["git", "bisect", "run", str(PROGRAM), "duel", "--bisect", "--base-commit", "first", *TINY],
                          cwd=repository, capture_output=True, encoding="utf-8", check=False)
    assert "holds no convladder" in done.stderr and "could be any of" in done.stdout + done.stderr, done
    git(repository, "bisect", "reset")
    git(repository, "bisect", "start", "HEAD", "first")
    done = subprocess.run(["git", "bisect", "run", str(PROGRAM), "duel", "--bisect", "--base-commit", "HEAD", *TINY],
                          cwd=repository, capture_output=True, encoding="utf-8", check=False)
    assert "another commit at each step" in done.stderr and done.returncode not in (0, 125)
    assert "first bad commit" not in done.stdout
    assert [line for line in git(repository, "bisect", "log").splitlines() if line.startswith("git bisect bad")] == []


SLOWLY = CMAKE.replace('COMMAND "${CMAKE_COMMAND}" -E copy', 'COMMAND sleep 2\nCOMMAND "${CMAKE_COMMAND}" -E copy')


def test_two_at_once_build_once(tmp_path: Path, repository: Path) -> None:
    (repository / "CMakeLists.txt").write_text(SLOWLY % PROGRAM, encoding="utf-8")
    commit(repository, "Slow")
    running = [start("duel", "--base-commit", "HEAD", *NOTHING, "--quiet", cwd=repository) for _ in range(3)]
    said = [process.communicate(timeout=120)[1] for process in running]
    assert all(process.returncode == 4 for process in running), said
    assert "".join(said).count("built commit") == 1 and "".join(said).count("waiting for it") >= 1, said
    assert len(builds(tmp_path)) == 1


def test_a_killed_build_leaves_nothing_finished(tmp_path: Path, repository: Path) -> None:
    (repository / "CMakeLists.txt").write_text(SLOWLY % PROGRAM, encoding="utf-8")
    commit(repository, "Slow")
    work = tmp_path / "a cache/convladder/builds/work"
    process = start("duel", "--base-commit", "HEAD", *NOTHING, cwd=repository)
    wait_for(work / "source/build/release/build.ninja", process)
    process.kill()
    process.communicate()
    assert builds(tmp_path) == [] and (work / "source").exists()
    done = build(repository, "--base-commit", "HEAD", "--quiet")
    assert done.returncode == 4 and "built commit" in done.stderr, done
    assert len(builds(tmp_path)) == 1 and not (work / "source").exists()


def test_hooks_and_changes_do_not_matter(tmp_path: Path, repository: Path) -> None:
    """A hook of the repository is not run, and what is not committed is said not to be built."""
    hook = repository / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/hooked'\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    (repository / "note").write_text("changed", encoding="utf-8")
    environment = os.environ | {"GIT_INDEX_FILE": str(repository / ".git/index"), "GIT_DIR": str(repository / ".git")}
    done = build(repository, "--base-commit", "HEAD", env=environment)
    assert done.returncode == 4 and not (tmp_path / "hooked").exists(), done
    assert "changes that are not committed" in " ".join(done.stdout.split())


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Iterator[Path]:
    """Where the program does not fit."""
    yield from mounted(tmp_path / "small", ["size=4m"])


def test_a_full_disk_is_no_fault_of_the_commit(small_disk: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(small_disk))
    done = build(repository, "--base-commit", "HEAD")
    assert_refused(done, str(small_disk), "No space left on device")
    done = build(repository, "--bisect", "--base-commit", "first")
    assert done.returncode == 128, done
    assert list(small_disk.glob("convladder/builds/*/convladder")) == []


def test_options_make_another_build(tmp_path: Path, repository: Path) -> None:
    for option in ("-DSOME_OPTION=1", "-DSOME_OPTION=2"):
        assert build(repository, "--base-commit", "first", "--build-option", option, "--quiet").returncode == 4
    logs = [(path.parent / "build.log").read_text(encoding="utf-8") for path in builds(tmp_path)]
    assert sorted(option for log in logs for option in ("options: 1", "options: 2") if option in log) == ["options: 1", "options: 2"]
