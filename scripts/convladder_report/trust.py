"""How far the figures of a record can be trusted: what was verified, and how quiet the machine was."""

from __future__ import annotations

import re
from collections import Counter
from typing import Iterator

from convladder_charts.json_text import Node
from convladder_charts.stage import optional, printable
from convladder_report.document import Answer, Mark

_NOT_RUN = ("skipped", "unsupported")
_QUIET = "quiet"
QUALITY_WORDS = {"good": _QUIET, "noisy": "noisy", "disturbed": "disturbed"}
"""What the record's marks are called."""
_NUMBER = re.compile(r"[\d.]+")
_LONGEST = 120


class Trust:
    """The cases of a record by what is known of them."""

    def __init__(self, root: Node) -> None:
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

    @property
    def timed(self) -> int:
        """Cases that have a mark."""
        return sum(self.qualities.values())

    def answer(self) -> Answer:
        """In one or two sentences."""
        return Answer("Can I trust it?", " ".join(self._sentences()), "$.cases[…]: status, verification, quality",
                      marks=tuple(self._marks()))

    def _sentences(self) -> Iterator[str]:
        if not self.ran:
            yield "There is nothing to trust yet: no case ran."
            return
        if self.right == self.ran:
            yield ("The result was checked against a float64 reference and is right." if self.right == 1 else
                   f"All {self.right} results were checked against a float64 reference and are right.")
        else:
            yield (f"{self.right} of {self.ran} results are right by a float64 reference; what is not right has no time in "
                   "this report.")
        quiet = self.qualities[_QUIET]
        if self.timed and quiet == self.timed:
            yield "The machine was quiet all the time."
        elif self.timed:
            often = f"for only {quiet} of {self.timed}" if quiet else f"for none of the {self.timed}"
            yield f"The machine was quiet {often} timed cases{self._why()}: do not rely on small differences."

    def _why(self) -> str:
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
