#!/usr/bin/python3 -B
"""Makes one HTML page of records, of any kind that convladder writes, or a site with a page for each."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import sys
import warnings
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts.json_text import RecordError
from convladder_report.pdf import NoPdf

BAD_INPUT = 3
CANNOT_WRITE = 4
LEFT_OUT = 5
INTERRUPTED = 130
LEFT_OUT_OF_PROGRAM = 2
ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "results/published"
DEFAULT_RECORDS = Path("results")
PROGRAMS = (ROOT / "convladder", ROOT / "build/release/convladder")
"""In a bundle or an installed tree, and in a source tree."""

EXAMPLES = """\
examples:
  scripts/report.py results/host-20250101/run.json             report.html next to run.json
  scripts/report.py run.json network.json --output all.html    both in one page
  scripts/report.py run.json --base old/run.json               with what changed, by 'convladder compare'
  scripts/report.py run.json --markdown docs/run               also report.md with SVG files, for a repository
  scripts/report.py run.json --pdf report.pdf                  also as PDF, where Chromium is
  scripts/report.py results/tonight                            of a folder: the records in it, or else below it
  scripts/report.py --site pages results                       a page for each record, an index, history, comparisons

The page needs nothing else: no network, and no JavaScript to be read. The same records give the same bytes.

exit status: 0 written (also when no case has a result: the page says so), 2 usage, 3 no readable record,
4 cannot write, 5 written, but a file of a folder could not be read."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.site and (options.output or options.base or options.markdown or options.pdf):
        parser.error("--site stands alone: it goes without --output, --base, --markdown and --pdf")
    if not options.site and not options.records:
        parser.error("the following arguments are required: RECORD.json")
    options.name = "convladder: report" if options.program else "report.py"
    sys.stdout.reconfigure(errors="replace")
    warnings.filterwarnings("ignore")  # a font without a glyph, an axis without a range: the page shows it
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        written, left_out = _site(options) if options.site else _write(options)
    except RecordError as error:
        return _complain(options, str(error), BAD_INPUT)
    except ModuleNotFoundError as error:
        return _complain(options, f"missing Python module {error.name}; it needs matplotlib and Jinja2: "
                         "Debian's python3-matplotlib and python3-jinja2", CANNOT_WRITE)
    except OSError as error:
        return _complain(options, f"cannot write {error.filename or ''}: {error.strerror}", CANNOT_WRITE)
    except NoPdf as error:
        return _complain(options, str(error), CANNOT_WRITE)
    except KeyboardInterrupt:
        print(f"{options.name}: interrupted; the same command again goes on", file=sys.stderr)
        return INTERRUPTED
    for line in left_out:
        print(f"{options.name}: {_printable(line)}", file=sys.stderr)
    status = _print(options, written)
    return status or ((LEFT_OUT_OF_PROGRAM if options.program else LEFT_OUT) if left_out else 0)


def _print(options: argparse.Namespace, written: Sequence[object]) -> int:
    """Which files there are now."""
    try:
        for path in written:
            print(_printable(str(path)))
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = None  # nothing is tried again at the end
        return _complain(options, f"cannot write to the standard output: {error.strerror}", CANNOT_WRITE)
    return 0


def _write(options: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """The files that were written, and what of a folder could not be read."""
    from convladder_charts.page import write
    from convladder_report import build, folders, html, library, markdown, pdf, published

    records, notes = folders.expanded(options.records)
    inputs = build.read(records, _found_program(options))
    comparison = build.compared(inputs, options.base, _program(options)) if options.base else None
    report = build.report(inputs, published.publications(PUBLISHED), comparison)
    report = dataclasses.replace(report, warnings=(*notes, *report.warnings))
    output = options.output or _folder_of(options.records[0]) / "report.html"
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
    return written, [note for note in notes if note.startswith(folders.LEFT_OUT)]


def _folder_of(record: Path) -> Path:
    """Where the page goes: beside a record, and into a folder of records."""
    return record if record.is_dir() else record.resolve().parent


def _site(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What became of the site, and what was left out of it."""
    from convladder_report import library
    from convladder_site import site

    named = options.records or [DEFAULT_RECORDS]
    tools = site.Tools(_found_program(options), None if options.static else library.text(ROOT), PUBLISHED,
                       options.static)
    live = sys.stderr.isatty()

    def progress(text: str) -> None:
        if live:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    try:
        made = site.make(options.site, named, tools, progress)
    finally:
        progress("")
    changed = f"{made.written} written" + (f", {made.removed} removed" if made.removed else "")
    without = "" if tools.program else "; without history and comparisons, which take the program"
    return [f"{made.index}", f"{made.pages} pages: {changed}{without}"], [f"left out: {line}" for line in made.bad]


def _program(options: argparse.Namespace) -> Path:
    """What compares."""
    found = _found_program(options)
    if found is None:
        raise RecordError(f"--base needs the program, which was not found at {options.program or PROGRAMS[-1]}; "
                          "scripts/run.sh builds it")
    return found


def _found_program(options: argparse.Namespace) -> Optional[Path]:
    choices = [options.program] if options.program else PROGRAMS
    return next((path for path in choices if path.is_file()), None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="*", metavar="RECORD.json",
                        help="a record of any kind, or a folder of records")
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help="the page (default: report.html next to the first record)")
    parser.add_argument("--site", type=Path, metavar="DIR",
                        help=f"a site of all records, into DIR (default of the records: {DEFAULT_RECORDS})")
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
