"""A few of the records that report_fuzz.py makes; CONVLADDER_FUZZ_RECORDS sets how many."""

from __future__ import annotations

import os
from pathlib import Path

from report_fuzz import run

RECORDS = int(os.environ.get("CONVLADDER_FUZZ_RECORDS", "24"))


def test_broken_and_hostile_records_do_no_harm(tmp_path: Path) -> None:
    counts, faults = run(2, lambda number: number < RECORDS, tmp_path)
    assert faults == []
    assert sum(counts.values()) == RECORDS and min(counts.values()) > 0
