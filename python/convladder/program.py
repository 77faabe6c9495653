"""Where the program is, and how it is called."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Mapping, Sequence

_HERE = Path(os.path.abspath(__file__)).parent
_REFUSED, _INTERRUPTED = 3, 130
_OUR_PREFIX = "convladder: "


class ConvladderError(Exception):
    """What the program says in one line when it refuses: bad input, a file that is not there, nothing to compare."""


def program() -> Path:
    """The program: CONVLADDER_PROGRAM, or the one that was installed with this package, or built in this clone, or is on the PATH."""
    named = os.environ.get("CONVLADDER_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise ConvladderError(f"CONVLADDER_PROGRAM: no program {named}")
        return Path(named)
    beside = (_HERE / "program/bin/convladder",       # in a wheel
              _HERE.parents[3] / "bin/convladder",    # <prefix>/lib/convladder/stand_in/python/convladder
              _HERE.parents[1] / "build/release/convladder")  # a clone
    on_path = shutil.which("convladder")
    for path in (*beside, *([Path(on_path)] if on_path and _is_binary(on_path) else [])):
        if os.access(path, os.X_OK) and path.is_file():
            return path
    raise ConvladderError("the program is not there: install the wheel, build the clone (scripts/run.sh), or let CONVLADDER_PROGRAM name it")


def _is_binary(path: str) -> bool:
    """Not the script that pip has written for __main__.py, which asks where the program is."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def scripts() -> Path:
    """The folder of the packages that draw, which belongs to the program."""
    of_program = Path(os.path.realpath(program()))
    for folder in of_program.parents:
        for found in (folder / "share/convladder/scripts", folder / "scripts"):
            if (found / "convladder_charts").is_dir():
                return found
    raise ConvladderError(f"{of_program}: scripts/convladder_charts was not found beside it")


def environment() -> dict[str, str]:
    """For the program: it draws charts and reports with this Python, which has matplotlib, unless another one is named."""
    return {"PYTHON": sys.executable, **os.environ}


def version() -> str:
    """Of the program."""
    return call(["--version"], progress=False).stdout.strip()


def call(arguments: Sequence[str], *, progress: bool, folder: str | os.PathLike[str] | None = None,
         variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end. With `progress` what it says meanwhile goes to sys.stderr, which a notebook shows.

    Raises ConvladderError where it refuses. Ctrl-C, or a notebook's stop, ends the program, too; what it has measured until then is kept.
    """
    command = [str(program()), *arguments]
    with subprocess.Popen(command, cwd=folder, env={**environment(), **(variables or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        said: list[str] = []
        listener = threading.Thread(target=_listen, args=(process.stderr, said, progress), daemon=True)
        listener.start()
        try:
            output = process.stdout.read().decode("utf-8", "replace")
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        listener.join()
    if process.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    done = subprocess.CompletedProcess(command, process.returncode, output, "".join(said))
    if done.returncode == _REFUSED or done.returncode < 0:
        raise ConvladderError(_why(done))
    return done


def _listen(pipe: IO[bytes], said: list[str], progress: bool) -> None:
    """Line by line, as it is said; a line that is written over ends with a carriage return."""
    for text in io.TextIOWrapper(pipe, encoding="utf-8", errors="replace", newline=""):
        said.append(text)
        if progress:
            sys.stderr.write(text)
            sys.stderr.flush()


def _why(done: subprocess.CompletedProcess[str]) -> str:
    """The line in which the program has refused."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    ours = [line[len(_OUR_PREFIX):] for line in lines if line.startswith(_OUR_PREFIX)]
    if done.returncode < 0:
        return f"the program ended by signal {-done.returncode}"
    return (ours or lines or [f"exit status {done.returncode}"])[-1]
