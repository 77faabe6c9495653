"""The chart and the table of counters: the record's figures, each with what it is worth."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Callable

import pytest

from conftest import BATCHES, CUDA_STAGES, LAYERS, LIBRARIES, RecordMaker
from convladder_charts import counted, counters, record, table_text
from test_charts import SVG, charts, texts

Written = Callable[[Any], Path]


def counted_run(batches: list[int], executed: int = 8) -> dict[str, Any]:
    """A run of one layer on the simulated device; a copy of its own."""
    return copy.deepcopy(RecordMaker(layers=LAYERS[:1], batches=batches).add_counted(executed=executed).record())


def drawn_words(path: Path, *arguments: object) -> str:
    """All words of the chart that the record makes."""
    done = charts(path, "--format", "svg", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return texts(path.parent / "counters.svg")


def figure_words(row: counted.CountedRow) -> list[str]:
    """The row's figures as they are written, without a prefix."""
    ladder = counted.CountedLadder("net", "layer", "", 1, (row,))
    return [counters.label(figure, row, counters.scale_of(figure, ladder)) for figure in counted.figures()]


def test_every_figure_of_every_stage_is_there(written: Written) -> None:
    path = written(RecordMaker(layers=LAYERS).add_counted().record())
    shown = drawn_words(path)
    assert "counters" in charts(path, "--format", "svg").stdout
    lines = shown.splitlines()
    for rung, title in enumerate(CUDA_STAGES, 1):
        assert lines.count(f"{rung}  {title}") == 2, "once beside each line of quantities"
    for rung in range(1, len(CUDA_STAGES) + 1):
        for text in (f"{20 / rung:#.3g}", f"{rung:.2f}", f"{rung + 0.5:.2f}", f"≈ {3 * rung + 1:#.3g}"):
            assert text.rstrip(".") in lines, text
    for heading in ("per multiply-add", "per global load", "per 32 multiply-adds", "global load sectors"):
        assert lines.count(heading) == 1
    assert "cuDNN unsupported" in shown and lines.count("less is better") == 5
    table = (path.parent / "table.md").read_text(encoding="utf-8")
    assert all(table.count(f"{title} |") == len(LAYERS) * len(BATCHES) for title in CUDA_STAGES)


