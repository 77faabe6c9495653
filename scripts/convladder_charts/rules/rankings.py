"""What the schema of a ranking cannot say: figures that follow from others, and ranks that are in order."""

from __future__ import annotations

from statistics import median
from typing import Any, Iterator

from convladder_charts.rules.problem import Problem, agrees

_TIMED = ("cpu", "cuda")


def problems(document: dict[str, Any]) -> Iterator[Problem]:
    """Places and what is wrong there."""
    by_id = {case["id"]: case for case in document["cases"]}
    for index, case in enumerate(document["cases"]):
        yield from _case(case, f"$.cases[{index}]")
    for index, ranking in enumerate(document.get("rankings", [])):
        yield from _ranking(ranking, by_id, f"$.rankings[{index}]")


def _case(case: dict[str, Any], place: str) -> Iterator[Problem]:
    expected = f"{case['device']}/{case['role']}/{case['name']}/{case['size']}"
    if case["id"] != expected:
        yield f"{place}.id", f"expected {expected} by the other fields"
    has_figure = case["time"] is not None or case["counted"] is not None
    if has_figure != (case["status"] == "ok"):
        yield f"{place}.status", f"is {case['status']}, and there is {'a' if has_figure else 'no'} figure"
    for name in ("time", "baseline_time"):
        if case[name] is not None:
            yield from agrees(case[name]["median"], median(case[name]["samples"]), f"{place}.{name}.median",
                              "the median of the samples")
    if case["time"] is not None and case["device"] not in _TIMED:
        yield f"{place}.time", f"{case['device']} has no clock"


def _ranking(ranking: dict[str, Any], by_id: dict[str, Any], place: str) -> Iterator[Problem]:
    ranks = [row["rank"] for row in ranking["rows"] if row["rank"] is not None]
    places = [1 + sum(other < rank for other in ranks) for rank in ranks]
    if ranks != sorted(ranks) or ranks != places:
        yield f"{place}.rows", f"the ranks {ranks} are not in order"
    values = [row["speed"]["value"] for row in ranking["rows"] if row["rank"] is not None and row["speed"]]
    if values != sorted(values, reverse=True):
        yield f"{place}.rows", "the speeds are not in order"
    for index, row in enumerate(ranking["rows"]):
        at = f"{place}.rows[{index}]"
        if row["shared"] != (row["rank"] is not None and ranks.count(row["rank"]) > 1):
            yield f"{at}.shared", "does not follow from the ranks"
        if row["rank"] is not None and row["status"] != "ok":
            yield f"{at}.rank", f"the status is {row['status']}"
        speed = row["speed"]
        if speed and speed["low"] is not None and not speed["low"] <= speed["value"] <= speed["high"]:
            yield f"{at}.speed", "lies outside of its interval"
        for number, size in enumerate(row["sizes"]):
            case = by_id.get(f"{ranking['device']}/{row['role']}/{row['name']}/{size['size']}")
            if size["figure"] is not None and (case is None or case["status"] != "ok"):
                yield f"{at}.sizes[{number}].figure", "its case is not ok"
