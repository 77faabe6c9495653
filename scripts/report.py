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
from convladder_report.pdf import NoPdf

BAD_INPUT = 3
CANNOT_WRITE = 4
ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "results/published"
PROGRAMS = (ROOT / "convladder", ROOT / "build/release/convladder")
"""In a bundle, and in a source tree."""

EXAMPLES = """\
examples:
  scripts/report.py results/host-20250101/run.json             report.html next to run.json
  scripts/report.py run.json network.json --output all.html    both in one page
  scripts/report.py run.json --base old/run.json               with what changed, by 'convladder compare'
  scripts/report.py run.json --markdown docs/run               also report.md with SVG files, for a repository
  scripts/report.py run.json --pdf report.pdf                  also as PDF, where Chromium is

The page needs nothing else: no network, and no JavaScript to be read. The same records give the same bytes.

exit status: 0 written (also when no case has a result: the page says so), 2 usage, 3 no readable record,
4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    options.name = "convladder: report" if options.program else "report.py"
    sys.stdout.reconfigure(errors="replace")
    warnings.filterwarnings("ignore")  # a font without a glyph, an axis without a range: the page shows it
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        written = _write(options)
    except RecordError as error:
        return _complain(options, str(error), BAD_INPUT)
    except ModuleNotFoundError as error:
        return _complain(options, f"missing Python module {error.name}; it needs matplotlib and Jinja2, "
                         "which scripts/setup.sh --charts installs", CANNOT_WRITE)
    except OSError as error:
        return _complain(options, f"cannot write {error.filename or ''}: {error.strerror}", CANNOT_WRITE)
    except NoPdf as error:
        return _complain(options, str(error), CANNOT_WRITE)
    return _print(options, written)


def _print(options: argparse.Namespace, written: Sequence[Path]) -> int:
    """Which files there are now."""
    try:
        for path in written:
            print(_printable(str(path)))
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = None  # nothing is tried again at the end
        return _complain(options, f"cannot write to the standard output: {error.strerror}", CANNOT_WRITE)
    return 0


def _write(options: argparse.Namespace) -> list[Path]:
    from convladder_charts.page import write
    from convladder_report import build, html, library, markdown, pdf, published

    inputs = build.read(options.records)
    comparison = build.compared(inputs, options.base, _program(options)) if options.base else None
    report = build.report(inputs, published.publications(PUBLISHED), comparison)
    output = options.output or options.records[0].resolve().parent / "report.html"
    output.parent.mkdir(parents=True, exist_ok=True)
    page = html.html(report, None if options.static else library.text(ROOT), options.static).encode("utf-8")
    write(output, page)
    if len(page) > html.LARGE:
        print(f"{options.name}: {output.name} has {len(page) / 1e6:.1f} MB and may open slowly; a report of fewer records "
              "is smaller", file=sys.stderr)
    written = [output]
    if options.markdown:
        written += markdown.write_markdown(report, options.markdown)
    if options.pdf:
        options.pdf.resolve().parent.mkdir(parents=True, exist_ok=True)
        pdf.write_pdf(output, options.pdf)
        written.append(options.pdf)
    return written


def _program(options: argparse.Namespace) -> Path:
    """What compares."""
    choices = [options.program] if options.program else PROGRAMS
    found = next((path for path in choices if path.is_file()), None)
    if found is None:
        raise RecordError(f"--base needs the program, which was not found at {choices[-1]}; scripts/run.sh builds it")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD.json", help="a run.json or a network.json")
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help="the page (default: report.html next to the first record)")
    parser.add_argument("--base", type=Path, metavar="BASE.json",
                        help="a run.json to compare the first run of single layers with")
    parser.add_argument("--markdown", type=Path, metavar="DIR", help="also report.md and SVG files, into DIR")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="also write this PDF (needs Chromium)")
    parser.add_argument("--static", action="store_true", help="without the charts that need JavaScript")
    parser.add_argument("--program", type=Path, metavar="PATH",
                        help="the convladder that compares (default: this tree's)")
    return parser


def _printable(text: str) -> str:
    """Without what steers a terminal: names come from outside."""
    return "".join(c if c.isprintable() else " " for c in text)


def _complain(options: argparse.Namespace, message: str, status: int) -> int:
    """One line. The program knows one status for all that is wrong."""
    print(f"{options.name}: {_printable(message)}", file=sys.stderr)
    return BAD_INPUT if options.program else status


if __name__ == "__main__":
    sys.exit(main())
