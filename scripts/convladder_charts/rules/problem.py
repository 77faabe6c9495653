"""What a rule says of a record that breaks it."""

from __future__ import annotations

import math
from typing import Iterator, Optional

Problem = tuple[str, str]
"""A JSON path and what is wrong there."""

RELATIVE = 1e-9


def agrees(found: Optional[float], expected: Optional[float], place: str, what: str) -> Iterator[Problem]:
    """Nothing if both are none or equal but for rounding."""
    if found is None and expected is None:
        return
    if found is None or expected is None or not math.isclose(found, expected, rel_tol=RELATIVE):
        yield place, f"expected {expected} ({what}), found {found}"
