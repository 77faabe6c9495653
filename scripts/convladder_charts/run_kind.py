"""Which figures a run of layers, of sizes of a problem or of a folder gets, and what their files are called."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator

from convladder_charts import record as runs
from convladder_charts import table
from convladder_charts.drawable import Drawing, Drawn, Kind, Options
from convladder_charts.json_text import Node, RecordError
from convladder_charts.predicted import PredictedGroup
from convladder_charts.record import Group, Record
from convladder_charts.shown import abridged
from convladder_charts.stage import printable


def _draw(root: Node, options: Options) -> Drawn:
    record = _asked(runs.read(root), options)
    remark = "" if record.drawn or record.counted or record.left_out else (
        "no picture: no case of this run has a time or a counter; table.md says why")
    shown = abridged(record)
    more = len(_devices(record)) - len(_devices(shown))
    if more:
        remark = f"not drawn: {more} more devices; table.md has them, and --device draws them"
    return Drawn(tuple(_drawings(shown, options)), table.markdown(record), table.plain(record), remark)


def _devices(record: Record) -> set[tuple[str, str]]:
    return {(group.device, group.family) for group in (*record.groups, *record.counted, *record.predicted)}


def _asked(record: Record, options: Options) -> Record:
    """With the asked devices and layers only."""
    held = (*record.groups, *record.counted, *record.predicted, *record.left_out)
    options.check_layers([one.layer_name for group in held for one in group.ladders])
    options.check_batch([one.batch for group in options.of_devices(held) for one in group.ladders])
    kept = {name: tuple(_of_layers(group, options) for group in getattr(record, name)
                        if group in options.of_devices(held)) for name in ("groups", "counted", "predicted", "left_out")}
    kept["predicted"] = tuple(_of_gpu(group, options) for group in kept["predicted"])
    return dataclasses.replace(record, **kept)


def _of_layers(group: Any, options: Options) -> Any:
    if not options.layers:
        return group
    return dataclasses.replace(group, ladders=tuple(one for one in group.ladders if one.layer_name in options.layers))


def _of_gpu(group: PredictedGroup, options: Options) -> PredictedGroup:
    """With the asked GPU as the one whose roofline is drawn."""
    held = [name for name, _ in group.gpus]
    if options.gpu is None:
        return group
    if options.gpu not in held:
        raise RecordError(f"{options.record}: no prediction for GPU {printable(options.gpu)}; "
                          f"the record predicts for {', '.join(held)}")
    return dataclasses.replace(group, gpu=options.gpu)


def _drawings(record: Record, options: Options) -> Iterator[Drawing]:
    """No two devices, and nothing measured and predicted, share an axis. Nothing is drawn of what there is none of."""
    from convladder_charts import counters, cpu_roofline, ladder, leave_one_out, prediction, roofline, time_over_batch

    for index, group in enumerate(record.drawn):
        suffix = _suffix(index, group)
        if ladder.drawn_ladders(group, options.batch):
            yield Drawing(f"ladder{suffix}", ladder.draw, record, group)
        if time_over_batch.has_one(group):
            yield Drawing(f"time_over_batch{suffix}", time_over_batch.draw, record, group)
        if cpu_roofline.has_one(record, group, options.batch):
            yield Drawing(f"roofline-{_plain(group.device)}" if index == 0 else f"roofline{suffix}", cpu_roofline.draw,
                          record, group)
    for index, counted in enumerate(record.counted):
        if counted.chosen(options.batch):
            yield Drawing(f"counters{_suffix(index, counted)}", counters.draw, record, counted)
    left_outs = [group for group in record.left_out if leave_one_out.has_figures(group, options.batch)]
    for index, left_out in enumerate(left_outs):
        yield Drawing(f"leave_one_out{_suffix(index, left_out)}", leave_one_out.draw, record, left_out)
    for index, predicted in enumerate(record.predicted):
        if predicted.chosen(options.batch):
            yield Drawing(f"prediction{_suffix(index, predicted)}", prediction.draw, record, predicted)
            yield Drawing(f"roofline{_suffix(index, predicted)}", roofline.draw, record, predicted)


def _suffix(index: int, group: Any) -> str:
    """What tells a further group's file from the first one's."""
    if index == 0:
        return ""
    parts = [group.device] + [group.family] * (group.family != group.device)
    parts += [group.kind] * (group.kind not in ("measured", "counted") and isinstance(group, Group))
    if isinstance(group, Group) and group.machine is not None:
        parts.append(f"machine{group.machine}")
    return "".join("-" + _plain(part) for part in parts)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


KIND = Kind("run", lambda document: isinstance(document, dict) and {"schema_version", "cases", "ladders"} <= set(document),
            _draw)
