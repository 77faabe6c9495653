"""The words of the trust card, and every number of the first screen against the record and its interval."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

from calls import call
from conftest import BATCHES, CPU_STAGES, LAYERS, LIBRARIES, REPOSITORY, RecordMaker, known
from convladder_charts import known_text, style, words
from convladder_charts import record as runs
from convladder_charts.json_text import Node
from convladder_charts.known import Ratio
from convladder_report import trust
from html_page import cells, parsed
from reports import report, with_summary

Change = Callable[[dict[str, Any]], None]
_NUMBER = r"(\d+(?:\.\d+)?)"
_SHOWN = ("best_x_baseline", "best_x_sixth", "best_percent_of_library", "best_percent_of_floor")


def test_the_page_has_the_same_table_as_the_code() -> None:
    """docs/use/report.md, word for word and in the same order."""
    page = (REPOSITORY / "docs/use/report.md").read_text(encoding="utf-8")
    table = page.split("| word | when |\n|---|---|\n")[1].split("\n\n")[0]
    assert [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()] == [
        (rule.word, rule.when) for rule in trust.RULES]


def cases(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that ran on the CPU."""
    return [case for case in document["cases"] if case["device"] == "cpu"]


def marked(mark: str, share: float) -> Change:
    """So many of the times are not quiet; the others are."""
    def change(document: dict[str, Any]) -> None:
        own = cases(document)
        for index, case in enumerate(own):
            is_marked = index < round(share * len(own))
            case["quality"] = {"mark": mark if is_marked else "good", "reasons": ["others took 40 %"] * is_marked}
    return change


def status(name: str, share: float = 0.01) -> Change:
    """So many of the cases ended so."""
    def change(document: dict[str, Any]) -> None:
        own = cases(document)
        for case in own[:max(1, round(share * len(own)))]:
            case.update(status=name, reason="as the test wants it")
    return change


def not_checked(document: dict[str, Any]) -> None:
    cases(document)[0]["checkers"] = {"findings": [], "not_checked": "no PTX of it", "work": None, "seconds": 0.0}


def no_headline(document: dict[str, Any]) -> None:
    document["ladders"][0]["summary"]["no_headline"] = "onednn was disturbed"


def untold(document: dict[str, Any]) -> None:
    for one in document["ladders"]:
        for row in one["rows"]:
            if row["x_previous"]:
                row["x_previous"] = known(1.02, 0.1)


def nothing_ran(document: dict[str, Any]) -> None:
    for case in document["cases"]:
        case.update(status="skipped", reason="no time")


@pytest.mark.parametrize(("change", "word", "reason"), [
    (lambda document: None, "Yes", "all 72 results"), (marked("noisy", 0.2), "Yes", "quiet for"),
    (nothing_ran, "No", "no case ran"), (status("incorrect", 0.6), "No", "results are right"),
    (marked("disturbed", 0.6), "No", "were disturbed (mostly: others took 40 %)"),
    (status("incorrect"), "Roughly", "1 incorrect"), (status("crashed"), "Roughly", "1 crashed"),
    (status("unsafe"), "Roughly", "a checker has a finding in 1 case"), (status("not judged"), "Roughly", "not judged"),
    (not_checked, "Roughly", "1 case not checked for memory"), (marked("disturbed", 0.1), "Roughly", "machine was quiet for only"),
    (marked("noisy", 0.3), "Roughly", "machine was quiet for only"), (no_headline, "Roughly", "onednn was disturbed"),
    (untold, "Roughly", "45 of 45 steps cannot be told")])
def test_the_card_begins_with_the_word_of_the_table(change: Change, word: str, reason: str, tmp_path: Path) -> None:
    document = RecordMaker().add_cpu().record()
    change(document)
    root = Node(json.loads(json.dumps(document)), tmp_path / "run.json")
    text = trust.Trust(root, runs.read(root)).answer().text
    assert text.startswith(f"{word}: ") and reason in text


def test_each_rule_applies_to_some_record_of_these_tests() -> None:
    """A rule that no test meets would be words."""
    parameters = next(mark for mark in test_the_card_begins_with_the_word_of_the_table.pytestmark
                      if mark.name == "parametrize").args[1]
    met = set()
    for change, *_ in parameters:
        document = RecordMaker().add_cpu().record()
        change(document)
        root = Node(document, Path("run.json"))
        one = trust.Trust(root, runs.read(root))
        met |= {rule.when for rule in trust.RULES if rule.reason(one)}
    assert met == {rule.when for rule in trust.RULES if rule.word != trust.YES}


