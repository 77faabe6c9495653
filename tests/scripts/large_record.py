#!/usr/bin/python3
"""Makes a large record from a small one: its cases again and again, at other sizes, with figures that agree.

Each copy of the record is of other layers (conv1-3) or batches (8 times as many images); its times are those of the
small record, scaled, so that all ratios, summaries and sentences stay right. A record of 100,000 cases takes seconds, and
memory for the small record and for the identifiers."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence, TextIO

BATCHES = 4
"""Copies of a layer: with 1, 2, 4 and 8 times the images. Powers of two keep every quotient as it is."""
_MARK = "\uffff"
_FILLED_IN = re.compile(f'"{_MARK}([*/])([^"]*)"|{_MARK}')
_TIMES = {"median", "low", "high", "samples", "median_ns", "low_ns", "high_ns"}
_RATES = {"gflop_per_s"}
_OF_FLOOR = {"percent_of_floor", "best_percent_of_floor"}
_SIZED = {"work", "floor", "totals", "modelled", "values"}
_FIXED = {"shape", "verification", "quality", "device_state", "waves", "occupancy", "ceilings", "x_previous", "x_baseline",
          "percent_of_library", "sixth_x_baseline", "best_x_baseline", "best_x_sixth", "best_percent_of_library", "x"}
_RATIO_ENDINGS = (".ratio", ".pct")
_MACHINE = ("program", "host", "cpu", "devices")

EXAMPLES = """\
examples:
  tests/scripts/large_record.py small/run.json --cases 100000 --output large/run.json
  tests/scripts/large_record.py small/run.json --cases 100000 --shards 64 --output large    plan.json and shards/

