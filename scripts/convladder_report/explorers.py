"""Charts to be asked: Vega-Lite specifications with the record's figures in them, for a page that may run scripts.

They add to the drawings and never replace one: without the library, or with JavaScript off, nothing is missing.
"""

from __future__ import annotations

from typing import Any, Iterator

from convladder_charts.network.parts import PARTS, distribution
from convladder_charts.network.record import NetworkGroup
from convladder_charts.page import device_name
from convladder_charts.record import Group, Ladder, Row
from convladder_charts.stage import Stage
from convladder_charts.style import mark_of
from convladder_charts.units import duration, percent, ratio, significant
from convladder_report.document import Explorer

_SHAPES = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
           "X": "M-1,-1L1,1M1,-1L-1,1", "p": "M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z", "<": "triangle-left",
           ">": "triangle-right", "h": "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
           "*": "M0,-1L.24,-.31L1,-.31L.38,.12L.62,.81L0,.38L-.62,.81L-.38,.12L-1,-.31L-.24,-.31Z",
           "x": "M-1,-1L1,1M1,-1L-1,1", "+": "M-1,0L1,0M0,-1L0,1", "1": "M0,0L0,1M0,0L-1,-1M0,0L1,-1",
           "2": "M0,0L0,-1M0,0L-1,1M0,0L1,1"}
"""Vega's symbols for matplotlib's markers."""
_TIME = ("datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : datum.value >= 1e6 ? format(datum.value / 1e6,"
         " '~g') + ' ms' : datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : format(datum.value, '~g')"
         " + ' ns'")
_LABEL_LIMIT = 160


def of_times(group: Group, source: str, name: str) -> Iterator[Explorer]:
    """Times over batch, with a layer to choose."""
    values = _values(group, source)
    if values:
        title = f"{device_name(group)}: time over batch of a layer of your choice"
        yield Explorer(name, title, _over_batch(group, values, title))


def of_ladders(group: Group, source: str, name: str) -> Iterator[Explorer]:
    """A ladder, with a layer and a batch to choose."""
    values = _values(group, source)
    if values:
        title = f"{device_name(group)}: the ladder of a layer and batch of your choice"
        yield Explorer(name, title, _ladder(group, values, title))


def _values(group: Group, source: str) -> list[dict[str, Any]]:
    return [_value(group, ladder, row, source) for ladder in group.ladders for row in ladder.timed]


def _value(group: Group, ladder: Ladder, row: Row, source: str) -> dict[str, Any]:
    """A point with what is said of it under the pointer, the texts as they are in the tables."""
    interval = "none" if row.low is None or row.high is None else f"{duration(row.low)} to {duration(row.high)}"
    value = {"layer": ladder.layer_name, "batch": ladder.batch, "stage": row.stage.label, "time": row.median,
             "low": row.low, "high": row.high, "text": f"{row.of} {duration(row.median or 0)}, {group.kind}",
             "interval": interval, "baseline": ratio(row.x_baseline), "previous": ratio(row.x_previous),
             "library": percent(row.percent_of_library),
             "rate": "–" if row.gflop_per_s is None else f"{significant(row.gflop_per_s)} GFLOP/s",
             "path": f"{source}: {ladder.place}.rows[{ladder.rows.index(row)}]"}
    return {key: member for key, member in value.items() if member is not None}


_TOOLTIP = [{"field": field, "title": title} for field, title in (
    ("stage", "stage"), ("layer", "layer"), ("batch", "batch"), ("text", "time"), ("interval", "interval"),
    ("previous", "× previous"), ("baseline", "× baseline"), ("library", "% of library"), ("rate", "throughput"),
    ("path", "path"))]


