"""What is known of each program: programs.json, read into objects.

A program of the catalogue:

  name, suite      what it is called; the suite's folder lies in --suites
  folder           of its sources, in the suite's
  sources          for nvcc, in the folder; "*.cu" and the like are widened
  flags            for nvcc, beside those of all programs and those of its suite; {suite} and {folder} are filled in
  edits            made in a copy of the folder before it is compiled, so that it ends soon, or to show its result:
                   {file: [[text, other text], ...]}
  architecture     that it needs, if the command line's does not do
  arguments        of the program, which runs in a folder of its own
  inputs           files that are made there before: {"make": a function of inputs.py, its arguments} or {"copy": a file of the suite}
  check            how its result is judged: see checks.py
  limit            seconds that a run may take, where it is not the command line's
  note             what a reader of the table should know
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

_FILE = Path(__file__).with_name("programs.json")


@dataclass(frozen=True)
class Suite:
    """A collection of programs: where it comes from, and what all of its programs are compiled with."""

    name: str
    title: str
    url: str
    folder: str
    flags: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    """Files that its programs include and do not need: name and text."""


@dataclass(frozen=True)
class Program:
    """One program, as programs.json has it."""

    suite: Suite
    name: str
    folder: str
    sources: tuple[str, ...]
    check: dict[str, Any] = field(hash=False)
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    inputs: tuple[dict[str, Any], ...] = ()
    limit: Optional[float] = None
    note: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    edits: dict[str, list[list[str]]] = field(default_factory=dict)
    architecture: str = ""

    @property
    def id(self) -> str:
        return f"{self.suite.name}/{self.name}"


def read(path: Path = _FILE) -> list[Program]:
    """All programs, in the file's order. Raises ValueError that names the program for what is not understood."""
    data = json.loads(path.read_text(encoding="utf-8"))
    programs: list[Program] = []
    for entry in data["suites"]:
        suite = Suite(entry["name"], entry["title"], entry["url"], entry["folder"], tuple(entry.get("flags", ())),
                      tuple(entry.get("headers", {}).items()))
        programs += [_program(suite, entry.get("check"), one) for one in entry["programs"]]
    names = [program.id for program in programs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is there twice")
    return programs


def _program(suite: Suite, check: Optional[dict[str, Any]], entry: dict[str, Any]) -> Program:
    known = {"name", "folder", "sources", "flags", "arguments", "inputs", "check", "limit", "note", "environment",
             "edits", "architecture"}
    name = f"{suite.name}/{entry.get('name', '?')}"
    if unknown := set(entry) - known:
        raise ValueError(f"{name}: unknown {', '.join(sorted(unknown))}")
    own_check = entry.get("check", check)
    if not own_check:
        raise ValueError(f"{name}: nothing says how its result is judged")
    return Program(suite, entry["name"], entry["folder"], tuple(entry.get("sources", ("*.cu", "*.cpp"))), own_check,
                   tuple(entry.get("flags", ())), tuple(entry.get("arguments", ())), tuple(entry.get("inputs", ())),
                   entry.get("limit"), entry.get("note", ""), entry.get("environment", {}), entry.get("edits", {}),
                   entry.get("architecture", ""))
