"""A duel (`convladder duel --output`) and its selftest: read, the duel as a comparison, the selftest as a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from convladder_charts.comparison import LOOKS, Bounds, Change, Comparison, Limits, percent, reason_of
from convladder_charts.json_text import Node
from convladder_charts.kinds.members import (LONGEST_TEXT, Origin, amount, is_kind, member, number_of, origin,
                                             several, text_of)
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import Stage, printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, significant

KIND = "duel"
SELFTEST = "selftest"
_DASH = ".."
_VERDICTS = ("regressed", "inconclusive", "pass", "improved", "contaminated")


@dataclass(frozen=True)
class Control:
    """The base against itself."""

    bounds: Optional[Bounds]
    contaminated: bool
    failure: str
    rounds: int


@dataclass(frozen=True)
class Rounds:
    """What a case took to be judged."""

    screen: int
    confirm: int
    wanting: Optional[float]


@dataclass(frozen=True)
class Duel:
    """Two builds, or two variants, case by case."""

    origin: Origin
    comparison: Comparison
    control: Control
    rounds: tuple[Rounds, ...]
    builds: tuple[tuple[str, Node], ...]
    of_variants: bool
    of_commands: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        warnings = list(self.origin.warnings)
        if self.control.contaminated:
            warnings.append("contaminated: the base against itself moved, so the duel shows nothing")
        if self.control.failure:
            warnings.append(f"the control could not be measured: {self.control.failure}")
        return tuple(warnings)


def is_of(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def read(root: Node) -> Duel:
    """Raises RecordError."""
    if root.field("schema_version").value != "2.0":
        raise root.field("schema_version").wrong("schema version \"2.0\"")
    settings, cases = root.field("settings"), root.field("cases").items()
    limits = Limits(*(settings.field(name).number() for name in ("tau", "delta", "alpha")))
    builds = tuple((name, root.field(name)) for name in ("base", "new"))
    of_commands = any("command" in node.value for _, node in builds)
    comparison = Comparison(
        *(_build(node) for _, node in builds), limits, root.field("exit_code").integer(),
        {name: root.field("counts").field(name).integer() for name in LOOKS},
        tuple(printable(note.text(), LONGEST_TEXT) for note in root.field("notes").items()),
        tuple(_change(node, of_commands) for node in cases))
    control = root.field("control")
    bounds = member(control, "change")
    return Duel(origin(root), comparison,
                Control(_bounds(bounds) if bounds else None, control.field("contaminated").value is True,
                        text_of(control, "failure", LONGEST_TEXT), len(control.field("rounds").items())),
                tuple(_rounds(node) for node in cases), builds,
                any(node.field("base_variant").value != node.field("new_variant").value for node in cases), of_commands)


def _build(node: Node) -> str:
    if "command" in node.value:
        return printable(node.field("command").text(), 200)
    program = node.field("program")
    dirty = " and changes" if program.field("dirty").boolean() else ""
    commit = text_of(program, "commit")[:12] or "unknown"
    return f"{printable(node.field('path').text(), 200)}: commit {commit}{dirty}"


def _change(node: Node, of_commands: bool) -> Change:
    verdict = node.field("verdict").text()
    if verdict not in LOOKS:
        raise node.field("verdict").wrong("one of " + ", ".join(LOOKS))
    identifier = node.field("id").text()
    base, new = (text_of(node, name) for name in ("base_variant", "new_variant"))
    title = (new if base == new else f"{base} {_DASH} {new}") or "(no name)"
    metric = node.field("metric")
    if of_commands:  # of any program: its cases have no parts
        device, variant, layer, batch = "", title, text_of(metric, "name"), "1"
    else:
        device, variant, *layers, batch = _parts(node.field("id"))
        layer = "/".join(layers)
    medians = [member(node, name) for name in ("base_median", "new_median")]
    bounds = member(node, "change")
    return Change(
        printable(identifier, 160), printable(device), Stage("", None, printable(variant), title), printable(layer),
        printable(batch), verdict, reason_of(node), "", "", False, *(amount(one) if one else None for one in medians),
        _bounds(bounds) if bounds else None, None, (), node.place, metric.field("unit").value or "",
        metric.field("better").value == "higher")


def _parts(node: Node) -> list[str]:
    parts = node.text().split("/")
    if len(parts) < 4:
        raise node.wrong("device/variant/layer/batch")
    return parts


def _bounds(node: Node) -> Bounds:
    return Bounds(*(node.field(name).number() for name in ("estimate", "low", "high")))


def _rounds(node: Node) -> Rounds:
    counts = []
    for name in ("screen", "confirm"):
        found = member(node, name)
        counts.append(len(found.field("rounds").items()) if found else 0)
    return Rounds(counts[0], counts[1], number_of(node, "rounds_wanting"))


def rounds_table(duel: Duel) -> Table:
    """Verdict, times and the number of rounds of each case."""
    rows = []
    for change, rounds in zip(duel.comparison.changes, duel.rounds):
        bounds = change.bounds
        rows.append((change.id, change.verdict,
                     *(NONE if one is None else change.figure(one) for one in (change.base_median, change.new_median)),
                     NONE if bounds is None else percent(bounds.estimate),
                     NONE if bounds is None else f"{percent(bounds.low)} to {percent(bounds.high)}",
                     str(rounds.screen), str(rounds.confirm),
                     NONE if rounds.wanting is None else f"{rounds.wanting:.0f}", change.reason or NONE))
    return Table("Each case: measured medians, the change with its bounds, and the rounds it took",
                 ("case", "verdict", "base", "new", "change", "bounds", "screen", "confirm", "rounds wanting", "why"),
                 tuple(rows), 2, place="$.cases[…]", row_places=tuple(one.place for one in duel.comparison.changes))


@dataclass(frozen=True)
class Level:
    """Duels with the same extra work."""

    extra: float
    counts: Mapping[str, int]
    duels: int
    low: float
    high: float
    place: str


@dataclass(frozen=True)
class Selftest:
    """Duels whose answer is known."""

    origin: Origin
    case: str
    levels: tuple[Level, ...]
    limits: Limits
    complete: bool
    seconds: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        return () if self.complete else ("time ran out before all duels were run",)


def is_selftest(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, SELFTEST)


def read_selftest(root: Node) -> Selftest:
    """Raises RecordError."""
    settings = root.field("settings")
    return Selftest(origin(root), printable(root.field("case").text(), 160),
                    tuple(_level(node) for node in root.field("levels").items()),
                    Limits(*(settings.field(name).number() for name in ("tau", "delta", "alpha"))),
                    root.field("complete").boolean(), amount(root.field("seconds")))


def _level(node: Node) -> Level:
    counts = {name: int(amount(node.field(name))) for name in _VERDICTS}
    return Level(node.field("extra_percent").number(), counts, node.field("duels").integer(),
                 node.field("regressed_low").number(), node.field("regressed_high").number(), node.place)


def selftest_sentence(one: Selftest) -> str:
    """Whether a duel errs."""
    equal = next((level for level in one.levels if level.extra == 0), None)
    found = [level for level in one.levels if level.extra > 0 and level.duels and
             level.counts["regressed"] == level.duels]
    text = "No duel of equal sides was run."
    if equal is not None and equal.duels:
        text = (f"{equal.counts['regressed']} of {several(equal.duels, 'duel')} of equal sides reported a regression "
                f"that was not there (at most {significant(100 * equal.high)} % with 95 % confidence).")
    if found:
        least = min(level.extra for level in found)
        text += f" Every duel with {least:g} % of extra work found it."
    return text


def selftest_chart(one: Selftest) -> Optional[RowChart]:
    """How often a duel says regressed, over the extra work."""
    rows = tuple(Mark(f"{level.extra:g} % extra work" if level.extra else "equal sides",
                      100 * level.counts["regressed"] / level.duels, 100 * level.low, 100 * level.high,
                      f"{level.counts['regressed']} of {several(level.duels, 'duel')}",
                      "plain" if level.extra else "base") for level in one.levels if level.duels > 0)
    if not rows:
        return None
    lines = ("lines: exact 95 % bounds; few duels say little", one.origin.line)
    return RowChart("How often a duel says that the new side regressed", tuple(filter(None, lines)), one.warnings,
                    (Panel(one.case, "", rows, "duels that say regressed (%), measured", lambda value: f"{value:g} %",
                           ends=(-2.0, 102.0)),))


def selftest_table(one: Selftest) -> Table:
    """All levels."""
    return Table("Duels by extra work", ("extra work (%)", "duels", *_VERDICTS, "regressed, bounds (%)"), tuple(
        (f"{level.extra:g}", str(level.duels), *(str(level.counts[name]) for name in _VERDICTS),
         f"{100 * level.low:.1f} to {100 * level.high:.1f}") for level in one.levels), 1, place="$.levels",
        row_places=tuple(level.place for level in one.levels))