def _spec(title: str, values: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    return {"description": title, "data": {"values": values}, "width": "container",
            "autosize": {"type": "fit-x", "contains": "padding"}, "background": "white", **members}


def _all(values: list[dict[str, Any]], member: str) -> list[Any]:
    return list(dict.fromkeys(value[member] for value in values))


def _choice(name: str, label: str, options: list[Any]) -> dict[str, Any]:
    return {"name": name, "value": options[-1], "bind": {"input": "select", "options": options, "name": label}}


def _scales(stages: tuple[Stage, ...], legend: Any) -> dict[str, Any]:
    """The colours and markers of the drawings."""
    names = [stage.label for stage in stages]
    marks = [mark_of(stage) for stage in stages]
    return {"color": {"field": "stage", "type": "nominal", "legend": legend, "title": "stage", "sort": names,
                      "scale": {"domain": names, "range": [mark.edge for mark in marks]}},
            "shape": {"field": "stage", "type": "nominal", "legend": legend, "title": "stage", "sort": names,
                      "scale": {"domain": names, "range": [_SHAPES[mark.marker] for mark in marks]}}}


def _over_batch(group: Group, values: list[dict[str, Any]], title: str) -> dict[str, Any]:
    legend = {"orient": "bottom", "labelLimit": _LABEL_LIMIT, "symbolSize": 60, "title": None}
    scales = _scales(group.stages, legend)
    x = {"field": "batch", "type": "quantitative", "scale": {"type": "log"}, "title": "batch (images per call)",
         "axis": {"values": sorted({value["batch"] for value in values}), "format": "d"}}
    y = {"field": "time", "type": "quantitative", "scale": {"type": "log", "zero": False}, "title": "time (log scale)",
         "axis": {"labelExpr": _TIME, "tickCount": 6}}
    band = {"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": {
        "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": scales["color"]}}
    return _spec(title, values, height=340, params=[_choice("layer", "Layer ", _all(values, "layer"))],
                 transform=[{"filter": "datum.layer === layer"}], layer=[
                     band, {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": scales["color"]}},
                     {"mark": {"type": "point", "filled": False, "size": 70, "strokeWidth": 2},
                      "encoding": {"x": x, "y": y, **scales, "tooltip": _TOOLTIP}}])


def _ladder(group: Group, values: list[dict[str, Any]], title: str) -> dict[str, Any]:
    names = [stage.label for stage in group.stages]
    sizes = list(dict.fromkeys(f"{value['layer']}, batch {value['batch']}" for value in values))
    y = {"field": "stage", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": _LABEL_LIMIT}}
    x = {"field": "time", "type": "quantitative", "title": "time (linear, from 0)",
         "axis": {"labelExpr": _TIME, "tickCount": 4, "labelOverlap": True}, "scale": {"zero": True}}
    color = _scales(group.stages, None)["color"]
    return _spec(title, values, height={"step": 22}, params=[_choice("size", "Layer and batch ", sizes)], transform=[
        {"filter": "datum.layer + ', batch ' + datum.batch === size"}], layer=[
                     {"mark": {"type": "bar", "height": 14, "stroke": "#1b1f24", "strokeWidth": 0.5},
                      "encoding": {"x": x, "y": y, "color": color, "tooltip": _TOOLTIP}},
                     {"mark": {"type": "rule", "strokeWidth": 2, "color": "#1b1f24"},
                      "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}}])


def of_passes(group: NetworkGroup, source: str, name: str) -> Iterator[Explorer]:
    """Where the time of a pass goes over batch, with the convolutions' stage to choose."""
    values = [{"choice": case.stage.label, "batch": case.batch, "part": part, "ns": time, "order": order,
               "text": duration(time), "path": f"{source}: {case.place}",
               "share": f"{100 * time / max(sum(distribution(case).values()), 1e-300):.1f} %"}
              for case in group.cases if case.total is not None
              for order, (part, time) in enumerate(distribution(case).items()) if time > 0]
    if not values:
        return
    title = f"{group.network} on {group.device}: where the time of a pass goes, with convolutions of your choice"
    parts = [part.name for part in PARTS] + ["rest"]
    present = [part for part in parts if any(value["part"] == part for value in values)]
    colours = {part.name: part.colour for part in PARTS} | {"rest": "#ffffff"}
    tooltip = [{"field": field, "title": label} for field, label in (
        ("part", "part"), ("share", "share"), ("text", "time, measured"), ("batch", "batch"),
        ("choice", "convolutions"), ("path", "path"))]
    yield Explorer(name, title, _spec(
        title, values, height=300, params=[_choice("choice", "Convolutions ", _all(values, "choice"))],
        transform=[{"filter": "datum.choice === choice"}],
        mark={"type": "bar", "stroke": "#1b1f24", "strokeWidth": 0.5}, encoding={
            "x": {"field": "batch", "type": "ordinal", "title": "batch"},
            "y": {"field": "ns", "type": "quantitative", "stack": "normalize", "title": "share of the pass",
                  "axis": {"format": ".0%"}},
            "order": {"field": "order"}, "tooltip": tooltip,
            "color": {"field": "part", "type": "nominal", "title": None,
                      "legend": {"orient": "bottom", "labelLimit": _LABEL_LIMIT},
                      "scale": {"domain": present, "range": [colours[part] for part in present]}}}))
