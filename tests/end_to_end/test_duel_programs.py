"""A duel between any two programs. They sleep rather than compute: that lasts as long on a busy machine as on a quiet one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import REPOSITORY, assert_refused, only_with_all, run

SCHEMA = json.loads((REPOSITORY / "results/duel.schema.json").read_text(encoding="utf-8"))
WORKERS = REPOSITORY / "docs/examples/duel"
SHORT, LONG = "sleep 0.01", "sleep 0.03"
FEW = ["--rounds", "13"]


def duel(folder: Path, base: str, new: str, *options: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """A duel in that folder, which writes duel.json."""
    return run("duel", "--base-command", base, "--new-command", new, "--output", "duel.json", *options, cwd=folder, **settings)


def document(folder: Path) -> dict[str, Any]:
    """What it wrote, valid by its schema."""
    read = json.loads((folder / "duel.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(read)
    return read


def only_case(folder: Path) -> dict[str, Any]:
    """The one case."""
    (one,) = document(folder)["cases"]
    return one


def program(path: Path, text: str) -> Path:
    """A script for the shell."""
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_what_takes_longer_regressed(tmp_path: Path) -> None:
    done = duel(tmp_path, SHORT, LONG, *FEW)
    one = only_case(tmp_path)
    assert done.returncode == 1 and one["verdict"] == "regressed", done
    assert one["metric"] == {"name": "wall time", "unit": "ns", "better": "lower"}
    assert 10e6 < one["base_median"] < one["new_median"] and 0.5 < one["change"]["estimate"] < 3
    assert len(one["screen"]["rounds"]) == 9 and len(one["confirm"]["rounds"]) == 13
    read = document(tmp_path)
    assert (read["base"]["command"], read["new"]["command"]) == (SHORT, LONG) and read["pilot"]["rounds"] == 9
    assert "note: not verified: nobody has looked" in done.stdout and "\npilot: 9 rounds" in "\n" + done.stderr


def test_what_is_the_same_is_not_measured_unless_asked_for(tmp_path: Path) -> None:
    done = duel(tmp_path, SHORT, SHORT)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("the same (exit code 0): both commands are the same"), done
    shutil.copy("/bin/sleep", tmp_path / "old")
    shutil.copy("/bin/sleep", tmp_path / "new")
    done = duel(tmp_path, "./old 0.02", "./new 0.02")
    assert done.stdout.startswith("the same (exit code 0): both are the same program, byte for byte, with the same arguments"), done
    read = document(tmp_path)
    assert read["same"].startswith("both are the same program") and read["cases"] == [] and read["exit_code"] == 0
    done = duel(tmp_path, "./old 0.02", "./new 0.02", "--even-if-same", *FEW)
    assert done.returncode in (0, 2, 4) and only_case(tmp_path)["verdict"] in ("pass", "inconclusive"), done


def test_a_script_that_is_the_same_text_may_read_other_files(tmp_path: Path) -> None:
    for side, text in (("old", SHORT), ("new", LONG)):
        (tmp_path / side).mkdir()
        program(tmp_path / side / "run", f'. "$(dirname "$0")/what"\n')
        (tmp_path / side / "what").write_text(text, encoding="utf-8")
    assert duel(tmp_path, "old/run", "new/run", *FEW).returncode == 1
    assert only_case(tmp_path)["verdict"] == "regressed"


def test_figures_that_are_printed_are_judged_by_what_is_better(tmp_path: Path) -> None:
    fast = """echo 'rate: 200 a second'; echo '{"quality": {"of": 8}}' >&2; echo '{"deep": [1, {"rate": 30}]}'"""
    slow = fast.replace("200", "100").replace("30}", "45}")
    done = duel(tmp_path, fast, slow, *FEW, "--metric", "rate=rate: ([0-9]+) a", "--metric", "cost=/deep/1/rate",
                "--higher-is-better", "rate")
    rate, cost = document(tmp_path)["cases"]
    assert done.returncode == 1 and (rate["verdict"], cost["verdict"]) == ("regressed", "regressed"), done
    assert (rate["id"], rate["metric"]["better"], rate["base_median"], rate["new_median"]) == ("command: rate", "higher", 200, 100)
    assert rate["change"]["estimate"] == pytest.approx(-0.5) and cost["change"]["estimate"] == pytest.approx(0.5)
    assert "rate (higher is better)" in done.stdout
    better = duel(tmp_path, slow, fast, *FEW, "--metric", "rate=rate: ([0-9]+) a", "--higher-is-better", "rate")
    assert better.returncode == 0 and only_case(tmp_path)["verdict"] == "improved", better


def test_cases_stand_for_braces_and_are_judged_together(tmp_path: Path) -> None:
    (tmp_path / "cases").write_text("# of sleeping\n0.010\n\n0.015\n", encoding="utf-8")
    program(tmp_path / "slow", 'exec sleep "$1"5\n')  # 0.0105: hardly more; 0.0155 as well
    done = duel(tmp_path, "sleep {}", "sleep 0.03{}", *FEW, "--cases", "cases", "--dry-run")
    assert done.stdout.splitlines() == ["0.010", "0.015"], done
    done = duel(tmp_path, "sleep {}", "sh -c 'sleep {}; sleep 0.03'", *FEW, "--cases", "cases")
    assert [(one["id"], one["verdict"]) for one in document(tmp_path)["cases"]] == [("0.010", "regressed"), ("0.015", "regressed")]


@pytest.mark.parametrize("new, reason", [
    ("echo no such luck >&2; exit 3", "new: exit code 3: no such luck"),
    ("kill -SEGV $$", "new: signal 11 (Segmentation fault)"),
    ("./nowhere", "new: ./nowhere: no such program"),
    ("sleep 30", "new: timeout: not done within 1 s"),
])
def test_a_command_that_fails_is_named(tmp_path: Path, new: str, reason: str) -> None:
    done = duel(tmp_path, SHORT, new, "--timeout", "1", *FEW)
    one = only_case(tmp_path)
    busy = "; not judged: " in (one["reason"] or "")  # a machine that others keep busy may be behind what comes late
    assert (one["verdict"], done.returncode) == (("inconclusive", 4) if busy else ("failed", 1)), done
    assert one["reason"].startswith(reason) and one["change"] is None and reason in done.stdout


def test_what_was_killed_from_outside_is_nobodys_fault(tmp_path: Path) -> None:
    done = duel(tmp_path, SHORT, "kill -KILL $$", *FEW)
    assert only_case(tmp_path)["verdict"] == "inconclusive" and done.returncode == 4, done
    assert "new: killed from outside" in only_case(tmp_path)["reason"]


def test_a_worker_that_was_killed_from_outside_is_nobodys_fault(tmp_path: Path) -> None:
    shutil.copy(WORKERS / "convladder_worker.py", tmp_path)
    (tmp_path / "good.py").write_text("import time\nfrom convladder_worker import serve\nserve(lambda: time.sleep(0.001))\n", encoding="utf-8")
    done = duel(tmp_path, "/usr/bin/python3 good.py", "sh -c 'read line; kill -KILL $$'", "--worker", *FEW)
    assert only_case(tmp_path)["verdict"] == "inconclusive" and "new: killed from outside" in only_case(tmp_path)["reason"], done


def test_results_are_compared(tmp_path: Path) -> None:
    done = duel(tmp_path, "sleep 0.01; echo 42", "sleep 0.01; echo 43", "--same-output", *FEW)
    assert done.returncode == 1 and only_case(tmp_path)["reason"] == "new: what it prints is not what the base prints (--same-output)"
    done = duel(tmp_path, SHORT, "sleep 0.01; echo $$", "--same-output", *FEW)
    assert only_case(tmp_path)["reason"].startswith("new: what it prints is not the same in every run"), done
    done = duel(tmp_path, "echo 42", "echo 43", "--check", "cmp {base} {new}", *FEW)
    assert only_case(tmp_path)["reason"].startswith("new: the check: exit code 1: ") and done.returncode == 1, done
    done = duel(tmp_path, "sleep 0.01; echo 4", "sleep 0.03; echo 4", "--check", "cmp {base} {new}", *FEW)
    assert only_case(tmp_path)["verdict"] == "regressed" and "not verified" not in done.stdout, done


@only_with_all
def test_what_falls_into_two_groups_is_called_unstable(tmp_path: Path) -> None:
    toss = "read n < /proc/sys/kernel/random/uuid; case $n in [0-7]*) sleep 0.03;; *) sleep 0.3;; esac"
    done = duel(tmp_path, toss, toss + " ", *FEW)
    one = only_case(tmp_path)
    assert one["verdict"] == "inconclusive" and "unstable: its " in one["reason"], done


@only_with_all
def test_a_slot_is_the_best_of_some_runs_and_slow_ones_are_told(tmp_path: Path) -> None:
    """Every second run of the new side is slow. Its best run is not, so that it did not regress; but it does not pass either."""
    now = "n=$(cat new.n 2>/dev/null || echo 0); echo $((n + 1)) > new.n; sleep 0.$((n % 2))1"
    duel(tmp_path, "n=$(cat base.n 2>/dev/null || echo 0); echo $((n + 1)) > base.n; sleep 0.01", now, *FEW)
    one = only_case(tmp_path)
    assert one["sub_runs"] > 1 and one["verdict"] == "inconclusive" and "new: unstable: its runs fall into two groups" in one["reason"], one
    slow = {side: sum(value > 100e6 for value in values) / len(values) for side, values in one["runs"].items()}
    assert slow["base"] < 0.2 and slow["new"] > 0.3, slow
    slots = sorted(value for round_ in one["screen"]["rounds"] for value in round_["values"])
    assert slots[len(slots) // 2] < 100e6, slots


def test_each_side_has_its_surroundings(tmp_path: Path) -> None:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
    done = duel(tmp_path, "sleep $LASTS", "sleep $LASTS", "--base-env", "LASTS=0.01", "--new-env", "LASTS=0.03", "--base-folder", "old",
                "--new-folder", "new", "--setup", "date > begun", "--teardown", "mv begun ended", "--warmup", "3", *FEW)
    assert done.returncode == 1 and only_case(tmp_path)["verdict"] == "regressed", done
    assert sorted(os.listdir(tmp_path / "old") + os.listdir(tmp_path / "new")) == ["ended", "ended"]
    assert document(tmp_path)["new"]["variables"] == ["LASTS=0.03"] and document(tmp_path)["base"]["folder"] == "old"


def test_times_of_a_file_are_metrics(tmp_path: Path) -> None:
    def writes(*times: float) -> str:
        results = [{"command": name, "mean": time, "times": [time, time]} for name, time in zip(("a", "b", "c"), times)]
        return f"echo '{json.dumps({'results': results})}' > {{json}}"
    done = duel(tmp_path, writes(1.0, 2.0, 3.0), writes(1.0, 3.0), *FEW)
    verdicts = {one["id"].split("/")[1]: one["verdict"] for one in document(tmp_path)["cases"]}
    assert verdicts == {"a": "pass", "b": "regressed", "c": "missing"} and done.returncode == 1, done


def test_a_program_of_google_benchmark_is_asked_for_its_cases(tmp_path: Path) -> None:
    fake = """# libbenchmark.so
