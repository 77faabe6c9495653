"""The chart library that scripts/report_library.sh put together, if it did."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

PLACES = ("lib/report/library.js", "build/report-library/library.js")
"""In a bundle, and in a source tree."""


def text(root: Path) -> Optional[str]:
    """None where it is not there, or holds what would end the script that it is put into."""
    path = next((path for path in (root / place for place in PLACES) if path.is_file()), None)
    if path is None:
        return None
    found = path.read_text(encoding="utf-8")
    return None if "</script" in found.lower() or "<!--" in found else found
