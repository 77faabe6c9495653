"""What charts.py draws of whole networks: times with their uncertainty, where they go, and others' figures apart."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Callable

import pytest

from calls import Done, call, call_process
from conftest import REPOSITORY
from convladder_charts import table_text
from convladder_charts.json_text import Node
from convladder_charts.network import parts as network_parts
from convladder_charts.network import record as network_record
from network_records import MIXED, NETWORKS, STAGES, NetworkRecordMaker
from validate_record import problems

SVG = "{http://www.w3.org/2000/svg}"
SWEEP = [column.name for column in network_parts.SWEEP]
UNKNOWN = "device not named"


def charts(*arguments: object) -> Done:
    """What charts.py does."""
    return call("charts.py", *arguments)


def texts(path: Path) -> str:
    """All that is written in a picture, description left out."""
    return "\n".join(element.text or "" for element in ElementTree.parse(path).iter(f"{SVG}text"))


def description(path: Path) -> str:
    """What a picture says to those who cannot see it."""
    return next(ElementTree.parse(path).iter(f"{SVG}desc")).text or ""


def read(document: Any) -> network_record.NetworkRecord:
    """As charts.py reads it."""
    return network_record.read(Node(document, Path("network.json")))


def whole_run() -> dict[str, Any]:
    """Two networks with times, one of them a sweep with a choice for each layer, counts, and a failure."""
    maker = NetworkRecordMaker().add("lenet72", [100, 1000])
    maker.add("alexnet", [1, 4, 16], ["flat-vector", "onednn", MIXED], passes=3, accuracy=False)
    return maker.add_counted("lenet72", 8).add_failed("lenet72", 100, "tile", "crashed", "ended by signal 11").record()


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all charts."""
    folder = tmp_path_factory.mktemp("networks")
    (folder / "network.json").write_text(json.dumps(whole_run()), encoding="utf-8")
    done = charts(folder / "network.json", "--table")
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "table.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def test_the_made_record_is_a_good_one() -> None:
    assert problems(whole_run()) == []


def test_each_network_has_its_files(drawn: Path) -> None:
    names = ["op_times-lenet72", "pass_time-lenet72", "op_times-alexnet", "pass_time-alexnet", "instructions-lenet72"]
    expected = {f"{name}.{ending}" for name in names for ending in ("svg", "png")} | {"table.md"}
    assert {path.name for path in drawn.iterdir()} == expected | {"network.json", "table.txt"}
    printed = (drawn / "table.txt").read_text(encoding="utf-8").splitlines()
    assert printed[-2:] == [f"charts: {drawn}/*.{{svg,png}}: {', '.join(names)}", f"table:  {drawn}/table.md"]


def test_the_same_record_gives_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
    assert call_process("charts.py", drawn / "network.json", "--output", tmp_path, "--format", "svg").returncode == 0
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (drawn / path.name).read_bytes(), path.name


@pytest.mark.parametrize("name", ["op_times-lenet72", "pass_time-lenet72", "op_times-alexnet", "pass_time-alexnet"])
def test_times_say_that_they_are_measured_where_and_how_often(drawn: Path, name: str) -> None:
    shown = " ".join(texts(drawn / f"{name}.svg").split())
    for expected in ("measured, median of n = ", "Example CPU 7000", "012345678 (dirty)", "synthetic"):
        assert expected in shown
    assert ("96.1 % confidence interval" in shown) == ("lenet72" in name)


