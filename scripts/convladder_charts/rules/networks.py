"""The rules of a network.json that its schema cannot say. They rely on the types that the schema has checked."""

from __future__ import annotations

import math
import statistics
from typing import Any, Iterator, Optional

from convladder_charts.rules.problem import RELATIVE, Problem

_ROUNDING = 1.001
"""How far the parts of one pass may be above the whole: clocks are read one after the other."""
_LINEAR = ("convolution", "fully_connected")
_NOTHING = {"total": None, "program": None, "accuracy": None, "profile": None, "phases": []}
"""What a case has that is not ok."""


def problems(document: Any) -> Iterator[Problem]:
    """Everything wrong with a document that fits the schema; ids are checked with those of other records."""
    networks = {one["name"]: one for one in document["networks"]}
    families = {one["kind"]: one["family"] for one in document["context"]["devices"]}
    described = {(one["family"], one["name"]) for one in document["variants"]}
    if len(networks) != len(document["networks"]):
        yield "$.networks", "a network occurs twice"
    for index, case in enumerate(document["cases"]):
        place = f"$.cases[{index}]"
        if case["network"] not in networks:
            yield f"{place}.network", f"\"{case['network']}\" is not in $.networks"
        expected = f"{case['device']}/{case['variants']}/{case['network']}/{case['batch']}"
        if case["id"] != expected:
            yield f"{place}.id", f"expected \"{expected}\", found \"{case['id']}\""
        yield from _described(case, place, described, families.get(case["device"]))
        yield from _case(case, place)
        yield from _published(case, place, document["published"])


def _described(case: Any, place: str, described: set[tuple[str, str]], family: Optional[str]) -> Iterator[Problem]:
    """Every convolution's variant says in $.variants what it is."""
    for index, step in enumerate(case["steps"]):
        if step["type"] == "convolution" and (family, step["implementation"]) not in described:
            yield f"{place}.steps[{index}].implementation", (
                f"expected an entry in $.variants for \"{family}\" \"{step['implementation']}\"")


def _case(case: Any, place: str) -> Iterator[Problem]:
    if case["status"] != "ok":
        yield from _not_ok(case, place)
        return
    if case["reason"] is not None:
        yield f"{place}.reason", "expected null, because the status is \"ok\""
    if not 1 <= case["images_at_once"] <= case["batch"]:
        yield f"{place}.images_at_once", f"expected 1 to {case['batch']}, found {case['images_at_once']}"
    if not any(step["type"] == "convolution" for step in case["steps"]):
        yield f"{place}.steps", "expected at least one convolution"
    for index, step in enumerate(case["steps"]):
        yield from _verified(step, f"{place}.steps[{index}]", case["batch"])
    passes = 1 if case["total"] is None else len(case["total"]["samples"])
    if case["compared_passes"] != passes:
        yield f"{place}.compared_passes", f"expected {passes}, every pass, found {case['compared_passes']}"
    if case["total"] is None:
        yield from _counted(case, place)
    else:
        yield from _measured(case, place)
    if case.get("loaded") is not None:
        yield from _loaded(case, f"{place}.loaded")
    if case["accuracy"] is not None:
        yield from _accuracy(case["accuracy"], f"{place}.accuracy", case["batch"])
    for index, call in enumerate(case["within_rounding"]):
        yield from _close_call(call, f"{place}.within_rounding[{index}]", case["batch"])


def _not_ok(case: Any, place: str) -> Iterator[Problem]:
    """It says why, and publishes nothing that was measured."""
    if not (case["reason"] and case["reason"].isprintable()):
        yield f"{place}.reason", f"expected in one line why the status is \"{case['status']}\""
    because = f"because the status is \"{case['status']}\""
    for name, nothing in _NOTHING.items():
        if case[name] != nothing:
            yield f"{place}.{name}", f"expected {'none' if nothing == [] else 'null'}, {because}"
    if case.get("loaded") is not None:
        yield f"{place}.loaded", f"expected null, {because}"
    for index, step in enumerate(case["steps"]):
        if step["time"] is not None or step["counters"] is not None:
            yield f"{place}.steps[{index}].time", f"expected neither time nor counters, {because}"


def _verified(step: Any, place: str, batch: int) -> Iterator[Problem]:
    """Every image of every step was compared with the reference, some of them element by element."""
    check = step["verification"]
    if not check["passed"] or check["failure"] is not None:
        yield f"{place}.verification", f"\"{step['name']}\" is not verified, but the case is \"ok\""
    if check["compared_images"] < 1 or check["max_scaled_error"] is None:
        yield f"{place}.verification", f"\"{step['name']}\" was compared with nothing, but the case is \"ok\""
    images = check["compared_images"] + check["combined_images"]
    if images < batch:
        yield f"{place}.verification", (f"\"{step['name']}\" was verified on {images} of {batch} images, "
                                        "but the case is \"ok\"")
    if check["combined_images"] > 0 and step["type"] not in _LINEAR:
        yield f"{place}.verification.combined_images", f"expected 0, because a {step['type']} is not linear"


