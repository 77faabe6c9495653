"""What report.py promises: one page that needs nothing else, complete, traceable, harmless whatever a record says."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any, Callable

import pytest

from conftest import BATCHES, CPU_STAGES, LAYERS, REPOSITORY, RecordMaker, layer_figure
from html_page import Element, cells, parsed
from network_records import NetworkRecordMaker
from convladder_report.common_sections import ids_text
from reports import ladders, report, report_process, with_summary

MARKUP = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>{{ 7*7 }}]]>"
FIGURES_OF_RUN = 8
FIGURES_OF_NETWORKS = 6


@pytest.fixture(scope="module")
def folder(reported: Path) -> Path:
    """The folder with both records and the report of both."""
    return reported


@pytest.fixture(scope="module")
def page(folder: Path) -> Element:
    """The page, every element of it closed."""
    return parsed((folder / "report.html").read_text(encoding="utf-8"))


def test_the_page_has_landmarks_and_a_language(page: Element) -> None:
    assert page.all("html")[0].attributes["lang"] == "en" and page.all("title")[0].text
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert len(page.all(landmark)) == 1, landmark
    skip = page.all("a")[0]
    assert skip.attributes["href"] == "#" + str(page.all("main")[0].attributes["id"])
    levels = [int(one.name[1]) for one in page.all() if re.fullmatch("h[1-6]", one.name)]
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))


def test_every_name_is_there_once_and_every_reference_leads_somewhere(page: Element) -> None:
    names = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(names) == len(set(names)) > 50
    for one in page.all():
        for key, value in one.attributes.items():
            targets = re.findall(r"url\(#([^)]+)\)", value or "")
            targets += [value[1:]] if key == "href" and (value or "").startswith("#") else []
            targets += (value or "").split() if key == "aria-labelledby" else []
            assert set(targets) <= set(names), (one.name, key, value)


def test_nothing_is_fetched(folder: Path, page: Element) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "@import" not in text and not page.all("script") and not page.all("img")
    assert re.findall(r"url\((?!#)", text) == []
    for one in page.all():
        for key, value in one.attributes.items():
            if key in ("src", "href", "xlink:href", "data", "action", "poster"):
                assert (value or "").startswith("#") or value == "data:,", (one.name, value)
    assert set(re.findall(r"\w+://[^\s\"'<>]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_every_chart_has_a_text_alternative_and_a_table(page: Element) -> None:
    figures = page.all("figure")
    assert len(figures) == FIGURES_OF_RUN + FIGURES_OF_NETWORKS
    for one in figures:
        drawing = one.all("svg")[0]
        named = str(drawing.attributes["aria-labelledby"]).split()
        texts = [next(each.text for each in drawing.children if each.attributes.get("id") == name) for name in named]
        assert drawing.attributes["role"] == "img" and len(texts) == 2 and all(len(text) > 20 for text in texts)
        assert one.all("figcaption")[0].text and one.all("table")
        assert [each.text for each in one.all("text")]


def test_every_table_has_a_caption_and_headings_and_scrolls_by_keyboard(page: Element) -> None:
    tables = page.all("table")
    assert len(tables) > 40
    for table in tables:
        assert table.all("caption")[0].text
        head, *rows = table.all("tr")
        assert rows and {each.attributes.get("scope") for each in head.children} == {"col"}
        for row in rows:
            assert len(row.children) == len(head.children)
            assert row.children[0].name == "th" and row.children[0].attributes["scope"] == "row"
    holders = [one for one in page.all("div") if one.attributes.get("class") == "table"]
    assert len(holders) == len(tables) and {one.attributes["tabindex"] for one in holders} == {"0"}


def test_every_path_leads_to_something_in_its_file(folder: Path, page: Element) -> None:
    """The paths of rows are exact ones, and each names a member of the record or of the published file."""
    followed = 0
    for section in page.all("div"):
        if section.attributes.get("class") != "table":
            continue
        paths = [one.text for one in section.all("td") if one.attributes.get("class") == "place"]
        for path in paths:
            if re.search(r"[–,]|\.tables", path):
                continue
            assert any(_leads(json.loads((folder / name).read_text()), path) for name in ("run.json", "network.json"))
            followed += 1
    assert followed > 300


def _leads(document: Any, path: str) -> bool:
    """$.a.b[3] by the document's own members."""
    rest = path.removeprefix("$")
    while rest:
        if isinstance(document, list) and (match := re.match(r"\[(\d+)\]", rest)):
            if int(match.group(1)) >= len(document):
                return False
            document, rest = document[int(match.group(1))], rest[match.end():]
            continue
        name = max((key for key in document if rest.startswith("." + key)), key=len, default=None) \
            if isinstance(document, dict) else None
        if name is None:
            return False
        document, rest = document[name], rest[1 + len(name):]
    return True


