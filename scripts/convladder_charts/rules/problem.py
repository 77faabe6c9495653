"""What a rule says of a record that breaks it."""

from __future__ import annotations

import math
from typing import Any, Iterator, Optional

Problem = tuple[str, str]
"""A JSON path and what is wrong there."""

RELATIVE = 1e-9


def agrees(found: Optional[float], expected: Optional[float], place: str, what: str) -> Iterator[Problem]:
    """Nothing if both are none or equal but for rounding."""
    if found is None and expected is None:
        return
    if found is None or expected is None or not math.isclose(found, expected, rel_tol=RELATIVE):
        yield place, f"expected {expected} ({what}), found {found}"


def ratio_agrees(found: Any, expected: Optional[float], place: str, what: str) -> Iterator[Problem]:
    """The same of a ratio's value, which lies in its interval."""
    yield from agrees(found and found["value"], expected, f"{place}.value" if found else place, what)
    if found and found["low"] is not None and not found["low"] <= found["value"] <= found["high"]:
        yield place, f"{found['low']} to {found['high']} does not hold the value {found['value']}"
