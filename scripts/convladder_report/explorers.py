"""Charts to be asked: what a reader chooses, the record's figures, and Vega-Lite specifications that draw the chosen ones.

They stand for a drawing where scripts run; without the library, with JavaScript off, or on paper the drawing is there.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from convladder_charts.known import Ratio
from convladder_charts.known_text import factor, plus_minus, share, untold
from convladder_charts.page import device_name
from convladder_charts.predicted import PredictedGroup, PredictedLadder, PredictedRow
from convladder_charts.predicted_text import span_text
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.style import UNTOLD, mark_of
from convladder_charts.units import duration, significant
from convladder_report.document import Choice, Data, Explorer
from convladder_report.summary import Step, Told

SHAPES = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
          "X": "M-1,-1L1,1M1,-1L-1,1", "p": "M0,-1L.95,-.31L.59,.81L-.59,.81L-.95,-.31Z", "<": "triangle-left",
          ">": "triangle-right", "h": "M0,-1L.87,-.5L.87,.5L0,1L-.87,.5L-.87,-.5Z",
          "*": "M0,-1L.24,-.31L1,-.31L.38,.12L.62,.81L0,.38L-.62,.81L-.38,.12L-1,-.31L-.24,-.31Z",
          "x": "M-1,-1L1,1M1,-1L-1,1", "+": "M-1,0L1,0M0,-1L0,1", "1": "M0,0L0,1M0,0L-1,-1M0,0L1,-1",
          "2": "M0,0L0,-1M0,0L-1,1M0,0L1,1"}
"""Vega's symbols for matplotlib's markers."""
TIME = ("datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : datum.value >= 1e6 ? format(datum.value / 1e6,"
        " '~g') + ' ms' : datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : format(datum.value, '~g')"
        " + ' ns'")
_INK = "#1b1f24"
_GAIN, _LOSS = "#b9d8f0", "#f6cfb4"
_ROLES = {"best": "#0b66a8", "library": _INK, "sixth": "#b4490f"}
_OTHERS = "#8f979f"
_SHOWN_GPUS = 3
"""The GPU of the roofline and the two before it: each is a choice of its own."""
_TOOLTIP = [{"field": field, "title": title} for field, title in (
    ("stage", "stage"), ("layer", "layer"), ("batch", "batch"), ("text", "time"), ("interval", "interval"),
    ("previous", "over the stage it builds on"), ("baseline", "over the baseline"), ("library", "of the library's speed"),
    ("rate", "throughput"), ("relieved", "what it relieved"), ("binds", "what binds now"), ("path", "in the record"))]


def data_of(record: Record, ladders: Mapping[str, Told], source: str, name: str) -> Optional[Data]:
    """Every time of the record, measured and predicted, in one table that all charts of it share."""
    rows = [_measured(group, ladder, row, ladders, source) for group in record.drawn for ladder in group.ladders
            for row in ladder.timed]
    rows += [line for group in record.drawn for ladder in group.ladders for line in _lines(group, ladder)]
    for predicted in record.predicted:
        rows += _predicted(predicted, ladders, source)
    return Data(f"{name}-data", tuple(rows)) if rows else None


def of_ladders(record: Record, data: Optional[Data], name: str, instead_of: str, on: Optional[str] = None,
               layer: Optional[str] = None, batch: Optional[int] = None) -> Iterator[Explorer]:
    """A ladder, with device, layer and batch to choose."""
    if data:
        stages = [stage for one in (*record.drawn, *record.predicted) for stage in _stages(one)]
        yield Explorer(name, "The ladder of your choice", instead_of, data, (
            Choice("on", "On", on), Choice("layer", "Size" if record.of_sizes else "Layer", layer),
            Choice("batch", "Batch", batch)),
            {"log axis": _ladder(stages, True), "linear axis": _ladder(stages, False)},
                       _note(data))


def _note(data: Data) -> str:
    """How to read it: what is in the data, and no more."""
    kinds = {row["kind"] for row in data.rows}
    parts = ["Each bar goes from the time of the stage that it builds on to its own."] if "measured" in kinds else []
    parts += ["Grey: cannot be told from it."] if any(row.get("untold") for row in data.rows) else []
    parts += ["Ring: op time in its own layout, compared with nothing."] if any(row.get("op") for row in data.rows) else []
    parts = parts or ["A predicted time is a range, from optimistic to pessimistic."]
    lines = [words for kind, words in (("floor", "dashed: the machine's limit"), ("library", "grey line: the fastest library"))
             if kind in kinds]
    parts += [f"{'; '.join(lines).capitalize()}."] if lines else []
    return " ".join([*parts, "Point at a mark for more."])


def of_times(record: Record, data: Optional[Data], name: str, instead_of: str) -> Iterator[Explorer]:
    """Times of an image over batch, with device and layer to choose."""
    if data and any(row.get("kind") == "measured" for row in data.rows):
        stages = [stage for one in record.drawn for stage in _stages(one)]
        yield Explorer(name, "Time of one image over batch, for a layer of your choice", instead_of, data,
                       (Choice("on", "On", only="measured"),
                        Choice("layer", "Size" if record.of_sizes else "Layer")),
                       {"log axis": _over_batch(stages, True), "linear axis": _over_batch(stages, False)},
                       "Bands are the intervals. Point at a mark for more.")


def _stages(one: Any) -> Sequence[Stage]:
    return one.stages if isinstance(one, Group) else list(dict.fromkeys(
        row.stage for ladder in one.ladders for row in ladder.rows))


def _label(stage: Stage, ladder: Union[Ladder, PredictedLadder]) -> str:
    """Its own on its ladder, where long titles were cut to the same."""
    twins = [row.stage for row in ladder.rows if row.stage.label == stage.label and row.stage != stage]
    return f"{stage.label} ({stage.name})" if twins else stage.label


def _measured(group: Group, ladder: Ladder, row: Row, ladders: Mapping[str, Told], source: str) -> dict[str, Any]:
    """A point with what is said of it under the pointer, the texts as they are in the tables."""
    time = row.median or 0.0
    told = ladders.get(ladder.place)
    summary = told.summary if told else None
    gain = f" · {plus_minus(row.x_previous)}" if row.x_previous is not None else None
    role = "library" if row.stage.is_library else "best" if summary and row.stage == summary.best else (
        "sixth" if summary and row.stage == summary.sixth else None)
    below = float(row.x_previous) * time if row.x_previous else None
    return _without_none({
        "on": device_name(group), "layer": ladder.layer_name, "batch": ladder.batch, "kind": group.kind,
        "stage": _label(row.stage, ladder), "order": ladder.rows.index(row), "time": time, "low": row.low, "high": row.high,
        "image": time / ladder.batch, "from": below, "untold": untold(row.x_previous) or None, "op": row.op_median, "opText": None if row.op_median is None else f"{duration(row.op_median)}, in its own layout", "role": role, "gain": gain,
        "brief": duration(time),
        "text": f"{duration(time)}, {group.kind} {row.of or ''} time",
        "interval": None if row.low is None or row.high is None else f"{duration(row.low)} to {duration(row.high)}",
        "baseline": _ratio(row.x_baseline), "previous": _ratio(row.x_previous),
        "library": None if row.percent_of_library is None else share(row.percent_of_library),
        "rate": None if row.gflop_per_s is None else f"{significant(row.gflop_per_s)} GFLOP/s",
        **_sentences(told.step(row.stage) if told else None),
        "path": f"{source}: {ladder.place}.rows[{ladder.rows.index(row)}]"})


def _lines(group: Group, ladder: Ladder) -> Iterator[dict[str, Any]]:
    """What no stage has: the least time there can be, and the fastest library's."""
    where = {"on": device_name(group), "layer": ladder.layer_name, "batch": ladder.batch}
    if ladder.floor and ladder.floor.value > 0:
        yield {**where, "kind": "floor", "line": ladder.floor.value,
               "text": f"{duration(ladder.floor.value)}, predicted from the measured ceilings"}
    times = [(row.median, row.stage.title) for row in ladder.timed
             if row.stage.is_library and row.stage.name == ladder.summary.library and row.median]
    for time, title in times:
        yield {**where, "kind": "library", "line": time, "text": f"{title}, {duration(time)}"}