def test_the_first_screen_says_what_the_record_says(alone: Element) -> None:
    """The best stage, and no other: how fast it is beside the baseline, the library and the limit."""
    text = _section(alone, "summary").text
    document = ladders()
    rows = next(one["rows"] for one in document["ladders"] if (one["device"], one["layer"], one["batch"]) == (
        "cpu", "conv2", max(BATCHES)))
    best = min((row for row in rows if row["rung"]), key=lambda row: row["median_ns"])
    assert f"6 stages of the CPU ladder and 2 libraries, on {len(LAYERS)} layers (lenet28.conv1, " in text
    assert (f"Best is {CPU_STAGES[best['rung'] - 1][1]} (stage {best['rung']}): on lenet72.conv2 at batch 1000 it is at "
            f"least {math.floor(best['x_baseline']['low'])} times as fast as the baseline") in text
    assert f"least {math.floor(best['percent_of_floor']['low'])}% of the machine's limit" in text
    assert f"reaches at least {math.floor(best['percent_of_library']['low'])}% of the speed of oneDNN" in text
    assert "AMD" not in text and "Example CPU 7000 @ 2.40GHz, 2 threads, host bench" in text
    shown = cells(_section(alone, "summary").all("table")[-1])
    assert [row[0] for row in shown] == ["lenet72.conv2", "lenet72.conv1", "lenet28.conv1"]
    ran = [case for case in document["cases"] if case["status"] not in ("skipped", "unsupported")]
    assert f"{len(ran)} of {len(ran)} verified" in text and "cuda skipped: no CUDA device" in text


@pytest.fixture(scope="module")
def alone(folder: Path) -> Element:
    """The page of the run alone."""
    assert report(folder / "run.json", "--output", folder / "alone.html").returncode == 0
    return parsed((folder / "alone.html").read_text(encoding="utf-8"))


def test_several_records_are_told_apart_first(page: Element) -> None:
    text = _section(page, "summary").text
    assert "One convolution, stage by stage: run.json" in text
    assert "lenet72 and alexnet, from images to scores: network.json" in text
    assert "lenet72 at batch 10000 on cpu takes" in text and "with oneDNN" in text


def test_runs_stand_side_by_side(tmp_path: Path) -> None:
    """Stage beside stage, each time as its own record has it, and how fast one run was beside the other."""
    for name, factor in (("old", 2.0), ("new", 1.0)):
        document = RecordMaker([LAYERS[0]], [10]).add_cpu().record()
        for row in document["ladders"][0]["rows"]:
            row.update(median_ns=1e6 * factor, low_ns=0.99e6 * factor, high_ns=1.02e6 * factor)
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(document))
    assert report(tmp_path / "old/run.json", tmp_path / "new/run.json", "--output", tmp_path / "x.html").returncode == 0
    page = parsed((tmp_path / "x.html").read_text())
    titles = [one.text for one in page.all("h2")]
    assert titles == ["Side by side", *(f"One convolution, stage by stage: {name}/run.json" for name in ("old", "new"))]
    rows = cells(_section(page, "side-by-side").all("table")[-1])
    assert rows[0] == ["1 Accumulate in memory", "2.00 ms", "1.00 ms", "2.00× (1.91 to 2.09)"] and len(rows) == 8


def test_the_record_s_own_summary_and_sentences_are_told(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(with_summary(ladders())))
    done = report(tmp_path / "run.json", "--markdown", tmp_path / "markdown")
    assert (done.returncode, done.stderr) == (0, "")
    page = parsed((tmp_path / "report.html").read_text())
    text = _section(page, "summary").text
    assert ("Best is Flat vector (stage 4) or Unrolled taps (stage 5), which cannot be told apart: on lenet72.conv2 at batch "
            "1000 Flat vector is at least 75 times as fast as the baseline and at least 24 times as fast as stage 3, Tile in "
            "cache.") in text
    assert "reaches at least 41% of the speed of oneDNN" in text
    assert "Tile in cache takes at least 1.2 times as long as Local accumulation (1.23 to 1.28)" in _section(page, "r1-times-1-losses").text
    step = _section(page, "r1-steps").all("li")[0]
    assert step.all("strong")[0].text == "Flat vector (stage 4), 3.58× (3.51 to 3.65) over Tile in cache."
    assert "It relieved the store <unit>. The rate of additions binds now." in step.text
    written = (tmp_path / "markdown/report.md").read_text()
    assert "at least 75 times as fast as the baseline" in written.split("## ")[0] and "![" in written.split("## ")[0]


