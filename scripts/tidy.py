#!/usr/bin/python3
"""Runs clang-tidy over many files at once, for scripts/lint.sh: progress, and each finding once.

A header is checked again with every source that includes it, so the same finding comes many times.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple, Optional, Sequence

_FINDING = re.compile(r"^(\S.*?):\d+:\d+: (warning|error): ")
_DEVICE_CODE = re.compile(r"^(?!\s*//).*\b(__device__|__global__|__shared__|threadIdx)\b", re.MULTILINE)
_SECONDS_BETWEEN_LINES = 30.0
"""How often progress is told where there is no terminal."""


class Checked(NamedTuple):
    """What clang-tidy said of one file; `findings` as it prints them, source lines and notes included."""

    file: str
    failed: bool
    findings: list[str]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Checks the files named on the standard input, a line each; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--clang-tidy", required=True, metavar="COMMAND")
    parser.add_argument("--build", required=True, type=Path, metavar="DIR", help="has compile_commands.json")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    files, left_out = _split(sys.stdin.read().split("\n"), options.build)
    if left_out:
        print(f"tidy: left out, not compiled in {options.build} or with device code: "
              f"{' '.join(left_out[:5])}{f' and {len(left_out) - 5} more' if len(left_out) > 5 else ''}",
              file=sys.stderr)
    seen: set[str] = set()
    failed: list[str] = []
    progress = Progress(len(files))
    pool = ThreadPoolExecutor(options.jobs)
    try:
        for done in as_completed([pool.submit(_check, options.clang_tidy, options.build, file) for file in files]):
            checked = done.result()
            fresh = [text for text in checked.findings if text not in seen]
            seen.update(fresh)
            if checked.failed:
                failed.append(checked.file)
            progress.step(checked.file, fresh)
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        return 130
    progress.end()
    if failed:
        print(f"tidy: findings: {len(seen)}; files with findings: {len(failed)} of {len(files)}", file=sys.stderr)
    return 1 if failed else 0


class Progress:
    """How far it is and how long is left: one line that is rewritten on a terminal, otherwise a line now and then."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._done = 0
        self._begin = self._told = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def step(self, file: str, findings: Iterable[str]) -> None:
        """One more file is checked: its findings to the standard output, progress to the standard error."""
        self._done += 1
        self._clear()
        for text in findings:
            print(text, flush=True)
        now = time.monotonic()
        if not self._terminal and now - self._told < _SECONDS_BETWEEN_LINES:
            return
        self._told = now
        left = (now - self._begin) / self._done * (self._files - self._done)
        text = f"tidy: {self._done} of {self._files} files, about {_duration(left)} left"
        if self._terminal:
            print(f"{text}: {file}"[:119], end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leaves the terminal's line empty."""
        self._clear()

    def _clear(self) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _split(lines: Iterable[str], build: Path) -> tuple[list[str], list[str]]:
    """The files to check; and the sources whose flags this build does not know, with the headers that are no C++."""
    compiled = {str(Path(entry["directory"], entry["file"]).resolve())
                for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))}
    files: list[str] = []
    left_out: list[str] = []
    for line in filter(None, lines):
        path = Path(line)
        if path.suffix == ".cpp":
            can_be_checked = str(path.resolve()) in compiled
        else:
            can_be_checked = not _DEVICE_CODE.search(path.read_text(encoding="utf-8"))
        (files if can_be_checked else left_out).append(line)
    return files, left_out


def _check(clang_tidy: str, build: Path, file: str) -> Checked:
    # A header is taken for a source with the flags of the source whose name is nearest.
    run = subprocess.run([clang_tidy, "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option",
                          "--extra-arg=-Wno-unused-command-line-argument", file],
                         stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False)
    findings = list(_findings(run.stdout))
    if run.returncode and not findings:
        findings = [f"{file}: clang-tidy ended with {run.returncode}:\n{run.stderr.strip()}"]
    return Checked(file, run.returncode != 0, findings)


def _findings(output: str) -> Iterator[str]:
    block: list[str] = []
    for line in output.splitlines():
        if _FINDING.match(line):
            if block:
                yield "\n".join(block)
            block = []
        block.append(line)
    if block:
        yield "\n".join(block)


if __name__ == "__main__":
    sys.exit(main())
