"""Repositories for what builds commits: small ones, whose convladder is a copy of the program that is tested."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from conftest import PROGRAM

PRESETS = """{"version": 4, "configurePresets": [{"name": "release", "generator": "Ninja",
 "binaryDir": "${sourceDir}/build", "cacheVariables": {"CMAKE_BUILD_TYPE": "Release"}}]}"""
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(convladder LANGUAGES NONE)
message(STATUS "options: ${SOME_OPTION}")
add_custom_target(convladder COMMAND "${CMAKE_COMMAND}" -E copy "%s" "${CMAKE_BINARY_DIR}/convladder")
"""
MISSING = [name for name in ("git", "cmake", "ninja", "c++") if shutil.which(name) is None]


def git(folder: Path, *words: str) -> str:
    """Calls git there, by nobody's settings, and returns what it prints."""
    names = {f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | names | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, encoding="utf-8", check=False,
                          env=environment)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.strip()


def commit(folder: Path, message: str) -> str:
    """All that is there, as a commit. Returns its digits."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def small_repository(folder: Path) -> Path:
    """With one commit, tagged `first`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "CMakePresets.json").write_text(PRESETS, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(CMAKE % PROGRAM, encoding="utf-8")
    commit(folder, "The first")
    git(folder, "tag", "first")
    return folder
