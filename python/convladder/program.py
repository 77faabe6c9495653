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
from typing import Callable, Sequence

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
            raise ConvladderError(f"CONVLADDER_PROGRAM: {named} is a script or a folder; expected the program itself")
        return Path(named)
    installed = os.path.normpath(_HERE / "../../../../../bin/convladder")  # <prefix>/lib/convladder/stand_in/python/convladder
    for path in (_HERE / "program/bin/convladder", installed, os.path.realpath(_HERE / "../../build/release/convladder"),
                 shutil.which("convladder") or ""):
        if os.access(path, os.X_OK) and _is_binary(path):
            return Path(path)
    raise ConvladderError("the program is not there: install the wheel, build the clone (scripts/run.sh), or let CONVLADDER_PROGRAM name it")


def _is_binary(path: str | os.PathLike[str]) -> bool:
    """No script, such as the one that pip has written for __main__.py, which asks where the program is."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def scripts() -> Path:
    """The folder of the packages that draw, which belongs to the program."""
    of_program = Path(os.path.realpath(program()))
    for folder in of_program.parents:
        for found in (folder / "share/convladder/scripts", folder / "scripts"):
            if (found / "convladder_charts").is_dir():
                return found
    raise ConvladderError(f"{of_program}: scripts/convladder_charts was not found beside it")


def environment(arguments: Sequence[str]) -> dict[str, str]:
    """For the program with these words: it draws charts and reports with this Python, which has matplotlib, unless another one is named.
    The programs of others that it starts see nothing of that."""
    of_others = arguments[:1] and arguments[0] in ("simulate", "duel")
    return dict(os.environ) if of_others else {"PYTHON": sys.executable, **os.environ}


def version() -> str:
    """Of the program."""
    return call(["--version"], progress=False).stdout.strip()


def call(arguments: Sequence[str], *, progress: bool, live: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end; raises ConvladderError where it refuses. See `started`."""
    echo = _Echo() if progress else None
    done = started(arguments, echo=echo.write if echo else None, live=live)
    if done.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode == _REFUSED or done.returncode < 0:
        raise ConvladderError(why(done))
    if echo:
        echo.close()
    return done


def started(arguments: Sequence[str], *, echo: Callable[[str], None] | None, live: bool = False,
            folder: str | os.PathLike[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end, whatever its exit code says. `echo` gets what it says meanwhile on its standard error; with `live` as
    well that moves on in one line where somebody looks.

    Ctrl-C, or a notebook's stop, ends the program, too; what it has measured until then is kept.
    """
    command = [str(program()), *arguments]
    reading, writing = _terminal() if echo and live and _somebody_looks() else os.pipe()
    said = bytearray()
    try:
        process = subprocess.Popen(command, cwd=folder, env=environment(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writing)
    except OSError as error:
        os.close(reading)
        raise ConvladderError(f"{error.filename or command[0]}: {error.strerror}") from None
    finally:
        os.close(writing)
    listener = threading.Thread(target=_listen, args=(reading, said, echo), daemon=True)
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


def show(text: str) -> None:
    """On sys.stderr, which a notebook shows."""
    sys.stderr.write(text)
    sys.stderr.flush()


class _Echo:
    """Shows what the program says, but the lines in its own name only when it has not refused: then the last of them is the exception's."""

    def __init__(self) -> None:
        self._rest = ""
        self._held = ""

    def write(self, text: str) -> None:
        """The next part of what it says."""
        *lines, self._rest = re.split(r"(?<=\n)", self._rest + text)
        for line in lines:
            if line.startswith(_OUR_PREFIX):
                self._held += line
            else:
                show(line)
        if self._rest and not self._rest.startswith(_OUR_PREFIX[:len(self._rest)]):
            show(self._rest)
            self._rest = ""

    def close(self) -> None:
        """Shows what was held back."""
        show(self._held + self._rest)


def _listen(reading: int, said: bytearray, echo: Callable[[str], None] | None) -> None:
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
            if echo:
                echo(decoder.decode(some))


def why(done: subprocess.CompletedProcess[str]) -> str:
    """The line in which the program has refused."""
    if done.returncode < 0:
        return f"the program was ended by signal {-done.returncode}"
    lines = [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stderr)) if line.strip()]
    ours = [line[len(_OUR_PREFIX):] for line in lines if line.startswith(_OUR_PREFIX)]
    return (ours or lines or [f"exit status {done.returncode}"])[-1]
