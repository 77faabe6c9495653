"""What is seen first of a run: the best stage, how far it is from the library and from the floor, and whether to trust it."""

from __future__ import annotations

import dataclasses
from typing import Iterator, Optional, Sequence, Union

from convladder_charts import ladder as ladder_chart
from convladder_charts import prediction, table
from convladder_charts.counted import CountedLadder
from convladder_charts import known_text
from convladder_charts.known import Known, Ratio
from convladder_charts.known_text import either, legend
from convladder_charts.page import device_name
from convladder_charts.predicted import PredictedGroup, PredictedLadder
from convladder_charts.predicted_text import span_text
from convladder_charts.record import Ladder, Record
from convladder_charts.stage import Stage
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration
from convladder_report import common_sections, explorers, left_out_front
from convladder_report.common_sections import places_of
from convladder_report.document import Answer, Explorer, Fact, Figure, Front, TableBlock
from convladder_report.figures import figure
from convladder_report.kind import Input
from convladder_report.summary import Summary, Told, told
from convladder_report.trust import Trust
from convladder_report.words import counted, ladder_of, listed, named

_NO_TIME: Known = (None, None, None)
_MOST_ROWS = 8
"""Of the table of layers."""
NOT_ALL = "{} The answers about verification and quality are of all cases; scripts/charts.py writes all of them to table.md."


def front(one: Input, prefix: str) -> Front:
    """The first screen."""
    record: Record = one.record
    ladders = told(one.root, record)
    chosen = _chosen(record, ladders)
    title = record.work if record.of_folder else f"One {record.work.removeprefix('forward ')}"
    trust = Trust(one.root, record).answer()
    machine = common_sections.machine_line(record, hardware=[group.hardware for group in record.drawn])
    if not chosen and record.left_out:
        return left_out_front.front(one, prefix, trust)
    if not chosen:
        return Front(f"{title}, stage by stage", _asked(record), (*_without_summary(record), trust),
                     machine)
    head = chosen[0]
    answers = (_faster(head, record), _to_go(head, record), trust)
    hero, explorer = _hero(one, ladders, head, prefix)
    return Front(f"{title}, stage by stage", _asked(record), answers, machine, hero, explorer,
                 tuple(_in_short(chosen, record, one.source)))


def layer_of_answer(record: Record, ladders: dict[str, Told]) -> str:
    """The layer that the first screen tells of; empty if it tells of none."""
    return next((one.layer_name for one in _chosen(record, ladders)), "")


def _hero(one: Input, ladders: dict[str, Told], head: Told, prefix: str) -> tuple[Optional[Figure], Optional[Explorer]]:
    """The ladder of the answer: of times, or of predictions where there are no times."""
    record: Record = one.record
    name, source = f"{prefix}-hero", one.source
    drawn = on = None
    for group in record.drawn:
        ladder = next((ladder for ladder in group.ladders if ladder.place == head.place), None)
        if ladder:
            on = device_name(group)
            alone = dataclasses.replace(group, ladders=(ladder,), more_layers=0)
            drawn = figure(ladder_chart.draw, record, alone, name, source, ladder.place, [table.ladder_table(alone, ladder)],
                           table.legend(record))
    for predicted in record.predicted:
        counted_one = _predicted_ladder(predicted, head)
        if counted_one and not drawn:
            on = f"{_gpu(record, predicted.gpu)}, PREDICTED"
            alone = dataclasses.replace(predicted, ladders=(counted_one,), more_layers=0)
            drawn = figure(prediction.draw, record, alone, name, source,
                           places_of(row.place for row in counted_one.rows) + ".prediction", ())
    if drawn is None:
        return None, None
    data = explorers.data_of(record, ladders, source, prefix)
    return drawn, next(explorers.of_ladders(record, data, f"{name}-explorer", name, on, head.layer_name, head.batch), None)


def _predicted_ladder(group: PredictedGroup, head: Told) -> Optional[PredictedLadder]:
    return next((one for one in group.ladders if (group.device, one.layer_name, one.batch) == (
        head.device, head.layer_name, head.batch)), None)


def _gpu(record: Record, name: str) -> str:
    """As its maker calls it."""
    return next((title for group in record.predicted for gpu, title in group.gpus if gpu == name), name)


