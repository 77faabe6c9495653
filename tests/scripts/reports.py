"""Calling report.py, and records for it."""

from __future__ import annotations

import subprocess
from typing import Any

from calls import Done, call, call_process
from conftest import RecordMaker, known, summary
from network_records import NetworkRecordMaker
from predictions import with_predictions


def report(*arguments: object, static: bool = True) -> Done:
    """The same whether or not the chart library is there, unless said."""
    return call("report.py", *["--static"] * static, *arguments)


def report_process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """As a user calls it."""
    return call_process("report.py", "--static", *arguments, **options)


def networks() -> dict[str, Any]:
    """Two networks that others published figures of, one of them counted as well."""
    maker = NetworkRecordMaker().add("lenet72", [100, 1000, 10000]).add("alexnet", [1, 2, 4], accuracy=False)
    return maker.add_counted("lenet72", 8).add_failed("lenet72", 100, "gone", "crashed", "signal 11").record()


def ladders() -> dict[str, Any]:
    """Times of a CPU, counters of the simulated device, and a GPU that is not there."""
    return with_predictions(RecordMaker().add_cpu().add_skipped_cuda().add_counted().record())


def with_summary(document: dict[str, Any]) -> dict[str, Any]:
    """What the program adds of each ladder, here with names of its own choice: stage 4 is best, 3 stands for stage 6."""
    for one in document["ladders"]:
        told = one["device"] == "cpu"
        first, third, fourth = ("memory-accumulation", "cached-tile", "flat-vector") if told else (None, None, None)
        one["summary"] = summary(
            baseline=first, sixth=third, best=fourth, library="onednn" if told else None,
            not_told_from_best=["unrolled-taps"] if told else [], sixth_x_baseline=known(3.0),
            best_x_baseline=known(77.0), best_x_sixth=known(25.5), best_percent_of_library=known(42.0),
            best_percent_of_floor=known(12.5),
            loses=[{"variant": third, "builds_on": "local-accumulation", "x": known(0.8)}] if told else [])
        one["steps"] = [{"variant": "flat-vector", "builds_on": "cached-tile", "x": known(3.58),
                         "no_headline": None, "kind": "measured",
                         "relieved": "It relieved the store <unit>.", "binds": "The rate of additions binds now."}] if told else []
    return document
