"""The action's own steps on a pull request that was recorded, with a remote in a folder and a service on this machine."""

from __future__ import annotations

import http.server
import importlib.util
import json
import os
import random
import re
import struct
import subprocess
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator
from xml.etree import ElementTree

import pytest

from conftest import PROGRAM, REPOSITORY, SCRIPTS, only_with_all, run

yaml = pytest.importorskip("yaml")

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
DUEL = SCRIPTS / "ci/duel.sh"
SLOW, FAST = 12, 4
GIT = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "n@localhost", "GIT_COMMITTER_NAME": "n",
       "GIT_COMMITTER_EMAIL": "n@localhost", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
OPTIONS = "--rounds=13\n\n  --metric=took=took ([0-9]+)\n"


def comment_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("comment", SCRIPTS / "ci/comment.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comment = comment_script()


class Pulls:
    """What GitHub's API says of a pull request's comments, and who asked what."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refuses = 0
        """Answers every change with it, where it is not 0."""
        pulls = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, code: int, content: Any) -> None:
                text = json.dumps(content).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def content(self) -> Any:
                return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

            def note(self, what: str) -> bool:
                assert self.headers["Authorization"] == "Bearer secret"
                pulls.asked.append(what)
                if what != "GET" and pulls.refuses:
                    self.answer(pulls.refuses, {"message": "Resource not accessible by integration"})
                return what == "GET" or not pulls.refuses

            def do_GET(self) -> None:
                found = re.fullmatch(r"/repos/owner/name/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path)
                assert found and self.note("GET")
                size, page = int(found[1]), int(found[2])
                self.answer(200, pulls.comments[size * (page - 1):size * page])

            def do_POST(self) -> None:
                content = self.content()
                assert self.path == "/repos/owner/name/issues/7/comments"
                if self.note("POST"):
                    pulls.comments.append({"id": 1000 + len(pulls.comments), "html_url": "http://here/new"} | content)
                    self.answer(201, pulls.comments[-1])

            def do_PATCH(self) -> None:
                content = self.content()
                if self.note("PATCH"):
                    number = int(self.path.removeprefix("/repos/owner/name/issues/comments/"))
                    [one] = [one for one in pulls.comments if one["id"] == number]
                    one.update(content)
                    self.answer(200, one)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def pulls() -> Iterator[Pulls]:
    service = Pulls()
    yield service
    service.server.shutdown()
    service.server.server_close()


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, env=os.environ | GIT, capture_output=True, text=True, check=True,
                          timeout=60).stdout.strip()


def commit(folder: Path, took: int, then: str = "true") -> str:
    """A benchmark that is built, and then says that it took so long, whatever else this machine does."""
    (folder / "bench.c").write_text(f"echo took {took}\n{then}\n", encoding="utf-8")
    (folder / "build.sh").write_text("echo '#!/bin/sh' >bench && cat bench.c >>bench && chmod +x bench\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", f"{took}")
    return git(folder, "rev-parse", "HEAD")


class Checkout:
    """A clone as actions/checkout leaves it, of a remote whose branch main went on after the pull request began."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "work"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "remote")
        git(folder, "clone", "--quiet", "remote", "work")
        git(self.path, "checkout", "--quiet", "-B", "main")
        self.base = commit(self.path, FAST)
        self.main = commit(self.path, SLOW, "# main went on")
        git(self.path, "push", "--quiet", "origin", "main")
        git(self.path, "checkout", "--quiet", "-b", "topic", self.base)

    def event(self) -> dict[str, Any]:
        """The parts of the event pull_request that the action reads, as GitHub writes them."""
        return {"pull_request": {"number": 7, "base": {"sha": self.main, "ref": "main"},
                                 "head": {"sha": git(self.path, "rev-parse", "HEAD"), "ref": "topic"}}}


class Job:
    """Does what a runner does with a composite action, as far as this one needs it."""

    def __init__(self, checkout: Checkout, service: Pulls, **inputs: str) -> None:
        self.files = {name: checkout.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for file in self.files.values():
            file.write_text("", encoding="utf-8")
        self.checkout = checkout
        self.inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
        assert self.inputs.keys() == ACTION["inputs"].keys(), "an input that the action does not have"
        self.context = {"inputs": self.inputs, "steps": {}, "github": {"event": checkout.event(), "token": "secret"}}
        self.environment = os.environ | GIT | {name: str(file) for name, file in self.files.items()} | {
            "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(REPOSITORY), "GITHUB_API_URL": service.address,
            "GITHUB_REPOSITORY": "owner/name", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "5",
            "RUNNER_TEMP": str(checkout.folder)}
        self.used: list[dict[str, str]] = []
        self.output = ""
        self.failed = False
        for step in ACTION["runs"]["steps"]:
            self.step(step)

    def value(self, path: str) -> Any:
        at: Any = self.context
        for name in path.split("."):
            at = at.get(name, "") if isinstance(at, dict) else ""
        return at

    def expression(self, text: str) -> Any:
        words = re.findall(r"'[^']*'|&&|\|\||==|!=|always\(\)|[A-Za-z_][\w.-]*", text)
        assert "".join(words) == text.replace(" ", ""), f"an expression that this test does not know: {text}"
        names = {"&&": "and", "||": "or", "always()": "True", "==": "==", "!=": "!="}
        code = " ".join(names.get(word, word if word.startswith("'") else f"value({word!r})") for word in words)
        return eval(code, {"value": self.value})  # pylint: disable=eval-used

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: str(self.expression(found[1])), text)

    def step(self, step: dict[str, Any]) -> None:
        condition = step.get("if", "always()")
        if (self.failed and "always()" not in step.get("if", "")) or not self.expression(condition):
            return
        if "uses" in step:
            self.used.append({name: self.filled(str(text)) for name, text in step["with"].items()})
            return
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.filled(step["run"])],
                              cwd=self.checkout.path, capture_output=True, text=True, timeout=300, check=False,
                              env=self.environment | {name: self.filled(str(text)) for name, text in step["env"].items()})
        self.output += done.stdout + done.stderr
        self.failed = self.failed or done.returncode != 0
        if "id" in step:
            lines = self.files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
            self.context["steps"][step["id"]] = {"outputs": dict(line.split("=", 1) for line in lines)}

    @property
    def outputs(self) -> dict[str, str]:
        return {name: self.filled(one["value"]) for name, one in ACTION["outputs"].items()}


