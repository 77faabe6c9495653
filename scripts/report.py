#!/usr/bin/python3
"""Makes one HTML page of runs of single layers (run.json) and of whole networks (network.json)."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts.json_text import RecordError

BAD_INPUT = 3
CANNOT_WRITE = 4
PUBLISHED = Path(__file__).resolve().parent.parent / "results/published"

EXAMPLES = """\
examples:
  scripts/report.py results/host-20250101/run.json             report.html next to run.json
  scripts/report.py run.json network.json --output all.html    both in one page
  scripts/report.py run.json --markdown docs/run               also report.md with SVG files, for a repository

The page needs nothing else: no network, no JavaScript. The same records give the same bytes.

exit status: 0 written (also when no case has a result: the page says so), 2 usage, 3 no readable record,
4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")
    warnings.filterwarnings("ignore")  # a font without a glyph, an axis without a range: the page shows it
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        for path in _write(options):
            print(path)
    except RecordError as error:
        return _complain(str(error), BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except ModuleNotFoundError as error:
        return _complain(f"there is no Python module {error.name}; scripts/setup.sh installs it", CANNOT_WRITE)
    except OSError as error:
        return _complain(f"cannot write {error.filename or ''}: {error.strerror}", CANNOT_WRITE)
    return 0


def _write(options: argparse.Namespace) -> list[Path]:
    from convladder_charts.page import write
    from convladder_report import build, html, markdown, published

    inputs = build.read(options.records)
    report = build.report(inputs, published.publications(PUBLISHED))
    output = options.output or options.records[0].resolve().parent / "report.html"
    output.parent.mkdir(parents=True, exist_ok=True)
    write(output, html.html(report).encode("utf-8"))
    return [output, *(markdown.write_markdown(report, options.markdown) if options.markdown else [])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD.json", help="a run.json or a network.json")
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help="the page (default: report.html next to the first record)")
    parser.add_argument("--markdown", type=Path, metavar="DIR", help="also report.md and SVG files, into DIR")
    return parser


def _complain(message: str, status: int) -> int:
    print(f"report.py: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