def test_the_times_of_a_virtual_clock_are_predicted_and_no_shares_of_a_pass(tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("lenet72", [100]).record()
    for case in document["cases"]:
        for step in case["steps"]:
            step["time"]["kind"] = "predicted"
    (tmp_path / "network.json").write_text(json.dumps(document))
    assert charts(tmp_path / "network.json", "--format", "svg").returncode == 0
    assert "predicted, median of n = " in texts(tmp_path / "op_times-lenet72.svg")
    assert "Where the time goes" not in texts(tmp_path / "pass_time-lenet72.svg")
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "### Op times, predicted" in table and "Where the time of a pass goes" not in table.split("Published")[0]
    assert "the last pass, predicted: layers" in table and "the last pass, measured: host phases" in table


def test_every_convolution_and_stage_has_its_times(drawn: Path) -> None:
    document, words = whole_run(), description(drawn / "op_times-alexnet.svg")
    for layer in ("conv1", "conv2", "conv3", "conv4", "conv5"):
        assert f"alexnet.{layer}" in texts(drawn / "op_times-alexnet.svg")
        for name in ("2  Flat vector", "oneDNN", MIXED):
            assert f"alexnet.{layer}, {name}: " in words
    shown = texts(drawn / "op_times-lenet72.svg")
    for rung, _, title, _ in STAGES:
        assert (f"{rung}  {title}" if rung else title) in shown
    assert "tile: crashed at batch 100" in shown.replace("\n", " ")
    assert len(document["cases"]) == 6 + 9 + 3 + 1


def test_of_very_many_layers_those_that_take_longest_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panel for each of thousands would take minutes, and nobody would look at them."""
    layers = [(f"conv{index}", "convolution", 1e5 if index <= 60 else 1e6 if index <= 96 else 1e8) for index in range(1, 121)]
    monkeypatch.setitem(NETWORKS, "deep", layers)
    document = NetworkRecordMaker().add("deep", [1], ["memory-accumulation"]).add_counted("deep", 1).record()
    (tmp_path / "network.json").write_text(json.dumps(document), encoding="utf-8")
    assert charts(tmp_path / "network.json").returncode == 0
    shown = texts(tmp_path / "op_times-deep.svg")
    assert "deep.conv120" in shown and "deep.conv97" in shown and "deep.conv96" not in shown
    assert "of 120 convolutions the 24 that take longest" in " ".join(shown.split())
    counted = texts(tmp_path / "instructions-deep.svg")
    assert "conv120" in counted.split() and "conv61" in counted.split() and "conv60" not in counted.split()
    assert "of 120 steps the 60 that execute most" in " ".join(counted.split())


def test_the_accuracy_has_its_binomial_interval_and_one_line_for_all_that_agree(drawn: Path) -> None:
    assert "lenet72 accuracy, all 3 stages: 0.7700 at batch 100, 0.7700 at batch 1000." in (
        description(drawn / "op_times-lenet72.svg"))
    assert "95 % binomial interval" in " ".join(texts(drawn / "op_times-lenet72.svg").split())
    assert "accuracy" not in texts(drawn / "op_times-alexnet.svg")


def test_stages_that_disagree_in_accuracy_have_lines_of_their_own(tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("lenet72", [100]).record()
    document["cases"][1]["accuracy"].update(correct=70, value=0.7)
    (tmp_path / "network.json").write_text(json.dumps(document))
    assert charts(tmp_path / "network.json", "--format", "svg").returncode == 0
    words = description(tmp_path / "op_times-lenet72.svg")
    assert "accuracy, 1  Accumulate in memory and 1 more" not in words
    assert "accuracy, Accumulate in memory and 1 more: 0.7700" in words
    assert "accuracy, 2  Flat vector: 0.7000" in words


def test_the_parts_of_a_pass_are_the_records_and_add_up(drawn: Path) -> None:
    group = next(one for one in read(whole_run()).groups if one.network == "alexnet")
    words = description(drawn / "pass_time-alexnet.svg")
    for case in group.timed:
        parts = network_parts.distribution(case)
        assert sum(parts.values()) == pytest.approx(case.total.median, rel=0.05)
        whole = sum(parts.values())
        start = f"Where the time goes, {case.stage.label}, batch {case.batch}: "
        sentence = words.split(start)[1].split("%. ")[0].split(" Where ")[0].rstrip(".")
        shown = dict(part.removesuffix("%").strip().rsplit(" ", 1) for part in sentence.split(", "))
        for name, time in parts.items():
            name = "rest of the pass" if name == "rest" else name
            assert float(shown.get(name, 0)) == pytest.approx(100 * time / whole, abs=0.051)


def test_parts_sum_the_steps_of_their_type() -> None:
    case = read(NetworkRecordMaker().add("alexnet", [4], passes=1).record()).groups[0].timed[0]
    times = {step.name: step.time.median for step in case.steps}
    parts = network_parts.distribution(case)
    assert parts["convolution"] == pytest.approx(sum(times[f"conv{index}"] for index in range(1, 6)))
    assert parts["fully connected"] == pytest.approx(times["fc1"] + times["fc2"])
    assert parts["pooling"] == times["pool1"]
    assert parts["other layers"] == pytest.approx(times["conv1 bias"] + times["activation1"])
    around = case.phases["run layers"] + case.phases["synchronise"]
    assert parts["synchronisation"] == pytest.approx(around - sum(times.values())) and around > sum(times.values())
    assert parts["copies in"] == case.phases["copy images to device"]


def test_the_published_sweep_stands_apart_with_its_device(drawn: Path) -> None:
    shown = texts(drawn / "pass_time-alexnet.svg")
    for expected in (f"published, {UNKNOWN}", "kernels and copies of alexnet-batch-sweep",
                     "API calls of alexnet-batch-sweep", "measured by others"):
        assert expected in shown
    words = description(drawn / "pass_time-alexnet.svg")
    row = [40.703, 25.019, 4.7973, 3.2918, 0.13715]  # batch 4
    assert f"batch 4: copies in {100 * row[0] / sum(row):.1f} %, convolution {100 * row[1] / sum(row):.1f} %" in words
    assert "published" not in texts(drawn / "pass_time-lenet72.svg").lower()


def test_published_op_times_have_a_panel_and_a_device(drawn: Path) -> None:
    shown = texts(drawn / "op_times-lenet72.svg")
    for expected in ("Published op times", "fa18-batches · Volta-class GPU (kernel names say volta)",
                     "accuracy 0.85", "published op time", "batch 1000  gpu baseline"):
        assert expected in shown
    assert "conv1 477 µs · conv2 1.65 ms · accuracy 0.85" in description(drawn / "op_times-lenet72.svg")
    assert "Published op times" not in texts(drawn / "op_times-alexnet.svg")


def test_counts_are_labelled_and_never_times(drawn: Path) -> None:
    shown = " ".join(texts(drawn / "instructions-lenet72.svg").split())
    assert "COUNTED" in shown and "not timed" in shown and "measured" not in shown
    assert "oneDNN: unsupported: conv1 (onednn): there is no PTX of it" in shown
    document = whole_run()
    case = next(one for one in document["cases"] if one["device"] == "simulated")
    words = description(drawn / "instructions-lenet72.svg")
    for step in case["steps"]:
        assert f"{step['name']} {step['counters']['totals']['smsp__inst_executed.sum']:.0f}" in words


def test_the_table_fits_the_terminal(drawn: Path) -> None:
    lines = (drawn / "table.txt").read_text(encoding="utf-8").splitlines()
    assert max(table_text.columns(line) for line in lines if str(drawn) not in line) <= 100


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e7])
def test_the_table_fits_whatever_the_times(scale: float, tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("alexnet", [1, 1024], passes=1, accuracy=False).record()
    document["cases"][0]["variants"] = "conv1=" + "x" * 90
    for case in document["cases"]:
        for time in [case["total"], *(part["time"] for part in (*case["steps"], *case["phases"]))]:
            time.update(median=time["median"] * scale, samples=[time["median"] * scale])
    (tmp_path / "network.json").write_text(json.dumps(document))
    done = charts(tmp_path / "network.json", "--table", "--format", "svg")
    assert done.returncode == 0
    shown = [line for line in done.stdout.splitlines() if str(tmp_path) not in line]
    assert max(map(table_text.columns, shown)) <= 100


def test_the_tables_have_the_published_columns_and_rows(drawn: Path) -> None:
    markdown = (drawn / "table.md").read_text(encoding="utf-8").replace("\\", "")
    heading = f"| batch | {' | '.join(SWEEP)} |"
    assert SWEEP == ["memcpy_htod", "conv_kernel", "fc_kernel", "memcpy_dtoh", "maxpool_kernel", "free", "copies",
                     "synchronise", "allocate"]
    assert markdown.count(heading) == 3 + 3 + 1  # the stages of each network, and the publication
    assert f"Published: alexnet-batch-sweep, {UNKNOWN}, milliseconds" in markdown
    published = json.loads((REPOSITORY / "results/published/alexnet-batch-sweep.json").read_text())
    row = next(row for row in published["tables"][0]["rows"] if row[0] == 4)
    cells = next(line for line in markdown.split("Published: alexnet")[1].splitlines() if line.startswith("| 4 "))
    for cell, value in zip(cells.split("|")[1:-1], row):
        assert float(cell) == pytest.approx(value, rel=2e-3, abs=5e-4)


def test_the_tables_have_accuracy_profile_and_failures(drawn: Path) -> None:
    shown = (drawn / "table.txt").read_text(encoding="utf-8")
    assert re.search(r"1000 +3 stages +0\.7700 +\[0\.7429, 0\.7950\] +770 of 1000", shown)
    assert "Profile of oneDNN at batch 1000, the last pass, measured: layers" in shown
    assert re.search(r"Time\(%\) +Sum\(%\) +Time +Calls +Avg +Min +Max +Name", shown)
    assert re.search(r"100 +tile +crashed: ended by signal 11", shown)
    assert "Warp instructions, counted, batch 8" in shown


def test_devices_and_batches_can_be_chosen(drawn: Path, tmp_path: Path) -> None:
    done = charts(drawn / "network.json", "--device", "simulated", "--format", "svg", "--output", tmp_path)
    assert done.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"instructions-lenet72.svg", "table.md"}
    done = charts(drawn / "network.json", "--device", "gpu")
    assert (done.returncode, "no device gpu; it holds cpu, simulated" in done.stderr) == (3, True)
    done = charts(drawn / "network.json", "--batch", "7")
    assert (done.returncode, "no batch 7; it holds 1, 4, 8, 16, 100, 1000" in done.stderr) == (3, True)


def test_a_network_on_two_devices_has_two_files(tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("lenet72", [10]).add("lenet72", [10], device="cuda").record()
    (tmp_path / "network.json").write_text(json.dumps(document))
    assert charts(tmp_path / "network.json", "--format", "svg").returncode == 0
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "op_times-lenet72.svg", "pass_time-lenet72.svg", "op_times-lenet72-cuda.svg", "pass_time-lenet72-cuda.svg"}


def test_a_run_in_which_nothing_worked_is_a_table(tmp_path: Path) -> None:
    document = NetworkRecordMaker().add_failed("lenet72", 10, "tile", "timeout", "no answer").record()
    document["complete"] = False
    (tmp_path / "network.json").write_text(json.dumps(document))
    done = charts(tmp_path / "network.json", "--table", "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "incomplete run: 1 of 1 cases recorded" in done.stdout and "timeout: no answer" in done.stdout


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize("change, message", [
    (lambda run: run.update(schema_version="9"), '$.schema_version: expected schema version "1.1", found "9"'),
    (lambda run: run.pop("published"), '$: the member "published" is missing'),
    (lambda run: run["cases"][0].update(batch="ten"), '$.cases[0].batch: expected an integer, found "ten"'),
    (lambda run: run["cases"][0].update(network="x"), '$.cases[0].network: expected one of the record\'s networks'),
    (lambda run: run["cases"][0]["total"].update(median=None), "$.cases[0].total.median: expected a finite number"),
    (lambda run: run["published"].clear(), '$.published: the member "lenet72/10" is missing'),
])
def test_a_broken_record_is_named_in_one_line(change: Change, message: str, tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("lenet72", [10]).record()
    change(document)
    path = tmp_path / "network.json"
    path.write_text(json.dumps(document))
    done = charts(path)
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert f"{path}: {message}" in done.stderr


def test_names_that_would_break_a_page_do_not(tmp_path: Path) -> None:
    document = NetworkRecordMaker().add("lenet72", [10], ["flat-vector"]).record()
    evil = "a|b<c>&$x$\x1b[31m/../\n"
    for one in (document["networks"][0], document["variants"][-2]):
        one["name" if one is document["networks"][0] else "title"] = evil
    for case in document["cases"]:
        case["network"] = evil
    document["published"] = {f"{evil}/10": []}
    (tmp_path / "network.json").write_text(json.dumps(document))
    done = charts(tmp_path / "network.json", "--table")
    assert (done.returncode, done.stderr) == (0, "") and "\x1b" not in done.stdout
    assert {path.parent for path in tmp_path.rglob("*")} == {tmp_path}
    markdown = (tmp_path / "table.md").read_text().replace("\\|", "")
    cells = [line.count("|") for line in markdown.split("###")[1].splitlines() if line.startswith("|")]
    assert cells == [6, 6, 6]
