"""What must hold between a run's ceilings, the floors of its ladders and the rows, beyond the schema."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from convladder_charts.rules.problem import Problem, agrees, ratio_agrees


def problems(document: Any) -> Iterator[Problem]:
    """Of a run. One that was cut off before its first case, or imported, holds no ceilings."""
    limits: dict[tuple[Optional[int], str], dict[str, float]] = {}
    for index, one in enumerate(document.get("ceilings", [])):
        place = f"$.ceilings[{index}]"
        if of_machines(one) in limits:
            yield f"{place}.device", f"\"{one['device']}\" has ceilings already"
        limits[of_machines(one)] = {limit["name"]: limit["median"] for limit in one["limits"]}
        for number, limit in enumerate(one["limits"]):
            samples = limit["samples"]
            if not min(samples) <= limit["median"] <= max(samples):
                yield (f"{place}.limits[{number}].median",
                       f"{limit['median']} lies outside its samples, {min(samples)} to {max(samples)}")
    for index, ladder in enumerate(document["ladders"]):
        if ladder["floor"] is not None:
            yield from _floor(ladder["floor"], f"$.ladders[{index}].floor", limits.get(of_machines(ladder), {}))
        yield from _rows(ladder, f"$.ladders[{index}]")
        for number, row in enumerate(ladder["rows"]):
            yield from _roofline(row, ladder["floor"], f"$.ladders[{index}].rows[{number}].roofline",
                                 limits.get(of_machines(ladder), {}))


def of_machines(one: Any) -> tuple[Optional[int], str]:
    """Whose ceilings, or on whose a ladder stands: the kind of machine, where a merged run has several, and the device."""
    return one.get("kind_of_machine"), one["device"]


def _floor(floor: Any, place: str, limits: dict[str, float]) -> Iterator[Problem]:
    """Its terms follow from the limits, and it is the larger one."""
    if set(limits) != {"FMA peak", "streaming store", "copy"}:
        yield place, "expected null, because the device's ceilings are not in the record"
        return
    peak, store, copy = limits["FMA peak"], limits["streaming store"], limits["copy"]
    yield from agrees(floor["operations"], floor["flop"] / peak, f"{place}.operations", "flop over the FMA peak")
    if floor["bytes"] is not None:
        expected = floor["bytes_written"] / store + floor["bytes_read"] * max(2 / copy - 1 / store, 0.0)
        yield from agrees(floor["bytes"], expected, f"{place}.bytes", "bytes over the rates of stores and of a copy")
    terms = {"operations": floor["operations"], "bytes": floor["bytes"] or 0.0}
    bound = "bytes" if terms["bytes"] > terms["operations"] else "operations"
    if floor["bound"] != bound:
        yield f"{place}.bound", f"expected {bound}, the larger one, found {floor['bound']}"
    yield from agrees(floor["value"], terms[bound], f"{place}.value", "the larger of operations and bytes")


def _roofline(row: Any, floor: Any, place: str, limits: dict[str, float]) -> Iterator[Problem]:
    """It follows from the floor's work, the row's layer time and the limits."""
    found, layer = row["roofline"], row["median_ns"]
    moved = floor["bytes_read"] + floor["bytes_written"] if floor else 0
    if not (layer and moved and floor["flop"] and {"FMA peak", "copy"} <= set(limits)):
        if found is not None:
            yield place, "expected null, because the case has no layer time, or its layer no floor"
        return
    if found is None:
        yield place, "expected an object, because the case has a layer time and its layer a floor"
        return
    by_bytes = floor["flop"] / moved * limits["copy"]
    for name, value, what in (("flop", floor["flop"], "the floor's"),
                              ("bytes", moved, "the floor's, read and written"),
                              ("flop_per_byte", floor["flop"] / moved, "flop over bytes"),
                              ("gflop_per_s", floor["flop"] / layer, "flop over the layer time"),
                              ("gb_per_s", moved / layer, "bytes over the layer time"),
                              ("roof_gflop_per_s", min(limits["FMA peak"], by_bytes), "the lower of the two limits")):
        yield from agrees(found[name], value, f"{place}.{name}", what)
    bound = "bytes" if by_bytes < limits["FMA peak"] else "operations"
    if found["bound"] != bound:
        yield f"{place}.bound", f"expected {bound}, the lower limit, found {found['bound']}"


def _rows(ladder: Any, place: str) -> Iterator[Problem]:
    floor = ladder["floor"]
    for index, row in enumerate(ladder["rows"]):
        own = row["median_ns"]
        value = None if floor is None or not own else 100 * floor["value"] / own
        yield from ratio_agrees(row["percent_of_floor"], value, f"{place}.rows[{index}].percent_of_floor",
                                "100 * the floor over the layer time")
