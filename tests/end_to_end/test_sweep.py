"""`convladder sweep`: what is verified is ranked, the record is valid at every moment, the tables are written."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, SEEDED, assert_refused, run, start
from validate_record import complaints

TINY = ["--shape", "2,9,9,4,3", "--batch", "2", "--repetitions", "3"]
COUNTED = ["--variant", "register-tile", "--device", "simulated", "--shape", "2,9,9,4,5", "--batch", "2", "--limit", "3"]


def sweep(folder: Path, *arguments: object, program: Path = PROGRAM, code: int = 0) -> tuple[dict[str, Any], str]:
    """The valid record of a sweep, and what the program printed."""
    done = run("sweep", *arguments, "--output", folder, program=program)
    assert done.returncode == code, done
    assert complaints(folder / "sweep.json") == []
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("/")) <= 100, done.stdout
    return json.loads((folder / "sweep.json").read_text(encoding="utf-8")), done.stdout


def test_measured_configurations_are_ranked_by_time(tmp_path: Path) -> None:
    document, text = sweep(tmp_path, "--variant", "implicit-gemm", "--device", "cpu", *TINY, "--limit", "4")
    (one,) = document["sweeps"]
    assert document["complete"] and one["scoring"]["kind"] == "measured" and one["tried"] == 4
    assert one["possible"] > 4 and one["default"] == one["by_model"] == document["cases"][0]["text"]
    for tried in document["cases"]:
        assert tried["status"] == "ok" and tried["score"]["value"] == tried["time"]["median"]
        assert tried["choice"].endswith(", as asked for")
    assert "4 of " in text and "measured" in text


def test_a_switch_that_is_off_is_a_number_as_well(tmp_path: Path) -> None:
    document, _ = sweep(tmp_path, "--variant", "streamed-output", "--device", "cpu", *TINY, "--limit", "2")
    assert {tried["configuration"]["streamed"] for tried in document["cases"]} == {0}


def test_what_is_wrong_is_not_ranked_however_fast_it_is(tmp_path: Path) -> None:
    document, text = sweep(tmp_path, "--variant", "seeded-configuration", *TINY, program=SEEDED, code=1)
    (one,) = document["sweeps"]
    status = {tried["text"]: tried["status"] for tried in document["cases"]}
    assert status == {"work=3": "ok", "work=2": "ok", "work=1": "incorrect"}
    assert one["best"] == "work=2"
    assert "not ranked: work=1: incorrect: " in text


def test_the_table_is_written_and_updated(tmp_path: Path) -> None:
    table = tmp_path / "cpu-seeded-configuration.json"
    options = ["--variant", "seeded-configuration", *TINY, "--update-table", "--tables", tmp_path]
    sweep(tmp_path / "a", *options, "--configuration", "work=3", program=SEEDED)
    assert [one["configuration"] for one in json.loads(table.read_text())["entries"]] == ["work=3"]
    sweep(tmp_path / "b", *options, program=SEEDED, code=1)
    (entry,) = json.loads(table.read_text())["entries"]
    assert (entry["shape"], entry["batch"], entry["configuration"]) == ("C2H9W9M4K3", None, "work=2")
    assert entry["found"]["kind"] == "measured" and entry["found"]["score"] < entry["found"]["score_of_model"]
    table.write_text("{}")
    done = run("sweep", *options, "--output", tmp_path / "c", program=SEEDED)
    assert_refused(done, f"{table}: schema_version: expected")
    assert table.read_text() == "{}"


def test_counted_and_predicted_configurations(tmp_path: Path) -> None:
    if not json.loads(run("list", "--machine", "--format", "json").stdout)["program"].get("ptx"):
        pytest.skip("no kernels in this build")
    document, text = sweep(tmp_path / "counted", *COUNTED)
    (one,) = document["sweeps"]
    assert one["scoring"] == {"kind": "counted", "of": "cycles of one multiprocessor", "unit": "cycles", "gpu": None}
    totals = document["cases"][0]["counters"]["totals"]
    cycles = totals["smsp__inst_executed.sum"] / 4 + sum(
        value * (0.25 if "sectors" in name else 1) for name, value in totals.items()
        if name.startswith(("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_", "l1tex__t_sectors_pipe_lsu_mem_global_op_"))
        and name.endswith(("_ld.sum", "_st.sum")))
    assert document["cases"][0]["score"]["value"] == pytest.approx(cycles)
    assert "counted" in text

    document, text = sweep(tmp_path / "predicted", *COUNTED, "--gpu", "h100")
    (one,) = document["sweeps"]
    for tried in document["cases"]:
        low, high = tried["prediction"]["low"], tried["prediction"]["high"]
        assert tried["score"]["value"] == pytest.approx((low * high) ** 0.5)
    assert one["scoring"]["kind"] == "predicted" and "H100" in text and "measured" not in text


@pytest.mark.parametrize("arguments, words", [
    ([], ["--variant", "implicit-gemm (cpu)"]),
    (["--variant", "implicit-gem"], ["unknown variant", "implicit-gemm"]),
    (["--variant", "onednn", "--device", "cpu", *TINY], ["nothing to choose", "implicit-gemm (cpu)"]),
    (["--variant", "implicit-gemm", "--device", "cpu", *TINY, "--configuration", "panels=3"],
     ["unknown parameter 'panels'", "maps, channels, pixel_parts, map_parts"]),
    (["--variant", "implicit-gemm", "--device", "cpu", *TINY, "--configuration", "channels=3"],
     ["channels=3 is not possible for C2H9W9M4K3", "possible: 1 to 2"]),
    (["--variant", "implicit-gemm", "--configuration", "maps"], ["expected NAME=NUMBER", "'maps'"]),
    (["--variant", "implicit-gemm", "--gpu", "h10"], ["--gpu", "h100"]),
    (["--variant", "implicit-gemm", "--update-table", "--tables", "nowhere"], ["--tables nowhere", "no such folder"]),
])
def test_bad_input_is_one_clear_line(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    assert_refused(run("sweep", *arguments, "--output", tmp_path / "sweep"), *words)
    assert not (tmp_path / "sweep").exists()


def test_a_second_sweep_does_not_overwrite_the_first(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("mine")
    assert_refused(run("sweep", "--variant", "implicit-gemm", "--device", "cpu", *TINY, "--output", tmp_path), "already exists")
    assert (tmp_path / "sweep.json").read_text() == "mine"


def test_the_record_is_readable_after_a_kill(tmp_path: Path) -> None:
    options = ["--variant", "seeded-configuration", "--shape", "2,9,9,4,3", "--batch", "2", "--repetitions", "3000"]
    process = start("sweep", *options, "--output", tmp_path, program=SEEDED)
    path = tmp_path / "sweep.json"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and '"incorrect"' not in (path.read_text() if path.exists() else ""):
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert complaints(path) == []
    document = json.loads(path.read_text())
    assert document["complete"] is False
    assert len(document["cases"]) < len(document["planned"]) and document["sweeps"] == []
