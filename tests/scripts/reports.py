"""Calling report.py, in this process where that will do: to start Python and matplotlib takes longer than a report."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import subprocess
import sys
import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from conftest import SCRIPTS, RecordMaker
from network_records import NetworkRecordMaker
from predictions import with_predictions


@dataclass(frozen=True)
class Done:
    """How a call ended, as of a process."""

    returncode: int
    stdout: str
    stderr: str


def report(*arguments: object, static: bool = True) -> Done:
    """The same whether or not the chart library is there, unless said."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        try:
            status = _script().main([*["--static"] * static, *map(str, arguments)])
        except SystemExit as end:
            status = int(end.code or 0)
    for stream in (out, err):
        stream.seek(0)
    return Done(status, out.read(), err.read())


def report_process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """As a user calls it."""
    return subprocess.run([str(SCRIPTS / "report.py"), "--static", *map(str, arguments)], capture_output=True,
                          encoding="utf-8", check=False, timeout=120, **options)


def _script() -> ModuleType:
    if "convladder_report_script" not in sys.modules:
        place = importlib.util.spec_from_file_location("convladder_report_script", SCRIPTS / "report.py")
        assert place is not None and place.loader is not None
        sys.modules["convladder_report_script"] = importlib.util.module_from_spec(place)
        place.loader.exec_module(sys.modules["convladder_report_script"])
    return sys.modules["convladder_report_script"]


def networks() -> dict[str, Any]:
    """Two networks that others published figures of, one of them counted as well."""
    maker = NetworkRecordMaker().add("lenet72", [100, 1000, 10000]).add("alexnet", [1, 2, 4], accuracy=False)
    return maker.add_counted("lenet72", 8).add_failed("lenet72", 100, "gone", "crashed", "signal 11").record()


def ladders() -> dict[str, Any]:
    """Times of a CPU, counters of the simulated device, and a GPU that is not there."""
    return with_predictions(RecordMaker().add_cpu().add_skipped_cuda().add_counted().record())
