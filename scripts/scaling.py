#!/usr/bin/python3 -B
"""How much faster more threads make the stages of the CPU ladder: the same run with each number of threads, in turns."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts import record
from convladder_charts.json_text import RecordError
from convladder_charts.record import Record
from convladder_charts.table_text import cut, pad
from convladder_charts.units import duration, percent, significant

ROOT = Path(__file__).resolve().parents[1]
BAD_INPUT = 3
_DEVICE = "cpu"
_MOST_THREADS = 1024

EXAMPLES = """\
examples:
  scripts/scaling.py --threads 1,2,4,8 -- --layer lenet72.conv2 --batch 100
  scripts/scaling.py --threads 1,2 --turns 5 -- --variant shifted-rows,image-lanes --layer lenet86.conv1 --batch 1,16
  scripts/scaling.py --threads 1,64 --turns 1 -- --all --batch 1,2       are the results right with more threads than cores?

What stands behind -- goes to 'convladder run'. Each run is verified as any; its record is FOLDER/threads-N-turn-T/run.json.
The figure of a number of threads is the median over its turns of the layer time of the case. "x" is how many times faster
than with the first number of threads; "%" is x of what the cores allow: as many times as there are more threads at work, on
no more cores than there are. The lines of the ceilings say how the processor itself scales: a clock that drops with more
cores at work shows in the FMA peak, and a memory that few cores fill in the copy.

exit status: 0 measured, and all results are right; 1 a run had a case that is not; 2 usage; 3 bad input, or no record"""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")
    worst = 0
    runs: dict[int, list[Record]] = {threads: [] for threads in options.threads}
    try:
        for turn in range(1, options.turns + 1):
            for threads in options.threads:
                folder = options.output / f"threads-{threads}-turn-{turn}"
                worst = max(worst, _run(options.program, threads, options.run, folder))
                runs[threads].append(record.load(folder / "run.json"))
        print("\n".join(table(runs)))
    except RecordError as error:
        print(f"scaling.py: {error}", file=sys.stderr)
        return BAD_INPUT
    return worst


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=_numbers, required=True, metavar="N,…", help="numbers of threads: 1,2,4")
    parser.add_argument("--turns", type=_turns, default=3, metavar="N", help="runs with each of them (default: 3)")
    parser.add_argument("--output", type=Path, default=Path("results/scaling"), metavar="FOLDER",
                        help="for the records (default: results/scaling)")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "convladder",
                        help="default: build/release/convladder")
    parser.add_argument("run", nargs="*", metavar="-- OPTION", help="options of 'convladder run'")
    return parser


def _numbers(text: str) -> list[int]:
    numbers = [int(part) if part.isascii() and part.isdigit() else 0 for part in text.split(",")]
    if not all(1 <= number <= _MOST_THREADS for number in numbers) or len(set(numbers)) != len(numbers):
        raise argparse.ArgumentTypeError(f"expected different whole numbers from 1 to {_MOST_THREADS}, found '{text}'")
    return numbers


def _turns(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 100, found '{text}'")
    return int(text)


def _run(program: Path, threads: int, options: Sequence[str], folder: Path) -> int:
    """0, or 1 if a case is not right. Raises RecordError if there was no run."""
    command = [str(program.absolute()), "run", "--device", _DEVICE, *options, "--output", str(folder)]
    print(f"OMP_NUM_THREADS={threads} {' '.join(command)}", file=sys.stderr)
    try:
        done = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": str(threads)}, check=False,
                              stdout=subprocess.DEVNULL)
    except OSError as error:
        raise RecordError(f"{program}: {error.strerror}") from error
    if done.returncode not in (0, 1):
        raise RecordError(f"convladder run ended with exit code {done.returncode}; expected 0 or 1")
    return done.returncode


def table(runs: dict[int, list[Record]]) -> list[str]:
    """A line for each case that was timed in every run, and for each ceiling. Raises RecordError if there is none."""
    first = next(iter(runs))
    counts = list(runs)
    at_work = {threads: min(threads, len(os.sched_getaffinity(0))) for threads in counts}
    times = {threads: [_times(run) for run in several] for threads, several in runs.items()}
    cases = [case for case in times[first][0] if all(case in one for several in times.values() for one in several)]
    if not cases:
        raise RecordError("no case was timed in every run; expected one at least")
    heading = [pad("layer (batch), stage", 54), pad(f"{first} thread{'s' if first > 1 else ''}", 12, right=True),
               *(pad(f"{threads} threads: x", 16, right=True) + pad("%", 6, right=True) for threads in counts[1:])]
    lines = ["".join(heading).rstrip()]
    for case in cases:
        medians = {threads: statistics.median(one[case] for one in times[threads]) for threads in counts}
        lines.append(_line(case, duration(medians[first]), {threads: medians[first] / medians[threads] for threads in counts},
                           at_work))
    for name, unit in _limits(runs[first][0]):
        rates = {threads: _rate(several, name) for threads, several in runs.items()}
        if all(rates.values()):
            lines.append(_line(name, f"{significant(rates[first])} {unit}",
                               {threads: rate / rates[first] for threads, rate in rates.items()}, at_work))
    return lines


def _line(what: str, figure: str, faster: dict[int, float], at_work: dict[int, int]) -> str:
    first, *others = faster
    cells = [pad(cut(what, 53), 54), pad(figure, 12, right=True)]
    for threads in others:
        ideal = at_work[threads] / at_work[first]
        cells.append(pad(f"{faster[threads]:.2f}", 16, right=True) + pad(percent(100 * faster[threads] / ideal), 6, right=True))
    return "".join(cells)


def _times(run: Record) -> dict[str, float]:
    """Layer times by layer, batch and stage."""
    return {f"{ladder.layer_name} ({ladder.batch}), {row.stage.label}": row.median
            for group in run.drawn if group.device == _DEVICE for ladder in group.ladders for row in ladder.timed
            if row.median}


def _limits(run: Record) -> list[tuple[str, str]]:
    return [(name, unit) for one in run.ceilings if one.device == _DEVICE for name, _, unit in one.limits]


def _rate(runs: Sequence[Record], name: str) -> float:
    """0 if a run has no such ceiling."""
    found = [limit for run in runs for one in run.ceilings if one.device == _DEVICE and (limit := one.limit(name))]
    return statistics.median(found) if len(found) == len(runs) else 0.0


if __name__ == "__main__":
    sys.exit(main())
