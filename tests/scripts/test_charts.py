"""What charts.py promises: it draws what the record holds, the same bytes each time, and says what it cannot read."""

from __future__ import annotations

import json
import math
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Callable

import pytest

from calls import Done, call, call_process
from conftest import BATCHES, CPU_STAGES, CUDA_STAGES, LAYERS, LIBRARIES, RecordMaker, known, name_of
from conftest import summary as summary_of
from convladder_charts import known_text, labels, ladder, record, summary, style, table_text, units
from convladder_charts.known import Ratio
from network_records import NetworkRecordMaker

CHARTS = ["ladder", "time_over_batch", "roofline-cpu"]
NO_TIME = ("median_ns", "low_ns", "high_ns", "gflop_per_s", "x_previous", "x_baseline",
           "percent_of_library", "percent_of_floor")
SVG = "{http://www.w3.org/2000/svg}"


def charts(*arguments: object) -> Done:
    """What charts.py does."""
    return call("charts.py", *arguments)


def texts(path: Path) -> str:
    """All that is written in a picture, description left out."""
    return "\n".join(element.text or "" for element in ElementTree.parse(path).iter(f"{SVG}text"))


def words(path: Path) -> str:
    """The same with all lines in one."""
    return " ".join(texts(path).split())


def ratio(member: dict[str, Any]) -> Ratio:
    """A record's, as the scripts hold it."""
    return Ratio(member["value"], member["low"], member["high"], member["level"], member["by"])