def _predicted(group: PredictedGroup, ladders: Mapping[str, Told], source: str) -> Iterator[dict[str, Any]]:
    gpus = [one for one in group.gpus if one[0] == group.gpu] + [one for one in group.gpus if one[0] != group.gpu]
    for gpu, title in gpus[:_SHOWN_GPUS]:
        for ladder in group.ladders:
            told = next((one for one in ladders.values() if (one.device, one.layer_name, one.batch) == (
                group.device, ladder.layer_name, ladder.batch)), None)
            for order, row in enumerate(ladder.rows):
                yield from _range(group, ladder, row, gpu, title, order, told, source)


def _range(group: PredictedGroup, ladder: PredictedLadder, row: PredictedRow, gpu: str, title: str, order: int,
           told: Optional[Told], source: str) -> Iterator[dict[str, Any]]:
    on = row.on(gpu)
    if on is None or not on.has_time or not on.low or not on.high:
        return
    text = span_text(on.low, on.high)
    yield _without_none({
        "on": f"{title}, PREDICTED", "layer": ladder.layer_name, "batch": ladder.batch, "kind": "predicted",
        "stage": _label(row.stage, ladder), "order": order, "low": on.low, "high": on.high, "brief": text,
        "text": f"{text}, predicted op time; bound by {on.binding}",
        **_sentences(told.step(row.stage) if told else None), "path": f"{source}: {on.place}"})


