"""The lines of source that `explain` and `compare` name, of stages in a folder: theirs, where they stand now, and nobody else's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import PROGRAM, record, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

pytestmark = pytest.mark.skipif(NVCC is None or not (PROGRAM.parent / "stand_in").is_dir(), reason="no nvcc, or no stand-in")

PRODUCT = "for (int k = 0; k < TILE; ++k) sum += a_tile[row][k] * b_tile[k][column];"
CONFLICTS = "for (int k = 0; k < TILE; ++k) sum += a_tile[row][k] * b_tile[column][k];"


@pytest.fixture(scope="module", name="ladder")
def _ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cited") / "product"
    assert run("new", folder, "--from", "matrix-multiplication").returncode == 0
    for stage in folder.glob("0[3-9]_*"):
        if stage.name != "03_shared_tiles.cu":
            stage.unlink()
    return folder


def counted(ladder: Path, output: Path) -> Path:
    done = run("run", ladder, "--device", "simulated", "--variant", "coalesced,shared-tiles", "--size", "M64N64K64", "--output", output,
               "--quiet")
    assert done.returncode == 0, done
    return output / "run.json"


def test_a_line_that_costs_more_than_before_is_named(ladder: Path, tmp_path: Path) -> None:
    stage = ladder / "03_shared_tiles.cu"
    before = counted(ladder, tmp_path / "before")
    text = stage.read_text(encoding="utf-8")
    slower = text.replace(PRODUCT, CONFLICTS).replace("b_tile[row][column] =", "b_tile[column][row] =")
    stage.write_text("// Something new at the top.\n//\n" + slower, encoding="utf-8")
    after = counted(ladder, tmp_path / "after")
    stage.write_text(text, encoding="utf-8")
    done = run("compare", before, after, "--format", "json")
    [one] = [case for case in json.loads(done.stdout)["cases"] if "shared-tiles" in case["id"]]
    assert done.returncode == 1 and one["verdict"] in ("regressed", "inconclusive"), done
    # The line's text has changed, so it is no line of both: the largest of each is named.
    number = text.splitlines().index(f"    {PRODUCT}") + 1
    assert any(f"03_shared_tiles.cu:{number} (" in line and f"-> 03_shared_tiles.cu:{number + 2} (" in line for line in one["lines"]), one
    shown = " ".join(run("compare", before, after).stdout.split())
    assert all(line in shown for line in one["lines"])


def test_a_line_is_found_where_it_stands_now(ladder: Path, tmp_path: Path) -> None:
    """The same text two lines further down, whose loads have become strided by a change elsewhere."""
    stage = ladder / "03_shared_tiles.cu"
    before = counted(ladder, tmp_path / "before")
    text = stage.read_text(encoding="utf-8")
    changed = text.replace("column = static_cast<int>(threadIdx.x)", "column = static_cast<int>(threadIdx.y)")
    changed = changed.replace("row = static_cast<int>(threadIdx.y)", "row = static_cast<int>(threadIdx.x)")
    stage.write_text("// Something new at the top.\n//\n" + changed, encoding="utf-8")
    after = counted(ladder, tmp_path / "after")
    stage.write_text(text, encoding="utf-8")
    number = [line.lstrip().startswith("a_tile[row][column] =") for line in text.splitlines()].index(True) + 1
    lines = {one["line"]: one for one in shared_tiles(after)["lines"]}
    assert lines[number + 2]["source"].startswith("a_tile[row][column] =")
    for one in record(before.parent)["cases"]:  # counting by line is no work of the stage
        assert one["counters"].get("beside", {}).get("host_ns", 0) < 120e3, one["counters"]["beside"]
    done = run("compare", before, after, "--format", "json", "--verbose")
    [one] = [case for case in json.loads(done.stdout)["cases"] if "shared-tiles" in case["id"]]
    load = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    request = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    assert lines[number + 2]["counters"][load] == 32 * lines[number + 2]["counters"][request]
    assert any(line.startswith(f"line {number + 2} of 03_shared_tiles.cu: ") or f"line {number + 3} of" in line for line in one["lines"]), one


def shared_tiles(file: Path) -> dict[str, object]:
    [one] = [case["counters"] for case in record(file.parent)["cases"] if case["variant"] == "shared-tiles"]
    return one


def test_a_stage_cannot_show_what_is_in_other_files(ladder: Path, tmp_path: Path) -> None:
    """`#line` names any file as the source. A record shows texts of the ladder's folder, and of no other."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the answer is 42\n" * 60, encoding="utf-8")
    stage = ladder / "03_shared_tiles.cu"
    text = stage.read_text(encoding="utf-8")
    for name in (secret, ladder / ".." / ".." / tmp_path.name / "secret.txt"):
        stage.write_text(text.replace("  float sum = 0.0F;", f'#line 1 "{name}"\n  float sum = 0.0F;'), encoding="utf-8")
        file = counted(ladder, tmp_path / "run")
        assert any(one["file"] == name.name for one in shared_tiles(file)["lines"])
        assert "the answer" not in file.read_text(encoding="utf-8")
        shutil.rmtree(tmp_path / "run")
    stage.write_text(text, encoding="utf-8")
