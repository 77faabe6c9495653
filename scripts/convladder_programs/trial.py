"""A program is compiled, runs on the stand-in, and is judged."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Sequence

from . import checks, inputs
from .catalogue import Program

# Programs older than CUDA 13 call what it has no more; these do the same.
_RENAMED = ("-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset",
            "-DcudaThreadSetCacheConfig=cudaDeviceSetCacheConfig")
_HEAD = 4000


@dataclass
class Outcome:
    """What became of a program."""

    program: Program
    result: str
    """passes, passes checked, runs, wrong, fails, does not compile, not supported, out of time, not there."""
    reason: str = ""
    seconds: Optional[float] = None
    checked_seconds: Optional[float] = None
    findings: list[str] = field(default_factory=list)
    not_supported: list[str] = field(default_factory=list)
    is_faulted: bool = False
    """A kernel did what the device ends it for."""
    judged: str = ""
    """How the result was judged, in words."""


@dataclass(frozen=True)
class Bench:
    """Where and with what programs are tried."""

    suites: Path
    stand_in: Path
    work: Path
    nvcc: str
    architecture: str
    checkers: tuple[str, ...]
    limit: float
    threads: int


class NotBuilt(Exception):
    """A compiler's complaint, its first error."""


def attempt(program: Program, bench: Bench) -> Outcome:
    """Compiles and runs it, once as it is and once with checkers."""
    folder = bench.work / program.suite.name / program.name
    source = bench.suites / program.suite.folder
    if not (source / program.folder).is_dir():
        return Outcome(program, "not there", f"{program.suite.folder}/{program.folder} is not in {bench.suites}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        executable = _compile(program, bench, folder)
    except NotBuilt as error:
        return Outcome(program, "does not compile", str(error))
    outcome = _run(program, bench, folder / "plain", executable, ())
    if bench.checkers and outcome.result != "not supported":
        checked = _run(program, bench, folder / "checked", executable, bench.checkers)
        outcome.findings = checked.findings
        outcome.checked_seconds = checked.seconds
        if outcome.result == "passes" and checked.result != "passes" and not checked.findings:
            outcome.result, outcome.reason = checked.result, f"with checkers: {checked.reason}"
        elif outcome.result != "passes" and outcome.is_faulted and checked.result == "passes":
            outcome.result = "passes checked"
            outcome.reason = "a fault of its own ends it; with checkers it is reported, and the result is right"
    if outcome.result == "passes" and program.check.get("nothing"):
        outcome.result = "runs"
    return outcome


def fill(text: str, program: Program, bench: Bench, folder: Path) -> str:
    """The text with {suite}, {folder} and {work} as the paths that they are."""
    suite = bench.suites / program.suite.folder
    return (text.replace("{suite}", str(suite)).replace("{folder}", str(suite / program.folder))
            .replace("{work}", str(folder)))


def _sources(program: Program, bench: Bench, patterns: Sequence[str], folder: str) -> list[str]:
    found: list[str] = []
    base = bench.suites / program.suite.folder / folder
    for pattern in patterns:
        found += sorted(glob.glob(str(base / pattern)))
    return found


def _compile(program: Program, bench: Bench, folder: Path) -> Path:
    executable = folder / "program"
    flags = [fill(flag, program, bench, folder) for flag in (*program.suite.flags, *program.flags)]
    flags += _headers(program, bench)
    own = bench.suites / program.suite.folder / program.folder
    sources = _sources(program, bench, program.sources, program.folder)
    if program.edits:
        edited = _edited(program.edits, own, folder / "source")
        sources = [str(edited / Path(source).relative_to(own)) for source in sources]
        own = edited
    command = [bench.nvcc, "-cudart", "shared", f"-arch={program.architecture or bench.architecture}", "-lineinfo", "-w",
               *_RENAMED, f"-I{own}", *sources, *flags, "-o", str(executable)]
    _build(command, executable, folder)
    return executable


def _headers(program: Program, bench: Bench) -> list[str]:
    """Writes the suite's headers; the flag that finds them."""
    place = bench.work / program.suite.name / "include"
    for name, text in program.suite.headers:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return [f"-I{place}"] if program.suite.headers else []


def _edited(all_edits: dict[str, list[list[str]]], own: Path, target: Path) -> Path:
    """A copy of a folder with the edits. Raises NotBuilt if a text is not there."""
    if target.exists() and all(_is_edited(target / name, edits) for name, edits in all_edits.items()):
        return target
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(own, target)
    for name, edits in all_edits.items():
        text = (target / name).read_text(encoding="utf-8", errors="surrogateescape")
        for old, new in edits:
            if old not in text:
                raise NotBuilt(f"{name} of this version does not have '{old}'")
            text = text.replace(old, new)
        (target / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return target


def _is_edited(path: Path, edits: Sequence[Sequence[str]]) -> bool:
    text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else ""
    return all(new in text and (old in new or old not in text) for old, new in edits)


def _build(command: list[str], executable: Path, folder: Path) -> None:
    """Compiles, unless the same command has made the executable before. Raises NotBuilt."""
    key = hashlib.sha256("\0".join(command).encode()).hexdigest()
    stamp = executable.with_suffix(".key")
    if executable.exists() and stamp.exists() and stamp.read_text() == key:
        return
    executable.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0 or not executable.exists():
        errors = [line for line in done.stdout.splitlines() if "error" in line or "undefined reference" in line]
        line = errors[0] if errors else done.stdout.strip()[-200:]
        raise NotBuilt(line.replace(str(folder), "").split("/")[-1] if "/" in line else line)
    stamp.write_text(key)


def _prepare(program: Program, bench: Bench, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in program.inputs:
        if "copy" in entry:
            source = bench.suites / program.suite.folder / entry["copy"]
            target = folder / entry.get("as", source.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)
        else:
            inputs.make(folder, entry)


def _run(program: Program, bench: Bench, folder: Path, executable: Path, checkers: Sequence[str]) -> Outcome:
    outcome = Outcome(program, "passes")
    try:
        _prepare(program, bench, folder)
    except OSError as error:
        return Outcome(program, "not there", f"{error.filename}: {error.strerror}")
    report = folder / "stand_in_report.json"
    settings = {"checkers": list(checkers), "report": str(report), "host_threads": bench.threads}
    environment = {**os.environ, "CONVLADDER_STAND_IN": json.dumps(settings), **program.environment,
                   "LD_LIBRARY_PATH": f"{bench.stand_in}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    command = [str(executable), *(fill(one, program, bench, folder) for one in program.arguments)]
    begin = time.monotonic()
    limit = program.limit or bench.limit
    if checkers:
        limit *= 3
    output = folder / "printed.txt"
    with open(output, "wb") as sink, open(os.devnull, "rb") as nothing:
        process = subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=sink, stderr=subprocess.STDOUT,
                                   env=environment, start_new_session=True)
        try:
            code: Optional[int] = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            code = None
    outcome.seconds = time.monotonic() - begin
    _read_report(report, outcome)
    text = output.read_text(errors="replace")
    if code is None:
        outcome.result, outcome.reason = "out of time", f"after {limit:g} s"
    elif outcome.not_supported:
        outcome.result, outcome.reason = "not supported", "; ".join(outcome.not_supported)
    verdict = _judge(program, bench, folder, code, text)
    outcome.judged = verdict.judged
    if outcome.result == "passes" and not verdict.accepted:
        outcome.result = "fails" if code is not None and code != program.check.get("exit", 0) else "wrong"
        outcome.reason = verdict.reason
    elif outcome.result == "not supported" and verdict.accepted:
        outcome.result, outcome.reason = "passes", ""  # it asked for what it can do without
    return outcome


def _judge(program: Program, bench: Bench, folder: Path, code: Optional[int], text: str) -> checks.Verdict:
    reference: Optional[Path] = None
    check = dict(program.check)
    if "reference" in check and code is not None:
        reference = folder / "reference"
        try:
            _run_reference(program, bench, check["reference"], folder, reference)
        except NotBuilt as error:
            return checks.Verdict(False, f"its CPU version does not compile: {error}", "")
    return checks.judge(check, folder, code, text, reference)


def _run_reference(program: Program, bench: Bench, how: dict[str, Any], folder: Path, reference: Path) -> None:
    """The suite's own CPU version on the same inputs."""
    executable = folder.parent / "reference_program"
    sources = _sources(program, bench, how["sources"], how["folder"])
    flags = [fill(flag, program, bench, folder) for flag in how.get("flags", ())]
    flags += _headers(program, bench)
    base = bench.suites / program.suite.folder / how["folder"]
    if "edits" in how:
        edited = _edited(how["edits"], base, folder.parent / "reference_source")
        sources = [str(edited / Path(source).relative_to(base)) for source in sources]
        base = edited
    _build([how.get("compiler", "g++"), "-O2", "-w", f"-I{base}", *sources, *flags, "-lm", "-o", str(executable)],
           executable, folder.parent)
    _prepare(program, bench, reference)
    command = [str(executable), *(fill(one, program, bench, reference) for one in how.get("arguments", program.arguments))]
    with open(reference / "printed.txt", "wb") as sink:
        subprocess.run(command, cwd=reference, stdout=sink, stderr=subprocess.STDOUT, timeout=300, check=False)


def _read_report(report: Path, outcome: Outcome) -> None:
    if not report.exists():
        return
    for line in report.read_text(errors="replace").splitlines():
        data = json.loads(line)
        outcome.not_supported += sorted(data["not_supported"])
        outcome.is_faulted |= any("check: " in note for note in data["notes"])
        for finding in data["findings"]:
            place = f"{Path(finding['source_file']).name}:{finding['source_line']}" if finding["source_line"] else ""
            outcome.findings.append(f"{finding['checker']}: {finding['problem']} in {finding['kernel']} {place}".strip())
