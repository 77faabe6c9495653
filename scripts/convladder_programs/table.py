"""What became of the programs, as lines, as Markdown and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterable, Optional

from .trial import Outcome


def line(outcome: Outcome) -> str:
    """A line of a terminal."""
    parts = [f"{outcome.program.id:<42} {outcome.result:<16}", f"{_seconds(outcome.seconds):>7}",
             f"{_seconds(outcome.checked_seconds):>8}"]
    if outcome.findings:
        parts.append(f"{len(outcome.findings)} finding{'s' if len(outcome.findings) > 1 else ''}")
    if outcome.reason:
        parts.append(outcome.reason)
    return " ".join(parts)


def summary(outcomes: list[Outcome]) -> list[str]:
    """Suite by suite: how many pass."""
    lines = []
    for suite in dict.fromkeys(outcome.program.suite.name for outcome in outcomes):
        of_suite = Counter(outcome.result for outcome in outcomes if outcome.program.suite.name == suite)
        total = sum(of_suite.values())
        others = ", ".join(f"{count} {result}" for result, count in of_suite.most_common() if result != "passes")
        lines.append(f"{suite}: {of_suite['passes']} of {total} pass" + (f" ({others})" if others else ""))
    return lines


def markdown(outcomes: list[Outcome]) -> str:
    """A table for each suite, and the findings below it."""
    text: list[str] = []
    for suite in dict.fromkeys(outcome.program.suite for outcome in outcomes):
        of_suite = [outcome for outcome in outcomes if outcome.program.suite == suite]
        passing = sum(outcome.result == "passes" for outcome in of_suite)
        text += [f"## {suite.title}", "", f"<{suite.url}>: {passing} of {len(of_suite)} pass.", "",
                 "| program | result | judged | s | s, checkers | findings | reason, remarks |",
                 "|---|---|---|--:|--:|--:|---|"]
        text += [_row(outcome) for outcome in of_suite]
        found = [outcome for outcome in of_suite if outcome.findings]
        if found:
            text += ["", "Findings:", ""]
            for outcome in found:
                text += [f"- **{outcome.program.name}**: {_escaped(one)}" for one in _few(outcome.findings)]
        text.append("")
    return "\n".join(text)


def as_json(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """All that is known of each."""
    return [{"program": outcome.program.id, "result": outcome.result, "reason": outcome.reason,
             "judged": outcome.judged, "seconds": outcome.seconds, "checked_seconds": outcome.checked_seconds,
             "findings": outcome.findings, "not_supported": outcome.not_supported,
             "note": outcome.program.note} for outcome in outcomes]


def _row(outcome: Outcome) -> str:
    remarks = "; ".join(part for part in (outcome.reason, outcome.program.note) if part)
    cells = [outcome.program.name, outcome.result, outcome.judged, _seconds(outcome.seconds),
             _seconds(outcome.checked_seconds), str(len(outcome.findings)) if outcome.findings else "",
             _escaped(remarks)]
    return "| " + " | ".join(cells) + " |"


def _few(findings: list[str]) -> list[str]:
    shown = list(dict.fromkeys(findings))
    if len(shown) <= 4:
        return shown
    return [*shown[:3], f"and {len(shown) - 3} more"]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def _seconds(value: Optional[float]) -> str:
    return "" if value is None else f"{value:.1f}"