def first_screen(document: dict[str, Any], folder: Path) -> tuple[list[str], list[str], list[list[str]]]:
    """Texts and big figures of the cards, and the rows of the table below them."""
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert report(folder / "run.json", "--output", folder / "page.html").returncode == 0
    page = parsed((folder / "page.html").read_text(encoding="utf-8"))
    cards = [one for one in page.all("div") if one.attributes.get("class") == "answer"]
    texts = [card.all("p")[1].text for card in cards if len(card.all("p")) > 1]
    facts = [f"{item.all('strong')[0].text} {''.join(item.own_text).strip()}" for card in cards for listed in card.all("ul")
             if listed.attributes.get("class") == "facts" for item in listed.all("li")]
    return texts, facts, next((cells(table) for table in page.all("table") if (
        "The best stage of each" in table.all("caption")[0].text)), [])


def within(shown: str, ratio: dict[str, Any], at_least: bool) -> None:
    """What is shown lies in the interval; a bound does not go beyond its low end."""
    value = float(shown)
    if at_least:
        assert value <= ratio["low"] * (1 + 1e-9) and value >= 0.85 * ratio["low"], (shown, ratio)
    else:
        assert ratio["low"] * 0.995 <= value <= ratio["high"] * 1.005, (shown, ratio)


def interval(text: str, ratio: dict[str, Any]) -> None:
    """The one in brackets is the record's, rounded."""
    low, high = map(float, re.findall(rf"\({_NUMBER} to {_NUMBER}\)", text)[0])
    assert low == pytest.approx(ratio["low"], rel=0.05) and high == pytest.approx(ratio["high"], rel=0.05)


def summary_of(document: dict[str, Any]) -> dict[str, Any]:
    """Of the ladder that the first screen is about: the one that takes longest."""
    timed = [one for one in document["ladders"] if one["device"] == "cpu" and one["batch"] == max(
        each["batch"] for each in document["ladders"]) and one["summary"]["best"]]
    longest = max(timed, key=lambda one: max(row["median_ns"] or 0 for row in one["rows"]))
    found: dict[str, Any] = longest["summary"]
    return found


def check(document: dict[str, Any], folder: Path) -> None:
    """Every factor and percentage of the cards and of the table below them."""
    texts, facts, rows = first_screen(document, folder)
    summary = summary_of(document)
    faster, far = texts[:2]
    seen = 0
    for name, text, after in (("best_x_baseline", faster, "times as fast as the baseline"),
                              ("best_x_sixth", faster, "times as fast as stage"),
                              ("best_percent_of_floor", far, "of the machine's limit")):
        ratio = summary[name]
        for how, shown in re.findall(rf"(at least|roughly) {_NUMBER}(?:%)?(?: \([^)]*\))? {after}", text):
            within(shown, ratio, how == "at least")
            seen += 1
        slower = after.replace("as fast", "as long")
        for how, shown in re.findall(rf"takes (at least|roughly) {_NUMBER} times {slower.removeprefix('times ')}", text):
            within(shown, {"low": 1 / ratio["high"], "high": 1 / ratio["low"]}, how == "at least")
            seen += 1
    share = summary["best_percent_of_library"]
    for how, shown in re.findall(rf"reaches (at least|roughly) {_NUMBER}%(?: \([^)]*\))? of the speed of", far):
        within(shown, share, how == "at least")
        seen += 1
    for how, shown in re.findall(rf"best stage is (at least|roughly) {_NUMBER} times as fast as (?!the baseline)", far):
        within(shown, {name: share[name] / 100 for name in ("low", "high")}, how == "at least")
        seen += 1
    known_ones = sum(summary[name] is not None and summary[name]["low"] != summary[name]["high"] for name in _SHOWN)
    assert summary["no_headline"] or seen + (faster + far).count("cannot be told from") >= known_ones
    for fact in facts:
        of = {"over the baseline": "best_x_baseline", "over stage": "best_x_sixth", "of the limit": "best_percent_of_floor",
              "speed": "best_percent_of_library"}
        name = next((member for words, member in of.items() if words in fact), None)
        if name is None:
            assert "measured" in fact
            continue
        sign, shown = re.findall(rf"^(≥|~|>) ?{_NUMBER}", fact)[0]
        ratio = summary[name]
        if shown != "1" and shown != "100":
            within(shown, ratio, sign == "≥")
        interval(fact, ratio)
    in_table(document, rows)


