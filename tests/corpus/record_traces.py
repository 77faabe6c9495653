#!/usr/bin/env python3
"""Records traces for the corpus of comparisons: duels and runs whose answer is known, with all their samples.

A call writes one file of JSON lines: the machine first, then a line for each duel or run, written as soon as it has ended.
README.md says what is in a line and how the corpus is used.

exit status: 0 recorded, 3 bad input, 130 interrupted (what was recorded stays).
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable

KNOWN_WORK = Path(__file__).resolve().parent / "known-work"

# Cases of some microseconds: the reference, the processes and 61 rounds of a duel take a few seconds.
CASES = [
    ["--variant", "memory-accumulation", "--shape", "1,16,16,4,5"],
    ["--variant", "flat-vector", "--shape", "3,16,16,8,5"],
    ["--variant", "compile-time", "--shape", "3,16,16,8,5"],
    ["--variant", "onednn", "--shape", "1,16,16,4,5"],
]
# So small an alpha lets nothing be decided early: all rounds are measured, and another rule can be tried on them later.
ALL_ROUNDS = ["--alpha", "1e-6", "--even-if-same"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="a release build of convladder")
    parser.add_argument("--relinked", type=Path, help="the target convladder_relinked of the same build")
    parser.add_argument("--output", type=Path, required=True, help="the file of traces, which must not be there yet")
    parser.add_argument("--minutes", type=float, default=10, help="after which nothing new is begun (default 10)")
    parser.add_argument("--only", choices=["duels", "runs"], help="only these")
    parser.add_argument("--changes", type=lambda text: [int(part) for part in text.split(",")],
                        help="only duels of one build with so many percent of calls more: 0,5")
    parser.add_argument("--variant", choices=[case[1] for case in CASES], help="with --changes: only this variant")
    parser.add_argument("--neighbour", choices=["none", "bursty"], default="none",
                        help="bursty: a process for each core that computes in bursts")
    parser.add_argument("--niceness", type=int, default=0, help="of what is measured: -20 is served first (default 0)")
    parser.add_argument("--machine", default="", help="what the tables call it (default: processor and its cores)")
    parser.add_argument("--note", default="", help="what else ran on the machine, in a few words")
    return parser.parse_args()


def be_served_first(niceness: int) -> None:
    """Linux gives each session its share before it looks at niceness; a session's own share is in its autogroup."""
    os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    autogroup = Path("/proc/self/autogroup")
    if autogroup.exists():
        autogroup.write_text(str(niceness), encoding="ascii")


class Neighbour:
    """A process for each core that computes for 1 to 80 ms and pauses for 1 to 160 ms, as that of the selftest."""

    CODE = """import random, time
while True:
    end = time.monotonic() + random.uniform(0.001, 0.08)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0.001, 0.16))
"""

    def __init__(self, kind: str, niceness: int) -> None:
        count = len(os.sched_getaffinity(0)) if kind == "bursty" else 0
        first = (lambda: be_served_first(niceness)) if niceness else None
        self.processes = [subprocess.Popen([sys.executable, "-c", self.CODE], preexec_fn=first) for _ in range(count)]

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


class Load:
    """What others did on the machine since then: cores in use, and the share that another machine took."""

    def __init__(self) -> None:
        self.start = self.now()

    @staticmethod
    def now() -> tuple[float, float, float, int, int]:
        first_line = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
        fields = [int(field) for field in first_line.split()[1:9]]
        user, nice, system, _, _, irq, softirq, steal = fields
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy, usage.ru_utime + usage.ru_stime, steal, sum(fields)

    def figures(self) -> dict[str, float]:
        seconds, busy, own, steal, jiffies = (now - then for now, then in zip(self.now(), self.start))
        return {"others": round(max(0.0, busy - own) / seconds, 2), "steal": round(steal / max(1, jiffies), 3)}


def unit_of(values: list[float]) -> float:
    """Six digits are kept of the median."""
    return float(f"{10.0 ** (math.floor(math.log10(statistics.median(values))) - 5):g}")


def in_units(values: list[float], unit: float) -> list[int]:
    return [round(value / unit) for value in values]