def test_the_heat_map_has_a_text_in_every_cell(page: Element) -> None:
    tables = [table for table in _section(page, "r1-times-1-heat").all("table")
              if "as long as the fastest" in table.all("caption")[0].text]
    assert len(tables) == len(LAYERS)
    for table in tables:
        shaded = [cell for cell in table.all("td") if "level-" in (cell.attributes.get("class") or "")]
        assert len(shaded) == 8 * len(BATCHES) and all(re.match(r"(~1|[\d.]+)×( \([\d.]+ to [\d.]+\))? · ", cell.text) for cell in shaded)
        for column in range(1, len(BATCHES) + 1):
            assert sum(row[column].startswith("1.00× ·") for row in cells(table)) >= 1
        assert {"number level-0", "number level-6"} <= {cell.attributes["class"] for cell in shaded}


def test_samples_stand_in_run_order(page: Element) -> None:
    section = _section(page, "r1-times-1-samples")
    assert [table.all("caption")[0].text.split(" · ")[1] for table in section.all("table")] == [
        f"{network}.{layer}" for network, layer, _ in LAYERS]
    document = ladders()
    for table in section.all("table"):
        for row, path in zip(cells(table), [one.text for one in table.all("td")
                                            if one.attributes.get("class") == "place"]):
            case = document["cases"][int(path.split("[")[1].split("]")[0])]
            time = layer_figure(case)
            assert time and row[1] == str(len(time["samples"]))
            low = 100 * (min(time["samples"]) / time["median"] - 1)
            assert row[2].startswith(f"{low:+.1f} … ")


def test_cases_without_a_result_are_listed_with_reasons(page: Element) -> None:
    skipped = _section(page, "r1-failed")
    number = len(LAYERS) * len(BATCHES) * 7
    assert f"cuda: {number} cases skipped, no CUDA device." in skipped.text
    assert ["simulated", "unsupported", str(len(LAYERS) * len(BATCHES)), "no PTX of it"] in [
        row[:4] for row in cells(skipped.all("table")[0])], "what was skipped fills no table"
    rows = cells(_section(page, "r2-failed").all("table")[0])
    assert ["cpu", "crashed", "1", "signal 11", "cpu/gone/lenet72/100"] in rows


def test_ids_are_put_together_only_where_nothing_else_is_said() -> None:
    sizes = ["conv1/10", "conv1/100", "conv2/10"]
    ids = [f"cpu/{variant}/{size}" for size in sizes for variant in ("a", "b")]
    assert ids_text(ids) == "a, b; on conv1/10, conv1/100, conv2/10"
    assert ids_text([*ids, "cpu/a/conv2/100", "cpu/b/conv2/100"]) == "a, b; on conv1, conv2; at batch 10, 100"
    assert ids_text(ids[1:]) == ", ".join(ids[1:])
    assert ids_text([ids[0], ids[0]]) == f"{ids[0]}, {ids[0]}"


def test_the_environment_is_all_of_the_context(page: Element) -> None:
    rows = dict(tuple(row) for row in cells(_section(page, "r1-environment").all("table")[0]))
    assert rows["program.commit"] == "0123456789abcdef0123456789abcdef01234567"
    assert rows["cpu.caches[0].bytes"] == "32768" and rows["host.virtual_machine"] == "yes"
    assert rows["devices[2].facts.modelled GPU"] == "Example GPU X"


UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
PUBLISHED = sorted((REPOSITORY / "results/published").glob("*.json"))


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_published_table_is_there_as_it_stands(path: Path, page: Element) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    shown = {table.all("caption")[0].text: table for table in page.all("table")}
    assert sum(document["title"] in caption for caption in shown) >= len(document["tables"])
    for table in document["tables"]:
        captions = [caption for caption in shown if caption.startswith(f"Published: {document['title']} · ")
                    and f" · {table['name']}" in caption]
        assert captions, table["name"]
        assert all((document["device"] or "device not named") in caption for caption in captions)
        if "profile" in table:
            for group in table["profile"]["groups"]:
                rows = cells(shown[next(one for one in captions if one.endswith(f"{table['name']}: {group['group']}"))])
                assert [row[-1] for row in rows] == [row["name"] for row in group["rows"]]
                for shown_row, row in zip(rows, group["rows"]):
                    if "total_ns" in row:
                        number, unit = shown_row[1].split()
                        assert float(number) * UNITS[unit] == pytest.approx(row["total_ns"], rel=1e-12)
        else:
            words = {None: "–", True: "yes", False: "no"}
            expected = [[one if isinstance(one, str) else json.dumps(one) if isinstance(one, (int, float))
                         and not isinstance(one, bool) else words[one] for one in row] for row in table["rows"]]
            assert any(cells(shown[caption]) == expected for caption in captions)