It ends behind the ladder in which the number of cases is reached, since a ladder stays whole."""


def _scaled(value: Any, images: int, name: str = "", part: str = "") -> Any:
    """For so many times the images, with marks where a copy's own names and times are filled in."""
    if isinstance(value, dict):
        inside = name if name in _SIZED | _FIXED | _OF_FLOOR | {"roofline"} or name == "prediction" and not part else part
        return {key: _scaled(item, images, key, inside) for key, item in value.items()}
    if isinstance(value, list):
        return [_scaled(item, images, name, part) for item in value]
    if isinstance(value, str):
        return _named(value, images, name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or part in _FIXED:
        return value
    if name == "batch" or part in _SIZED and not name.endswith(_RATIO_ENDINGS):
        return value * images
    if part == "roofline":
        if name in ("gflop_per_s", "gb_per_s"):
            return f"{_MARK}/{value!r}"
        return value * images if name in ("flop", "bytes") else value
    if part in _OF_FLOOR:
        return value if name == "level" else f"{_MARK}/{value!r}"
    if part == "prediction":
        return value * images if name in ("low", "high") else value
    if name in _TIMES:
        return f"{_MARK}*{value * images!r}"
    return f"{_MARK}/{value!r}" if name in _RATES else value


def _named(value: str, images: int, name: str) -> str:
    if name == "layer":
        return value + _MARK
    if name not in ("id", "case"):
        return value
    rest, _, batch = value.rpartition("/")
    return f"{rest}{_MARK}/{int(batch) * images}"


class _Text:
    """The text of a value for so many times the images: what is the same in all copies, and what is not."""

    def __init__(self, value: Any, depth: int, images: int) -> None:
        text = json.dumps(_scaled(value, images), ensure_ascii=False, indent=1).replace("\n", "\n" + " " * depth)
        fixed, kinds, numbers = (_FILLED_IN.split(text)[first::3] for first in range(3))
        self._fixed = fixed
        self._filled = [(kind, float(number) if kind else 0.0) for kind, number in zip(kinds, numbers)]

    def of_copy(self, suffix: str, factor: float) -> str:
        """With times that are so many times as long."""
        parts = [self._fixed[0]]
        for (kind, number), fixed in zip(self._filled, self._fixed[1:]):
            parts += (suffix if not kind else repr(number * factor if kind == "*" else number / factor), fixed)
        return "".join(parts)


@dataclass(frozen=True)
class _Group:
    """The cases of one layer, batch and device of the small record, and its ladders."""

    device: str
    layer: str
    batch: int
    cases: tuple[tuple[_Text, ...], ...]
    """For each case its text by how many times the images."""
    variants: tuple[str, ...]
    ladders: tuple[tuple[_Text, ...], ...]


@dataclass(frozen=True)
class Copy:
    """A group of the large record."""

    group: _Group
    number: int

    @property
    def suffix(self) -> str:
        """Behind the layer's name."""
        return f"-{self.number // BATCHES}" if self.number >= BATCHES else ""

    @property
    def name(self) -> str:
        """As the plan calls a group."""
        return f"{self.group.device}/{self._size}"

    @property
    def _size(self) -> str:
        return f"{self.group.layer}{self.suffix}/{self.group.batch << self.number % BATCHES}"

    @property
    def ids(self) -> list[str]:
        """Of its cases."""
        return [f"{self.group.device}/{variant}/{self._size}" for variant in self.group.variants]

    def texts(self, several: Sequence[Sequence[_Text]]) -> Iterator[str]:
        """Of its cases, or of its ladders."""
        factor = random.Random(self.name).uniform(0.9, 1.1) if self.number else 1.0
        for one in several:
            yield one[self.number % BATCHES].of_copy(self.suffix, factor)


class Large:
    """What a small record becomes; nothing of it is kept but the small record and the names of the groups."""

    def __init__(self, small: dict[str, Any], cases: int) -> None:
        if any("leaves_out" in case for case in small["cases"]):
            raise ValueError("a record of 'run --leave-one-out' cannot be copied")
        self.small = small
        groups = list(_groups(small))
        self.copies: list[Copy] = []
        self.cases = 0
        while self.cases < cases:
            copy = Copy(groups[len(self.copies) % len(groups)], len(self.copies) // len(groups))
            self.copies.append(copy)
            self.cases += len(copy.group.variants)

    def write_record(self, path: Path) -> None:
        """As `convladder run` writes a complete record."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            _write(out, self._head("run"), self.copies, True, self.small.get("ceilings", []))

    def write_shards(self, folder: Path, shards: int) -> None:
        """plan.json, and a complete record of each shard."""
        plan = self._plan(shards)
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "plan.json", "w", encoding="utf-8") as out:
            out.write(json.dumps(plan, ensure_ascii=False, indent=1) + "\n")
        for shard in range(shards):
            own = [copy for copy in self.copies if shard_of(copy.name, shards) == shard]
            head = self._head("shard")
            head["context"] = head["context"] | {"plan": {"id": plan["id"], "shard": shard, "shards": shards}}
            place = folder / "shards" / f"{shard:05}"
            place.mkdir(parents=True, exist_ok=True)
            with open(place / "shard.json", "w", encoding="utf-8") as out:
                _write(out, head, own, False, self.small.get("ceilings", []))

    def _head(self, kind: str) -> dict[str, Any]:
        return {"schema_version": "1.1", "kind": kind, "complete": True, "context": self.small["context"],
                "variants": self.small["variants"]}

    def _plan(self, shards: int) -> dict[str, Any]:
        context = self.small["context"]
        groups = [{"id": copy.name, "shard": shard_of(copy.name, shards), "predicted_seconds": float(len(copy.ids)),
                   "cases": copy.ids} for copy in self.copies]
        seconds = [sum(group["predicted_seconds"] for group in groups if group["shard"] == shard)
                   for shard in range(shards)]
        return {"schema_version": "1.0", "kind": "plan",
                "id": hashlib.sha256(json.dumps(groups).encode()).hexdigest(), "program": context["program"],
                "options": context["options"], "seed": context["options"].get("seed", 1),
                "dataset": context["dataset"], "shards": shards,
                "predicted_seconds": {"all": sum(seconds), "longest_shard": max(seconds)}, "sentinels": [],
                "groups": groups}


def shard_of(group: str, shards: int) -> int:
    """By the group's name alone, so that every machine says the same."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:16], 16) % shards


def _groups(small: dict[str, Any]) -> Iterator[_Group]:
    members: dict[tuple[str, str, int], tuple[list[Any], list[Any]]] = {}
    for kind in (0, 1):
        for one in small["ladders" if kind else "cases"]:
            key = one["device"], f"{one['network']}.{one['layer']}", one["batch"]
            members.setdefault(key, ([], []))[kind].append(one)
    for (device, layer, batch), parts in members.items():
        cases, ladders = (tuple(tuple(_Text(one, 2, 1 << number) for number in range(BATCHES)) for one in part)
                          for part in parts)
        yield _Group(device, layer, batch, cases, tuple(case["variant"] for case in parts[0]), ladders)


def _write(out: TextIO, head: dict[str, Any], copies: Sequence[Copy], derived: bool, ceilings: Any) -> None:
    """Each case on lines of its own, as the program writes it."""
    out.write(json.dumps(head, ensure_ascii=False, indent=1)[:-2])
    ids = [one for copy in copies for one in copy.ids]
    out.write(',\n "planned": ' + json.dumps(ids, ensure_ascii=False, indent=1).replace("\n", "\n "))
    _write_list(out, "cases", (text for copy in copies for text in copy.texts(copy.group.cases)))
    out.write(',\n "ceilings": ' + json.dumps(ceilings, ensure_ascii=False, indent=1).replace("\n", "\n "))
    _write_list(out, "ladders", (text for copy in copies if derived for text in copy.texts(copy.group.ladders)))
    out.write("\n}\n")


def _write_list(out: TextIO, name: str, texts: Iterator[str]) -> None:
    out.write(f',\n "{name}": [')
    empty = True
    for text in texts:
        out.write(("" if empty else ",") + "\n  " + text)
        empty = False
    out.write("]" if empty else "\n ]")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("small", type=Path, metavar="RUN.json", help="a complete run.json")
    parser.add_argument("--cases", type=int, required=True, metavar="N", help="how many cases at least")
    parser.add_argument("--shards", type=int, metavar="N", help="as a plan and its shards")
    parser.add_argument("--output", type=Path, required=True, metavar="PATH",
                        help="the record; with --shards a folder")
    options = parser.parse_args(arguments)
    large = Large(json.loads(options.small.read_text(encoding="utf-8")), options.cases)
    if options.shards:
        large.write_shards(options.output, options.shards)
    else:
        large.write_record(options.output)
    print(f"{large.cases} cases in {len(large.copies)} groups: {options.output}{os.sep if options.shards else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