def job(checkout: Checkout, pulls: Pulls, **inputs: str) -> Job:
    return Job(checkout, pulls, **({"build": "bash build.sh", "command": "./bench", "options": OPTIONS, "name": "Bench",
                                    "token": "secret", "convladder": str(PROGRAM), "at": "bench.c"} | inputs))


def test_a_pull_request_gets_one_comment_that_is_written_anew(tmp_path: Path, pulls: Pulls) -> None:
    pulls.comments = [{"id": number, "body": f"comment {number}\n{comment.marker('Bench')}"} for number in range(100)]
    checkout = Checkout(tmp_path)
    commit(checkout.path, SLOW)
    first = job(checkout, pulls)
    assert first.failed and first.outputs["code"] == "1" and first.outputs["verdict"] == "regressed", first.output
    folder = Path(first.outputs["folder"])
    record = json.loads((folder / "duel.json").read_text("utf-8"))
    assert [one["verdict"] for one in record["cases"]] == ["regressed"]
    assert git(folder / "trees/base", "rev-parse", "HEAD") == checkout.base, "the merge base, not where main is now"
    ours = pulls.comments[100]
    assert ours["body"].startswith(comment.marker("Bench") + "\n### Bench\n\n**regressed (exit code 1)**")
    assert "build/duel/trees/base" in ours["body"] and str(tmp_path) not in ours["body"]
    assert "https://github.com/owner/name/actions/runs/5" in ours["body"]
    assert "**regressed (exit code 1)**" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    [kept] = first.used
    assert kept["name"] == "Bench" and kept["path"].splitlines() == [f"{folder}/duel.*", f"{folder}/build_*.log"]
    [suite] = ElementTree.parse(folder / "duel.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    [result] = json.loads((folder / "duel.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "regressed"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "bench.c"

    # It fails now, and the same comment says so.
    commit(checkout.path, FAST, "exit 5")
    second = job(checkout, pulls)
    assert second.failed and second.outputs["code"] == "1", second.output
    assert len(pulls.comments) == 101 and "a case failed" in pulls.comments[100]["body"]
    assert pulls.asked == ["GET", "GET", "POST", "GET", "GET", "PATCH"]

    # The build fails: the table from before must not seem to hold still.
    (checkout.path / "build.sh").write_text("echo so wrong; exit 1\n", encoding="utf-8")
    git(checkout.path, "commit", "--quiet", "-am", "broken")
    third = job(checkout, pulls)
    assert third.failed and third.outputs["code"] == "3" and "so wrong" in third.output
    assert "no duel" in pulls.comments[100]["body"] and "building head" in pulls.comments[100]["body"]


def duel(checkout: Checkout, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DUEL, *map(str, words)], cwd=checkout.path, env=os.environ | GIT | environment, text=True,
                          capture_output=True, timeout=300, check=False)