case "$1" in --benchmark_list_tests*) printf 'BM_a/8\\nBM_b<int>\\n%s' "$EXTRA"; exit;; esac
for one; do case $one in --benchmark_out=*) out=${one#*=};; --benchmark_filter=*) name=${one#*=};; esac; done
name=$(echo "$name" | tr -d '^$\\\\\\\\'); time=100; [ "$name" = "BM_b<int>" ] && time=$B
echo '{"benchmarks": [{"name": "'$name'", "run_type": "iteration", "real_time": '$time', "time_unit": "ns", "iterations": 9}]}' > $out
"""
    program(tmp_path / "old", "B=200; EXTRA=\n" + fake)
    program(tmp_path / "new", "B=300; EXTRA='BM_c\n'\n" + fake)
    done = run("duel", "--base", "old", "--new", "new", "--output", "duel.json", *FEW, cwd=tmp_path)
    verdicts = {one["id"]: one["verdict"] for one in document(tmp_path)["cases"]}
    assert verdicts == {"BM_a/8": "pass", "BM_b<int>": "regressed", "BM_c": "new"} and done.returncode == 1, done
    done = run("duel", "--base", "old", "--new", "new", "--case", "BM_a", *FEW, cwd=tmp_path)
    assert done.returncode == 0 and "1 pass" in done.stdout, done


def test_a_program_of_nvbench_is_judged_in_cycles(tmp_path: Path) -> None:
    fake = """# nvbench
[ "$1" = --list ] && { printf '# Devices\\n\\n## [0] `a GPU`\\n\\n# Benchmarks\\n\\n## [0] `copy` (1 configurations)\\n\\n### Axes\\n'; exit; }
for one; do last=$one; done
summary() { printf '{"tag": "%s", "data": [{"name": "value", "type": "float64", "value": "%s"}]}' "$1" "$2"; }
echo '{"meta": {"version": {"nvbench": {"string": "0.1"}}}, "devices": [{"id": 0, "name": "a GPU"}], "benchmarks": [{"name": "copy",
 "states": [{"name": "Device=0", "device": 0, "is_skipped": false, "axis_values": [],
 "summaries": ['"$(summary nv/cold/time/gpu/mean $TIME), $(summary nv/cold/sm_clock_rate/mean $CLOCK)"']}]}]}' > $last