def _chosen(record: Record, ladders: dict[str, Told]) -> list[Told]:
    """A ladder of each layer of the first device that has a summary, the one with the most work first."""
    for group in record.drawn:
        found = [ladders[one.place] for one in ladder_chart.chosen_ladders(group, None) if ladders[one.place].summary]
        if found:
            longest = {one.place: max((row.median or 0 for row in one.timed), default=0) for one in group.ladders}
            return sorted(found, key=lambda one: -longest[one.place])
    by_layer: dict[tuple[str, str], Told] = {}
    for one in ladders.values():
        key = one.device, one.layer_name
        if one.summary and (key not in by_layer or by_layer[key].batch < one.batch):
            by_layer[key] = one
    return list(by_layer.values())


def _asked(record: Record) -> str:
    """Layers, batches and stages in one sentence."""
    parts = []
    for index, group in enumerate(record.drawn):
        libraries = [named(stage) for stage in group.stages if stage.is_library]
        stages = sum(not stage.is_library for stage in group.stages)
        text = f"{counted(stages, 'stage') if stages else 'no stage'} of the {ladder_of(group.family)}"
        text += f" {'and' if stages else 'but'} {libraries[0] if len(libraries) == 1 else f'{len(libraries)} libraries'}" if libraries else ""
        parts.append(text + (_sizes(group.ladders, record) if index == 0 else f" on {device_name(group)}"))
    for one in record.counted:
        stages = len({row.stage for ladder in one.ladders for row in ladder.counted})
        parts.append(f"{counted(stages, 'stage')} of the {ladder_of(one.family)} counted on the {one.device} device"
                     + ("" if parts else _sizes(one.ladders, record)))
    if not parts:
        parts = [f"the {ladder_of(group.family)}{_sizes(group.ladders, record)}" for group in record.groups[:1]]
    sentence = "; beside them ".join([parts[0], listed(parts[1:])] if len(parts) > 1 else parts)
    asked = f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing was asked: the record holds no ladder."
    return f"{asked} {NOT_ALL.format(record.not_shown)}" if record.not_shown else asked


def _sizes(ladders: Sequence[Union[Ladder, CountedLadder]], record: Record) -> str:
    """The layers and batches, or the sizes of a problem."""
    layers = list(record.extent.layers if record.extent else dict.fromkeys(one.layer_name for one in ladders))
    batches = list(record.extent.batches) if record.extent else sorted({one.batch for one in ladders})
    text = f", on {counted(len(layers), 'size' if record.of_sizes else 'layer')} ({listed(layers, 4)})"
    return text if batches == [1] and record.of_sizes else f"{text} at batch {listed([str(one) for one in batches])}"


def _where(head: Told, record: Record) -> str:
    batch = "" if record.of_sizes and head.batch == 1 else f" at batch {head.batch}"
    return f"{head.layer_name}{batch}"


def _stages(head: Told, record: Record) -> list[Stage]:
    """Those of the ladder that have a time."""
    return [row.stage for group in record.drawn for one in group.ladders if one.place == head.place
            for row in one.timed if not row.stage.is_library]


def _time(head: Told, record: Record) -> Known:
    """The best stage's time with its interval."""
    for group in record.drawn:
        for ladder in group.ladders:
            if ladder.place == head.place:
                return next((row.known_time for row in ladder.timed if head.summary and row.stage == head.summary.best),
                            _NO_TIME)
    return _NO_TIME


def _time_text(time: Known) -> str:
    value, low, high = time
    if not value:
        return NONE
    return f"{duration(value)} ({duration(low)} to {duration(high)})" if low and high else duration(value)


def _faster(head: Told, record: Record) -> Answer:
    summary = head.summary
    assert summary
    where = _where(head, record)
    alone = summary.best == summary.baseline and len(_stages(head, record)) == 1
    best = either([named(one) for one in summary.level])
    text = f"Best is {best}" + (", which cannot be told apart" if summary.overlaps else "")
    if summary.best_by == "predicted":
        text += f", predicted for {_gpu(record, summary.gpu)} and not measured"
    said = _factors(summary)
    if alone:
        text = f"{named(summary.best)} is the only stage that was timed, on {where}."
    elif summary.best == summary.baseline and summary.overlaps:
        text += f", on {where}. {summary.best.title} is {_itself(summary)}."
    elif summary.best == summary.baseline:
        text += f", {_itself(summary)}, on {where}."
    elif said:
        text += f": on {where} {summary.best.title if summary.overlaps else 'it'} {said}."
    else:
        text += f", on {where}."
    if summary.best == summary.sixth and not alone:
        text += f" {summary.best.title if summary.overlaps else 'It'} is {_rung(summary.sixth)}."
    why = _why_no_factor(summary)
    text += f" By how much is not told: {why}." if why and summary.best != summary.baseline else ""
    if summary.less_accurate:
        text += f" Faster, but less accurate: {listed([one.title for one in summary.less_accurate], 2)}."
    facts = [Fact(shown, f"{words}{_between(x)}") for x, words, is_itself in (
        (summary.best_x_baseline, f"over {_base(summary)}", summary.best == summary.baseline),
        (summary.best_x_sixth, f"over {_rung(summary.sixth)}", summary.best == summary.sixth)) if not is_itself
        and not summary.no_headline and (shown := known_text.headline(x, summary.rough))]
    time = _time(head, record)
    if time[0] and len(facts) < 2:
        low, high = time[1:]
        facts.append(Fact(duration(time[0]), "measured" + (f" ({duration(low)} to {duration(high)})" if low and high else "")))
    return Answer("How much faster is the best stage?", text, summary.place, tuple(facts))


