"""What needs more memory than there is: it is skipped at its turn, with what it needs and what there is, and all else runs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, record, run
from submissions import source, write_ladder, write_submissions
from validate_record import complaints

ONE = ["--device", "cpu", "--variant", "local-accumulation"]
HUGE = 10_000_000
BATCHES = ["--batch", f"2,{HUGE}"]
"""Of a layer of 64 kB an image: 2 TB."""
LARGE_LAYER = ["--shape", "1,64,64,4,5"]
WHY = re.compile(
    rf"batch {HUGE} needs \d+\.\d GB of memory, \d+(\.\d)? [MG]B are available; the largest batch that fits is about \d+")
QUICK = ["--repetitions", "2", "--benchmark_min_time=0.0005"]


def assert_skipped(one: dict[str, Any]) -> None:
    assert one["status"] == "skipped"
    assert WHY.search(one["reason"]) and "\n" not in one["reason"], one["reason"]


def test_one_case_is_skipped_and_not_the_run(tmp_path: Path) -> None:
    done = run("run", *ONE, *LARGE_LAYER, *BATCHES, *QUICK, "--output", tmp_path / "run")
    assert done.returncode == 0 and done.stderr == "", done
    document = record(tmp_path / "run")
    by_batch = {one["batch"]: one for one in document["cases"]}
    assert document["complete"] and by_batch[2]["status"] == "ok"
    assert_skipped(by_batch[HUGE])
    lines = [line for line in done.stdout.splitlines() if line.startswith("skipped ")]
    assert len(lines) == 1 and WHY.search(lines[0]), done.stdout


def test_a_limit_of_the_address_space_is_what_there_is(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("sanitizers reserve terabytes")
    command = ["bash", "-c", 'ulimit -v 700000; exec "$0" "$@"', PROGRAM, "run", *ONE, "--shape", "1,100,100,64,1", "--batch",
               "1,400", *QUICK, "--quiet", "--output", tmp_path / "run"]
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done
    found = {one["batch"]: one for one in record(tmp_path / "run")["cases"]}
    assert found[1]["status"] == "ok"
    assert found[400]["status"] == "skipped" and "needs 2.1 GB of memory, " in found[400]["reason"]
    again = run("run", "--resume", tmp_path / "run")
    assert again.returncode == 0, "it is recorded: who wants it asks for it once more"


def test_a_dry_run_and_a_plan_say_what_would_be_skipped(tmp_path: Path) -> None:
    dry = run("run", *ONE, *LARGE_LAYER, *BATCHES, "--dry-run")
    assert dry.returncode == 0 and "on cpu would be skipped now: " in dry.stdout and WHY.search(dry.stdout), dry
    planned = run("plan", *ONE, *LARGE_LAYER, *BATCHES, *QUICK[:2], "--shards", "1", "--output", tmp_path)
    assert planned.returncode == 0 and WHY.search(planned.stdout), planned
    assert run("run", "--plan", tmp_path, "--shard", "0/1").returncode == 0
    merged = run("merge", tmp_path)
    assert merged.returncode == 0, merged
    assert sorted(one["status"] for one in record(tmp_path)["cases"]) == ["ok", "skipped"]


def test_a_sweep_skips_the_configurations_of_a_layer(tmp_path: Path) -> None:
    done = run("sweep", "--device", "cpu", "--variant", "implicit-gemm", *LARGE_LAYER, *BATCHES, "--limit", "2",
               "--repetitions", "2", "--output", tmp_path)
    assert done.returncode == 0 and complaints(tmp_path / "sweep.json") == [], done
    document = json.loads((tmp_path / "sweep.json").read_text(encoding="utf-8"))
    assert document["complete"]
    statuses = {one["id"]: one["status"] for one in document["cases"]}
    assert {status for key, status in statuses.items() if f"/{HUGE}/" in key} == {"skipped"}
    assert {status for key, status in statuses.items() if "/2/" in key} == {"ok"}


def test_a_network_skips_its_case(tmp_path: Path) -> None:
    done = run("network", "--network", "lenet28,alexnet", "--device", "cpu", "--variant", "best", "--weights", "random",
               "--batch", "2,1000000", "--case", "lenet28/2$|alexnet/1000000$", "--repetitions", "1", "--output", tmp_path)
    assert done.returncode == 0 and done.stderr == "", done
    found = {one["network"]: one for one in record(tmp_path, "network")["cases"]}
    assert found["lenet28"]["status"] == "ok"
    skipped = found["alexnet"]
    assert skipped["status"] == "skipped" and "the images of batch 1000000 need 1236.7 GB of memory, " in skipped["reason"]
    assert skipped["reason"] in done.stdout


def test_a_duel_skips_its_pair(tmp_path: Path) -> None:
    done = run("duel", "--even-if-same", "--base", PROGRAM, *ONE, *LARGE_LAYER, "--batch", HUGE, "--output", tmp_path / "duel.json")
    (one,) = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))["cases"]
    assert done.returncode == 4, "nothing was measured"
    assert one["verdict"] == "skipped" and WHY.search(one["reason"]), done


def test_a_ranking_skips_a_size_and_measures_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sanitized: bool) -> None:
    """A size of a folder's problem has 2^31 elements at most, for which some machines have memory: here is a limit."""
    if sanitized:
        pytest.skip("sanitizers reserve terabytes")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_ladder(tmp_path / "ladder", ["R64C256", "R32000C65536"], {"01_naive.cpp": source(1)})
    write_submissions(tmp_path / "in", {"one.cpp": source(1)})
    command = ["bash", "-c", 'ulimit -v 12000000; exec "$0" "$@"', PROGRAM, "rank", tmp_path / "ladder", tmp_path / "in", "--output",
               tmp_path / "out", "--timeout", "60"]
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2, "nobody has a rank, which takes all sizes"
    assert complaints(tmp_path / "out/rank.json") == []
    document = json.loads((tmp_path / "out/rank.json").read_text(encoding="utf-8"))
    (ranking,) = document["rankings"]
    figures = {row["name"]: [one["figure"] for one in row["sizes"]] for row in ranking["rows"]}
    assert set(figures) == {"naive", "one"} and all(small and large is None for small, large in figures.values())
    large = [one for one in document["cases"] if one["id"].endswith("R32000C65536")]
    assert len(large) == 2 and all(one["status"] == "skipped" and not one["keep"] for one in large)
    assert "R32000C65536 is left out on cpu: batch 1 needs 50.3 GB of memory, " in " ".join(done.stdout.split())
