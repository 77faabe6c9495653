"""How far the figures of a record can be trusted: Yes, Roughly or No, by a table of rules, and why.

docs/use/report.md has the same table; tests/scripts/test_report_trust.py holds both together.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Iterator, Optional

from convladder_charts.json_text import Node
from convladder_charts.known_text import untold
from convladder_charts.record import Record
from convladder_charts.stage import optional, printable
from convladder_report.document import Answer, Mark
from convladder_report.words import counted, listed

_NOT_RUN = ("skipped", "unsupported")
_QUIET = "quiet"
QUALITY_WORDS = {"good": _QUIET, "noisy": "noisy", "disturbed": "disturbed"}
"""What the record's marks are called."""
_NUMBER = re.compile(r"[\d.]+")
_LONGEST = 120
QUESTION = "Can I trust it?"
_NO, _ROUGHLY, YES = "No", "Roughly", "Yes"
_MOST_NOISY = 0.25
"""Of the times."""
_OTHERWISE = ("unsafe", "not judged")
"""Statuses that have rules of their own."""


class Trust:
    """The cases of a record by what is known of them."""

    def __init__(self, root: Node, record: Optional[Record] = None) -> None:
        cases = root.field("cases").outlines()
        statuses = [(printable(case.field("device").text()), printable(case.field("status").text()), case)
                    for case in cases]
        self.ran = sum(status not in _NOT_RUN for _, status, _ in statuses)
        self.right = sum(status == "ok" for _, status, _ in statuses)
        self.failed = Counter(status for _, status, _ in statuses if status not in (*_NOT_RUN, "ok"))
        used = {device for device, status, _ in statuses if status not in _NOT_RUN}
        self.left_out = sum(status == "skipped" and device in used for device, status, _ in statuses)
        self.skipped: dict[str, str] = {}
        """Devices of which nothing ran, with the first reason."""
        self.unsupported = sum(status == "unsupported" for _, status, _ in statuses)
        for device, status, case in statuses:
            if status == "skipped" and device not in used:
                self.skipped.setdefault(device, printable(optional(case.field("reason"), Node.text) or "no reason", _LONGEST))
        qualities = [case.field("quality") for case in cases if case.value.get("quality") is not None]
        marks = [quality.field("mark").text() for quality in qualities]
        self.qualities = Counter(QUALITY_WORDS.get(mark, printable(mark)) for mark in marks)
        self.reasons = Counter(printable(one.text(), _LONGEST) for quality in qualities
                               for one in quality.field("reasons").items()[:1])

        looks = [case.field("checkers").field("not_checked") for case in cases if case.value.get("checkers") is not None]
        self.looked_at = sum(one.is_null() for one in looks)
        self.not_looked_at = Counter(printable(one.text(), _LONGEST) for one in looks if not one.is_null())
        ladders = [ladder for group in record.drawn for ladder in group.ladders if ladder.timed] if record else []
        self.ladders = len(ladders)
        self.no_headlines = Counter(printable(one.summary.no_headline, _LONGEST) for one in ladders if one.summary.no_headline)
        steps = [row.x_previous for one in ladders for row in one.timed if row.x_previous is not None]
        self.steps, self.untold = len(steps), sum(map(untold, steps))

    @property
    def timed(self) -> int:
        """Cases that have a mark."""
        return sum(self.qualities.values())

    @property
    def verdict(self) -> tuple[str, tuple[str, ...]]:
        """Yes, Roughly or No, and the reasons: of the rules that apply, those of the worst word."""
        found = [(rule.word, reason) for rule in RULES if (reason := rule.reason(self))]
        word = next((word for word in (_NO, _ROUGHLY) if any(word == one for one, _ in found)), YES)
        return word, tuple(reason for one, reason in found if one == word)

    def answer(self) -> Answer:
        """The word, why, and what was checked."""
        return Answer(QUESTION, " ".join(self._sentences()), "$.cases[…]: status, verification, quality, checkers",
                      marks=tuple(self._marks()))

    def _sentences(self) -> Iterator[str]:
        word, reasons = self.verdict
        if not reasons:
            quiet = ("" if not self.timed else "; the machine was quiet all the time" if self.qualities[_QUIET] == self.timed
                     else f"; the machine was quiet for {self.qualities[_QUIET]} of {self.timed} timed cases")
            yield (f"{word}: the result was checked against a float64 reference and is right{quiet}." if self.right == 1 else
                   f"{word}: all {self.right} results were checked against a float64 reference and are right{quiet}.")
        else:
            yield f"{word}: {'; '.join(reasons)}."
            if self.right == self.ran and self.ran:
                yield ("The result was checked against a float64 reference and is right." if self.right == 1 else
                       f"All {self.right} results were checked against a float64 reference and are right.")
        if self.looked_at:
            yield f"Memory, races, initialisation and barriers were checked on {counted(self.looked_at, 'case')}."
        if self.untold and self.untold * 2 <= self.steps:
            yield f"{self.untold} of {self.steps} steps cannot be told from the stage below."

    @property
    def why(self) -> str:
        """The reason that most cases have, with its figures in the most of them."""
        kinds: dict[str, Counter[str]] = {}
        for reason, number in self.reasons.items():
            kinds.setdefault(_NUMBER.sub("#", reason), Counter())[reason] += number
        if not kinds:
            return ""
        most = max(kinds.values(), key=lambda one: sum(one.values()))
        return f" (mostly: {most.most_common(1)[0][0]})"

    def _marks(self) -> Iterator[Mark]:
        """In a few words each."""
        if self.ran:
            yield Mark("good" if self.right == self.ran else "bad", f"{self.right} of {self.ran} verified")
        for look, word in (("good", _QUIET), ("doubtful", "noisy"), ("bad", "disturbed")):
            if self.qualities[word]:
                yield Mark(look, f"{self.qualities[word]} {word}")
        for status, number in self.failed.most_common():
            yield Mark("bad", f"{number} {status}")
        if self.unsupported:
            yield Mark("plain", f"{self.unsupported} unsupported")
        if self.left_out:
            yield Mark("plain", f"{self.left_out} not run by choice")
        for device, reason in self.skipped.items():
            yield Mark("plain", f"{device} skipped: {reason.split(' (')[0]}")


