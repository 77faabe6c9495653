"""A plan in shards: run by whoever comes, killed, begun elsewhere, and merged to what one run says."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

import pytest

from conftest import ALL, SMALL, assert_refused, cases, record, run, start

CHOICE = ["--variant", "memory-accumulation,local-accumulation", "--shape", "1,8,8,2,3", "--shape", "1,10,10,2,3",
          "--device", "cpu,simulated", "--batch", "1,2", "--repetitions", "3"]
"""16 cases in 8 groups."""
SHARDS = 3
KILLS = 20 if os.environ.get("CONVLADDER_SLOW_TESTS") else 6


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan whose shards were all run."""
    folder = tmp_path_factory.mktemp("shards") / "a plan"
    planned(folder)
    for shard in range(SHARDS):
        shard_of(folder, shard)
    return folder


@pytest.fixture
def plan(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, for those who break it."""
    return Path(shutil.copytree(finished, tmp_path / "a copy"))


def planned(folder: Path, *choice: str, shards: int = SHARDS) -> dict[str, Any]:
    done = run("plan", *(choice or CHOICE), "--shards", shards, "--output", folder)
    assert done.returncode == 0, done
    return json.loads((folder / "plan.json").read_text())


def shard_of(folder: Path, shard: int, *options: str, node: Optional[str] = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"SLURMD_NODENAME": node} if node else {})}
    done = run("run", "--plan", folder, "--shard", f"{shard}/{SHARDS}", *options, env=environment)
    assert done.returncode == 0, done
    return done


def shard_record(folder: Path, shard: int) -> dict[str, Any]:
    return record(folder / f"shards/{shard:05}", "shard")


def change(file: Path, how: Any) -> None:
    """Somebody writes into a record; its layout stays, by which it is read case by case."""
    document = json.loads(file.read_text())
    how(document)
    before = {name: value for name, value in document.items() if name != "cases"}
    text = json.dumps({**{name: before[name] for name in before if name not in ("ceilings", "ladders", "sentinels")},
                       "cases": document["cases"],
                       **{name: before[name] for name in ("ceilings", "ladders", "sentinels") if name in before}}, indent=1)
    file.write_text(text + "\n")


def merged(folder: Path, *options: str, code: int = 0) -> list[str]:
    """The lines on standard error."""
    done = run("merge", folder, "--quiet", *options)
    assert done.returncode == code, done
    return done.stderr.splitlines()


def some_shard(folder: Path) -> int:
    """One with a timed case."""
    groups = json.loads((folder / "plan.json").read_text())["groups"]
    return next(group["shard"] for group in groups if group["id"].startswith("cpu/"))


def test_merged_shards_are_what_one_run_is(finished: Path, tmp_path: Path) -> None:
    assert merged(finished) == []
    whole, alone = record(finished), tmp_path / "alone"
    assert run("run", *CHOICE, "--quiet", "--output", alone).returncode == 0
    one = record(alone)
    for field in ("planned", "variants"):
        assert whole[field] == one[field]
    assert [case["id"] for case in whole["cases"]] == [case["id"] for case in one["cases"]]
    for case, other in zip(whole["cases"], one["cases"]):
        for field in ("status", "shape", "counters", "resources", "prediction", "work"):
            assert case[field] == other[field], case["id"]
        for check in ("integers", "before"):
            assert case["verification"][check] == other["verification"][check], case["id"]
    places = [[(one_ladder[field]) for field in ("device", "network", "layer", "batch", "kind")] for one_ladder in whole["ladders"]]
    assert places == [[(one_ladder[field]) for field in ("device", "network", "layer", "batch", "kind")] for one_ladder in one["ladders"]]
    context = whole["context"]
    assert {session["shard"] for session in context["sessions"]} == {group["shard"] for group in json.loads(
        (finished / "plan.json").read_text())["groups"]}
    assert [machine["kind"] for machine in context["machines"]] == [0] and context["machines"][0]["off"] is False
    sentinel = {one["case"] for one in whole["sentinels"]}
    assert sentinel == {"cpu/memory-accumulation/shape.C1H8W8M2K3/1"}
    assert merged(finished) == []  # once more, over itself


def test_what_reads_a_run_reads_a_merged_one(finished: Path) -> None:
    merged(finished)
    for command in (["compare", finished / "run.json", finished / "run.json"], ["explain", finished / "run.json"]):
        assert run(*command).returncode == 0


def test_a_finished_shard_is_not_run_again(finished: Path) -> None:
    shard = some_shard(finished)
    file = finished / f"shards/{shard:05}/shard.json"
    before = file.read_bytes()
    assert "finished before" in shard_of(finished, shard).stdout
    assert file.read_bytes() == before


def test_a_shard_that_is_killed_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    plan = planned(folder, "--variant", "memory-accumulation,local-accumulation,compile-time", "--device", "cpu", "--shape", "1,8,8,2,3",
                   "--batch", "1,2,3,4", "--repetitions", "10", shards=1)
    file = folder / "shards/00000/shard.json"
    chance, kills = random.Random(1), 0
    while kills < KILLS:
        process = start("run", "--plan", folder, "--shard", "0/1")
        time.sleep(chance.uniform(0.02, 0.8))
        process.kill()
        process.communicate(timeout=30)
        if file.exists():
            assert cases(record(file.parent, "shard")).keys() <= set(sum((one["cases"] for one in plan["groups"]), []))
        if process.returncode == 0:
            break
        kills += 1
    assert kills > 0
    assert run("run", "--plan", folder, "--shard", "0/1").returncode == 0
    merged(folder)
    assert len(record(folder)["cases"]) == 12


def test_holes_are_named_and_nothing_is_written(plan: Path) -> None:
    shard = some_shard(plan)
    file = plan / f"shards/{shard:05}/shard.json"
    (plan / "run.json").unlink(missing_ok=True)
    change(file, lambda document: document["cases"].pop())
    lines = merged(plan, code=4)
    assert len(lines) == 1 and f"shard {shard} is not finished: 1 of" in lines[0]
    file.unlink()
    lines = merged(plan, code=4)
    assert len(lines) == 1 and f"shard {shard} is missing:" in lines[0]
    assert not (plan / "run.json").exists()
    merged(plan, "--partial", code=4)
    partial = record(plan)
    assert partial["complete"] is False and 0 < len(partial["cases"]) < len(partial["planned"])
    assert_refused(run("run", "--resume", plan), "merged of shards", "--shard")
    shard_of(plan, shard)
    merged(plan)
    assert record(plan)["complete"] is True


@pytest.mark.parametrize("where", ["end", "cases"])
def test_a_shard_that_was_cut_off_is_a_hole(plan: Path, where: str) -> None:
    shard = some_shard(plan)
    file = plan / f"shards/{shard:05}/shard.json"
    text = file.read_text()
    file.write_text(text[:-40] if where == "end" else text[:text.index('"stopped_because"')])
    assert any("was cut off" in line for line in merged(plan, code=4))
    shard_of(plan, shard)
    assert merged(plan) == []


def test_contradictions_are_named(plan: Path, tmp_path: Path) -> None:
    shard = some_shard(plan)
    folder = plan / f"shards/{shard:05}"
    shutil.copytree(folder, plan / "shards/copied")
    assert any(f"shard {shard} is there twice" in line for line in merged(plan, code=4))
    change(plan / "shards/copied/shard.json", lambda document: document["context"]["shard"].update(plan="0" * 64))
    assert any("another plan" in line for line in merged(plan, "--partial", code=4))
    shutil.rmtree(plan / "shards/copied")
    change(folder / "shard.json", lambda document: document["cases"].append(document["cases"][0]))
    assert any("is there twice" in line for line in merged(plan, code=4))
    change(folder / "shard.json", lambda document: document["cases"].pop())
    change(folder / "shard.json", lambda document: document["context"]["program"].update(commit="0" * 40))
    assert any("another build" in line for line in merged(plan, code=4))


def test_a_plan_that_was_changed_is_refused(plan: Path) -> None:
    file = plan / "plan.json"
    text = file.read_text()
    for old, new, word in (('"seed": 1', '"seed": 2', "somebody changed the plan"),
                           (f'"shards": {SHARDS}', '"shards": 4', "somebody changed the plan"),
                           ('"longest_shard": ', '"longest_shard": 1', "somebody changed the plan"),
                           ('"groups": ', '"comment": "", "groups": ', "somebody changed the plan"),
                           ('"groups": ', '"seed": 1, "seed": 1, "groups": ', "somebody changed the plan"),
                           ('"kind": "plan"', '"kind": "run"', "not a plan")):
        assert old in text
        file.write_text(text.replace(old, new))
        assert_refused(run("run", "--plan", plan, "--shard", "0/3"), word)
        assert_refused(run("merge", plan), word)
    file.write_text("")
    assert_refused(run("merge", plan), "not valid JSON")


def test_another_build_is_refused(plan: Path) -> None:
    file = plan / "plan.json"
    content = json.loads(file.read_text())
    content["program"]["sha256"] = "0" * 64
    # Its id would follow from it, as of a plan that another build made.
    body = {name: value for name, value in content.items() if name != "id"}
    content["id"] = hashlib.sha256(json.dumps(body, separators=(",", ":")).encode()).hexdigest()
    file.write_text(json.dumps(content))
    assert_refused(run("run", "--plan", plan, "--shard", "0/3"), "another build", "sha256")


@pytest.mark.parametrize("options, words", [
    (["--shard", "3/3"], ["from 0 to 2"]), (["--shard", "0/4"], ["has 3 shards"]), (["--shard", "x/3"], ["--shard"]),
    ([], ["which shard"]), (["--shard", "0/3", "--batch", "2"], ["--batch", "in the plan"]),
    (["--shard", "0/3", "--benchmark_filter=x"], ["--benchmark_filter"])])
def test_what_is_no_shard_is_refused(finished: Path, options: list[str], words: list[str]) -> None:
    assert_refused(run("run", "--plan", finished, *options), *words)


def test_options_of_a_plan_need_one(tmp_path: Path) -> None:
    assert_refused(run("run", "--shard", "0/3"), "--plan")
    assert_refused(run("run", "--not-from", "n1"), "--plan")
    assert_refused(run("run", "--plan", tmp_path, "--shard", "0/1"), "plan.json")
    assert_refused(run("merge", tmp_path / "nothing"), "plan")


def test_a_plan_is_not_replaced(finished: Path) -> None:
    before = (finished / "plan.json").read_bytes()
    assert_refused(run("plan", *CHOICE, "--shards", "2", "--output", finished), "already exists")
    assert (finished / "plan.json").read_bytes() == before


def test_a_record_of_something_else_is_not_replaced(plan: Path) -> None:
    (plan / "run.json").unlink(missing_ok=True)
    assert run("run", *SMALL, "--family", "cpu", "--variant", "local-accumulation", "--quiet", "--output", plan).returncode == 0
    before = (plan / "run.json").read_bytes()
    assert_refused(run("merge", plan), "no merge of this plan")
    assert (plan / "run.json").read_bytes() == before


def test_the_scheduler_says_which_shard(finished: Path) -> None:
    shard = some_shard(finished)
    for name in ("SLURM_ARRAY_TASK_ID", "SLURM_PROCID"):
        done = run("run", "--plan", finished, env={**os.environ, name: str(shard)})
        assert done.returncode == 0 and f"shard {shard} of" in done.stdout


def test_a_group_that_another_machine_began_is_measured_whole(plan: Path) -> None:
    shard = some_shard(plan)
    file = plan / f"shards/{shard:05}/shard.json"
    lost = next(case["id"] for case in shard_record(plan, shard)["cases"] if case["device"] == "cpu")
    change(file, lambda document: (document["cases"].remove(cases(document)[lost]), document.update(complete=False)))
    done = shard_of(plan, shard, node="elsewhere")
    assert done.stderr.count("was begun on") == 1
    document = shard_record(plan, shard)
    assert [machine["node"] for machine in document["context"]["machines"]][1:] == ["elsewhere"]
    sessions = {case["session"] for case in document["cases"] if case["id"].split("/", 2)[2] == lost.split("/", 2)[2]
                and case["device"] == "cpu"}
    assert len(sessions) == 1
    merged(plan)
    assert len(record(plan)["context"]["machines"]) == 2


def test_cases_of_one_node_are_measured_elsewhere(plan: Path) -> None:
    shard = some_shard(plan)
    node = shard_record(plan, shard)["context"]["machines"][0]["node"]
    counted = [case for case in shard_record(plan, shard)["cases"] if case["device"] == "simulated"]
    assert_refused(run("run", "--plan", plan, "--shard", f"{shard}/{SHARDS}", "--not-from", node), "this is that machine")
    assert "measured on" in shard_of(plan, shard, "--not-from", node, node="elsewhere").stderr
    document = shard_record(plan, shard)
    where = {case["device"]: document["context"]["sessions"][case["session"]]["machine"] for case in document["cases"]}
    assert where["cpu"] == 1
    assert [case for case in document["cases"] if case["device"] == "simulated"] == counted  # which is the same everywhere


def test_a_machine_that_is_off_is_named(plan: Path) -> None:
    """Three nodes, and the sentinel takes twice as long on one of them."""
    used = sorted({group["shard"] for group in json.loads((plan / "plan.json").read_text())["groups"]
                   if group["id"].startswith("cpu/")})

    def on_node(name: str, slower: float) -> Any:
        def how(document: dict[str, Any]) -> None:
            document["context"]["machines"][0]["node"] = name
            for one in document["sentinels"]:
                ns = 1000.0 * slower
                one["time"].update(median=ns, samples=[ns] * 15, interval={"low": 0.99 * ns, "high": 1.01 * ns, "level": 0.96})
        return how
    assert len(used) == SHARDS, "these sizes fall into fewer shards: choose others"
    reference = shard_record(plan, used[0])["sentinels"]
    for number, shard in enumerate(used):
        file = plan / f"shards/{shard:05}/shard.json"
        change(file, lambda document: document.update(sentinels=json.loads(json.dumps(reference))))
        change(file, on_node(f"n{number}", 2.0 if number == 2 else 1.0))
    (plan / "run.json").unlink(missing_ok=True)
    lines = merged(plan, code=2)
    assert len(lines) == 1 and "n2 is off: its sentinel took 2.00 times" in lines[0] and f"shard {used[2]}" in lines[0]
    assert not (plan / "run.json").exists()
    merged(plan, "--partial", code=2)
    assert record(plan)["complete"] is False
    assert [machine["off"] for machine in record(plan)["context"]["machines"]] == [False, False, True]
    assert merged(plan, "--sentinel-limit", "3") == []
    change(plan / f"shards/{used[0]:05}/shard.json", on_node("n1", 1.0))  # of two nobody can tell which is off
    assert [line for line in merged(plan) if "n1 and n2 differ: their sentinels by 2.00" in line]
    assert merged(plan, "--sentinel-limit", "3") == []


def test_only_one_works_on_a_shard(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    planned(folder, "--variant", "memory-accumulation", "--device", "cpu", "--shape", "1,8,8,2,3", "--batch", "1,2", "--repetitions",
            "20", shards=1)
    processes = [start("run", "--plan", folder, "--shard", "0/1") for _ in range(4)]
    ends = [process.communicate(timeout=120)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes.count(0) >= 1 and set(codes) <= {0, 3}, ends
    assert all("another convladder" in end for end, code in zip(ends, codes) if code == 3), ends
    assert len(shard_record(folder, 0)["cases"]) == 2


@pytest.mark.parametrize("command", ["plan", "merge"])
def test_killed_again_and_again(plan: Path, tmp_path: Path, command: str) -> None:
    """Whatever is there afterwards is whole, and the next one leaves nothing else."""
    (plan / "run.json").unlink(missing_ok=True)
    chance = random.Random(2)
    folder = plan if command == "merge" else tmp_path / "new"
    file = folder / ("run.json" if command == "merge" else "plan.json")
    arguments = ["merge", plan, "--quiet"] if command == "merge" else ["plan", *CHOICE, "--shards", "3", "--output", folder]
    for _ in range(20):
        process = start(*arguments)
        time.sleep(chance.uniform(0.005, 0.25))
        process.kill()
        process.communicate(timeout=30)
        if file.exists():
            json.loads(file.read_text())
            if command == "plan":
                shutil.rmtree(folder)
    assert run(*arguments).returncode == 0
    assert sorted(entry.name for entry in folder.iterdir()) == (
        ["plan.json", "run.json", "shards"] if command == "merge" else ["plan.json"])


def test_many_started_in_one_second(tmp_path: Path) -> None:
    """In one folder, as a script does; every record is there and whole. Every night there are forty."""
    choice = ["run", "--variant", "local-accumulation", "--device", "cpu", "--shape", "1,8,8,2,3", "--batch", "1", "--repetitions", "1", "--quiet"]
    many = 40 if ALL else 12
    with ThreadPoolExecutor(many) as pool:
        ended = list(pool.map(lambda _: run(*choice, cwd=tmp_path), range(many)))
    assert [one.returncode for one in ended] == [0] * many, [one for one in ended if one.returncode]
    files = sorted(tmp_path.glob("results/*/run.json"))
    assert len(files) == many
    assert {Path(one.stdout.strip()).parent.name for one in ended} == {file.parent.name for file in files}
    assert all(json.loads(file.read_text())["complete"] for file in files)