"""
    program(tmp_path / "old", "TIME=0.001 CLOCK=2000000000\n" + fake)
    program(tmp_path / "new", "TIME=0.0015 CLOCK=2000000000\n" + fake)
    program(tmp_path / "cool", "TIME=0.002 CLOCK=1000000000\n" + fake)
    done = run("duel", "--base", "old", "--new", "new", "--output", "duel.json", *FEW, cwd=tmp_path)
    assert done.returncode == 1 and only_case(tmp_path)["verdict"] == "regressed", done
    assert only_case(tmp_path)["cycles"]["estimate"] == pytest.approx(0.5)
    done = run("duel", "--base", "old", "--new", "cool", "--output", "duel.json", *FEW, cwd=tmp_path)
    assert only_case(tmp_path)["verdict"] == "inconclusive" and "the clock of the device changed" in done.stdout, done


@pytest.fixture(name="repository")
def a_repository(tmp_path: Path) -> Path:
    """Three commits: the second builds a program that takes longer, the third does not build."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for lasts in ("0.01", "0.03", ""):
        (folder / "Makefile").write_text(f"bench:\n\tprintf 'sleep {lasts}' > bench\n" if lasts else "bench:\n\t@echo no such program; exit 1\n",
                                         encoding="utf-8")
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", f"sleeps {lasts}"]):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)
    return folder


