#!/usr/bin/python3 -B
"""How often tools that compare two benchmarks err, and what they find: over kernels of which it is known how much more
work one side does (docs/examples/duel/known_cost.cpp)."""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterable, NamedTuple, Optional, Sequence

from grading_rules import RULES, Answer, exact_bounds

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs/examples/duel/known_cost.cpp"
BAD_INPUT = 3
LEVELS = (0, 1, 2, 3, 5, 10)
WALL, CPU, TURNS = "wall time, one after the other", "CPU time, one after the other", "CPU time, in turns"
CALLS = {"cold": 20}
"""Of a run of a command: some milliseconds."""
DUEL, COMPARE = "convladder duel", "convladder compare"

EXAMPLES = """\
examples:
  scripts/grade_comparators.py record --minutes 15 --output quiet.jsonl
  scripts/grade_comparators.py record --kernels spin --levels 0,5 --minutes 5 --output spin.jsonl
  scripts/grade_comparators.py table quiet.jsonl spin.jsonl

A trial is one kernel at one level. It is measured twice. One after the other: Google Benchmark's program, 25 repetitions of
the base, then 25 of the new side; the rules and 'convladder compare' see the wall times and the CPU times. In turns: a whole
'convladder duel' of commands, by the CPU time that they tell; the rules see the 18 slots of each side in its screen as well.
Trials come in a random order. docs/reference/graders.md

exit status: 0 done; 2 usage; 3 bad input, no compiler, or a program that failed"""


class GradingError(Exception):
    """Bad input, or a program that failed; the text is one line."""


class Trial(NamedTuple):
    """What was measured of one kernel at one level, and what this project's own commands said of it."""

    kernel: str
    level: int  # percent of work that the new side does more
    samples: dict[str, tuple[list[float], list[float]]]  # by order: base and new
    answers: dict[str, dict[str, Answer]]  # by order and command


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the program that runs ends as well
    try:
        if options.command == "record":
            _record(options)
        else:
            print("\n".join(tables(read(options.files))))
    except (GradingError, OSError) as error:
        print(f"grade_comparators.py: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", allow_abbrev=False, help="measure trials")
    record.add_argument("--program", type=Path, default=ROOT / "build/release/convladder")
    record.add_argument("--kernels", type=lambda text: text.split(","), default=["spin", "warm", "cold"])
    record.add_argument("--levels", type=_levels, default=list(LEVELS), help="percent of more work")
    record.add_argument("--minutes", type=float, default=15, help="after which no further trial begins")
    record.add_argument("--without-duels", action="store_true", help="only what is measured one after the other: seconds each")
    record.add_argument("--trials", type=int, default=1000000, help="the most trials")
    record.add_argument("--output", type=Path, required=True, help="a line of JSON for each trial; must not exist")
    table = commands.add_parser("table", allow_abbrev=False, help="print the rates")
    table.add_argument("files", type=Path, nargs="+")
    return parser


def _levels(text: str) -> list[int]:
    levels = [int(word) for word in text.split(",")]
    if min(levels) < 0:
        raise ValueError
    return levels


# Recording


