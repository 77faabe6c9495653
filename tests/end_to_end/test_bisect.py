"""The recipe of docs/use/duel.md on a real regression that is planted among 16 commits of this very repository."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from commit_repositories import MISSING, commit, git
from conftest import PROGRAM, REPOSITORY

pytestmark = [
    pytest.mark.skipif(not os.environ.get("CONVLADDER_SLOW_TESTS"),
                       reason="builds half a dozen commits; CONVLADDER_SLOW_TESTS=1 runs it"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="these sources are no repository"),
]

STAGE = "variants/convolution/cpu/01_memory_accumulation.cpp"
OTHER_STAGE = "variants/convolution/cpu/02_local_accumulation.cpp"
HARNESS = "harness/commands/printed.cpp"
CASE = ["--family", "cpu", "--variant", "memory-accumulation", "--shape", "1,16,16,20,5", "--batch", "1"]
WITHOUT_CUDA = ["--build-option", "-DCONVLADDER_CUDA=OFF", "--build-option", "-DCONVLADDER_CLANG_CUDA=OFF"]
DOES_NOT_COMPILE, PLANTED, COMMITS = 8, 11, 16

LOOP = "    for (int m = 0; m < s.out_channels; ++m) {"
LONGER = """    for (int turn = 0; turn < s.out_channels + s.out_channels / 6; ++turn) {
      const int m = turn % s.out_channels;"""
"""3 of 20 maps are computed twice: 15 % more work, and the same result with one thread. A second call of the function
would do as well, but the compiler then makes other code of it, which takes a sixth less time."""


def append(path: Path, text: str) -> None:
    """At the end of a file."""
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def change(folder: Path, number: int) -> str:
    """Edits the files for that commit, and says what it is about."""
    stage = folder / STAGE
    if number == PLANTED:
        text = stage.read_text(encoding="utf-8")
        assert text.count(LOOP) == 1
        stage.write_text(text.replace(LOOP, LONGER), encoding="utf-8")
        return "Compute some maps once more"
    if number == DOES_NOT_COMPILE:
        append(folder / HARNESS, "this is no C++\n")
        return "Break the build"
    if number == DOES_NOT_COMPILE + 1:
        text = (folder / HARNESS).read_text(encoding="utf-8")
        (folder / HARNESS).write_text(text.replace("this is no C++\n", ""), encoding="utf-8")
        return "Mend the build"
    if number % 4 == 0:
        append(stage, f"// Note {number}.\n")
        return f"A comment in the stage, {number}"
    if number % 4 == 1:
        append(folder / OTHER_STAGE, f"\nnamespace convladder::note_{number} {{\ninline int unused() {{ return {number}; }}\n}}\n")
        return f"Something in another stage, {number}"
    append(folder / "README.md", f"\nNote {number}.\n")
    return f"A line of the README, {number}"


def test_the_recipe_finds_the_planted_commit(tmp_path: Path) -> None:
    repository = tmp_path / "convladder"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(repository)], check=True)
    good = git(repository, "rev-parse", "HEAD")
    commits = [commit(repository, change(repository, number)) for number in range(1, COMMITS + 1)]
    git(repository, "bisect", "start", commits[-1], good)
    recipe = [str(PROGRAM), "duel", "--bisect", "--base-commit", good, *CASE, *WITHOUT_CUDA]
    done = subprocess.run(["git", "bisect", "run", *recipe], cwd=repository, capture_output=True, encoding="utf-8",
                          check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})
    print(done.stdout, done.stderr, git(repository, "bisect", "log"), sep="\n")
    assert done.returncode == 0, done
    found = re.search(r"^([0-9a-f]{40}) is the first bad commit", done.stdout, re.MULTILINE)
    assert found is not None and found.group(1) == commits[PLANTED - 1]
    assert "git bisect skip " + commits[DOES_NOT_COMPILE - 1] in git(repository, "bisect", "log")
