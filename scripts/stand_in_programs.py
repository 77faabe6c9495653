#!/usr/bin/python3
"""Compiles public CUDA programs, runs them on the stand-in for the CUDA runtime, and says which give right results.

The programs are those of PolyBench-ACC, Rodinia, Parboil and NVIDIA's cuda-samples, read from clones that lie side by side
in a folder; none of their sources is kept here. What is known of each (sources, sizes, inputs, how its result is judged)
stands in convladder_programs/programs.json. Every program runs twice: as it is, and with checkers."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

from convladder_programs import catalogue, table, trial

USAGE = 2
CANNOT_RUN = 3

EXAMPLES = """\
examples:
  scripts/stand_in_programs.py --suites ~/suites                        all programs; about an hour on two cores
  scripts/stand_in_programs.py --suites ~/suites --only 'rodinia/(bfs|nw)'
  scripts/stand_in_programs.py --suites ~/suites --markdown table.md --json table.json --work ~/built
  scripts/stand_in_programs.py --list                                   what is known, without running anything

The folder of --suites holds these clones; what is not there is said in the table:
  git clone https://github.com/cavazos-lab/PolyBench-ACC
  git clone https://github.com/yuhc/gpu-rodinia
  git clone https://github.com/abduld/Parboil
  git clone https://github.com/NVIDIA/cuda-samples

With --work, what was compiled is kept there and is not compiled again.

exit status: 0 all programs pass, 1 some do not, 2 usage, 3 nothing could be run."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    programs = [program for program in catalogue.read() if re.search(options.only, program.id)]
    if not programs:
        return _complain(f"no program is called {options.only!r}: --list shows them", USAGE)
    if options.list:
        for program in programs:
            print(program.id)
        return 0
    if options.suites is None:
        return _complain("--suites FOLDER is needed: where the clones are", USAGE)
    nvcc = shutil.which(options.nvcc)
    if nvcc is None:
        return _complain(f"{options.nvcc} is not there", CANNOT_RUN)
    stand_in = options.stand_in.resolve()
    if not any(stand_in.glob("libcudart.so.*")):
        return _complain(f"{stand_in} holds no stand-in: build the target convladder_stand_in, or say --stand-in", CANNOT_RUN)
    with tempfile.TemporaryDirectory(prefix="convladder-programs-") as temporary:
        work = options.work.resolve() if options.work else Path(temporary)
        bench = trial.Bench(options.suites.resolve(), stand_in, work, nvcc, options.arch,
                            tuple(options.checkers), options.limit, options.threads)
        outcomes = []
        for program in programs:
            outcomes.append(trial.attempt(program, bench))
            print(table.line(outcomes[-1]), flush=True)
            _write(outcomes, options)  # what is done stands there, whatever ends the rest
    for text in table.summary(outcomes):
        print(text)
    return 0 if all(outcome.result == "passes" for outcome in outcomes) else 1


def _write(outcomes: list[trial.Outcome], options: argparse.Namespace) -> None:
    if options.markdown:
        options.markdown.write_text(table.markdown(outcomes), encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(table.as_json(outcomes), indent=1) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=Path, metavar="DIR", help="the folder with the clones")
    parser.add_argument("--stand-in", type=Path, metavar="DIR",
                        default=Path(__file__).resolve().parent.parent / "build/release/stand_in",
                        help="the folder with its libraries (default: build/release/stand_in)")
    parser.add_argument("--only", type=_expression, default="", metavar="REGEX", help="only programs whose SUITE/NAME fits")
    parser.add_argument("--list", action="store_true", help="list the programs and do nothing")
    parser.add_argument("--checkers", type=_checkers, default=("memory", "race"), metavar="A,B",
                        help="for the second run: memory, initialization, race, synchronization, or none "
                             "(default: memory,race)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS",
                        help="for a run without checkers; three times as much with them (default: 60)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="of the simulated device (default: all cores)")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler (default: nvcc)")
    parser.add_argument("--arch", default="compute_75", help="what it compiles for (default: compute_75)")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keeps what is compiled and written there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="writes the table as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes the table as JSON")
    return parser


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from error
    return text


def _checkers(text: str) -> tuple[str, ...]:
    known = ("memory", "initialization", "race", "synchronization")
    if text == "none":
        return ()
    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"expected {', '.join(known)} or none, not {name!r}")
    return names


def _complain(text: str, status: int) -> int:
    print(f"stand_in_programs.py: {text}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
