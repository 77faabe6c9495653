#!/usr/bin/python3 -B
"""Makes one HTML page of counters by line of the source, from what `convladder simulate --lines --output` writes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts.json_text import RecordError
from convladder_charts.record_file import read_json

BAD_INPUT = 3
CANNOT_WRITE = 4


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: scripts/line_page.py everything.json --output lines.html")
    parser.add_argument("document", type=Path, help="the JSON of simulate --lines")
    parser.add_argument("--output", type=Path, default=Path("lines.html"), help="the page (default lines.html)")
    parser.add_argument("--title", default="Counters by line", help="of the page")
    options = parser.parse_args(arguments)
    try:
        from convladder_report.lines import page
        document = read_json(options.document)
        options.output.write_text(page(document, options.title), encoding="utf-8")
    except RecordError as error:
        print(f"line_page.py: {error}", file=sys.stderr)
        return BAD_INPUT
    except ModuleNotFoundError as error:
        print(f"line_page.py: missing Python module {error.name}; it needs Jinja2: Debian's python3-jinja2",
              file=sys.stderr)
        return CANNOT_WRITE
    except OSError as error:
        print(f"line_page.py: {error.filename or ''}: {error.strerror}", file=sys.stderr)
        return CANNOT_WRITE
    return 0


if __name__ == "__main__":
    sys.exit(main())
