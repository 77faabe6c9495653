"""Charts of a network to be asked."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.network.parts import PARTS, distribution
from convladder_charts.network.record import NetworkGroup
from convladder_charts.units import duration
from convladder_report.document import Choice, Data, Explorer
from convladder_report.explorers import TIME, specification

_TOOLTIP = [{"field": field, "title": label} for field, label in (
    ("part", "part"), ("share", "share"), ("text", "time, measured"), ("batch", "batch"),
    ("choice", "convolutions"), ("path", "in the record"))]


def of_passes(group: NetworkGroup, source: str, name: str, instead_of: str, first: str = "") -> Iterator[Explorer]:
    """Where the time of a pass goes over batch, with the convolutions' stage to choose."""
    rows = tuple(
        {"choice": case.stage.label, "batch": case.batch, "part": part, "ns": time, "order": order,
         "text": duration(time), "path": f"{source}: {case.place}",
         "share": f"{100 * time / max(sum(distribution(case).values()), 1e-300):.1f} %"}
        for case in group.cases if case.total is not None
        for order, (part, time) in enumerate(distribution(case).items()) if time > 0)
    if not rows:
        return
    parts = [part.name for part in PARTS] + ["rest"]
    present = [part for part in parts if any(row["part"] == part for row in rows)]
    colours = {part.name: part.colour for part in PARTS} | {"rest": "#ffffff"}
    scale = {"domain": present, "range": [colours[part] for part in present]}

    def drawn(shares: bool) -> dict[str, object]:
        y = {"field": "ns", "type": "quantitative"}
        y |= {"stack": "normalize", "title": "share of the pass", "axis": {"format": ".0%"}} if shares else {
            "title": "time of the pass, measured", "axis": {"labelExpr": TIME}}
        return specification("Where the time of a pass goes", height=300,
                             mark={"type": "bar", "stroke": "#1b1f24", "strokeWidth": 0.5}, encoding={
                                 "x": {"field": "batch", "type": "ordinal", "title": "batch", "axis": {"labelAngle": 0}},
                                 "y": y, "order": {"field": "order"}, "tooltip": _TOOLTIP,
                                 "color": {"field": "part", "type": "nominal", "title": None, "scale": scale,
                                           "legend": {"orient": "bottom", "labelLimit": 190}}})
    yield Explorer(name, f"{group.network} on {group.device}: where the time of a pass goes, with convolutions of your choice",
                   instead_of, Data(f"{name}-data", rows), (Choice("choice", "Convolutions", first or rows[-1]["choice"]),),
                   {"shares": drawn(True), "times": drawn(False)})