def test_it_says_what_it_is(written: Written) -> None:
    path = written(counted_run([10]))
    shown = " ".join(drawn_words(path).split())
    for expected in ("COUNTED", "PTX", "Example GPU X", "not timed", "012345678 (dirty)",
                     "8 of 10 images executed, both halves counted the same"):
        assert expected in shown
    assert "measured" not in shown and "median" not in shown
    root = ElementTree.parse(path.parent / "counters.svg").getroot()
    description = root.find(f"{SVG}desc")
    assert description is not None and description.text is not None
    assert all(f"{rung}  {title}, {20 / rung:#.3g}".rstrip(".") in description.text
               for rung, title in enumerate(CUDA_STAGES, 1))
    assert charts(path).returncode == 0 and (path.parent / "counters.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_scaled_is_marked(written: Written) -> None:
    whole = drawn_words(written(counted_run([8])))
    assert "≈" not in whole and "all images executed" in whole
    document = counted_run([10])
    modelled_alone = drawn_words(written(document))
    assert len(re.findall(r"^≈ \d", modelled_alone, re.MULTILINE)) == len(CUDA_STAGES)
    document["cases"][0]["counters"]["exact"] = False
    shown = drawn_words(written(document))
    assert len(re.findall(r"^≈ \d", shown, re.MULTILINE)) == len(CUDA_STAGES) + len(counted.figures()) - 1
    assert "≈ scaled to the batch" in shown and "both halves" not in shown


def test_a_quotient_of_several_kernels_is_made_from_their_sums(written: Written) -> None:
    document = counted_run([10])
    totals = document["cases"][0]["counters"]["totals"]
    before = record.load(written(document)).counted[0].ladders[0].rows
    del totals["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"]
    totals["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] /= 4
    after = record.load(written(document)).counted[0].ladders[0].rows
    assert [figure_words(row) for row in after[:-2]] == [figure_words(row) for row in before[:-2]]
    assert (figure_words(before[-2])[1], figure_words(after[-2])[1]) == ("6.00", "24.0")


def test_what_was_not_counted_has_a_dash(written: Written) -> None:
    document = counted_run([10])
    found = document["cases"][0]["counters"]
    found["modelled"] = {}
    found["totals"] = {name: 0.0 for name in found["totals"] if not name.endswith(".ratio")}
    row = record.load(written(document)).counted[0].ladders[0].rows[-2]
    assert figure_words(row) == ["0", "–", "0", "0", "–"]
    assert "–" in drawn_words(written(document)).splitlines()


def test_rows_stand_in_ladder_order(written: Written) -> None:
    rows = record.load(written(counted_run([10]))).counted[0].ladders[0].rows
    assert [row.stage.title for row in rows] == [*CUDA_STAGES, "cuDNN"]


def test_the_batch_with_the_most_stages_is_drawn(written: Written) -> None:
    document = counted_run([10, 100, 1000])
    group = record.load(written(document)).counted[0]
    assert [one.batch for one in group.chosen(None)] == [1000]
    path = written(document)
    for arguments, drawn, others in (((), 1000, (10, 100)), (("--batch", "10"), 10, (100, 1000))):
        shown = drawn_words(path, *arguments)
        assert f"lenet28.conv1, batch {drawn}\n" in shown
        assert not any(f"lenet28.conv1, batch {other}\n" in shown for other in others)
    failed = next(case for case in document["cases"] if case["batch"] == 1000)
    failed.update(status="timeout", reason="60 s", counters=None)
    assert [one.batch for one in record.load(written(document)).counted[0].chosen(None)] == [100]


def test_devices_and_batches_that_were_only_counted_can_be_asked_for(written: Written) -> None:
    maker = RecordMaker(layers=LAYERS[:1], batches=[10]).add_cpu()
    maker.add_counted().add_counted(device="other")
    document = maker.record()
    document["ladders"] = [one for one in document["ladders"] if one["device"] == "cpu"]
    path = written(document)
    assert charts(path, "--format", "svg").returncode == 0
    pictures = {one.name for one in path.parent.glob("*.svg")}
    assert {name for name in pictures if name.startswith("counters")} == {"counters.svg", "counters-other-cuda.svg"}
    assert "simulated: counted, not timed" in " ".join(texts(path.parent / "ladder.svg").split())
    done = charts(path, "--format", "svg", "--device", "other", "--output", path.parent / "only")
    assert done.returncode == 0
    assert "COUNTED" in texts(path.parent / "only" / "counters.svg")
    assert charts(path, "--format", "svg", "--device", "cpu", "--output", path.parent / "cpu").returncode == 0
    assert not list((path.parent / "cpu").glob("counters*"))
    assert charts(path, "--device", "tpu").stderr.endswith("it holds cpu, other, simulated\n")


def test_the_tables_hold_them_too(written: Written) -> None:
    document = counted_run([10, 100])
    document["variants"][0]["title"] = "漢字" * 40
    path = written(document)
    done = charts(path, "--table", "--format", "svg")
    shown = done.stdout.split("\ncharts:")[0]
    assert max(map(table_text.columns, shown.splitlines())) <= 100
    row = [line.split() for line in shown.splitlines() if "Compile-time constants" in line]
    assert [cells[3:5] + cells[-3:] for cells in row] == [["3.33", "6.00", "≈", "19.0", "MB"]] * 2
    assert "Example GPU X" in shown and "Counted in PTX, not timed" in " ".join(shown.split())
    markdown = (path.parent / "table.md").read_text(encoding="utf-8")
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert sum("Compile-time constants | 3.33 | 6.00 |" in line for line in rows) == 2


def test_many_stages_and_hostile_names_are_drawn(written: Written) -> None:
    titles = [f"Stage number {rung} with quite a long name of its own" for rung in range(1, 21)]
    document = RecordMaker(layers=LAYERS[:1], batches=[10]).add_cpu(libraries=LIBRARIES).add_counted(titles).record()
    document["context"]["devices"][2]["facts"]["modelled GPU"] = "$\\frac{1}$ <b>\x1b[31m"
    shown = drawn_words(written(document))
    assert shown.count("8 more stages in table.md") == 1 and "\x1b" not in shown
    assert "$\\frac{1}$ <b>" in " ".join(shown.split())


@pytest.mark.parametrize("name, value, expected", [
    ("totals", {"smsp__inst_executed.sum": "many"}, ".totals.smsp__inst_executed.sum: expected a finite number"),
    ("modelled", [], ".modelled: expected an object"),
    ("exact", 1, ".exact: expected true or false"),
])
def test_a_wrong_counter_is_named_by_its_place(name: str, value: Any, expected: str, written: Written) -> None:
    document = counted_run([10])
    document["cases"][2]["counters"][name] = value
    path = written(document)
    done = charts(path)
    assert done.returncode == 3 and done.stderr.startswith(f"charts.py: {path}: $.cases[2].counters{expected}")
    assert json.loads(path.read_text())["cases"][2]["counters"][name] == value