@dataclass(frozen=True)
class Rule:
    """Which word a record gets, when, and the reason in words; an empty reason where the rule does not apply."""

    word: str
    when: str
    """As in docs/use/report.md."""
    reason: Callable[[Trust], str]


def _none_ran(one: Trust) -> str:
    return "" if one.ran else "there is nothing to trust yet, since no case ran"


def _mostly_wrong(one: Trust) -> str:
    return f"only {one.right} of {one.ran} results are right" if one.right * 2 < one.ran else ""


def _mostly_disturbed(one: Trust) -> str:
    disturbed = one.qualities["disturbed"]
    were = "was" if disturbed == 1 else "were"
    return f"{disturbed} of {one.timed} times {were} disturbed{one.why}" if disturbed * 2 > one.timed else ""


def _failed(one: Trust) -> str:
    failed = [f"{number} {status}" for status, number in one.failed.most_common() if status not in _OTHERWISE]
    return f"{listed(failed)} of {one.ran} cases, which have no time in this report" if failed else ""


def _unsafe(one: Trust) -> str:
    number = one.failed["unsafe"]
    return f"a checker has a finding in {counted(number, 'case')}, unsafe and without a time in this report" if number else ""


def _not_judged(one: Trust) -> str:
    number = one.failed["not judged"]
    return f"{counted(number, 'case')} not judged, since the machine was too busy" if number else ""


def _not_looked_at(one: Trust) -> str:
    number = sum(one.not_looked_at.values())
    return (f"{counted(number, 'case')} not checked for memory, races, initialisation and barriers "
            f"({one.not_looked_at.most_common(1)[0][0]})") if number else ""


def _not_quiet(one: Trust) -> str:
    noisy, disturbed = one.qualities["noisy"], one.qualities["disturbed"]
    if not disturbed and noisy <= _MOST_NOISY * one.timed:
        return ""
    quiet = one.qualities[_QUIET]
    often = f"for only {quiet} of {one.timed}" if quiet else f"for none of the {one.timed}"
    return f"the machine was quiet {often} timed cases{one.why}"


def _without_headline(one: Trust) -> str:
    number = sum(one.no_headlines.values())
    if not number:
        return ""
    where = "" if one.ladders == 1 else f" of {number} of {one.ladders} ladders"
    return f"no factor{where} can be told ({one.no_headlines.most_common(1)[0][0]})"


def _mostly_untold(one: Trust) -> str:
    return (f"{one.untold} of {one.steps} steps cannot be told from the stage below" if one.untold * 2 > one.steps else "")


RULES: tuple[Rule, ...] = (
    Rule(_NO, "no case ran", _none_ran),
    Rule(_NO, "fewer than half of the cases that ran have a right result", _mostly_wrong),
    Rule(_NO, "more than half of the times are disturbed", _mostly_disturbed),
    Rule(_ROUGHLY, "a case failed: wrong, crashed, too late, not compiled, refused", _failed),
    Rule(_ROUGHLY, "a case is unsafe: its result is right, and a checker has a finding", _unsafe),
    Rule(_ROUGHLY, "a case is not judged: the machine was too busy", _not_judged),
    Rule(_ROUGHLY, "a case of anybody's CUDA stage could not be looked at by the checkers", _not_looked_at),
    Rule(_ROUGHLY, f"a time is disturbed, or more than {100 * _MOST_NOISY:.0f} % of the times are noisy", _not_quiet),
    Rule(_ROUGHLY, "the factors of a ladder have no headline", _without_headline),
    Rule(_ROUGHLY, "more than half of the steps cannot be told from 1", _mostly_untold),
    Rule(YES, "otherwise", lambda one: ""),
)
"""All of them; the worst word of those that apply is said, with their reasons."""