def _counted(case: Any, place: str) -> Iterator[Problem]:
    """A device without a clock counts instead, and has no time anywhere."""
    for index, step in enumerate(case["steps"]):
        if step["counters"] is None:
            yield f"{place}.steps[{index}]", "expected a time or counters, because the status is \"ok\""
        if step["time"] is not None:
            yield f"{place}.steps[{index}].time", "expected null, because the pass has no time"
    for name in ("program", "profile"):
        if case[name] is not None:
            yield f"{place}.{name}", "expected null, because the pass has no time"
    if case["phases"]:
        yield f"{place}.phases", "expected none, because the pass has no time"


def _measured(case: Any, place: str) -> Iterator[Problem]:
    total = case["total"]
    yield from _time(total, f"{place}.total")
    for name in ("program", "profile"):
        if case[name] is None:
            yield f"{place}.{name}", "expected an object, because the pass was measured"
    for kind, parts in (("steps", case["steps"]), ("phases", case["phases"])):
        for index, part in enumerate(parts):
            at = f"{place}.{kind}[{index}].time"
            if part["time"] is None:
                yield at, "expected a time, because the pass was measured"
                continue
            yield from _time(part["time"], at)
            if len(part["time"]["samples"]) != len(total["samples"]):
                yield f"{at}.samples", (f"expected {len(total['samples'])}, one for each pass, "
                                        f"found {len(part['time']['samples'])}")
    yield from _sums(case, place)


def _loaded(case: Any, place: str) -> Iterator[Problem]:
    """Batches of a network that stays loaded: only beside passes, and all of them compared."""
    loaded = case["loaded"]
    if case["total"] is None:
        yield place, "expected null, because the pass has no time"
    if loaded["time"]["of"] != "loaded batch":
        yield f"{place}.time.of", f"expected \"loaded batch\", found \"{loaded['time']['of']}\""
    yield from _time(loaded["time"], f"{place}.time")
    samples = len(loaded["time"]["samples"])
    most = loaded["batches_in_a_row"] * samples
    if not samples <= loaded["compared_batches"] <= most:
        yield f"{place}.compared_batches", f"expected {samples} to {most}, every batch, found {loaded['compared_batches']}"


def _sums(case: Any, place: str) -> Iterator[Problem]:
    """In a single pass neither the layers nor the host's phases take longer than all of it.

    Several passes have medians, which do not add up. A device that runs by itself has its layers timed in a pass of
    their own.
    """
    total = case["total"]
    if len(total["samples"]) != 1:
        return
    wholes = {"phases": case["phases"], "steps": case["steps"] if case["device"] == "cpu" else []}
    for kind, parts in wholes.items():
        together = sum(part["time"]["median"] for part in parts if part["time"] is not None)
        if not together <= total["median"] * _ROUNDING:
            yield f"{place}.{kind}", f"together they took {together} ns, more than the pass, {total['median']} ns"


def _time(time: Any, place: str) -> Iterator[Problem]:
    median, interval = time["median"], time["interval"]
    if not math.isclose(median, statistics.median(time["samples"]), rel_tol=RELATIVE):
        yield f"{place}.median", f"expected {statistics.median(time['samples'])} as of its samples, found {median}"
    if interval is None:
        return
    if not 0 < interval["level"] <= 1:
        yield f"{place}.interval.level", f"expected a level above 0 and up to 1, found {interval['level']}"
    if not interval["low"] <= median <= interval["high"]:
        yield f"{place}.interval", f"{interval['low']} to {interval['high']} does not bracket the median {median}"


def _accuracy(accuracy: Any, place: str, batch: int) -> Iterator[Problem]:
    correct, of, value = accuracy["correct"], accuracy["of"], accuracy["value"]
    if correct > of:
        yield f"{place}.correct", f"expected at most {of}, found {correct}"
    if of > batch:
        yield f"{place}.of", f"expected at most the batch of {batch}, found {of}"
    if not math.isclose(value, correct / of, rel_tol=RELATIVE):
        yield f"{place}.value", f"expected {correct / of} ({correct} of {of}), found {value}"
    if not accuracy["low"] <= value <= accuracy["high"]:
        yield place, f"{accuracy['low']} to {accuracy['high']} does not bracket the value {value}"


def _close_call(call: Any, place: str, batch: int) -> Iterator[Problem]:
    if call["image"] >= batch:
        yield f"{place}.image", f"expected an image below {batch}, found {call['image']}"
    if call["found"] not in (call["reference"], call["alternative"]):
        yield f"{place}.found", (f"expected class {call['reference']} or {call['alternative']}, "
                                 f"found {call['found']}")
    if not call["gap"] <= call["rounding"]:
        yield f"{place}.gap", f"{call['gap']} is more than rounding can explain, {call['rounding']}"


def _published(case: Any, place: str, published: dict[str, Any]) -> Iterator[Problem]:
    name = f"{case['network']}/{case['batch']}"
    if name not in published:
        yield place, f"expected \"{name}\" in $.published, even if it is empty"
