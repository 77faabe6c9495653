"""The recorder of the corpus of comparisons, and the benchmark that replays what it recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY

RECORDER = REPOSITORY / "tests/corpus/record_traces.py"
RATES = Path(PROGRAM).parent / "tests/benchmarks/comparison_rates"
PAGE = REPOSITORY / "docs/reference/corpus.md"


def rates(*words: str | Path) -> subprocess.CompletedProcess[str]:
    if not RATES.exists():
        pytest.skip("comparison_rates is not built")
    return subprocess.run([RATES, *words], capture_output=True, text=True, check=False, timeout=60)


def record(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, RECORDER, *words], capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session of one duel of equal sides."""
    folder = tmp_path_factory.mktemp("traces")
    done = record("--program", PROGRAM, "--changes", "0", "--variant", "flat-vector", "--minutes", "0.001",
                  "--machine", "a machine of a test", "--output", folder / "one.jsonl")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_duel_is_recorded_whole(traces: Path) -> None:
    header, duel = (json.loads(line) for line in (traces / "one.jsonl").read_text(encoding="utf-8").splitlines())
    assert (header["machine"], header["variant"], header["niceness"]) == ("a machine of a test", "flat-vector", 0)
    assert (duel["duel"], duel["change"]) == ("same build", 0)
    assert (len(duel["screen"]), len(duel["confirm"])) == (9, 31), "whatever was decided when"
    assert all(len(one) == 5 and one[0] in (0, 1) and min(one[1:]) > 0 for one in duel["screen"] + duel["confirm"])
    assert str(Path.home()) not in json.dumps(header)


def test_it_is_replayed(traces: Path) -> None:
    done = rates("--traces", traces)
    assert (done.returncode, done.stderr) == (0, "")
    assert "duel, a machine of a test" in done.stdout
    assert "flat-vector: same build" in done.stdout


def test_other_traces_have_other_rates(traces: Path) -> None:
    done = rates("--traces", traces, "--check", PAGE)
    assert done.returncode == 1
    assert "--update" in done.stdout


@pytest.mark.parametrize("damage, says", [
    (lambda text: text[:-20], "line 2"),
    (lambda text: text.replace('"unit_ns":', '"unit":'), "unit_ns"),
    (lambda text: text.replace('"screen":[[', '"screen":[[7,'), "a round is"),
    (lambda text: text.split("\n", 1)[0] + "\n", "no trace"),
])
def test_what_is_no_trace_is_named(traces: Path, tmp_path: Path, damage, says: str) -> None:
    (tmp_path / "two.jsonl").write_text(damage((traces / "one.jsonl").read_text(encoding="utf-8")), encoding="utf-8")
    done = rates("--traces", tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("comparison_rates: two.jsonl") and says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_there_stays(traces: Path) -> None:
    before = (traces / "one.jsonl").read_bytes()
    done = record("--program", PROGRAM, "--output", traces / "one.jsonl")
    assert (done.returncode, (traces / "one.jsonl").read_bytes()) == (3, before)


def test_a_program_that_is_none_is_one_line(tmp_path: Path) -> None:
    done = record("--program", "/bin/false", "--output", tmp_path / "none.jsonl")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert not (tmp_path / "none.jsonl").exists()