def _record(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, open(options.output, "x", encoding="utf-8") as output:
        _build(Path(folder))
        end = time.monotonic() + options.minutes * 60
        left = options.trials
        while left > 0 and time.monotonic() < end:
            block = [(kernel, level) for kernel in options.kernels for level in options.levels]
            random.shuffle(block)
            for kernel, level in block[:left]:
                if time.monotonic() >= end:
                    break
                output.write(json.dumps(_document(_measure(options, Path(folder), kernel, level))) + "\n")
                output.flush()
            left -= len(block)


def _build(folder: Path) -> None:
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17", "-O2", str(SOURCE), "-o"]
    _run([*compiler, str(folder / "known_cost")])
    _run([*compiler, str(folder / "known_cost_google"), "-DKNOWN_COST_GOOGLE", "-lbenchmark", "-lpthread"])


def _run(words: Sequence[str], good: Iterable[int] = (0,)) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    except subprocess.TimeoutExpired:
        raise GradingError(f"{words[0]}: not done within 600 s") from None
    if done.returncode not in good:
        says = done.stderr.strip().splitlines() or ["it says nothing"]
        raise GradingError(f"{words[0]}: exit code {done.returncode}: {says[-1]}")
    return done.stdout


def _measure(options: argparse.Namespace, folder: Path, kernel: str, level: int) -> Trial:
    base, new = _google(folder, kernel, 0), _google(folder, kernel, level)
    trial = Trial(kernel, level, {}, {})
    for order, clock in ((WALL, "real_time"), (CPU, "cpu_time")):
        trial.samples[order] = _samples(base, kernel, clock), _samples(new, kernel, clock)
        trial.answers[order] = {COMPARE: _compare(options.program, folder, kernel, clock, base, new)}
    if not options.without_duels:
        judged = _duel(options.program, folder, kernel, level)
        trial.samples[TURNS] = _slots(judged["screen"]["rounds"])
        trial.answers[TURNS] = {DUEL: _answer(judged)}
    return trial


def _google(folder: Path, kernel: str, level: int) -> dict[str, Any]:
    """What Google Benchmark writes of a kernel, with repetitions of one that never changes between them."""
    output = folder / "google.json"
    _run([str(folder / "known_cost_google"), f"--extra={level}", f"--benchmark_filter=^({kernel}|control)$",
          "--benchmark_repetitions=25", "--benchmark_min_time=0.005", "--benchmark_enable_random_interleaving=true",
          f"--benchmark_out={output}", "--benchmark_out_format=json"])
    return json.loads(output.read_text(encoding="utf-8"))


def _samples(document: dict[str, Any], kernel: str, clock: str) -> list[float]:
    samples = [one[clock] for one in document["benchmarks"] if one["run_name"] == kernel and one["run_type"] == "iteration"]
    if not samples:
        raise GradingError(f"no kernel {kernel}")
    return samples


def _compare(program: Path, folder: Path, kernel: str, clock: str, *sides: dict[str, Any]) -> Answer:
    """Of files whose real time is that of the clock: it is the time that `compare` judges."""
    paths = [folder / "base.json", folder / "new.json"]
    for path, side in zip(paths, sides):
        timed = [one | {"real_time": one[clock]} for one in side["benchmarks"] if one["run_type"] == "iteration"]
        path.write_text(json.dumps(side | {"benchmarks": timed}), encoding="utf-8")
    found = json.loads(_run([str(program), "compare", "--control", "control", "--format", "json", *map(str, paths)], (0, 1, 2)))
    (case,) = (one for one in found["cases"] if f"/{kernel}/" in one["id"])
    return _answer(case)


def _duel(program: Path, folder: Path, kernel: str, level: int) -> dict[str, Any]:
    """The one case of a duel. Its exit code is another one for each verdict; 3 is none of them."""
    command, output = f"{folder / 'known_cost'} {kernel} --calls {CALLS.get(kernel, 100)}", folder / "duel.json"
    _run([str(program), "duel", "--even-if-same", "--quiet", "--base-command", command, "--new-command",
          f"{command} --extra {level}", "--metric", "cpu_seconds=/cpu_seconds", "--output", str(output)], (0, 1, 2, 4))
    found = json.loads(output.read_text(encoding="utf-8"))
    (case,) = found["cases"]
    if found["control"]["contaminated"]:  # then a duel claims nothing, and its exit code says so
        case["verdict"] = "inconclusive"
    return case


def _slots(rounds: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    sides: dict[str, list[float]] = {"A": [], "B": []}
    for one in rounds:
        for side, value in zip(one["order"], one["values"]):
            sides[side].append(value)
    return sides["A"], sides["B"]


_VERDICTS = {"regressed": "slower", "improved": "faster", "pass": "same"}


def _answer(case: dict[str, Any]) -> Answer:
    change = (case["change"] or {}).get("estimate")
    return Answer(_VERDICTS.get(case["verdict"], "unknown"), float("nan") if change is None else change)


# Files


def _document(trial: Trial) -> dict[str, Any]:
    def finite(change: float) -> Optional[float]:
        return None if change != change else change

    return {"kernel": trial.kernel, "level": trial.level, "samples": trial.samples,
            "answers": {order: {name: [one.verdict, finite(one.change)] for name, one in answers.items()}
                        for order, answers in trial.answers.items()}}


def read(paths: Iterable[Path]) -> list[Trial]:
    """The trials of files that `record` wrote."""
    trials = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found = json.loads(line)
                samples = {order: (list(map(float, base)), list(map(float, new)))
                           for order, (base, new) in found["samples"].items()}
                answers = {order: {name: Answer(verdict, float("nan" if change is None else change))
                                   for name, (verdict, change) in said.items()}
                           for order, said in found["answers"].items()}
                trials.append(Trial(found["kernel"], int(found["level"]), samples, answers))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise GradingError(f"{path}: line {number} is no trial") from None
    if not trials:
        raise GradingError("no trials")
    return trials


# Tables


def asked(trials: Iterable[Trial]) -> dict[tuple[str, str], list[tuple[int, Answer]]]:
    """What each method says of each trial, by the order in which its samples were taken."""
    said: dict[tuple[str, str], list[tuple[int, Answer]]] = collections.defaultdict(list)
    for trial in trials:
        for order, (base, new) in trial.samples.items():
            for name, rule in RULES.items():
                said[order, name].append((trial.level, rule(base, new)))
        for order, answers in trial.answers.items():
            for name, answer in answers.items():
                said[order, name].append((trial.level, answer))
    return dict(sorted(said.items(), key=lambda item: item[0][0], reverse=True))


def tables(trials: Sequence[Trial]) -> list[str]:
    """False alarms and bias, then power."""
    said = asked(trials)
    levels = sorted({trial.level for trial in trials} - {0})
    counts = collections.Counter(trial.kernel for trial in trials)
    errors = [["", "called changed", "undecided", "bias", "middle half"]]
    power = [["", *(f"+{level} %" for level in levels)]]
    last = ""
    for (order, name), answers in said.items():
        if order != last:
            errors.append([order])
            power.append([order])
            last = order
        equal = [answer for level, answer in answers if level == 0]
        wrong = sum(one.verdict in ("slower", "faster") for one in equal)
        unknown = sum(one.verdict == "unknown" for one in equal)
        errors.append(["  " + name, share(wrong, len(equal)), str(unknown), *_bias(answers)])
        power.append(["  " + name, *(_found(answers, level) for level in levels)])
    return ["trials: " + ", ".join(f"{kernel} {count}" for kernel, count in sorted(counts.items())), "",
            "equal sides; and over all trials the estimated change less the true one, in percent (median)", "",
            *_aligned(errors), "", "called slower, of all pairs of that level", "", *_aligned(power), "",
            "in brackets: exact bounds, each at 95 %"]


def _bias(answers: Iterable[tuple[int, Answer]]) -> tuple[str, str]:
    wrong = sorted(100 * answer.change - level for level, answer in answers if answer.change == answer.change)
    if len(wrong) < 2:
        return "-", "-"
    low, middle, high = statistics.quantiles(wrong, n=4, method="inclusive")
    return f"{middle:+.1f}", f"{low:+.1f} to {high:+.1f}"


def _found(answers: Iterable[tuple[int, Answer]], level: int) -> str:
    of_level = [answer for one, answer in answers if one == level]
    return share(sum(one.verdict == "slower" for one in of_level), len(of_level))


def share(count: int, trials: int) -> str:
    """As "3 of 7 (13-77 %)"."""
    if trials == 0:
        return "-"
    low, high = exact_bounds(count, trials)
    return f"{count} of {trials} ({100 * low:.0f}-{100 * high:.0f} %)"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    full = [row for row in rows if len(row) == len(rows[0])]  # others are headings
    widths = [max(map(len, column)) for column in zip(*full)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


if __name__ == "__main__":
    sys.exit(main())