def test_commits_of_another_repository_are_built_and_compared(tmp_path: Path, repository: Path) -> None:
    def compare(base: str, new: str, *options: str) -> subprocess.CompletedProcess[str]:
        return run("duel", "--base-commit", base, "--new-commit", new, "--build", "make bench", "--command", "sh bench", "--output",
                   tmp_path / "duel.json", *FEW, *options, cwd=repository)
    done = compare("HEAD~2", "HEAD~1")
    assert done.returncode == 1 and only_case(tmp_path)["verdict"] == "regressed", done
    assert [note for note in document(tmp_path)["notes"] if note.startswith("the new side is commit")] != []
    worktrees = subprocess.run(["git", "worktree", "list"], cwd=repository, check=True, capture_output=True, encoding="utf-8").stdout
    assert len(worktrees.splitlines()) == 1, "nothing is left behind"
    done = compare("HEAD~2", "HEAD")
    assert done.returncode == 3 and "'make bench' failed: " in done.stderr and "no such program" in done.stderr, done
    assert compare("HEAD~2", "HEAD", "--bisect").returncode == 125
    assert compare("HEAD", "HEAD~1", "--bisect").returncode == 128, "the good one has to build"


def test_a_selftest_of_commands_has_no_extra_work(tmp_path: Path) -> None:
    done = run("duel", "--selftest", "--base-command", SHORT, "--new-command", SHORT, "--runs", "1", cwd=tmp_path)
    assert done.returncode in (0, 1) and "command, 1 duels in " in done.stdout, done
    assert_refused(run("duel", "--selftest", "--levels", "0,5", "--base-command", SHORT, "--new-command", SHORT), "only a worker")


