"""What CI, the hooks and CONTRIBUTING.md call is there: every script, and every option that they give it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY

CALLERS = [*sorted(REPOSITORY.glob(".github/workflows/*.yml")), *sorted(REPOSITORY.glob(".github/**/*.md")),
           REPOSITORY / ".pre-commit-config.yaml", REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "action.yml",
           REPOSITORY / "ci/gitlab.yml"]
_CALL = re.compile(r"scripts/[a-z_/]+\.(?:sh|py)((?: +(?:--?[a-z][a-z-]*|\$\{\{[^}]*\}\}|\"[^\"]*\"|[A-Za-z0-9_/.]+))*)")
_ACTION = re.compile(r"uses: (\S+)(.*)")
OF_CTEST = {"-R", "-V"}


def calls(text: str) -> list[tuple[str, list[str]]]:
    """The scripts that a text calls, with the options of each."""
    found = []
    for match in _CALL.finditer(text):
        options = re.findall(r"(?<!\S)--?[a-z][a-z-]*", match.group(1))
        found.append((match.group(0).split()[0], options))
    return found


ALL_CALLS = sorted({(script, option) for caller in CALLERS for script, options in calls(caller.read_text("utf-8"))
                    for option in [*options, ""]})


def test_the_calls_are_found() -> None:
    assert calls("run: scripts/lint.sh --tidy --changed \"$BASE\"\n") == [("scripts/lint.sh", ["--tidy", "--changed"])]
    assert {"scripts/test.sh", "scripts/lint.sh", "scripts/setup.sh"} <= {script for script, _ in ALL_CALLS}
    assert ("scripts/lint.sh", "--tidy") in ALL_CALLS


@pytest.mark.parametrize(("script", "option"), ALL_CALLS)
def test_a_called_script_knows_the_option(script: str, option: str) -> None:
    path = REPOSITORY / script
    assert os.access(path, os.X_OK), f"{script} is not there"
    usage = subprocess.run([path, "--help"], capture_output=True, encoding="utf-8", check=True, timeout=60).stdout
    assert option in OF_CTEST or re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", usage), f"{script} {option}"


def test_options_of_the_matrix_are_those_of_test_sh() -> None:
    text = (REPOSITORY / ".github/workflows/tests.yml").read_text("utf-8")
    usage = subprocess.run([REPOSITORY / "scripts/test.sh", "--help"], capture_output=True, encoding="utf-8", check=True,
                           timeout=60).stdout
    options = re.findall(r"^ +options: (.+)$", text, re.MULTILINE)
    assert len(options) == 2
    for option in " ".join(options).split():
        assert f"  {option} " in usage


@pytest.mark.parametrize("workflow", sorted(REPOSITORY.glob(".github/workflows/*.yml")), ids=lambda path: path.stem)
def test_workflow(workflow: os.PathLike[str]) -> None:
    yaml = pytest.importorskip("yaml")
    with open(workflow, encoding="utf-8") as file:
        text = file.read()
    jobs = yaml.safe_load(text)["jobs"]
    assert jobs and all("timeout-minutes" in job and job["steps"] for job in jobs.values())
    assert_actions_are_fixed(text)


def assert_actions_are_fixed(text: str) -> None:
    """Actions of GitHub alone, and our own, by commit: a tag can be moved."""
    for action, comment in _ACTION.findall(text):
        if action != "./":
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), action


def test_the_action_uses_what_it_has() -> None:
    yaml = pytest.importorskip("yaml")
    text = (REPOSITORY / "action.yml").read_text("utf-8")
    action = yaml.safe_load(text)
    assert_actions_are_fixed(text)
    steps = action["runs"]["steps"]
    used = set(re.findall(r"\binputs\.([a-z-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"]), "an input that nothing reads, or one that is not there"
    ids = {step["id"] for step in steps if "id" in step}
    assert set(re.findall(r"\bsteps\.([a-z]+)\.", text)) <= ids
    for step in steps:
        # What others write, such as a branch's name, is never part of a script.
        assert "${{" not in step.get("run", ""), step["name"]
        assert ("run" in step) == ("shell" in step), step["name"]
        for word in re.findall(r"\$\{?([A-Z_]+)", step.get("run", "")):
            assert word in step.get("env", {}) or word.startswith(("GITHUB_", "RUNNER_", "CONVLADDER_OF_ACTION")), word
    workflow = yaml.safe_load((REPOSITORY / ".github/workflows/duel.yml").read_text("utf-8"))
    [ours] = [step for step in workflow["jobs"]["duel"]["steps"] if step.get("uses") == "./"]
    assert set(ours["with"]) <= set(action["inputs"])
    assert workflow["permissions"]["pull-requests"] == "write"


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="needs shellcheck")
def test_shellcheck_has_nothing_to_say_of_steps(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    lists = [yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))["runs"]["steps"]]
    for workflow in sorted(REPOSITORY.glob(".github/workflows/*.yml")):
        lists += [job["steps"] for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values()]
    texts = [step["run"] for steps in lists for step in steps if "run" in step]
    assert len(texts) > 10
    for number, text in enumerate(texts):
        text = re.sub(r"\$\{\{.*?\}\}", "expression", text)
        (tmp_path / f"{number}.sh").write_text(f"#!/usr/bin/env bash\n{text}", encoding="utf-8")
    # SC2153 takes a variable of the step's environment for a misspelt one of the script.
    done = subprocess.run(["shellcheck", "--exclude=SC2153", *sorted(tmp_path.glob("*.sh"))], capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stdout
