#!/usr/bin/python3 -B
"""Checks run.json, network.json, sweep.json or rank.json against its schema, and the rules a schema cannot say."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Iterator, Optional

from convladder_charts.json_text import RecordError, is_of_networks
from convladder_charts.record_file import read_json
from convladder_charts.rules import ceilings, networks, predictions, rankings, schema
from convladder_charts.rules.of_ladder import Rows, least_of_libraries, outlines
from convladder_charts.rules.problem import Problem, agrees, ratio_agrees

_MUST_HAVE_TIME = ("cpu", "cuda")
_LADDER_TIMES = {"median_ns": "median", "low_ns": "low", "high_ns": "high"}

EXAMPLES = """\
examples:
  scripts/validate_record.py results/host-20250101/run.json
  scripts/validate_record.py results/*/*.json && echo all are valid

The field "kind" of a file says which kind of record it is. Prints one line per problem: file, place in
the document, what is wrong.
exit status: 0 valid, 1 problems found, 2 usage."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RECORD.json",
                        help="a run.json, a network.json, a a sweep.json or a rank.json")
    sys.stdout.reconfigure(errors="replace")
    lines = [line for path in parser.parse_args(arguments).runs for line in complaints(path)]
    for line in lines:
        print(line)
    return 1 if lines else 0


def complaints(path: Path) -> list[str]:
    """One line for each problem of one file."""
    try:
        document = read_json(path)
    except RecordError as error:
        return [str(error)]
    return [f"{path}: {place}: {what}" for place, what in problems(document)]


def problems(document: Any) -> list[Problem]:
    """The schema's findings; the further rules only where the schema finds nothing, since they rely on its types."""
    return list(schema.problems(document, _kind(document))) or list(_against_rules(document))


def _kind(document: Any) -> str:
    """What a document says of itself."""
    kind = document.get("kind") if isinstance(document, dict) else None
    return kind if isinstance(kind, str) else ""


def _against_rules(document: Any) -> Iterator[Problem]:
    yield from _not_finite(document, "$")
    yield from _ids(document)
    yield from _sessions(document)
    if _kind(document) == "sweep":
        return
    if _kind(document) == "rank":
        yield from rankings.problems(document)
        return
    if is_of_networks(document):
        yield from networks.problems(document)
        return
    rungs: dict[tuple[str, str], list[Optional[int]]] = {}
    for one in document["variants"]:
        rungs.setdefault((one["family"], one["name"]), []).append(one["rung"])
    for index, case in enumerate(document["cases"]):
        yield from _case(case, f"$.cases[{index}]", rungs)
    cases = Rows(document["cases"])
    for index, ladder in enumerate(document["ladders"]):
        yield from _Ladder(ladder, f"$.ladders[{index}]", document["variants"], cases.of(ladder)).problems()
    yield from ceilings.problems(document)
    for index, view in enumerate(document.get("leave_one_out", [])):
        yield from _left_out(view, f"$.leave_one_out[{index}]", cases)


def _not_finite(value: Any, place: str) -> Iterator[Problem]:
    """1e999 is JSON, but no number that anybody can use."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place, "beyond the range of a double; expected a finite number or null"
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _not_finite(member, f"{place}.{name}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from _not_finite(item, f"{place}[{index}]")


def _ids(document: Any) -> Iterator[Problem]:
    """Ids name one case each, and a complete run has done what it planned."""
    seen: dict[str, int] = {}
    for index, case in enumerate(outlines(document["cases"])):
        first = seen.setdefault(case["id"], index)
        if first != index:
            yield f"$.cases[{index}].id", f"\"{case['id']}\" is already the id of $.cases[{first}]"
    listed: set[str] = set()
    for index, one in enumerate(document["planned"]):
        if one in listed:
            yield f"$.planned[{index}]", f"\"{one}\" is planned twice"
        listed.add(one)
        if document["complete"] and one not in seen:
            yield f"$.planned[{index}]", f"the run is complete, but there is no case \"{one}\""
    for one, index in seen.items():
        if one not in listed:
            yield f"$.cases[{index}].id", f"\"{one}\" was not planned"


def _sessions(document: Any) -> Iterator[Problem]:
    sessions = len(document["context"]["sessions"])
    for index, case in enumerate(outlines(document["cases"])):
        if not 0 <= case["session"] < sessions:
            yield f"$.cases[{index}].session", f"expected an index below {sessions}, found {case['session']}"


def _case(case: Any, place: str, rungs: Mapping[tuple[str, str], Sequence[Optional[int]]]) -> Iterator[Problem]:
    expected = f"{case['device']}/{case['variant']}/{case['network']}.{case['layer']}/{case['batch']}"
    if case["id"] != expected:
        yield f"{place}.id", f"expected \"{expected}\", found \"{case['id']}\""
    described = rungs.get((case["family"], case["variant"]), ())
    if len(described) != 1:
        yield f"{place}.variant", (f"expected one entry in $.variants for \"{case['family']}\" \"{case['variant']}\", "
                                   f"found {len(described)}")
    elif described[0] != case["rung"]:
        yield f"{place}.rung", f"expected {described[0]} as in $.variants, found {case['rung']}"
    yield from _status(case, place)
    yield from predictions.problems(case, place)
    for at, time in _times(case, place):
        yield from _time(time, at)


def _status(case: Any, place: str) -> Iterator[Problem]:
    """A case that is not ok publishes no time and says why; a real device's case that is ok has one."""
    if case["status"] != "ok":
        if case["time"] is not None or case["other_times"]:
            yield f"{place}.time", f"expected no time, because the status is \"{case['status']}\""
        if not case["reason"]:
            yield f"{place}.reason", f"expected why the status is \"{case['status']}\""
        return
    if case["reason"] is not None:
        yield f"{place}.reason", "expected null, because the status is \"ok\""
    if case["time"] is None:
        if case["device"] in _MUST_HAVE_TIME or (case["counters"] is None and case["prediction"] is None):
            yield f"{place}.time", "expected a time, because the status is \"ok\""
    elif case["time"]["median"] is None:
        yield f"{place}.time.median", "expected a number, because the status is \"ok\""


def _times(case: Any, place: str) -> Iterator[tuple[str, Any]]:
    if case["time"] is not None:
        yield f"{place}.time", case["time"]
    for index, time in enumerate(case["other_times"]):
        yield f"{place}.other_times[{index}]", time


def _time(time: Any, place: str) -> Iterator[Problem]:
    samples, median, interval = time["samples"], time["median"], time["interval"]
    for index, sample in enumerate(samples):
        if not sample > 0:
            yield f"{place}.samples[{index}]", f"expected a positive time, found {sample}"
    if time["iterations_per_sample"] < 1:
        yield f"{place}.iterations_per_sample", f"expected at least 1, found {time['iterations_per_sample']}"
    if median is not None and time["kind"] == "measured" and not samples:
        yield f"{place}.samples", "expected the samples of a measured median, found none"
    if median is not None and samples and not min(samples) <= median <= max(samples):
        yield f"{place}.median", f"{median} lies outside its samples, {min(samples)} to {max(samples)}"
    if interval is None:
        return
    if not 0 < interval["level"] <= 1:
        yield f"{place}.interval.level", f"expected a level above 0 and up to 1, found {interval['level']}"
    if median is None or not interval["low"] <= median <= interval["high"]:
        yield f"{place}.interval", f"{interval['low']} to {interval['high']} does not bracket the median {median}"


class _Ladder:
    """One ladder: its rows are its cases, and its ratios follow from their layer times."""

    def __init__(self, ladder: Any, place: str, variants: Sequence[Any], cases: Mapping[str, Any]) -> None:
        self.ladder = ladder
        self.place = place
        self.cases = cases
        self.fastest = least_of_libraries(ladder, cases, lambda row: row["median_ns"])
        self.builds_on = {one["name"]: one["builds_on"] for one in variants if one["family"] == ladder["family"]}
        rows = ladder["rows"]
        self.layer = {row["variant"]: row["median_ns"] for row in rows}
        rungs = [row for row in rows if row["rung"] is not None]
        self.baseline = min(rungs, key=lambda row: row["rung"])["median_ns"] if rungs else None

    def problems(self) -> Iterator[Problem]:
        """Everything wrong with this ladder."""
        for index, row in enumerate(self.ladder["rows"]):
            place = f"{self.place}.rows[{index}]"
            case = self.cases.get(row["case"])
            if case is None:
                yield f"{place}.case", f"there is no case \"{row['case']}\""
                continue
            yield from self._belongs(row, case, place)
            yield from self._figures(row, case, place)
            yield from self._ratios(row, place)
        yield from self._steps()

    def _steps(self) -> Iterator[Problem]:
        """Measured factors follow from the rows."""
        for index, step in enumerate(self.ladder["steps"]):
            place = f"{self.place}.steps[{index}]"
            for name in ("variant", "builds_on"):
                if step[name] is not None and step[name] not in self.builds_on:
                    yield f"{place}.{name}", f"there is no variant \"{step[name]}\" of family {self.ladder['family']}"
            if step["kind"] == "measured":
                yield from ratio_agrees(step["x"], _over(self.layer.get(step["builds_on"]), self.layer.get(step["variant"])),
                                  f"{place}.x", "the layer time of the stage it is compared with over its own")

    def _belongs(self, row: Any, case: Any, place: str) -> Iterator[Problem]:
        for name in ("device", "family", "network", "layer", "batch"):
            if case[name] != self.ladder[name]:
                yield f"{place}.case", f"its {name} is {case[name]}, the ladder's is {self.ladder[name]}"
        for name in ("variant", "rung", "status"):
            if row[name] != case[name]:
                yield f"{place}.{name}", f"expected {case[name]} as in its case, found {row[name]}"

    def _figures(self, row: Any, case: Any, place: str) -> Iterator[Problem]:
        """The row's times are its case's layer time, and the op time beside it is its own."""
        times = [one for one in (case["time"], *case["other_times"]) if one and one["kind"] == self.ladder["kind"]]
        time = next((one for one in times if one["of"] == "layer" and one.get("cache", "hot") == "hot"), None)
        own = {"median": None, "low": None, "high": None} | ((time["interval"] or {}) if time else {})
        if time:
            own["median"] = time["median"]
        for name, source in _LADDER_TIMES.items():
            yield from agrees(row[name], own[source], f"{place}.{name}", "its case's layer time")
        op = times[0] if times and times[0]["of"] == "op" else None
        found = row["op_in_own_layout"]
        yield from agrees(found and found["median_ns"], op and op["median"], f"{place}.op_in_own_layout",
                          "its case's op time")
        rate = _over(case["work"]["flop"], own["median"])
        yield from agrees(row["gflop_per_s"], rate, f"{place}.gflop_per_s", "its case's flop over its time")

    def _ratios(self, row: Any, place: str) -> Iterator[Problem]:
        own, library = row["median_ns"], row["rung"] is None
        fastest = self.fastest(row)
        previous = self.layer.get(self.builds_on.get(row["variant"]))
        expected = {
            "x_previous": (_over(previous, own), "the layer time of the stage it builds on over its own"),
            "x_baseline": (_over(self.baseline, own), "the first rung's layer time over its own"),
            "percent_of_library": (_over(fastest, own, 100), "100 * the fastest library's layer time over its own"),
        }
        for name, (value, what) in expected.items():
            if not (library and row[name] is None):  # a library need not be compared with the ladder
                yield from ratio_agrees(row[name], value, f"{place}.{name}", what)


def _left_out(view: Any, place: str, cases: Rows) -> Iterator[Problem]:
    """The stage stands first, every row has its case, and quotients are those of their figures."""
    whole = view["rows"][0]
    if whole["variant"] != view["best"] or whole["leaves_out"] is not None:
        yield f"{place}.rows[0]", f"expected {view['best']}, with nothing left out"
    for index, row in enumerate(view["rows"]):
        at = f"{place}.rows[{index}]"
        if not cases.has(row["case"]):
            yield f"{at}.case", f"there is no case \"{row['case']}\""
        for name, figure in (("x_instructions", "instructions_per_multiply_add"), ("x_time", "median_ns")):
            yield from ratio_agrees(row[name], _over(row[figure], whole[figure]), f"{at}.{name}",
                                    f"its {figure} divided by that of the stage")


def _over(dividend: Optional[float], divisor: Optional[float], factor: float = 1) -> Optional[float]:
    return None if dividend is None or not divisor else factor * dividend / divisor


if __name__ == "__main__":
    sys.exit(main())
