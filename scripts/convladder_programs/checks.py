"""How a program's result is judged.

A check has some of these; all of them must hold:

  exit        the status it ends with (default 0; null: any)
  prints      a regular expression that its output has
  prints_not  one that its output has not
  reference   the suite's own CPU version: {folder, sources, compiler, flags, arguments}, run on the same inputs
  compare     what the two leave: [{file, as, relative, absolute, ...}]; file "printed.txt" is what they print;
              as: "same" byte for byte, "text" numbers in a text, "f32", "i32", "u8", … of a file of numbers; skip: bytes or,
              of a text, lines that match it are left out; only: of a text, only lines that match it; last: so many
              numbers from the end
  function    one of ours in references.py that knows what must come out
  nothing     true where a program leaves nothing that could be judged: then the table says "runs"
"""

from __future__ import annotations

import array
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence

from . import references

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)\b")
_CODES = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "i16": "h", "u16": "H", "u8": "B"}


@dataclass(frozen=True)
class Verdict:
    """Whether the result is right, why not, and how that was seen."""

    accepted: bool
    reason: str
    judged: str


def judge(check: dict[str, Any], folder: Path, code: Optional[int], text: str, reference: Optional[Path]) -> Verdict:
    """Holds what a program has left in `folder` and printed against its check."""
    judged = _words(check)
    wanted = check.get("exit", 0)
    if wanted is not None and code != wanted:
        return Verdict(False, f"exit status {code}: {_last_line(text)}", judged)
    if "prints" in check and not re.search(check["prints"], text, re.MULTILINE):
        return Verdict(False, f"does not print {check['prints']!r}: {_last_line(text)}", judged)
    if "prints_not" in check and (found := re.search(check["prints_not"], text, re.MULTILINE)):
        return Verdict(False, f"prints {found.group()!r}", judged)
    if "function" in check:
        try:
            reason = references.check(check["function"], folder, text)
        except (OSError, ValueError, IndexError, KeyError) as error:
            reason = f"its result cannot be read: {error}"
        if reason:
            return Verdict(False, reason, judged)
    for one in check.get("compare", ()):
        assert reference is not None
        if reason := _differs(one, folder / one["file"], reference / one.get("with", one["file"])):
            return Verdict(False, f"{one['file']}: {reason}", judged)
    return Verdict(True, "", judged)


def _words(check: dict[str, Any]) -> str:
    if check.get("nothing"):
        return "only that it ends"
    if "compare" in check:
        return "against its CPU version"
    if "function" in check:
        return "computed again"
    return "its own check"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "it printed nothing"


def _differs(how: dict[str, Any], one: Path, other: Path) -> str:
    for path in (one, other):
        if not path.exists():
            return f"{'the CPU version' if path == other else 'the program'} did not write it"
    if how["as"] == "same":
        return "" if one.read_bytes() == other.read_bytes() else "differs"
    mine, theirs = _numbers(how, one), _numbers(how, other)
    if "last" in how:
        mine, theirs = mine[-how["last"]:], theirs[-how["last"]:]
    if len(mine) != len(theirs):
        return f"{len(mine)} numbers, {len(theirs)} of the CPU version"
    if not mine:
        return "holds no numbers"
    largest = max((abs(value) for value in theirs if math.isfinite(value)), default=0.0)
    absolute = how.get("absolute", 0.0) + how.get("of_largest", 0.0) * largest
    relative = how.get("relative", 0.0)
    wrong = [i for i, (a, b) in enumerate(zip(mine, theirs)) if not _close(a, b, relative, absolute)]
    if not wrong:
        return ""
    first = wrong[0]
    return f"{len(wrong)} of {len(mine)} numbers differ, the first: {mine[first]:g} for {theirs[first]:g} at {first}"


def _close(mine: float, theirs: float, relative: float, absolute: float) -> bool:
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    return mine == theirs or abs(mine - theirs) <= absolute + relative * abs(theirs)


def _numbers(how: dict[str, Any], path: Path) -> Sequence[float]:
    if how["as"] == "text":
        lines = path.read_text(errors="replace").splitlines()
        if "only" in how:
            lines = [line for line in lines if re.search(how["only"], line)]
        if "skip" in how:
            lines = [line for line in lines if not re.search(how["skip"], line)]
        return [float(number) for line in lines for number in _NUMBER.findall(line)]
    values = array.array(_CODES[how["as"]])
    data = path.read_bytes()[how.get("skip", 0):]
    values.frombytes(data[:len(data) // values.itemsize * values.itemsize])
    return values