def _sentences(step: Optional[Step]) -> dict[str, Optional[str]]:
    return {"relieved": step.relieved or None, "binds": step.binds or None} if step else {}


def _ratio(value: Optional[Ratio]) -> Optional[str]:
    return None if value is None else factor(value)


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {key: member for key, member in value.items()
            if member is not None and not (isinstance(member, float) and not math.isfinite(member))}


def scales(stages: Sequence[Stage], legend: Any) -> dict[str, Any]:
    """The colour and the mark of each stage, as in the drawings."""
    known = list(dict.fromkeys(stages))
    marks = [mark_of(stage) for stage in known]
    names = [stage.label for stage in known]
    return {
        "color": {"field": "stage", "type": "nominal", "legend": legend, "title": None,
                  "scale": {"domain": names, "range": [mark.colour for mark in marks]}},
        "shape": {"field": "stage", "type": "nominal", "legend": legend, "title": None,
                  "scale": {"domain": names, "range": [SHAPES.get(mark.marker, "circle") for mark in marks]}}}


def specification(title: str, **members: Any) -> dict[str, Any]:
    """What all charts have in common; their data is the page's."""
    return {"description": title, "width": "container", "autosize": {"type": "fit-x", "contains": "padding"},
            "background": "#ffffff", **members}


def _steps(x: Mapping[str, Any], y: Mapping[str, Any]) -> dict[str, Any]:
    """From the stage that it builds on to each stage: what the idea gained, or lost; grey where that cannot be told."""
    looks = [{"test": "datum.untold", "value": UNTOLD}, {"test": "datum.from >= datum.time", "value": _GAIN}]
    return {"transform": [{"filter": "datum.from != null"}], "mark": {"type": "bar", "height": 9},
            "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "time"}, "y": y, "tooltip": _TOOLTIP,
                         "color": {"condition": looks, "value": _LOSS}}}


