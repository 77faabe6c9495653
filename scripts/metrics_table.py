#!/usr/bin/python3
"""Writes the table of the simulated device's metrics into docs/reference/counters.md, from what the program says of them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "counters.md"
BEGIN = "<!-- metrics: scripts/metrics_table.py writes what stands between these two lines -->"
END = "<!-- end of metrics -->"

EXAMPLES = """\
examples:
  scripts/metrics_table.py                                      with build/release/convladder
  scripts/metrics_table.py --program build/debug/convladder

exit status: 0 written or already as it should be, 2 usage, 3 the program or the page is not as expected,
4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "convladder",
                        help="the program to ask (default: build/release/convladder)")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into (default: docs/reference/counters.md)")
    options = parser.parse_args(arguments)
    try:
        answer = subprocess.run([str(options.program), "list", "--metrics", "--format", "json"], check=True,
                                capture_output=True, encoding="utf-8").stdout
        text = options.page.read_text(encoding="utf-8")
        new = with_table(text, table(json.loads(answer)["metrics"]))
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
        return _complain(error, 3)
    try:
        if new != text:
            options.page.write_text(new, encoding="utf-8")
    except OSError as error:
        return _complain(error, 4)
    return 0


def table(metrics: Sequence[dict[str, Any]]) -> str:
    """Markdown: a row for each metric, then the notes, which several share, once each."""
    notes = list(dict.fromkeys(metric["note"] for metric in metrics))
    lines = ["| metric | Nsight Compute's name | unit | definition | note |", "|:--|:--|:--|:--|:--|"]
    for metric in metrics:
        cells = (metric["title"], f"`{metric['name']}`", metric["unit"], metric["definition"],
                 f"{notes.index(metric['note']) + 1}" + (", modelled" if metric["modelled"] else ""))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", *(f"{number}. {note}" for number, note in enumerate(notes, 1))])


def with_table(page: str, new: str) -> str:
    """The page with this table between its two marks. Raises ValueError if they are not there once each, in order."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"expected the line {BEGIN} once, and after it {END}")
    return page[:page.index(BEGIN)] + f"{BEGIN}\n\n{new}\n\n" + page[page.index(END):]


def _complain(error: Exception, status: int) -> int:
    print(f"metrics_table.py: {' '.join(str(error).split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