def in_table(document: dict[str, Any], rows: list[list[str]]) -> None:
    """The same of the row of each layer."""
    told = {f"{one['network']}.{one['layer']}": one["summary"] for one in document["ladders"] if one["device"] == "cpu"}
    for layer, *others in rows:
        ratios = [one for name in _SHOWN if (one := told[layer][name]) and one["low"] is not None]
        shown = [cell for cell in others if re.match(r"[~<>?\d].*[×%?] \(", cell)]
        assert len(shown) == sum(one["low"] != one["high"] for one in ratios)
        for cell, ratio in zip(shown, [one for one in ratios if one["low"] != one["high"]]):
            interval(cell, ratio)
            if cell[0].isdigit():
                within(re.findall(_NUMBER, cell)[0], ratio, False)
            elif cell[0] in "<>":
                bound = float(re.findall(_NUMBER, cell)[0])
                assert bound <= ratio["low"] * 1.0001 if cell[0] == ">" else bound >= ratio["high"] * 0.9999
            else:
                whole = 100 if "%" in cell else 1
                assert ratio["low"] <= whole <= ratio["high"]


def of_each_kind(summary: dict[str, Any], width: float, speed: float) -> None:
    """All ratios as wide as that."""
    summary.update(best_x_baseline=known(2.1 * speed, width), best_x_sixth=known(1.3 * speed, width),
                   best_percent_of_library=known(140 * speed, width), best_percent_of_floor=known(61 * speed, width))


@pytest.mark.parametrize("speed", [0.6, 1.0, 3.7])
@pytest.mark.parametrize("width", [0.004, 0.02, 0.09, 0.16, 0.3])
def test_every_number_of_the_first_screen_is_the_record_s(width: float, speed: float, tmp_path: Path) -> None:
    document = with_summary(RecordMaker(batches=[BATCHES[0]]).add_cpu().record())
    for one in document["ladders"]:
        of_each_kind(one["summary"], width, speed)
    check(document, tmp_path)


def test_where_there_is_no_headline_the_card_says_why(tmp_path: Path) -> None:
    document = with_summary(RecordMaker(batches=[BATCHES[0]]).add_cpu().record())
    for one in document["ladders"]:
        one["summary"]["no_headline"] = "onednn was disturbed: others took 40 %"
    texts, facts, _ = first_screen(document, tmp_path)
    assert "By how much is not told: onednn was disturbed: others took 40 %." in texts[0] and "times as fast" not in texts[0]
    assert "How it compares with oneDNN" in texts[1] and "speed of" not in texts[1]
    assert not any("baseline" in fact or "stage" in fact or "speed" in fact for fact in facts)
    assert texts[2].startswith("Roughly: ")


def test_what_cannot_be_told_is_said_on_the_cards(tmp_path: Path) -> None:
    document = with_summary(RecordMaker(batches=[BATCHES[0]]).add_cpu().record())
    for one in document["ladders"]:
        one["summary"].update(best_x_sixth=known(1.01, 0.05), best_percent_of_library=known(99.0, 0.05))
    texts, facts, _ = first_screen(document, tmp_path)
    assert "cannot be told from stage" in texts[0] and "cannot be told from oneDNN" in texts[1]
    assert any(fact.startswith("~1×") for fact in facts) and any(fact.startswith("~100%") for fact in facts)
    assert texts[0].startswith("Best is Flat vector (stage 4) or Unrolled taps (stage 5), which cannot be told apart")


def test_noisy_times_give_an_estimate(tmp_path: Path) -> None:
    document = with_summary(RecordMaker(batches=[BATCHES[0]]).add_cpu().record())
    marked("noisy", 1.0)(document)
    texts, _, _ = first_screen(document, tmp_path)
    assert "roughly 77" in texts[0] and "at least" not in texts[0] + texts[1] and texts[2].startswith("Roughly: ")
    check(document, tmp_path)


