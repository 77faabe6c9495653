"""Warp instructions of a network's steps, stage beside stage, from a device that counts instead of timing."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts.bars import BAR, bar_axes, stage_mark
from convladder_charts.network.record import Case, NetworkGroup, NetworkRecord
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below, panel_title, provenance, rule
from convladder_charts.style import MUTED, PAPER, fitted, mark_of, text_inches
from convladder_charts.units import count, linear_ticks, prefix_for, significant

_ROW = 0.25
_TOP = 0.78
_BOTTOM = 0.4
_GAP = 0.22
_SIZE = 8.2
_MOST_COLUMNS = 3
_MOST_STEPS = 60
_LONGEST_NAME = 1.3


def draw(record: NetworkRecord, group: NetworkGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    cases = chosen(group, batch)
    shown = _few(cases)
    title = _title(group, cases)
    others = [case for case in group.failed if case.batch == cases[0].batch]
    left_out = len(cases) - len(shown)
    heading = Heading(title, [f"COUNTED in PTX on the {group.device} device, not timed: warp instructions of each step"],
                      record.warnings, WIDTH)
    steps = _steps(group, cases)
    fewer = (f"of {len(group.step_names):,} steps the {len(steps)} that execute most, the others in table.md"
             if len(steps) < len(group.step_names) else "")
    foot = Foot([fewer, f"not drawn: {left_out} more stage{'s' * (left_out != 1)}, in table.md" if left_out else "", images(cases),
                 *(f"{case.stage.title}: {case.why_no_time}" for case in others[:3]), provenance(record, group),
                 f"weights: {group.weights}"], WIDTH)
    page, (top,) = page_below(heading, WIDTH, [_TOP + len(steps) * _ROW + _BOTTOM], foot)
    _Block(page, top, group, cases, shown, steps).draw()
    return page, title, _in_words(group, cases, steps)


def _steps(group: NetworkGroup, cases: Sequence[Case]) -> Sequence[str]:
    """The steps that have a row, in the network's order: of very many those that execute most."""
    if len(group.step_names) <= _MOST_STEPS:
        return group.step_names
    most: dict[str, float] = {}
    for case in cases:
        for step in case.steps:
            most[step.name] = max(most.get(step.name, 0.0), step.instructions or 0.0)
    kept = set(sorted(most, key=lambda name: -most[name])[:_MOST_STEPS])
    return [name for name in group.step_names if name in kept]


def _total(case: Case) -> float:
    return sum(step.instructions or 0.0 for step in case.steps)


def _few(cases: Sequence[Case]) -> list[Case]:
    """The lowest rung, the one that executes fewest, and what else there is room for from the last rung down."""
    first, least = min(cases, key=lambda case: case.stage.rung or 0), min(cases, key=_total)
    kept = list(dict.fromkeys([first.stage, least.stage, *(case.stage for case in reversed(cases))]))[:_MOST_COLUMNS]
    return [case for case in cases if case.stage in kept]


def _title(group: NetworkGroup, cases: Sequence[Case]) -> str:
    first, least = min(cases, key=lambda case: case.stage.rung or 0), min(cases, key=_total)
    if first is least or not _total(least):
        return f"COUNTED: {group.network} executes {count(_total(least))} warp instructions with {least.stage.title}"
    return (f"COUNTED: {group.network} executes {significant(_total(first) / _total(least))} times fewer warp instructions "
            f"with {least.stage.title} than with {first.stage.title}")


def chosen(group: NetworkGroup, batch: Optional[int]) -> list[Case]:
    """The counted cases of the asked batch, or of the largest one at which the most stages were counted."""
    batches = {case.batch for case in group.counted}
    if batch not in batches:
        batch = max(batches, key=lambda one: (sum(case.batch == one for case in group.counted), one))
    return [case for case in group.counted if case.batch == batch]


def images(cases: Sequence[Case]) -> str:
    """How much of the batch was executed."""
    executed = min(case.images_counted or case.batch for case in cases)
    if executed == cases[0].batch:
        return "Counted with every image of the batch executed"
    return f"Counted over {executed} of {cases[0].batch} images and scaled to the batch"


class _Block:
    """Some of the stages beside each other, a row for each step; all blocks have the same scale."""

    def __init__(self, page: Page, top: float, group: NetworkGroup, all_cases: Sequence[Case],
                 members: Sequence[Case], steps: Sequence[str]) -> None:
        self.page = page
        self.group = group
        self.steps = steps
        self.members = members
        self.top = top + _TOP
        names = [text_inches(name, _SIZE) for name in steps]
        self.left = MARGIN + min(max(names), _LONGEST_NAME) + 0.2
        columns = min(len(all_cases), _MOST_COLUMNS)
        self.width = min((WIDTH - MARGIN - self.left + _GAP) / columns - _GAP, 3.4)
        largest = max((step.instructions or 0.0 for case in all_cases for step in case.steps), default=1.0) or 1.0
        self.divisor, self.word = prefix_for(largest)
        label = text_inches("0.00 M", _SIZE, "bold") + 0.12
        self.end = largest / self.divisor * self.width / (self.width - label)

    def draw(self) -> None:
        """Names of the steps, and a column for each stage."""
        panel_title(self.page, MARGIN, self.top - 0.64, f"{self.group.network}, batch {self.members[0].batch}",
                    f"warp instructions, counted; axes in {self.word}s" if self.word else "warp instructions, counted")
        rule(self.page, MARGIN, WIDTH - MARGIN, self.top - 0.05)
        for index, name in enumerate(self.steps):
            self.page.text(MARGIN, self.top + (index + 0.5) * _ROW, fitted(name, _SIZE, _LONGEST_NAME),
                           fontsize=_SIZE)
        for index, case in enumerate(self.members):
            self._column(case, self.left + index * (self.width + _GAP))

    def _column(self, case: Case, left: float) -> None:
        mark = mark_of(case.stage)
        total = sum(step.instructions or 0.0 for step in case.steps)
        stage_mark(self.page, left + 0.06, self.top - 0.34, case.stage)
        self.page.text(left + 0.2, self.top - 0.34, fitted(case.stage.label, 8, self.width - 0.2, "bold"),
                       fontsize=8, weight="bold")
        self.page.text(left, self.top - 0.16, f"all steps {count(total)}", fontsize=8,
                       color=MUTED)
        rows = len(self.steps)
        axes = bar_axes(self.page, (left, self.top, self.width, rows * _ROW), rows, self.end,
                        linear_ticks(self.end, 4))
        for index, name in enumerate(self.steps):
            step = case.step(name)
            if step is None or step.instructions is None:
                continue
            value = step.instructions / self.divisor
            axes.barh(index + 0.5, value, BAR, edgecolor=mark.edge, linewidth=0.8, facecolor=mark.colour)
            self.page.text(left + self.width * value / self.end + 0.06, self.top + (index + 0.5) * _ROW,
                           count(step.instructions), fontsize=_SIZE, weight="bold",
                           bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6})


def _in_words(group: NetworkGroup, cases: Sequence[Case], shown: Sequence[str]) -> str:
    named = frozenset(shown)
    sentences = [f"{images(cases)}."]
    for case in cases:
        steps = ", ".join(f"{step.name} {step.instructions:.0f}" for step in case.steps
                          if step.instructions is not None and step.name in named)
        sentences.append(f"{group.network} at batch {case.batch}, {case.stage.label}, warp instructions: {steps}.")
    return " ".join(sentences)