def _factors(summary: Summary) -> str:
    """What the best stage surely is beside the baseline and the end of the introduction; empty where there is no headline."""
    if summary.no_headline:
        return ""
    parts = [known_text.speed(summary.best_x_baseline, _base(summary), summary.rough)]
    if summary.sixth and summary.sixth not in (summary.best, summary.baseline):
        parts.append(known_text.speed(summary.best_x_sixth, f"{_rung(summary.sixth)}, {summary.sixth.title}", summary.rough))
    return " and ".join(filter(None, parts)).replace(" and is ", " and ")


def _base(summary: Summary) -> str:
    """The baseline, if that is stage 1; a run that was asked for others is compared with the lowest one that it has."""
    base = summary.baseline
    return "the baseline" if base is None or base.rung in (None, 1) else f"{base.title}, the lowest stage timed"


def _itself(summary: Summary) -> str:
    """The same of a best stage that is the baseline."""
    return "the baseline itself" if _base(summary) == "the baseline" else "the lowest stage timed"


def _rung(stage: Optional[Stage]) -> str:
    """stage 6, as it stands on its ladder."""
    return f"stage {stage.rung}" if stage is not None and stage.rung is not None else "the end of the introduction"


def _why_no_factor(summary: Summary) -> str:
    """Why a factor is left out; empty where none is."""
    factors = (summary.best_x_baseline, summary.best_x_sixth)
    return summary.no_headline or next((why for x in factors if x is not None and not known_text.untold(x)
                                        and (why := known_text.why_no_headline(x))), "")


def _between(ratio: Optional[Ratio]) -> str:
    """The interval in brackets."""
    between = known_text.ends(ratio) if ratio is not None else ""
    return f" ({between})" if between else ""


def _to_go(head: Told, record: Record) -> Answer:
    summary = head.summary
    assert summary
    facts, parts, left_out = [], [], ""
    if summary.library and summary.percent_of_library:
        name, of = summary.library.title.split(",")[0], summary.percent_of_library
        left_out = summary.no_headline or known_text.why_no_headline(of) * (not known_text.untold(of, 100))
        if not left_out:
            parts.append(_beside_library(of, named(summary.library), summary.rough))
            shown = known_text.share_headline(of, summary.rough)
            facts += [Fact(shown, f"of {name}'s speed{_between(of)}")] if shown else []
    if summary.percent_of_floor:
        limit = known_text.reaches(summary.percent_of_floor, "the machine's limit", summary.rough)
        parts += [f"{limit}, predicted from its measured peak"] if limit else []
        shown = known_text.share_headline(summary.percent_of_floor, summary.rough, False)
        facts += [Fact(shown, f"of the limit{_between(summary.percent_of_floor)}")] if shown else []
    said = " and ".join(filter(None, parts))
    text = f"The best stage {said.replace(' and reaches ', ' and ') if said.startswith('reaches') else said}." if said else ""
    if summary.percent_of_floor and (summary.percent_of_floor.low or 0) > 100:
        text += (" Above the limit: it computes less than a direct convolution would, or the machine was slower while its "
                 "peak was measured.")
    if left_out and summary.library:
        text += f" How it compares with {named(summary.library)} is not told: {left_out}."
    if not summary.library and summary.best_by == "measured":
        text += " No library was measured beside it."
    if summary.best_by == "predicted":
        text, facts = _range(head, record)
    elif not text:
        text = "Neither a library nor a limit was measured to compare it with."
    return Answer("How far is it from the library and the limit?", text.strip(), summary.place, tuple(facts))


