"""The cases of a record as the rules look at them: in brief, and by the rows of a ladder. Works of a large record, whose
cases are read one by one, as of a small one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

FP32_TOLERANCE = 1e-6
"""Of a case that was not verified."""


def outlines(cases: Any) -> Sequence[Any]:
    """What is short of each case (case_by_case.py)."""
    found: Sequence[Any] = getattr(cases, "outlines", cases)
    return found


class Rows:
    """Finds the cases of a ladder's rows."""

    def __init__(self, cases: Sequence[Any]) -> None:
        self._cases = cases
        self._index = {case["id"]: index for index, case in enumerate(outlines(cases))}

    def has(self, identifier: str) -> bool:
        """Whether there is such a case."""
        return identifier in self._index

    def of(self, ladder: Any) -> Mapping[str, Any]:
        """The cases that its rows name, by their ids."""
        named = dict.fromkeys(row["case"] for row in ladder["rows"])
        return {one: self._cases[self._index[one]] for one in named if one in self._index}


def least_of_libraries(ladder: Any, cases: Mapping[str, Any], time: Callable[[Any], Optional[float]]
                       ) -> Callable[[Any], Optional[float]]:
    """For a row the least time of the libraries that it is compared with: those that are at least as accurate."""
    libraries = sorted((_tolerance(row, cases), value) for row in ladder["rows"]
                       if row["rung"] is None and (value := time(row)) is not None)
    tolerances, least = [one for one, _ in libraries], []
    for _, value in libraries:
        least.append(min(value, least[-1]) if least else value)

    def of(row: Any) -> Optional[float]:
        count = bisect_right(tolerances, _tolerance(row, cases))
        return least[count - 1] if count else None
    return of


def _tolerance(row: Any, cases: Mapping[str, Any]) -> float:
    verification = cases.get(row["case"], {}).get("verification")
    return verification["tolerance"] if verification else FP32_TOLERANCE
