"""scaling.py runs the program with each number of threads and says how much faster more of them are."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from calls import call
from conftest import LAYERS, RecordMaker

PROGRAM = """#!/bin/sh
while [ "$1" != --output ]; do shift; done
mkdir -p "$2" && cp "{records}/$OMP_NUM_THREADS.json" "$2/run.json"
exit {code}
"""


def program(folder: Path, records: dict[int, Any], code: int = 0) -> Path:
    """Stands for a run, which takes minutes: it answers with the record of that number of threads."""
    for threads, document in records.items():
        (folder / f"{threads}.json").write_text(json.dumps(document), encoding="utf-8")
    path = folder / "program"
    path.write_text(PROGRAM.format(records=folder, code=code), encoding="utf-8")
    path.chmod(0o755)
    return path


def document(faster: float) -> Any:
    """A run whose layer times are so many times shorter."""
    run = RecordMaker(layers=LAYERS[:1], batches=[10]).add_cpu().record()
    for ladder in run["ladders"]:
        for row in ladder["rows"]:
            row["median_ns"] /= faster
    return run


def test_it_says_how_many_times_faster_and_of_what_the_cores_allow(tmp_path: Path) -> None:
    done = call("scaling.py", "--threads", "1,2", "--turns", "2", "--output", tmp_path / "out", "--program",
                program(tmp_path, {1: document(1.0), 2: document(1.5)}), "--", "--batch", "10")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "lenet28.conv1 (10), 1 " in line)
    share = 75 if len(os.sched_getaffinity(0)) > 1 else 150
    assert re.search(rf"1\.50 +{share}%$", line)
    assert any(line.startswith("FMA peak") and "1.00" in line for line in done.stdout.splitlines())
    assert done.stderr.count("OMP_NUM_THREADS=2") == 2 and "--batch 10" in done.stderr


def test_a_wrong_case_and_a_run_that_was_none_are_told_apart(tmp_path: Path) -> None:
    records = {1: document(1.0)}
    arguments = ("scaling.py", "--threads", "1", "--turns", "1", "--output", tmp_path / "out", "--program")
    assert call(*arguments, program(tmp_path, records, code=1)).returncode == 1
    done = call(*arguments, program(tmp_path, records, code=3))
    assert done.returncode == 3 and "exit code 3" in done.stderr
    assert call(*arguments, tmp_path / "nothing").returncode == 3


@pytest.mark.parametrize("threads", ["", "0", "1,1", "2,x", "1025", "-1"])
def test_numbers_of_threads_are_whole_and_different(threads: str) -> None:
    done = call("scaling.py", f"--threads={threads}")
    assert done.returncode == 2 and "different whole numbers from 1 to 1024" in done.stderr