class Recorder:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.output = options.output.open("x", encoding="utf-8")
        self.scratch = Path(tempfile.mkdtemp(prefix="traces-"))
        self.has_header = False
        self.counts: Counter[str] = Counter()

    def write(self, line: dict[str, Any]) -> None:
        self.output.write(json.dumps(line, separators=(",", ":")) + "\n")
        self.output.flush()

    def call(self, program: Path, words: list[Any], threads: int = 1) -> subprocess.CompletedProcess[str]:
        niceness = self.options.niceness
        return subprocess.run([program.resolve(), *words], cwd=self.scratch, check=False, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads), CONVLADDER_CEILING_MIB="4"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=(lambda: be_served_first(niceness)) if niceness else None)

    def header(self, context: dict[str, Any]) -> None:
        """Once: of the context what a comparison looks at, and nothing that says where the machine is."""
        if self.has_header:
            return
        self.has_header = True
        kept = {"program": ("commit", "build_type", "compiler", "compiler_flags", "cpu_variant_flags"),
                "host": ("system", "kernel", "virtual_machine"), "cpu": ("model", "cores", "instruction_sets", "caches")}
        facts = {part: {key: context[part][key] for key in keys} for part, keys in kept.items()}
        machine = self.options.machine or f"{facts['cpu']['model']}, {facts['cpu']['cores']} cores"
        self.write({"traces": 1, "machine": machine, "date": context["date"], "neighbour": self.options.neighbour,
                    "niceness": self.options.niceness, "variant": self.options.variant, "note": self.options.note,
                    "context": {**facts, "libraries": context["libraries"]}})

    def left_out(self, what: str, name: str, why: str) -> None:
        """Nothing is dropped in silence."""
        reason = (why.strip() or "no reason given").split("\n")[-1][:200]
        if not self.has_header:
            raise ValueError(f"{what} {name}: {reason}")
        self.write({"left_out": what, "pair": name, "why": reason})

    def count(self, name: str) -> None:
        self.counts[name] += 1
        print(f"{datetime.datetime.now():%H:%M:%S} {name}: {self.counts[name]}", flush=True)

    def duel(self, pair: str, change: int | None, words: list[str], program: Path | None = None,
             threads: int = 1) -> None:
        """`change`: how much more the new side does, in percent; None where that is not known."""
        record = self.scratch / "duel.json"
        record.unlink(missing_ok=True)
        load = Load()
        ended = self.call(program or self.options.program, ["duel", *words, *ALL_ROUNDS, "--output", record], threads)
        figures = load.figures()
        if not record.exists():
            self.left_out("duel", pair, ended.stdout)
            return
        duel = json.loads(record.read_text(encoding="utf-8"))
        self.header(duel["context"])
        case = duel["cases"][0]
        if case["verdict"] == "failed" or duel["control"]["failure"]:
            self.left_out("duel", pair, duel["control"]["failure"] or case["reason"])
            return
        stages = {"screen": case["screen"]["rounds"], "confirm": case["confirm"]["rounds"],
                  "control": duel["control"]["rounds"]}
        unit = unit_of([ns for rounds in stages.values() for one in rounds for ns in one["values"]])
        self.write({"duel": pair, "change": change, "case": case["id"], "threads": threads,
                    "date": duel["context"]["date"], "seed": duel["settings"]["seed"], **figures, "unit_ns": unit,
                    # A round: 0 is ABBA, 1 is BAAB; then its four slots.
                    **{name: [[int(one["order"] == "BAAB"), *in_units(one["values"], unit)] for one in rounds]
                       for name, rounds in stages.items()}})
        self.count(f"duel {pair} {change}")

    def run(self, name: str, build: str, program: Path, words: list[str]) -> None:
        folder = self.scratch / "run"
        shutil.rmtree(folder, ignore_errors=True)
        load = Load()
        ended = self.call(program, ["run", *words, "--batch", "1", "--repetitions", "25", "--no-reuse", "--quiet",
                                    "--output", folder])
        figures = load.figures()
        if ended.returncode != 0:
            self.left_out("run", name, ended.stdout)
            return
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self.header(record["context"])
        without = [case for case in record["cases"] if case["time"] is None]
        if without:
            self.left_out("run", name, f"{without[0]['id']}: {without[0]['status']}: {without[0]['reason']}")
            return
        times = {case["variant"]: case["time"]["samples"] for case in record["cases"]}
        unit = unit_of([ns for samples in times.values() for ns in samples])
        self.write({"run": name, "build": build, "date": record["context"]["date"], **figures, "unit_ns": unit,
                    "rungs": [case["rung"] for case in record["cases"]],
                    "samples": {variant: in_units(samples, unit) for variant, samples in times.items()}})
        self.count(f"run {name} {build}")

    def known_work(self) -> None:
        self.run("known-work", "first", self.options.program, [str(KNOWN_WORK), "--no-report"])

    def convolution(self, build: str, program: Path) -> None:
        variants = "memory-accumulation,flat-vector,compile-time,onednn"
        self.run("convolution", build, program,
                 ["--family", "cpu", "--variant", variants, "--shape", "3,16,16,8,5"])

    def same_duel(self, change: int) -> None:
        cases = [case for case in CASES if self.options.variant in (None, case[1])]
        words = ["--base", str(self.options.program.resolve()), "--batch", "1", *random.choice(cases)]
        extra = ["--extra-work", str(change)] if change else []
        self.duel("more calls" if change else "same build", change, [*words, *extra])

    def relinked_duel(self) -> None:
        words = ["--base", str(self.options.program.resolve()), "--batch", "1", *random.choice(CASES)]
        self.duel("relinked", 0, words, self.options.relinked)

    def stage_duel(self, base: str, new: str, change: int | None) -> None:
        where = [str(KNOWN_WORK)] if base.startswith("work") else ["--shape", "3,16,16,8,5", "--batch", "1"]
        self.duel(f"{base} .. {new}", change, [*where, "--base-variant", base, "--new-variant", new])

    def thread_duel(self) -> None:
        wrapper = self.scratch / "one_thread.sh"
        wrapper.write_text(f'#!/bin/sh\nOMP_NUM_THREADS=1 exec "{self.options.program.resolve()}" "$@"\n',
                           encoding="utf-8")
        wrapper.chmod(0o755)
        self.duel("one thread .. two threads", None, ["--base", str(wrapper), "--variant", "flat-vector",
                                                      "--shape", "1,40,40,8,5", "--batch", "4"], threads=2)

    def jobs(self) -> list[tuple[float, Callable[[], None]]]:
        """What there is to do, each with its weight."""
        if self.options.changes:
            return [(1, lambda change=change: self.same_duel(change)) for change in self.options.changes]
        relinked = self.options.relinked
        duels: list[tuple[float, Callable[[], None]]] = [
            *((weight, lambda change=change: self.same_duel(change))
              for change, weight in ((0, 12), (1, 2), (2, 2), (3, 2), (5, 8), (10, 4))),
            (1, lambda: self.stage_duel("work-100-a", "work-100-b", 0)),
            (1, lambda: self.stage_duel("work-100-a", "work-105", 5)),
            (0.5, lambda: self.stage_duel("work-100-a", "work-110", 10)),
            (1, lambda: self.stage_duel("work-100-a", "scalar-100", None)),
            (1, lambda: self.stage_duel("compile-time", "flat-vector", None)),
            (0.5, self.thread_duel),
            *([(12, self.relinked_duel)] if relinked else []),
        ]
        runs: list[tuple[float, Callable[[], None]]] = [
            (24, self.known_work),
            (4, lambda: self.convolution("first", self.options.program)),
            *([(4, lambda: self.convolution("relinked", relinked))] if relinked else []),
        ]
        return (duels if self.options.only != "runs" else []) + (runs if self.options.only != "duels" else [])

    def work(self) -> None:
        weights, jobs = zip(*self.jobs())
        end = time.monotonic() + self.options.minutes * 60
        neighbour = Neighbour(self.options.neighbour, self.options.niceness)
        try:
            while time.monotonic() < end:
                random.choices(jobs, weights)[0]()
        finally:
            neighbour.stop()
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.output.close()
            if not self.has_header:
                self.options.output.unlink()


def main() -> int:
    try:
        Recorder(arguments()).work()
    except KeyboardInterrupt:
        return 130
    except FileExistsError as error:
        print(f"record_traces.py: {error.filename} is there already", file=sys.stderr)
        return 3
    except (OSError, subprocess.SubprocessError, KeyError, ValueError) as error:
        print(f"record_traces.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