STAND_IN = """#!/bin/sh
case $1 in
  duel) echo "**whatever (exit code $CODE)**: here"; while [ $# -gt 0 ]; do [ "$1" = --output ] && echo '{}' >"$2"; shift; done
        exit $CODE ;;
  *) exit 3 ;;
esac
"""


@pytest.mark.parametrize(("fail_on", "codes"), [("undecided", "01234"), ("regressed", "01030"), ("never", "00030")])
def test_which_codes_fail_a_job(tmp_path: Path, fail_on: str, codes: str) -> None:
    checkout = Checkout(tmp_path)
    commit(checkout.path, SLOW)
    program = tmp_path / "convladder"
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    for code, expected in enumerate(codes):
        done = duel(checkout, "--convladder", program, "--command", "./bench", "--fail-on", fail_on, CODE=str(code))
        assert done.returncode == int(expected), done.stderr


def test_what_is_no_duel_is_said_in_a_line(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    for words, said in ((["--base", "HEAD", "--command", "x"], "both sides are"), (["--frob"], "unknown argument '--frob'"),
                        (["--base"], "--base needs a value"), ([], "nothing to compare: give --command"),
                        (["--base", "gone", "--command", "x"], "there is no commit 'gone'"),
                        (["--fail-on", "monday", "--command", "x"], "'monday'"),
                        (["--command", "x", "--program", "y"], "have no commands")):
        done = duel(checkout, *words)
        assert done.returncode == 3 and said in done.stderr and len(done.stderr.splitlines()) == 1, done
    commit(checkout.path, SLOW)
    done = duel(checkout, "--command", "x", "--convladder", tmp_path / "none")
    assert done.returncode == 3 and "there is no program" in done.stderr
    git(checkout.path, "checkout", "--quiet", "--orphan", "alone")
    git(checkout.path, "commit", "--quiet", "-m", "alone")
    assert "fetch-depth: 0" in duel(checkout, "--base", "main", "--command", "x").stderr


def put_comment(pulls: Pulls, table: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"GITHUB_API_URL": pulls.address, "GITHUB_REPOSITORY": "owner/name", "GITHUB_TOKEN": "secret"}
    return subprocess.run([SCRIPTS / "ci/comment.py", table, "--pull", "7", *words], env=environment, capture_output=True,
                          text=True, timeout=60, check=False)


def test_who_may_not_comment_is_warned(tmp_path: Path, pulls: Pulls) -> None:
    (tmp_path / "t.md").write_text("a table", encoding="utf-8")
    pulls.refuses = 403
    done = put_comment(pulls, tmp_path / "t.md")
    assert done.returncode == 0 and done.stdout.startswith("::warning::the comment could not be written") and "403" in done.stdout
    assert not pulls.comments
    pulls.refuses = 0
    for name in ("one", "two", "one"):
        assert put_comment(pulls, tmp_path / "t.md", "--name", name).returncode == 0
    assert [one["body"].splitlines()[1] for one in pulls.comments] == ["### one", "### two"]
    assert put_comment(pulls, tmp_path / "none.md").returncode == 2


def test_a_long_table_ends_with_a_whole_row() -> None:
    row = "| a case with a name | 1 | 2 |"
    text = comment.comment("Bench", "\n".join([row] * 4000), "footer")
    assert len(text) <= comment.MOST_CHARACTERS and text.endswith("footer\n")
    lines = text.splitlines()
    assert set(lines[3:-4]) == {row} and "does not fit" in lines[-3]
    assert comment.marker("a --> b") == "<!-- convladder duel: a --- b -->"


def nvbench_file(path: Path, seed: int, slower: float = 1) -> Path:
    """As nvbench writes it with --jsonbin: two states, of which the second may be slower."""
    draw = random.Random(seed)
    folder = path.parent / f"{path.name}-bin"
    folder.mkdir()
    states = []
    for index, (power, seconds) in enumerate(((20, 1e-5), (24, 1.5e-4 * slower))):
        samples = [seconds * draw.lognormvariate(0, 0.002) for _ in range(50)]
        (folder / f"{index}.bin").write_bytes(struct.pack("<50f", *samples))
        mean = [{"name": "value", "type": "float64", "value": str(sum(samples) / 50)}]
        file = [{"name": "filename", "type": "string", "value": f"{folder.name}/{index}.bin"},
                {"name": "size", "type": "int64", "value": "50"}]
        states.append({"name": f"Device=0 Elements=2^{power}", "device": 0, "is_skipped": False,
                       "axis_values": [{"name": "Elements", "type": "int64", "value": str(2 ** power)}],
                       "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": mean},
                                     {"tag": "nv/json/bin:nv/cold/sample_times", "data": file}]})
    document = {"meta": {"argv": ["./bench"], "version": {"json": {"string": "1.0.0"}, "nvbench": {"string": "0.1.0"}}},
                "devices": [{"id": 0, "name": "NVIDIA H100"}],
                "benchmarks": [{"name": "copy", "index": 0, "devices": [0], "axes": [], "states": states}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_nvbenchs_files_are_a_gate(tmp_path: Path) -> None:
    """As docs/use/ci.md says to a user of nvbench_compare."""
    reference, slow = nvbench_file(tmp_path / "reference.json", 1), nvbench_file(tmp_path / "compare.json", 2, 1.2)
    same = nvbench_file(tmp_path / "same.json", 3)
    assert run("compare", reference, same).returncode == 0
    done = run("compare", reference, slow, "--format", "json", "--output", tmp_path / "c.json")
    assert done.returncode == 1, done.stderr
    assert run("compare", reference, slow, "--case", r"Elements=2\^20").returncode == 0
    [suite] = ElementTree.fromstring(run("export", tmp_path / "c.json", "--to", "junit").stdout)
    assert {one.get("name"): [part.tag for part in one if part.tag != "system-out"] for one in suite.findall("testcase")} == {
        "cuda0/copy Elements=2^20/nvbench.cold-gpu-time/1": [], "cuda0/copy Elements=2^24/nvbench.cold-gpu-time/1": ["failure"]}


@only_with_all
def test_it_builds_its_own_program(tmp_path: Path) -> None:
    done = subprocess.run([SCRIPTS / "ci/build.sh", tmp_path / "own"], capture_output=True, text=True, timeout=3600, check=False,
                          env=os.environ | {"CONVLADDER_NO_SETUP": "1"})
    assert done.returncode == 0, done.stderr
    program = done.stdout.strip().removeprefix("CONVLADDER_OF_ACTION=")
    assert "convladder" in subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