@pytest.fixture(scope="module")
def beside_ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Element]:
    """Of a run of every network that others published figures of, the networks' sections by their network."""
    path = tmp_path_factory.mktemp("full") / "network.json"
    maker = NetworkRecordMaker()
    for network in sorted({json.loads(one.read_text(encoding="utf-8"))["network"] for one in PUBLISHED}):
        maker.add(network, [1, 10])
    path.write_text(json.dumps(maker.record()), encoding="utf-8")
    assert report(path).returncode == 0
    page = parsed((path.parent / "report.html").read_text(encoding="utf-8"))
    titles = {one.attributes["id"]: one.text for one in page.all("h2")}
    return {titles[f"{name}-title"].split(" on ")[0]: one for one in page.all("section")
            if re.fullmatch(r"r1-network-\d+", name := str(one.attributes.get("id")))}


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_published_table_stands_beside_ours_in_a_full_run(path: Path, beside_ours: dict[str, Element]) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    section = beside_ours[document["network"]]
    captions = [one.text for one in section.all("caption")]
    assert any("measured" in caption and not caption.startswith("Published") for caption in captions)
    assert document["tables"]
    for table in document["tables"]:
        named = [caption for caption in captions if caption.startswith(f"Published: {document['title']} · ")
                 and f" · {table['name']}" in caption]
        expected = len(table["profile"]["groups"]) if "profile" in table else 1
        assert len(named) >= expected, table["name"]


def test_published_tables_stand_beside_ours(page: Element) -> None:
    captions = [one.text for one in _section(page, "r2-network-1-op-times").all("caption")]
    assert captions[0].startswith("Op times, measured") and any(one.startswith("Published: ") for one in captions)
    sweep = _section(page, "r2-network-2-sweep")
    ours, theirs = sweep.all("table")[0], sweep.all("table")[-1]
    assert cells(ours)[0][0] == "1" and "measured" in ours.text
    assert theirs.all("caption")[0].text.startswith("Published: AlexNet") and len(cells(theirs)) > 5


def test_profiles_are_cut_at_ninety_percent(page: Element) -> None:
    for table in _section(page, "r2-network-1-profile").all("table"):
        if table.all("caption")[0].text.startswith("Profile of"):
            shares = [float(row[0].rstrip("%")) for row in cells(table)]
            sums = [float(row[1].rstrip("%")) for row in cells(table)]
            assert sums == pytest.approx([sum(shares[:end]) for end in range(1, len(shares) + 1)], abs=0.05)
            assert sums[-1] >= 90 and all(one < 90 for one in sums[:-1])


