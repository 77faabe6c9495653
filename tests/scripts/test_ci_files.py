"""What others' continuous integration reads: the image, the templates, JUnit and SARIF, by readers that are not ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import REPOSITORY

DOCKERFILE = REPOSITORY / "Dockerfile"
PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", REPOSITORY / "build/release/convladder")).resolve()
PACKAGES = ("check-jsonschema", "junitparser", "sarif-tools")
"""Of PyPI: the first has the schemas of GitHub's workflows and actions and of GitLab's jobs; no package has those of JUnit
and SARIF, which the others read."""


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile with its words; lines that end with a backslash go on."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text("utf-8"))
    found = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, words) for name, words in found]


def is_left_out(path: str) -> bool:
    """Whether .dockerignore keeps a path out of the image: the last line that fits it, or a folder that it is in, decides."""
    left_out = False
    for line in (REPOSITORY / ".dockerignore").read_text("utf-8").split():
        pattern = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        if any(re.fullmatch(pattern, part) for part in (path, *map(str, Path(path).parents))):
            left_out = not line.startswith("!")
    return left_out


def test_the_dockerfiles_instructions() -> None:
    names = [name for name, _ in instructions()]
    assert set(names) <= {"FROM", "RUN", "WORKDIR", "COPY", "CMD"}
    assert [words for name, words in instructions() if name == "FROM"] == ["debian:12-slim AS build", "debian:12-slim"]
    for name, words in instructions():
        if name == "RUN":
            subprocess.run(["bash", "-n", "-c", words], check=True, timeout=60)
            for script, options in re.findall(r"(scripts/\S+\.sh)((?: --[a-z-]+)*)", words):
                usage = subprocess.run([REPOSITORY / script, "--help"], capture_output=True, text=True, check=True, timeout=60)
                assert all(option in usage.stdout for option in options.split())
        if name == "COPY" and not words.startswith("--from"):
            assert (REPOSITORY / words.split()[0]).exists()


def test_the_image_gets_all_that_the_build_reads() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
    if listed.returncode != 0:
        pytest.skip("not in a repository")
    missing = {path.split("/")[0] for path in listed.stdout.splitlines() if is_left_out(path)}
    assert missing == {".ci", ".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".github", ".gitignore",
                       ".pre-commit-config.yaml", "CONTRIBUTING.md", "Dockerfile", "action.yml", "ci", "pyproject.toml"}
    assert is_left_out("build/release/convladder") and is_left_out("results/box-2026-01-31/run.json")


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="needs apt")
def test_debian_has_the_images_packages() -> None:
    words = " ".join(words for name, words in instructions() if name == "RUN")
    packages = {word for line in re.findall(r"apt-get install -y --no-install-recommends ([^&]+)", words)
                for word in line.split() if not word.startswith("/")}
    assert {"git", "ca-certificates"} <= packages
    listed = subprocess.run(["apt-cache", "policy", *sorted(packages)], capture_output=True, text=True, check=True, timeout=60,
                            env=os.environ | {"LC_ALL": "C"}).stdout
    known = set(re.findall(r"^(\S+):\n(?:.*\n)??  Candidate: (?!\(none\))", listed, re.MULTILINE))
    if not known:
        pytest.skip("apt has no lists of packages")
    assert known == packages


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with others' readers."""
    if "CONVLADDER_ALL_TESTS" not in os.environ:
        pytest.skip("needs packages of PyPI; scripts/test.sh --all installs them for the test alone")
    folder = tmp_path_factory.mktemp("tools")
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, check=False, timeout=300)
    if made.returncode != 0:
        pytest.skip("needs Python's venv (python3-venv)")
    got = subprocess.run([folder / "bin/pip", "install", "--quiet", *PACKAGES], capture_output=True, text=True, check=False,
                         timeout=600)
    if got.returncode != 0:
        pytest.skip(f"PyPI's packages are not to be had: {got.stderr.strip().splitlines()[-1]}")
    return folder / "bin"


def said(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_workflows_action_and_template_are_what_their_schemas_ask(tools: Path) -> None:
    check = tools / "check-jsonschema"
    said(check, "--builtin-schema", "vendor.github-workflows", *sorted(REPOSITORY.glob(".github/workflows/*.yml")))
    said(check, "--builtin-schema", "vendor.github-actions", REPOSITORY / "action.yml")
    said(check, "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", REPOSITORY / "ci/gitlab.yml")


def duel_with_all_verdicts() -> dict[str, Any]:
    verdicts = ("pass", "regressed", "failed", "inconclusive", "skipped")
    cases = [{"id": f"cpu/<{verdict}>", "verdict": verdict, "reason": "a \"reason\" & more", "kind": "measured",
              "metric": {"name": "wall", "unit": "ns", "better": "lower"}, "new_median": 1e9,
              "change": {"estimate": 0.1, "low": 0.05, "high": 0.2}} for verdict in verdicts]
    return {"kind": "duel", "cases": cases, "control": {"failure": None, "contaminated": False}}


@pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="not built")
def test_others_read_what_is_exported(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "duel.json").write_text(json.dumps(duel_with_all_verdicts()), encoding="utf-8")
    for to in ("junit", "sarif"):
        said(PROGRAM, "export", tmp_path / "duel.json", "--to", to, "--output", tmp_path / f"duel.{to}")
    code = ("import json, sys, junitparser\n"
            "xml = junitparser.JUnitXml.fromfile(sys.argv[1])\n"
            "print(json.dumps([[case.name, case.time, [type(one).__name__ for one in case.result]]\n"
            "                  for suite in xml for case in suite]))\n")
    tests = json.loads(said(tools / "python", "-c", code, tmp_path / "duel.junit"))
    outcomes = {"pass": [], "regressed": ["Failure"], "failed": ["Error"], "inconclusive": ["Skipped"], "skipped": ["Skipped"]}
    assert tests == [[f"cpu/<{name}>", 1.0, outcome] for name, outcome in outcomes.items()]
    summary = said(tools / "sarif", "summary", tmp_path / "duel.sarif")
    assert re.findall(r"^(error|warning|note): (\d+)$", summary, re.MULTILINE) == [("error", "2"), ("warning", "0"), ("note", "1")]