def test_every_number_of_a_real_run_is_the_record_s(tmp_path: Path) -> None:
    """Of the program, if the tests know where it is."""
    program = os.environ.get("CONVLADDER_PROGRAM")
    if not program:
        pytest.skip("CONVLADDER_PROGRAM names no program")
    done = subprocess.run([program, "run", "--family", "cpu", "--layer", "lenet28.conv1", "--batch", "16", "--budget", "0.3",
                           "--output", str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check(json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8")), tmp_path)


def of_chosen(names: tuple[str, ...], libraries: bool = True) -> dict[str, Any]:
    """A run that was asked for some stages, as --variant does."""
    stages = [stage for stage in CPU_STAGES if stage[0] in names]
    document = RecordMaker([LAYERS[0]], [10]).add_cpu(stages, LIBRARIES if libraries else []).record()
    rungs = {name: rung for rung, (name, *_) in enumerate(CPU_STAGES, 1)}
    for one in [*document["variants"], *document["cases"], *document["ladders"][0]["rows"]]:
        name = one.get("variant", one.get("name"))
        one["rung"] = rungs.get(name)
    summary = document["ladders"][0]["summary"]
    summary["baseline"] = names[0] if names else None
    return document


def title_of(document: dict[str, Any], folder: Path) -> str:
    """Of the picture of the ladder."""
    root = Node(json.loads(json.dumps(document)), folder / "run.json")
    one = runs.read(root)
    return words.title(one, one.groups[0], one.groups[0].ladders)


def test_the_lowest_stage_of_a_chosen_view_is_not_called_the_baseline(tmp_path: Path) -> None:
    document = of_chosen(("flat-vector", "compile-time"))
    texts, facts, _ = first_screen(document, tmp_path)
    assert "times as fast as Flat vector, the lowest stage timed" in texts[0] and "baseline" not in " ".join([*texts, *facts])
    assert "× over stage 4, at least" in title_of(document, tmp_path)


def test_a_stage_alone_is_compared_with_nothing(tmp_path: Path) -> None:
    document = of_chosen(("flat-vector",), False)
    texts, _, _ = first_screen(document, tmp_path)
    assert texts[0].startswith("Flat vector (stage 4) is the only stage that was timed")
    assert title_of(document, tmp_path).startswith("CPU ladder: ")


def test_libraries_alone_are_no_ladder(tmp_path: Path) -> None:
    document = of_chosen(())
    texts, _, _ = first_screen(document, tmp_path)
    assert texts[0].startswith("No stage of a ladder was timed, only oneDNN")
    assert title_of(document, tmp_path).startswith("CPU ladder: ")


def test_the_best_of_stages_that_cannot_be_told_apart_has_no_title_of_its_own(tmp_path: Path) -> None:
    document = of_chosen(("flat-vector", "compile-time"))
    summary = document["ladders"][0]["summary"]
    summary.update(best="flat-vector", not_told_from_best=["compile-time"], best_x_baseline=known(1.0))
    texts, _, _ = first_screen(document, tmp_path)
    assert texts[0].startswith("Best is Flat vector (stage 4) or Compile-time constants (stage 6), which cannot be told apart, on ")
    assert title_of(document, tmp_path).startswith("No stage can be told to be faster than stage 4: ")


def test_steps_that_cannot_be_told_are_grey_and_said(tmp_path: Path) -> None:
    document = RecordMaker([LAYERS[0]], [10]).add_cpu().record()
    row = document["ladders"][0]["rows"][2]
    row["x_previous"] = known(0.97, 0.08)
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert call("charts.py", tmp_path / "run.json", "--format", "svg").returncode == 0
    shown = (tmp_path / "ladder.svg").read_text(encoding="utf-8")
    assert [shown.count(f'style="fill: {colour};') for colour in (style.UNTOLD, style.LOSS, style.GAIN)] == [1, 0, 4]
    assert "grey, ~1×: cannot be told from the stage that it builds on" in shown and ">~1×<" in shown


@pytest.mark.parametrize(("low", "high", "said"), [
    (1.9, 2.3, "is at least 1.9 times as fast as X"), (1.9, 2.5, "is roughly 2 times as fast as X (1.9 to 2.5)"),
    (0.95, 1.1, "cannot be told from X"), (0.5, 0.52, "takes at least 1.9 times as long as X"), (1.9, 4.0, ""),
    (1.001, 1.02, "is slightly faster than X")])
def test_headlines_are_made_of_the_nearer_end(low: float, high: float, said: str) -> None:
    ratio = Ratio(max(low, min(high, (low * high)**0.5 // 0.01 * 0.01)), low, high)
    assert re.sub(r"roughly [\d.]+", "roughly 2", known_text.speed(ratio, "X")) == said