def test_it_is_small_and_the_same_bytes_each_time(folder: Path, tmp_path: Path) -> None:
    original = (folder / "report.html").read_bytes()
    assert len(original) < 2_000_000
    for name in ("run.json", "network.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    environment = os.environ | {"PYTHONHASHSEED": "5", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
    done = report_process("run.json", "network.json", "--output", "there/page.html", cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert (tmp_path / "there/page.html").read_bytes() == original


def test_markdown_has_every_figure_as_a_file_and_every_table(folder: Path, page: Element) -> None:
    text = (folder / "markdown/report.md").read_text(encoding="utf-8")
    linked = re.findall(r"!\[.+\]\((\S+\.svg)\)", text)
    assert len(linked) == FIGURES_OF_RUN + FIGURES_OF_NETWORKS
    assert {one.name for one in (folder / "markdown").iterdir()} == {*linked, "report.md"}
    assert text.count("\n|:--|") + text.count("\n|--:|") == len(page.all("table"))


def _section(page: Element, name: str) -> Element:
    return next(one for one in page.all("section") if one.attributes.get("id") == name)


def test_names_with_markup_are_text(tmp_path: Path) -> None:
    run = RecordMaker([LAYERS[0]], [10]).add_cpu().add_counted(executed=10).add_skipped_cuda().record()
    network = NetworkRecordMaker().add("lenet72", [10]).record()
    for document in (run, network):
        document["complete"] = False
        for one in document["variants"]:
            one["title"] = MARKUP
        document["context"]["cpu"]["model"] = document["context"]["host"]["name"] = MARKUP
        document["context"][MARKUP] = {MARKUP: MARKUP}
    for case in run["cases"]:
        case["layer"] = MARKUP
        case["reason"] = MARKUP if case["reason"] else None
    for one in run["ladders"]:
        one["layer"] = MARKUP
    network["networks"][0]["title"] = MARKUP
    for group in network["cases"][0]["profile"]["groups"]:
        group["rows"][0]["name"] = MARKUP
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "network.json").write_text(json.dumps(network))
    done = report(tmp_path / "run.json", tmp_path / "network.json", "--markdown", tmp_path / "markdown")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "report.html").read_text()
    page = parsed(text)
    assert not page.all("script") and not page.all("img") and "<script" not in text and "<img" not in text
    assert not [key for one in page.all() for key in one.attributes if key.startswith("on")]
    assert "<script>alert(1)</script>" in page.text and "{{ 7*7 }}" in page.text
    assert "<script" not in (tmp_path / "markdown/report.md").read_text().replace("\\<script", "")


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize("change", [
    lambda run: run["ladders"][0]["rows"][0].update(median_ns=1e308, low_ns=1e307,
                                                      high_ns=1e308),
    lambda run: run["ladders"][0]["rows"][0].update(median_ns=5e-324),
    lambda run: run["ladders"][0]["rows"][0].update(median_ns=-1.0, layer_median_ns=0),
    lambda run: run["ladders"][0].update(batch=2**63 - 1),
    lambda run: [row.update(gflop_per_s=0.0) for row in run["ladders"][0]["rows"]],
    lambda run: run.update(ladders=[], cases=[], planned=[]),
])
def test_numbers_that_no_axis_holds_do_no_harm(change: Change, tmp_path: Path) -> None:
    run = RecordMaker([LAYERS[0]], [10, 100]).add_cpu().record()
    change(run)
    (tmp_path / "run.json").write_text(json.dumps(run))
    done = report(tmp_path / "run.json")
    assert (done.returncode, done.stderr) == (0, "")
    parsed((tmp_path / "report.html").read_text())


@pytest.mark.parametrize("content, message", [
    ("", ":1:1: the file is empty"),
    ('{"schema_version": "1.0", "cases"', "the file ends in the middle"),
    ('{"schema_version": "1.0", "schema_version": "1.0"}', 'the member "schema_version" occurs twice'),
    ('{"schema_version": "2.0", "cases": [], "ladders": []}', '$.schema_version: expected schema version "1.1", found'),
    ('{"kind": "network", "schema_version": "9"}', '$.schema_version: expected schema version "1.1", found "9"'),
    ('{"a": NaN}', "NaN is not JSON"),
    ("[" * 100000, "nested too deeply"),
    ("9" * 5000, ":1:1: "),
    ("[]", "$: not a convladder run"),
])
def test_what_cannot_be_read_is_said_in_one_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    done = report(tmp_path / "run.json")
    assert done.returncode == 3 and done.stdout == "" and not (tmp_path / "report.html").exists()
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("report.py: ") and message in done.stderr


@pytest.mark.parametrize("change, message", [
    (lambda run: run["ladders"][0].update(batch=10**30), "$.ladders[0].batch: expected an integer of 64 bits"),
    (lambda run: run["ladders"][0].update(batch=-7), "$.ladders[0].batch: expected an integer from 1, found -7"),
    (lambda run: run["ladders"][0]["rows"][0].update(median_ns=10**400), "expected a finite number"),
    (lambda run: run["cases"][0].update(reason=7), "$.cases[0].reason: expected a string, found 7"),
    (lambda run: run["cases"][0].pop("status"), '$.cases[0]: the member "status" is missing'),
])
def test_a_wrong_value_is_named_with_its_place(change: Change, message: str, tmp_path: Path) -> None:
    run = RecordMaker([LAYERS[0]], [10]).add_cpu().record()
    change(run)
    (tmp_path / "run.json").write_text(json.dumps(run))
    done = report(tmp_path / "run.json")
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and message in done.stderr


def test_one_unreadable_record_of_several_is_named(folder: Path, tmp_path: Path) -> None:
    done = report(folder / "run.json", tmp_path / "none.json", "--output", tmp_path / "x.html")
    assert done.returncode == 3 and "none.json: No such file" in done.stderr and done.stderr.count("\n") == 1


def test_usage_and_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    assert report().returncode == 2
    (tmp_path / "file").write_text("")
    (tmp_path / "run.json").write_text(json.dumps(RecordMaker([LAYERS[0]], [10]).add_cpu().record()))
    done = report(tmp_path / "run.json", "--output", tmp_path / "file/report.html")
    assert done.returncode == 4 and done.stderr.startswith("report.py: cannot write") and done.stderr.count("\n") == 1
