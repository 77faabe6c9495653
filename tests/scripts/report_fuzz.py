#!/usr/bin/python3
"""Broken and hostile records through the report: each is refused in one line, or becomes a page that is harmless.

For some minutes: `tests/scripts/report_fuzz.py --seconds 300`. The tests do a few (test_report_fuzz.py).
"""

from __future__ import annotations

import argparse
import copy
import json
import logging
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Union

sys.path.insert(0, str(Path(__file__).resolve().parent))

import kind_records  # noqa: E402
from conftest import LAYERS, RecordMaker  # noqa: E402
from html_page import parsed  # noqa: E402
from network_records import NetworkRecordMaker  # noqa: E402
from reports import with_summary  # noqa: E402

from convladder_charts.json_text import RecordError  # noqa: E402
from convladder_report import build, html, markdown  # noqa: E402

MARKUP = "<script>hostile()</script>\"'&<img src=x onerror=hostile()>{{7*7}}</title>]]>-->"
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3.5, 1e308, -1e308, 5e-324, 10**400, 2**63, 2**63 - 1, -(2**63), "", "x" * 5000,
    MARKUP,
    "\u202e\u0000\ud7ff\u2028", "NaN", "../../etc/passwd", "$.cases[0]", "-", "1e999", [], {}, [[]], {"a": None},
    [None], [1e308, 5e-324], ["<b>"], {"": {"": ""}})
"""What takes the place of a value."""

Mutant = Union[dict[str, Any], bytes]


def seeds() -> list[Any]:
    """Small records of all kinds, of every sort of case."""
    run = RecordMaker([LAYERS[0]], [10, 100]).add_cpu().add_counted().add_skipped_cuda(["Global memory"]).record()
    network = NetworkRecordMaker().add("lenet72", [10]).add_counted("lenet72", 8).add_failed(
        "lenet72", 100, "gone", "crashed", "signal 11").record()
    return [run, with_summary(copy.deepcopy(run)), network, *(make() for make in kind_records.ALL.values())]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of a document: what holds it, and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def mutated(document: Any, draw: random.Random) -> bytes:
    """The document with one to four faults in it, as the bytes of a file."""
    document = copy.deepcopy(document)
    for _ in range(draw.choice((1, 1, 2, 4))):
        holders = list(places(document))
        if not holders:
            break
        holder, key = draw.choice(holders)
        draw.choice((_replace, _replace, _replace, _remove, _swap, _repeat, _rename))(holder, key, holders, draw)
    return _as_bytes(document, draw)


def _replace(holder: Any, key: Any, _holders: list[Any], draw: random.Random) -> None:
    holder[key] = copy.deepcopy(draw.choice(VALUES))


def _remove(holder: Any, key: Any, _holders: list[Any], _draw: random.Random) -> None:
    del holder[key]


def _swap(holder: Any, key: Any, holders: list[Any], draw: random.Random) -> None:
    other, place = draw.choice(holders)
    holder[key] = copy.deepcopy(other[place])


def _repeat(holder: Any, key: Any, _holders: list[Any], draw: random.Random) -> None:
    if isinstance(holder, list):
        holder.insert(draw.randrange(len(holder) + 1), copy.deepcopy(holder[key]))


def _rename(holder: Any, key: Any, _holders: list[Any], draw: random.Random) -> None:
    if isinstance(holder, dict):
        holder[draw.choice((MARKUP, "", "schema_version", "id", key.upper()))] = holder.pop(key)


def _as_bytes(document: Any, draw: random.Random) -> bytes:
    """As it is, or as a broken text: cut off, with a byte changed, a member twice, or numbers that JSON has not."""
    content = json.dumps(document).encode("utf-8")
    fault = draw.randrange(8)
    if fault == 0:
        return content[: draw.randrange(len(content) + 1)]
    if fault == 1:
        changed = bytearray(content)
        for _ in range(draw.choice((1, 3, 20))):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        return bytes(changed)
    if fault == 2:
        return re.sub(rb'"(\w+)": ', rb'"\1": 0, "\1": ', content, count=1)
    if fault == 3:
        numbers = [match.span() for match in re.finditer(rb"(?<=[ \[])-?\d[\d.e+-]*", content)]
        begin, end = draw.choice(numbers or [(0, len(content))])
        return content[:begin] + draw.choice((b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 3000)) + content[end:]
    return content


def try_one(content: bytes, folder: Path) -> str:
    """"page" or "refused". Raises AssertionError for what should not be, and lets every other error through."""
    path = folder / "record.json"
    path.write_bytes(content)
    try:
        report = build.report(build.read([path]), ())
        text = html.html(report, "void 0;")
    except RecordError as error:
        message = str(error)
        assert message.startswith(str(path)) and "\n" not in message and len(message) < 1000, message[:2000]
        return "refused"
    page = parsed(text)
    kinds = [one.attributes.get("type") for one in page.all("script")]
    assert set(kinds) <= {None, "application/json"} and kinds.count(None) in (1, 3), kinds
    for one in page.all("script"):
        if one.attributes.get("type"):
            json.loads(one.text)
    assert "<script>hostile" not in text and "<img" not in text, "a name became markup"
    assert not page.all("img") and not [key for one in page.all() for key in one.attributes if key.startswith("on")]
    assert "nan" not in {word for one in page.all("svg") for each in one.all() for word in str(
        each.attributes.get("d", "")).lower().split()}
    for written in markdown.write_markdown(report, folder / "markdown"):
        assert "<img src" not in written.read_text(encoding="utf-8").replace("\\<", "")
    return "page"


def mutants(seed: int) -> Iterator[tuple[int, bytes]]:
    """Without end; the same for the same seed, and each for itself, so that one can be made again."""
    originals = seeds()
    number = 0
    while True:
        draw = random.Random(f"{seed}/{number}")
        yield number, mutated(draw.choice(originals), draw)
        number += 1


def run(seed: int, goes_on: Callable[[int], bool], folder: Path) -> tuple[dict[str, int], list[str]]:
    """How many became a page or were refused, and the faults that were found."""
    warnings.filterwarnings("ignore")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    counts = {"page": 0, "refused": 0}
    faults = []
    for number, content in mutants(seed):
        if not goes_on(number):
            return counts, faults
        try:
            counts[try_one(content, folder)] += 1
        except Exception:  # pylint: disable=broad-except  # whatever it is, it is what is looked for
            kept = folder / f"fault-{seed}-{number}.json"
            kept.write_bytes(content)
            faults.append(f"seed {seed}, number {number}, kept as {kept}:\n{traceback.format_exc(limit=-6)}")
    raise AssertionError("mutants never end")


def main() -> int:
    """Returns 1 if a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    folder = Path(tempfile.mkdtemp(prefix="report-fuzz-"))
    counts, faults = run(options.seed, lambda _: time.monotonic() < end, folder)
    print("\n".join(faults))
    print(f"seed {options.seed}: {sum(counts.values()) + len(faults)} records: {counts['page']} pages, "
          f"{counts['refused']} refused in one line, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
