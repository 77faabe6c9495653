"""Calling the scripts, in this process where that will do: to start Python and matplotlib takes longer than a chart."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import subprocess
import sys
import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from conftest import SCRIPTS


@dataclass(frozen=True)
class Done:
    """How a call ended, as of a process."""

    returncode: int
    stdout: str
    stderr: str


def call(script: str, *arguments: object) -> Done:
    """What a script of scripts/ does with these arguments; a warning is shown once a call, as of a process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    level = logging.getLogger("matplotlib").level
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        try:
            status = _module(script).main(list(map(str, arguments)))
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            logging.getLogger("matplotlib").setLevel(level)
    for stream in (out, err):
        stream.seek(0)
    return Done(status, out.read(), err.read())


def call_process(script: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """As a user calls it."""
    return subprocess.run([str(SCRIPTS / script), *map(str, arguments)], capture_output=True, encoding="utf-8",
                          check=False, timeout=120, **options)


def _module(script: str) -> ModuleType:
    name = f"convladder_script_{script.removesuffix('.py')}"
    if name not in sys.modules:
        place = importlib.util.spec_from_file_location(name, SCRIPTS / script)
        assert place is not None and place.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(place)
        place.loader.exec_module(sys.modules[name])
    return sys.modules[name]