def test_a_budget_sets_the_rounds(tmp_path: Path) -> None:
    done = duel(tmp_path, "sleep 0.005", "sleep 0.0051", "--tau", "0.001", "--delta", "0.001", "--budget", "3")
    looks = document(tmp_path)["settings"]["looks"]
    assert done.returncode in (0, 1, 2, 4) and 13 <= looks[-1] <= 100, done
    assert_refused(duel(tmp_path, SHORT, LONG, "--budget", "3", "--rounds", "20"), "--budget and --rounds")


BENCH = """
import sys, time
from convladder_worker import serve
serve({"nap": lambda: time.sleep(float(sys.argv[1])), "wrong": lambda: sys.argv[1], "bad": lambda: {}["nothing"]})
"""


def test_workers_stay(tmp_path: Path) -> None:
    shutil.copy(WORKERS / "convladder_worker.py", tmp_path)
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    (tmp_path / "cases").write_text("nap\nwrong\nbad\n", encoding="utf-8")
    done = duel(tmp_path, "/usr/bin/python3 bench.py 0.002", "/usr/bin/python3 bench.py 0.003", "--worker", "--cases", "cases",
                "--same-output", *FEW)
    verdicts = {one["id"]: (one["verdict"], one["reason"]) for one in document(tmp_path)["cases"]}
    assert done.returncode == 1 and verdicts["nap"][0] == "regressed", done
    assert verdicts["wrong"] == ("failed", "new: what it prints is not what the base prints (--same-output)")
    assert verdicts["bad"][0] == "failed" and verdicts["bad"][1].endswith(": KeyError: 'nothing'")
    extra = duel(tmp_path, "/usr/bin/python3 bench.py 0.002", "/usr/bin/python3 bench.py 0.002", "--worker", "--extra-work", "50",
                 "--metric", "wall", *FEW, env=dict(os.environ, PYTHONPATH=str(tmp_path)))
    assert extra.returncode == 1 and "KeyError" in extra.stdout, "a worker of several cases wants one"


def test_more_work_of_a_worker_is_found(tmp_path: Path) -> None:
    shutil.copy(WORKERS / "convladder_worker.py", tmp_path)
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    (tmp_path / "cases").write_text("nap\n", encoding="utf-8")
    worker = "/usr/bin/python3 bench.py 0.0002"
    done = duel(tmp_path, worker, worker, "--worker", "--cases", "cases", "--extra-work", "100", *FEW)
    assert done.returncode == 1 and 0.5 < only_case(tmp_path)["change"]["estimate"] < 1.5, done


def test_a_worker_of_cpp_needs_one_header(tmp_path: Path) -> None:
    source = """#include "convladder_worker.hpp"
#include <thread>
int main(int, char** words) {
  const std::chrono::milliseconds time(std::atoi(words[1]));
  return convladder_worker::serve({{"nap", [time] { std::this_thread::sleep_for(time); return std::string("a \\"nap\\""); }}});
}
"""
    (tmp_path / "bench.cpp").write_text(source, encoding="utf-8")
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", WORKERS, "bench.cpp", "-o", "bench"], cwd=tmp_path, check=True)
    done = duel(tmp_path, "./bench 2", "./bench 3", "--worker", "--same-output", *FEW)
    assert done.returncode == 1 and only_case(tmp_path)["verdict"] == "regressed", done