def _beside_library(percent: Ratio, name: str, rough: bool) -> str:
    """Below the library's speed a share, above it a factor."""
    if known_text.untold(percent, 100):
        return f"cannot be told from {name}"
    if percent < 100:
        return known_text.reaches(percent, f"the speed of {name}", rough)
    return known_text.speed(known_text.over_100(percent), name, rough)


def _range(head: Told, record: Record) -> tuple[str, list[Fact]]:
    """Of a best stage that was not timed."""
    summary = head.summary
    ladders = [one for group in record.predicted for one in [_predicted_ladder(group, head)] if one]
    row = next((row for one in ladders for row in one.rows if summary and row.stage == summary.best), None)
    on = row.on(summary.gpu) if row and summary else None
    text = "Not known: no GPU was there to measure on, and what libraries execute cannot be counted."
    if on is None or not on.has_time:
        return text, []
    return (f"{text} The best stage is predicted to take {span_text(on.low, on.high)}, bound by {on.binding}.",
            [Fact(span_text(on.low, on.high), "predicted")])


def _without_summary(record: Record) -> Iterator[Answer]:
    """Of a record that has no times, and predicts nothing."""
    if record.counted:
        stages = len({row.stage for one in record.counted for ladder in one.ladders for row in ladder.counted})
        yield Answer("How much faster is the best stage?", "Nothing was timed: the simulated device counted what "
                     f"{counted(stages, 'stage')} executed. The chapters below show it.", "$.cases[…].counters")
    elif record.drawn:
        libraries = listed([named(stage) for group in record.drawn for stage in group.stages if stage.is_library], 3)
        yield Answer("How much faster is the best stage?", f"No stage of a ladder was timed, only {libraries}.", "$.ladders[…]")
    else:
        reasons = dict.fromkeys(group.skipped_line() for group in record.groups if not group.has_times)
        yield Answer("How much faster is the best stage?", "No case of this run has a time or a counter. " + " ".join(reasons),
                     "$.cases[…].status")


def _in_short(chosen: Sequence[Told], record: Record, source: str) -> Iterator[TableBlock]:
    """A row for each layer; columns that say nothing are left out."""
    summaries = [(one, one.summary) for one in chosen if one.summary]
    kind = summaries[0][1].best_by if summaries else ""
    if len(summaries) < 2 and kind == "measured":
        return
    size = "size" if record.of_sizes else "layer"
    base = "baseline" if all(_base(summary) == "the baseline" for _, summary in summaries) else "lowest stage"
    rungs = {_rung(summary.sixth) for _, summary in summaries if summary.sixth}
    sixth = rungs.pop() if len(rungs) == 1 else "end of introduction"
    columns = (size, "batch", "best stage", f"{'call' if record.of_sizes else 'layer'} time", f"× {base}",
               f"× {sixth}", "library", "% of library", "% of limit")
    rows = []
    for one, summary in summaries[:_MOST_ROWS]:
        time = _time(one, record)
        rows.append((one.layer_name, str(one.batch), either([named(stage) for stage in summary.level]), _time_text(time),
                     known_text.factor(summary.best_x_baseline), known_text.factor(summary.best_x_sixth),
                     named(summary.library) if summary.library else NONE, known_text.share(summary.percent_of_library),
                     known_text.share(summary.percent_of_floor)))
    kept = [index for index in range(len(columns)) if any(row[index] != NONE for row in rows)
            and not (columns[index] == "batch" and record.of_sizes and {row[index] for row in rows} == {"1"})]
    more = (f"{len(summaries) - _MOST_ROWS} more: in the chapters below.",) if len(summaries) > _MOST_ROWS else ()
    signs = legend(cell for row in rows for cell in row)
    more += (f"In brackets: intervals.{f' {signs}.' if signs else ''}",) if any("(" in row[4] for row in rows) else ()
    places = tuple(summary.place for _, summary in summaries[:_MOST_ROWS])
    gpu = f" for {_gpu(record, summaries[0][1].gpu)}" if summaries[0][1].gpu else ""
    yield TableBlock(Table(
        f"The best stage of each {size} on {chosen[0].device}, {kind}{gpu}", tuple(columns[index] for index in kept),
        tuple(tuple(row[index] for index in kept) for row in rows), 3 if 1 in kept else 2, more,
        ", ".join(places), places), source)