def _ladder(stages: Sequence[Stage], log: bool) -> dict[str, Any]:
    """Steps from stage to stage on a logarithmic axis, or bars from zero; predictions are ranges in both."""
    y = {"field": "stage", "type": "nominal", "sort": {"field": "order", "op": "min"}, "title": None,
         "axis": {"labelLimit": "$names", "ticks": False, "domain": False}}
    scale = {"type": "log", "domain": ["$least", "$most"], "nice": False} if log else {"domain": [0, "$most"], "nice": False}
    x = {"type": "quantitative", "title": "time, logarithmic" if log else "time",
         "axis": {"labelExpr": TIME, "labelOverlap": True, **({"values": "$ticks"} if log else {"tickCount": 5})},
         "scale": scale}
    measured = {"filter": "datum.time != null"}
    shown = {"type": "point", "filled": True, "size": 90, "opacity": 1, "stroke": _INK, "strokeWidth": 0.6} if log else {
        "type": "bar", "height": 13, "stroke": _INK, "strokeWidth": 0.5}
    color: dict[str, Any] = scales(stages, None)["color"]
    if log:
        color = {"condition": [{"test": f"datum.role === '{role}'", "value": colour} for role, colour in _ROLES.items()],
                 "value": _OTHERS}
    lines = [{"transform": [{"filter": f"datum.kind === '{kind}'"}],
              "mark": {"type": "rule", "strokeDash": dash, "color": colour, "strokeWidth": 1.3},
              "encoding": {"x": {**x, "field": "line"}, "tooltip": [{"field": "text", "title": kind}]}}
             for kind, dash, colour in (("floor", [4, 3], "#a3370b"), ("library", [1, 0], "#8f979f"))]
    ranges = {"transform": [{"filter": "datum.kind === 'predicted'"}],
              "mark": {"type": "bar", "height": 11, "color": "#c98a3a"},
              "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "tooltip": _TOOLTIP}}
    intervals = {"transform": [measured], "mark": {"type": "rule", "strokeWidth": 2, "color": _INK},
                 "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}}
    labels = {"transform": [{"filter": "datum.stage != null"}],
              "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12, "color": _INK},
              "encoding": {"x": {**x, "field": "end"}, "y": y, "text": {"field": "label"}}}
    marks = {"transform": [measured], "mark": shown,
             "encoding": {"x": {**x, "field": "time"}, "y": y, "color": color, "tooltip": _TOOLTIP}}
    rings = {"transform": [{"filter": "datum.op != null"}],
             "mark": {"type": "point", "filled": False, "size": 80, "stroke": _INK},
             "encoding": {"x": {**x, "field": "op"}, "y": y, "tooltip": [{"field": "opText", "title": "op time"}]}}
    return specification("Time of each stage", height={"step": 21}, transform=[
        {"calculate": "max(datum.high || 0, datum.time || 0" + (", datum.from || 0)" if log else ")"), "as": "end"},
        {"calculate": "$narrow ? datum.brief : datum.brief + (datum.gain || '')", "as": "label"}],
        layer=[*lines, *([_steps(x, y)] if log else []), marks, ranges, intervals, rings, labels])


def _over_batch(stages: Sequence[Stage], log: bool) -> dict[str, Any]:
    """The lines of the stages, each with a band of its interval."""
    each = scales(stages, {"orient": "bottom", "labelLimit": 190, "symbolOpacity": 1})
    y = {"type": "quantitative", "title": "time per image" + (", logarithmic" if log else ""),
         "axis": {"labelExpr": TIME, **({"values": "$imageTicks"} if log else {"tickCount": 6})},
         "scale": {"type": "log"} if log else {"zero": True}}
    x = {"field": "batch", "type": "quantitative", "title": "batch (images per call), logarithmic",
         "scale": {"type": "log"}, "axis": {"values": "$batches"}}
    chosen = [{"filter": "datum.kind == 'measured' && datum.time != null"}, *(
        {"calculate": f"datum.{side} / datum.batch", "as": f"{side}_image"} for side in ("low", "high"))]
    return specification("Time of one image over batch", height=320, transform=chosen, layer=[
        {"transform": [{"filter": "datum.low != null"}], "mark": {"type": "area", "opacity": 0.2}, "encoding": {
            "x": x, "y": {**y, "field": "low_image"}, "y2": {"field": "high_image"}, "color": each["color"]}},
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": {**y, "field": "image"}, "color": each["color"]}},
        {"mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
         "encoding": {"x": x, "y": {**y, "field": "image"}, "color": each["color"], "shape": each["shape"],
                      "tooltip": _TOOLTIP}}])