@pytest.mark.parametrize("answers, reason", [
    ("echo no JSON", "an answer of a worker"),
    ("exec sleep 0", "new: the worker ended with exit code 0 before it answered"),
    ("echo '{\"seconds\": 1000}'", "new: the worker says that 1e+03 s have passed"),
    ("echo '{\"seconds\": 0}'", "seconds"),
    ("sleep 20", "new: timeout: no answer within 1 s"),
])
def test_a_worker_that_does_not_keep_to_the_protocol_is_named(tmp_path: Path, answers: str, reason: str) -> None:
    shutil.copy(WORKERS / "convladder_worker.py", tmp_path)
    good = "import time\nfrom convladder_worker import serve\nserve(lambda: time.sleep(0.001))\n"
    (tmp_path / "good.py").write_text(good, encoding="utf-8")
    program(tmp_path / "bad", f"while read line; do {answers}; done\n")
    done = duel(tmp_path, "/usr/bin/python3 good.py", "./bad", "--worker", "--timeout", "1", *FEW)
    one = only_case(tmp_path)
    assert reason in one["reason"] and one["reason"].startswith("new: "), done
    assert one["verdict"] == ("inconclusive" if "not judged" in one["reason"] else "failed")


def test_a_worker_that_does_not_work_is_asked_about_it(tmp_path: Path) -> None:
    program(tmp_path / "idle", """while read line; do echo '{"seconds": 1e-9}'; done\n""")
    done = duel(tmp_path, "./idle", "./idle ", "--worker", "--even-if-same", *FEW)
    assert done.returncode == 1 and "calls took" in only_case(tmp_path)["reason"], done
    program(tmp_path / "lazy", """while read line; do sleep 0.01; echo '{"seconds": 0.006}'; done\n""")
    done = duel(tmp_path, "./lazy", "./lazy", "--worker", "--even-if-same", *FEW)
    assert any("what it does beside them is not in its times" in note for note in document(tmp_path)["notes"]), done


def test_what_stays_behind_is_killed_and_told(tmp_path: Path) -> None:
    done = duel(tmp_path, "sleep 0.01", "sleep 300 & sleep 0.02", *FEW)
    assert "new: it left processes behind, which were killed after every run" in document(tmp_path)["notes"], done


@pytest.mark.parametrize("options, message", [
    (["--base-command", "true"], "--base-command and --new-command: expected both or neither"),
    (["--base-command", "true", "--new-command", ""], "expected both or neither"),
    (["--base-command", "true", "--new-command", "'open"], "--new-command ''open': a quote has no end"),
    (["--base-command", "a {}", "--new-command", "b"], "{} in a command: expected --cases FILE"),
    (["--base-command", "a {json}", "--new-command", "b"], "{json}: expected in both commands or in neither"),
    (["--base-command", "a {}", "--new-command", "b", "--cases", "/dev/null"], "/dev/null: cannot be read"),
    (["--base-command", "a", "--new-command", "b", "--metric", "speed"], "--metric 'speed': expected wall, cpu, NAME=REG"),
    (["--base-command", "a", "--new-command", "b", "--metric", "x=("], "is not a regular expression"),
    (["--base-command", "a", "--new-command", "b", "--higher-is-better", "x"], "no --metric has this name"),
    (["--base-command", "a", "--new-command", "b", "--extra-work", "5"], "only a worker can be asked for more work"),
    (["--base-command", "a", "--new-command", "b", "--layer", "lenet72.conv2"], "--layer cannot be used for commands"),
    (["--base-command", "a", "--new-command", "b", "--base-env", "X"], "--base-env X: expected NAME=VALUE"),
    (["--base-command", "a", "--new-command", "b", "--base-folder", "nowhere"], "--base-folder nowhere: no such folder"),
])
def test_what_contradicts_itself_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    done = run("duel", *options, cwd=tmp_path)
    assert_refused(done)
    assert message in done.stderr