def drop_times(row: dict[str, Any], status: str) -> None:
    """Makes a ladder's row one without a time."""
    row.update(dict.fromkeys(NO_TIME), status=status)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the charts of a whole run."""
    folder = tmp_path_factory.mktemp("drawn")
    document = RecordMaker().add_cpu().add_skipped_cuda().record()
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    done = charts(folder / "run.json")
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_writes_next_to_the_record_and_says_what_in_two_lines(drawn: Path) -> None:
    expected = {f"{name}.{ending}" for name in CHARTS for ending in ("svg", "png")} | {"table.md", "run.json"}
    assert {path.name for path in drawn.iterdir()} == expected
    assert charts(drawn / "run.json").stdout == (f"charts: {drawn}/*.{{svg,png}}: {', '.join(CHARTS)}\n"
                                                 f"table:  {drawn}/table.md\n")


def test_the_ladder_shows_every_stage_and_ratio(drawn: Path) -> None:
    shown = texts(drawn / "ladder.svg")
    document = json.loads((drawn / "run.json").read_text())
    for _, title, _ in CPU_STAGES + LIBRARIES:
        assert shown.count(title) >= len(LAYERS)
    for one in document["ladders"]:
        if one["device"] == "cpu" and one["batch"] == max(BATCHES):
            unit = units.unit_for(row["median_ns"] for row in one["rows"])
            lines = shown.splitlines()
            for row in one["rows"]:
                assert unit.text(row["median_ns"]) in lines
                x = row["x_previous"] and ratio(row["x_previous"])
                assert x is None or {known_text.short_factor(x), known_text.distance(x)} <= set(lines)


def test_the_title_is_what_came_out(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    path = written(run)
    assert charts(path, "--format", "svg", "--layer", "lenet72.conv2").returncode == 0
    ladder_of = next(one for one in run["ladders"] if one["device"] == "cpu" and one["batch"] == 1000
                     and one["layer"] == "conv2")
    best = ladder_of["rows"][5]
    title = ElementTree.parse(path.parent / "ladder.svg").getroot().findtext(f"{SVG}title")
    assert title == (f"At least {math.floor(best['x_baseline']['low'])}× over the baseline, "
                     f"at least {math.floor(best['percent_of_library']['low'])}% of oneDNN's speed: "
                     "lenet72.conv2, batch 1000, CPU")
    run["ladders"] = [ladder_of | {"summary": summary_of(
        baseline="memory-accumulation", sixth="unrolled-taps", best="compile-time", library="onednn",
        best_x_baseline=known(12.34), best_percent_of_library=known(187.0), best_percent_of_floor=known(50.0))}]
    path = written(run)
    assert charts(path, "--format", "svg").returncode == 0
    title = ElementTree.parse(path.parent / "ladder.svg").getroot().findtext(f"{SVG}title")
    assert title == "At least 12× over the baseline, at least 1.8× over oneDNN: lenet72.conv2, batch 1000, CPU"


def test_a_step_starts_at_the_stage_it_builds_on(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    next(one for one in run["variants"] if one["name"] == "unrolled-taps")["builds_on"] = "local-accumulation"
    assert charts(written(run), "--format", "svg").returncode == 0
    group = record.load(written(run)).drawn[0]
    assert next(stage for stage in group.stages if stage.name == "unrolled-taps").builds_on == "local-accumulation"
    assert texts(written(run).parent / "ladder.svg").splitlines().count("on 2") == len(LAYERS)


def test_a_row_says_to_a_pointer_what_the_record_says_of_its_step(run: dict[str, Any],
                                                                  written: Callable[[Any], Path]) -> None:
    for one in run["ladders"]:
        one["steps"] = [{"variant": "flat-vector", "builds_on": "cached-tile", "x": known(3.5),
                         "no_headline": None, "kind": "measured",
                         "relieved": "No addition waits <now> & then.", "binds": None}]
    path = written(run)
    assert charts(path, "--format", "svg").returncode == 0
    hints = [element.text or "" for element in ElementTree.parse(path.parent / "ladder.svg").iter(f"{SVG}title")]
    said = [hint for hint in hints if hint.endswith("over Tile in cache. No addition waits <now> & then.")]
    assert len(said) == len(LAYERS) and said[0].startswith("4 Flat vector: layer time ")


def test_of_many_stages_those_that_tell_are_drawn() -> None:
    stages = [record.Stage("cpu", rung, f"stage-{rung}", f"Stage {rung}", builds_on=f"stage-{rung - 1}" if rung > 1 else "")
              for rung in range(1, 30)]
    stages[25] = record.Stage("cpu", 26, "stage-26", "Stage 26", builds_on="stage-9")
    stages.append(record.Stage("cpu", None, "library", "Library"))
    told = summary.Summary("stage-1", "stage-6", "stage-26", "library")
    choice = summary.chosen(stages, told, {})
    assert [stage.rung for stage in choice.stages] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 26, None]
    assert (choice.left_out, choice.notice) == (19, "19 more stages in table.md")
    gains = {f"stage-{rung}": 1 + rung / 100 for rung in range(1, 30)}
    choice = summary.chosen(stages, summary.Summary("stage-1", None, "stage-29", "library"), gains)
    assert len(choice.stages) == summary.MOST and {1, 29, 28, 27, None} <= {stage.rung for stage in choice.stages}
    assert summary.chosen(stages[:12], told, {}).left_out == 0
    rivals = [record.Stage("cpu", None, f"rival-{number}", f"Rival {number}", number) for number in range(6)]
    kept = summary.chosen([*stages, *rivals], summary.Summary("stage-1", None, "stage-29", "rival-5"), gains).stages
    assert rivals[5] in kept and len(kept) <= summary.MOST, "the fastest library, however many there are"


@pytest.mark.parametrize("name", CHARTS)
def test_every_figure_says_where_it_comes_from(drawn: Path, name: str) -> None:
    shown = words(drawn / f"{name}.svg")
    for expected in ("n = 13–21 samples", "96.5 %", "Example CPU 7000", "2 threads", "012345678 (dirty)", "synthetic",
                     "layer time", "measured", "cuda: no times (skipped: no CUDA device)"):
        assert expected in shown
    assert CUDA_STAGES[0] not in shown


@pytest.mark.parametrize("name", CHARTS)
def test_pictures_have_alternative_text(drawn: Path, name: str) -> None:
    root = ElementTree.parse(drawn / f"{name}.svg").getroot()
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and description is not None and title.text and description.text
    assert root.get("role") == "img"
    assert root.get("aria-labelledby", "").split() == [title.get("id"), description.get("id")]
    assert all(stage in description.text for _, stage, _ in (CPU_STAGES[::5] if name == "time_over_batch" else CPU_STAGES))
    assert (drawn / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_time_over_batch_is_of_one_image_and_few_stages(drawn: Path) -> None:
    shown, document = texts(drawn / "time_over_batch.svg"), json.loads((drawn / "run.json").read_text())
    assert shown.count("time per image\n") >= len(LAYERS)
    for title in (CPU_STAGES[0][1], CPU_STAGES[5][1], LIBRARIES[1][1]):
        assert shown.count(title) == len(LAYERS)
    assert CPU_STAGES[2][1] not in shown and "not drawn: 5 more stages, in table.md" in shown
    one = next(one for one in document["ladders"] if one["device"] == "cpu" and one["batch"] == 100)["rows"][0]
    description = ElementTree.parse(drawn / "time_over_batch.svg").getroot().findtext(f"{SVG}desc") or ""
    assert f"{units.duration(one['median_ns'] / 100)} an image at batch 100" in description


def test_the_measured_roofline_has_the_ceilings_of_the_run(drawn: Path) -> None:
    shown = words(drawn / "roofline-cpu.svg")
    for expected in ("FMA peak 400 GFLOP/s", "copy 60.0 GB/s", "GFLOP/s, effective, measured", "rates are effective", "lenet72.conv1", "fastest library"):
        assert expected in shown
    document = json.loads((drawn / "run.json").read_text())
    one = next(one for one in document["ladders"] if one["device"] == "cpu" and one["batch"] == 1000)
    rate = one["floor"]["flop"] / one["rows"][0]["median_ns"]
    description = ElementTree.parse(drawn / "roofline-cpu.svg").getroot().findtext(f"{SVG}desc") or ""
    assert f"{CPU_STAGES[0][1]} {units.significant(rate)} GFLOP/s" in description


def test_an_svg_has_rules_for_a_dark_ground(drawn: Path) -> None:
    text = (drawn / "ladder.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    for colour in re.findall(r"fill: (#[0-9a-f]{6})", text.split("</style>", 1)[1]):
        assert f'"fill: {colour}"' in text, f"{colour} has no place in style.DARK"


def test_the_same_record_gives_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "an other place"
    elsewhere.mkdir()
    (elsewhere / "run.json").write_bytes((drawn / "run.json").read_bytes())
    (elsewhere / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\naxes.facecolor: red\n")
    environment = os.environ | {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "77",
                                "SOURCE_DATE_EPOCH": "1", "MATPLOTLIBRC": str(elsewhere)}
    assert call_process("charts.py", "run.json", "--output", "out", cwd=elsewhere, env=environment).returncode == 0
    for path in (elsewhere / "out").iterdir():
        assert path.read_bytes() == (drawn / path.name).read_bytes(), path.name
    assert len(list((elsewhere / "out").iterdir())) == 2 * len(CHARTS) + 1


def test_another_time_gives_another_picture(drawn: Path, run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    run["ladders"][2]["rows"][0]["median_ns"] *= 1.5
    path = written(run)
    charts(path, "--format", "svg")
    assert (path.parent / "ladder.svg").read_bytes() != (drawn / "ladder.svg").read_bytes()


def test_the_table_fits_the_terminal(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    run["variants"][0]["title"] = "漢字" * 40
    run["context"]["cpu"]["model"] = "A processor with a name " * 20
    shown = charts(written(run), "--table", "--format", "svg").stdout.split("\ncharts:")[0]
    lines = shown.splitlines()
    assert max(map(table_text.columns, lines)) <= 100
    assert sum(line.startswith("cpu · ") for line in lines) == len(LAYERS) * len(BATCHES)
    assert sum("Compile-time constants" in line for line in lines) == len(LAYERS) * len(BATCHES)
    first = next(one for one in run["ladders"] if one["device"] == "cpu")["rows"][5]
    row = next(line for line in lines if "Compile-time constants" in line)
    assert all(known_text.plus_minus(ratio(first[name])) in row for name in ("x_previous", "x_baseline"))
    assert all(known_text.share_plus_minus(ratio(first[name])) in row for name in ("percent_of_library", "percent_of_floor"))
    assert "cpu: ceilings, measured, median of n = 3: FMA peak 400 GFLOP/s, streaming store 40.0 GB/s" in shown
    assert shown.count("(predicted from the ceilings)") == len(LAYERS) * len(BATCHES)


def test_the_tables_mark_what_a_busy_machine_disturbed(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    for case, mark in zip([one for one in run["cases"] if one["device"] == "cpu"], ("good", "disturbed", "noisy")):
        case["quality"] = {"mark": mark, "reasons": [] if mark == "good" else ["steal 12%"], "load_of_others": 0.8,
                           "steal": 0.12, "drift": None, "anchor_spread": None}
    path = written(run)
    lines = charts(path, "--table", "--format", "svg").stdout.split("\ncharts:")[0].splitlines()
    assert max(map(table_text.columns, lines)) <= 100
    assert [line[:3] for line in lines if line[:2] in ("! ", "~ ")] == ["! 2", "~ 3"]
    markdown = (path.parent / "table.md").read_text(encoding="utf-8")
    assert (markdown.count("| ok \\! |"), markdown.count("| ok \\~ |")) == (1, 1)
    assert "quality in run.json" in markdown and "quality in run.json" in " ".join(lines)


def test_no_mark_and_no_legend_without_one(drawn: Path) -> None:
    text = (drawn / "table.md").read_text(encoding="utf-8")
    assert "disturbed" not in text and "| ok |" in text


def test_the_markdown_table_says_what_it_is(drawn: Path) -> None:
    text = (drawn / "table.md").read_text(encoding="utf-8")
    head = text.split("\n## ")[0]
    for expected in ("host bench", "Example CPU 7000", "012345678 (dirty)", "synthetic", "96.5 % confidence interval",
                     "no CUDA device"):
        assert expected in head
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {10}
    assert sum("Unrolled taps" in line for line in rows) == len(LAYERS) * len(BATCHES)


def test_a_stage_without_a_time_is_named_with_its_status(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    for one in run["ladders"]:
        if one["device"] == "cpu":
            drop_times(one["rows"][4], "crashed")
    for case in run["cases"]:
        if case["variant"] == "unrolled-taps":
            case.update(status="crashed", reason="signal 11", time=None)
    run["complete"] = False
    del run["cases"][-1]
    path = written(run)
    assert charts(path, "--format", "svg").returncode == 0
    shown = texts(path.parent / "ladder.svg")
    assert shown.count("crashed: signal 11") == len(LAYERS)
    assert "incomplete run: 134 of 135 cases recorded" in shown
    assert "Unrolled taps: crashed at batch 10, 100, 1000" in words(path.parent / "time_over_batch.svg")
    assert "crashed: signal 11" in (path.parent / "table.md").read_text(encoding="utf-8")


def test_the_ladder_takes_the_largest_batch_whose_summary_names_most(run: dict[str, Any],
                                                                     written: Callable[[Any], Path]) -> None:
    group = record.load(written(run)).drawn[0]
    assert [one.batch for one in ladder.chosen_ladders(group, None)] == [1000] * 3
    assert [one.batch for one in ladder.chosen_ladders(group, 10)] == [10] * 3
    largest = next(one for one in run["ladders"] if one["batch"] == 1000)
    drop_times(largest["rows"][0], "timeout")
    largest["summary"]["baseline"] = None
    group = record.load(written(run)).drawn[0]
    assert [one.batch for one in ladder.chosen_ladders(group, None)] == [100, 1000, 1000]


def test_only_skipped_cases_give_a_line_and_no_empty_chart(written: Callable[[Any], Path]) -> None:
    path = written(RecordMaker().add_skipped_cuda().record())
    done = charts(path)
    assert done.returncode == 0 and "no case of this run has a time" in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert {one.name for one in path.parent.iterdir()} == {"run.json", "table.md"}
    assert "skipped: no CUDA device" in (path.parent / "table.md").read_text(encoding="utf-8")


def test_of_a_folder_every_record_is_drawn(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    path = written(run)
    (path.parent / "network.json").write_text(json.dumps(NetworkRecordMaker().add("lenet72", [10]).record()))
    (path.parent / "other.json").write_text("[1, 2")
    done = charts(path.parent, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    names = {one.name for one in path.parent.iterdir()}
    assert {"ladder.svg", "op_times-lenet72.svg", "table.md", "table-network.md"} <= names


@pytest.mark.parametrize("document, names", [
    (RecordMaker(batches=[100]).add_cpu().record(), {"ladder", "roofline-cpu"}),
    (RecordMaker().add_cpu(stages=[]).record(), set(CHARTS)),
    (RecordMaker(layers=LAYERS[:1], batches=[1]).add_cpu(libraries=[]).record(), {"ladder", "roofline-cpu"}),
    (RecordMaker(layers=[]).record(), set()),
], ids=["one batch", "only libraries", "no libraries", "no cases at all"])
def test_small_runs_are_drawn(document: Any, names: set[str], written: Callable[[Any], Path]) -> None:
    path = written(document)
    done = charts(path, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert {one.stem for one in path.parent.glob("*.svg")} == names


def test_many_stages_layers_and_batches_are_drawn(written: Callable[[Any], Path]) -> None:
    stages = [(f"stage-{rung}", f"Stage number {rung}", 100.0 * 0.8**rung) for rung in range(20)]
    layers = [(f"net{index}", "conv1", (1, 28 + index, 28, 8, 5)) for index in range(6)]
    path = written(RecordMaker(layers, [2**power for power in range(11)]).add_cpu(stages).record())
    assert charts(path, "--format", "svg").returncode == 0
    shown = texts(path.parent / "ladder.svg")
    assert shown.count("Stage number 19") == 3 and "and 3 more layers, in table.md" in words(path.parent / "ladder.svg")
    table = (path.parent / "table.md").read_text(encoding="utf-8")
    assert all(table.count(f"Stage number {rung} ") >= 6 for rung in range(20))


def test_measured_and_predicted_never_share_a_figure(written: Callable[[Any], Path]) -> None:
    maker = RecordMaker(layers=LAYERS[:1]).add_cpu()
    stages = [(name_of(title), title, 10.0 / rung) for rung, title in enumerate(CUDA_STAGES, 1)]
    maker.add_cpu(stages, [], device="simulated", family="cuda", kind="predicted")
    path = written(maker.record())
    assert charts(path, "--format", "svg").returncode == 0
    for name in CHARTS[:2]:
        plain = texts(path.parent / f"{name}.svg")
        simulated = texts(path.parent / f"{name}-simulated-cuda-predicted.svg")
        assert "PREDICTED" in simulated and "Global memory" in simulated and "Tile in cache" not in simulated
        assert "PREDICTED" not in plain and "Global memory" not in plain
    only = path.parent / "only"
    assert charts(path, "--format", "svg", "--device", "cpu", "--output", only).returncode == 0
    assert len(list(only.iterdir())) == len(CHARTS) + 1


def test_hostile_names_do_no_harm(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    hostile = "$\\frac{1}$ <script>&|`]]>\x00\x1b[31m\u202e\ud800\nnew line"
    run["variants"][0]["title"] = hostile
    run["context"]["host"]["name"] = hostile
    run["context"]["cpu"]["model"] = hostile
    run["context"]["dataset"]["name"] = hostile
    for one in run["ladders"]:
        one["layer"] = hostile
    path = written(run)
    done = charts(path, "--table", "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout and "\x00" not in done.stdout
    assert "$\\frac{1}$ <script>&|`]]>" in texts(path.parent / "ladder.svg")
    markdown = (path.parent / "table.md").read_text(encoding="utf-8")
    assert "\\<script\\>" in markdown and "<script" not in markdown.replace("\\<", "")


BAD_INPUTS = {
    "empty": ("", ":1:1: the file is empty"),
    "truncated": ('{"schema_version": "1.0",\n "cases": [', ":2:12: the file ends in the middle"),
    "broken": ('{"schema_version": "1.0"\n "cases": []}', ":2:2: expecting ',' delimiter"),
    "nan": ('{"a NaN": 1,\n "b": NaN}', ":2:7: NaN is not JSON; expected a number or null"),
    "deep": ("[" * 100000, ":1:1: nested too deeply"),
    "list": ("[1, 2]", ": $: not a convladder run; expected an object with"),
    "google": ('{"context": {}, "benchmarks": []}', ": $: not a convladder run; expected an object with"),
    "version": ('{"schema_version": "9.1", "cases": [], "ladders": []}',
                ": $.schema_version: expected schema version \"1.1\", found \"9.1\""),
    "missing": ('{"schema_version": "1.1", "cases": [], "ladders": []}', ': $: the member "context" is missing'),
}


@pytest.mark.parametrize("text, expected", BAD_INPUTS.values(), ids=BAD_INPUTS.keys())
def test_bad_input_is_one_clear_line(text: str, expected: str, written: Callable[[Any], Path]) -> None:
    path = written(text)
    done = charts(path)
    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.startswith(f"charts.py: {path}{expected}") and done.stderr.count("\n") == 1
    assert [one.name for one in path.parent.iterdir()] == ["run.json"]


def test_a_wrong_value_is_named_by_its_place(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    run["ladders"][1]["rows"][3]["median_ns"] = "fast"
    path = written(run)
    assert charts(path).stderr == (f"charts.py: {path}: $.ladders[1].rows[3].median_ns: expected a finite number, "
                                   "found \"fast\"\n")


def test_what_cannot_be_read_or_written_is_said(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    path = written(run)
    (path.parent / "empty").mkdir()
    cases = [([path.parent / "none.json"], 3, "No such file"), ([path.parent / "empty"], 3, "no record in this folder"),
             ([path, "--device", "tpu"], 3, "no device tpu; it holds cpu, cuda"),
             ([path, "--batch", "7"], 3, "no batch 7; it holds 10, 100, 1000"),
             ([path, "--output", path], 4, "cannot write"), ([path, "--format", "pdf"], 2, "expected svg, png")]
    for arguments, status, expected in cases:
        done = charts(*arguments)
        assert done.returncode == status and expected in done.stderr and "Traceback" not in done.stderr
    assert "examples:" in charts("--help").stdout


def test_marks_stay_apart_for_many_rungs_and_do_not_move() -> None:
    stages = [record.Stage("cpu", rung, f"stage-{rung}", "") for rung in range(1, 43)]
    stages += [record.Stage("cpu", None, f"library-{twin}", "", twin) for twin in range(3)]
    marks = [style.mark_of(stage) for stage in stages]
    assert len({(mark.colour, mark.marker) for mark in marks}) == len(marks)
    assert len({mark.colour for mark in marks[:7]}) == 7
    assert not {mark.colour for mark in marks[:42]} & {mark.colour for mark in marks[42:]}
    assert style.mark_of(record.Stage("cuda", 4, "other", "Other")) == marks[3]


def test_labels_are_spread_in_order_within_bounds() -> None:
    placed = labels.spread([5.0, 5.0, 5.1, 0.0, 9.9], 1.0, 0.0, 10.0)
    assert placed == pytest.approx([4.0333333, 5.0333333, 6.0333333, 0.0, 9.9])
    ordered = sorted(labels.spread([10.0] * 6, 1.0, 0.0, 10.0))
    assert ordered == pytest.approx([5, 6, 7, 8, 9, 10])


def test_numbers_as_text() -> None:
    assert [units.significant(value) for value in (0, 0.01234, 0.9996, 1.5, 99.96, 4210.4)] == [
        "0", "0.0123", "1.00", "1.50", "100", "4210"]
    assert units.unit_for([581e3, 28757e3]).name == "ms"
    assert units.unit_for([16.8e6, 1151e6]).name == "ms"
    assert units.unit_for([1.0, 5e9]).name == "ms"
    assert units.duration(500e3) == "500 µs"
    assert (units.ratio(None), units.ratio(0.9016), units.percent(6.44), units.percent(119.6)) == (
        "–", "0.90×", "6.4%", "120%")
