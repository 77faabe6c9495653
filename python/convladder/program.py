"""Where the program is, and how it is called."""

from __future__ import annotations

import codecs
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import Sequence

_HERE = Path(os.path.abspath(__file__)).parent
_REFUSED, _INTERRUPTED = 3, 130
_OUR_PREFIX = "convladder: "
_SECONDS_FOR_LAST_WORDS = 10
"""Of the program: what it has left behind may hold its standard error open."""


class ConvladderError(Exception):
    """What the program says in one line when it refuses: bad input, a file that is not there, nothing to compare."""

    def _render_traceback_(self) -> list[str]:
        """A notebook shows the line, and not the calls that led to it."""
        return [f"{type(self).__name__}: {self}"]


def program() -> Path:
    """The program: CONVLADDER_PROGRAM, or the one that was installed with this package, or built in this clone, or is on the PATH."""
    named = os.environ.get("CONVLADDER_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise ConvladderError(f"CONVLADDER_PROGRAM: no program {named}")
        if not _is_binary(named):  # such as the script that starts this package, for ever
            raise ConvladderError(f"CONVLADDER_PROGRAM: {named} is a script; expected the program itself")
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


def call(arguments: Sequence[str], *, progress: bool, live: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end; raises ConvladderError where it refuses. See `started`."""
    done = started(arguments, progress=progress, live=live)
    if done.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode == _REFUSED or done.returncode < 0:
        raise ConvladderError(why(done))
    return done


def started(arguments: Sequence[str], *, progress: bool, live: bool = False,
            folder: str | os.PathLike[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end, whatever its exit code says. With `progress` what it says meanwhile goes to sys.stderr, which a notebook
    shows; with `live` as well it moves on in one line where somebody looks.

    Ctrl-C, or a notebook's stop, ends the program, too; what it has measured until then is kept.
    """
    command = [str(program()), *arguments]
    reading, writing = _terminal() if progress and live and _somebody_looks() else os.pipe()
    said = bytearray()
    try:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writing)
    except OSError as error:
        os.close(reading)
        raise ConvladderError(f"{error.filename or command[0]}: {error.strerror}") from None
    finally:
        os.close(writing)
    listener = threading.Thread(target=_listen, args=(reading, said, progress), daemon=True)
    listener.start()
    with process:
        assert process.stdout is not None
        try:
            output = process.stdout.read().decode("utf-8", "replace")
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
    listener.join(_SECONDS_FOR_LAST_WORDS)
    return subprocess.CompletedProcess(command, process.returncode, output, said.decode("utf-8", "replace"))


def _somebody_looks() -> bool:
    """At sys.stderr: at a terminal, or in a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")


def _terminal() -> tuple[int, int]:
    """Both ends of one that changes nothing of what is written: the program shows progress on terminals only."""
    reading, writing = pty.openpty()
    attributes = termios.tcgetattr(writing)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(writing, termios.TCSANOW, attributes)
    return reading, writing


def _listen(reading: int, said: bytearray, progress: bool) -> None:
    """Hands on what is said as it comes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            try:
                some = pipe.read(65536)
            except OSError:  # the other end of a terminal is closed
                return
            if not some:
                return
            said += some
            if progress:
                sys.stderr.write(decoder.decode(some))
                sys.stderr.flush()


def why(done: subprocess.CompletedProcess[str]) -> str:
    """The line in which the program has refused."""
    if done.returncode < 0:
        return f"the program was ended by signal {-done.returncode}"
    lines = [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stderr)) if line.strip()]
    ours = [line[len(_OUR_PREFIX):] for line in lines if line.startswith(_OUR_PREFIX)]
    return (ours or lines or [f"exit status {done.returncode}"])[-1]
