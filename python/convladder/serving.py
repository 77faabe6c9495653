"""Verdicts on sources, one after the other: a program `convladder serve`, started for one folder or found at its socket."""

from __future__ import annotations

import itertools
import json
import os
import queue
import socket as sockets
import subprocess
import threading
from dataclasses import dataclass, field
from typing import IO, Any, Iterable, Optional, Union

from convladder.program import ConvladderError, environment, program

PathLike = Union[str, "os.PathLike[str]"]
_SECONDS_TO_END = 5
_LONGEST_REQUEST = 4 << 20


@dataclass(frozen=True)
class Finding:
    """Something that the compiler or a checker has found, with its place in the source where that is known."""

    kind: str
    text: str
    file: Optional[str] = None
    line: Optional[int] = None


@dataclass(frozen=True)
class Verdict:
    """An answer of the server: docs/use/serve.md says what each status means."""

    status: str
    reason: Optional[str]
    findings: tuple[Finding, ...]
    sizes: tuple[dict[str, Any], ...]
    """A size that was run, each; the fields are those of a case in run.json."""
    seconds: dict[str, float]
    document: dict[str, Any] = field(repr=False)
    """The answer as it came."""

    @property
    def ok(self) -> bool:
        """Whether it is right on every size, without a finding."""
        return self.status == "OK"

    @property
    def median_ns(self) -> dict[str, float]:
        """The median time of a call by size, where there is one."""
        return {one["size"]: one["time"]["median"] for one in self.sizes if one["time"]}


class Server:
    """Judges sources for one folder. Threads may share it: each gets its own answers.

    ladder: the folder, or the name of a ladder that comes with the program; a server is started for it, and ends with this object.
    socket: instead of a folder, where a server listens already.
    budget, timeout, limit: seconds, as in `convladder serve --help`. arguments: further words of its command line.

    Raises ConvladderError where the program refuses, or nobody listens.
    """

    def __init__(self, ladder: Optional[PathLike] = None, *, socket: Optional[PathLike] = None, budget: Optional[float] = None,
                 timeout: Optional[float] = None, limit: Optional[float] = None, arguments: Iterable[str] = ()) -> None:
        if (ladder is None) == (socket is None):
            raise ConvladderError("Server: expected a folder, or the socket of a server that runs")
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._socket: Optional[sockets.socket] = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, "queue.SimpleQueue[Optional[dict[str, Any]]]"] = {}
        self._ended = False
        self._why = "the server has ended"
        if socket is not None:
            self._connect(os.fspath(socket))
        else:
            assert ladder is not None
            words = ["serve", os.fspath(ladder)]
            for name, value in (("budget", budget), ("timeout", timeout), ("limit", limit)):
                words += [f"--{name}", str(value)] if value is not None else []
            self._start([*words, *arguments])
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def submit(self, source: str, *, language: str, sizes: Union[str, Iterable[str], None] = None, measure: bool = True,
               device: Optional[str] = None) -> Verdict:
        """Has the source judged, and waits for the verdict. Whatever is wrong with it is in the verdict.

        language: "cpp", "cu" or "ptx". sizes: without them those of the problem. measure: whether its time is wanted.
        """
        request: dict[str, Any] = {"source": source, "language": language, "measure": measure}
        if sizes is not None:
            request["sizes"] = [sizes] if isinstance(sizes, str) else list(sizes)
        if device is not None:
            request["device"] = device
        answer = self._ask(request)
        return Verdict(answer["status"], answer["reason"], tuple(Finding(**one) for one in answer["findings"]), tuple(answer["sizes"]),
                       answer["seconds"], answer)

    def problem(self) -> dict[str, Any]:
        """What is to be computed: the functions to define, tensors, sizes, tolerance, devices."""
        found: dict[str, Any] = self._ask({"do": "problem"})["problem"]
        return found

    def status(self) -> dict[str, Any]:
        """How many submissions wait, and how many were answered, by status."""
        found: dict[str, Any] = self._ask({"do": "status"})["server"]
        return found

    def close(self) -> None:
        """Ends a server that was started here; of another one only the connection."""
        if self._socket is not None:
            try:
                self._socket.shutdown(sockets.SHUT_RDWR)
            except OSError:
                pass  # it is gone already
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._listener.join(_SECONDS_TO_END)
        for stream in (self._in, self._out):
            try:
                stream.close()
            except OSError:
                pass  # what was still to be written has nobody to read it
        if self._socket is not None:
            self._socket.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, words: list[str]) -> None:
        try:
            self._process = subprocess.Popen([str(program()), *words], env=environment(words), stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise ConvladderError(f"{error.filename}: {error.strerror}") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout

    def _connect(self, path: str) -> None:
        self._socket = sockets.socket(sockets.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise ConvladderError(f"{path}: no server listens there: {error.strerror or error}") from None
        self._in = self._socket.makefile("wb")
        self._out = self._socket.makefile("rb")

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answers: "queue.SimpleQueue[Optional[dict[str, Any]]]" = queue.SimpleQueue()
        number = next(self._numbers)
        line = json.dumps({"id": number, **request}).encode() + b"\n"
        if len(line) > _LONGEST_REQUEST:
            raise ConvladderError(f"a request of {len(line)} bytes; a server takes {_LONGEST_REQUEST}")
        with self._lock:
            if not self._ended:
                self._waiting[number] = answers
                try:
                    self._in.write(line)
                    self._in.flush()
                except (OSError, ValueError):  # the listener says why
                    pass
            else:
                answers.put(None)
        answer = answers.get()
        if answer is None:
            raise ConvladderError(self._why)
        return answer

    def _listen(self) -> None:
        """Hands each answer to whoever waits for it."""
        try:
            for line in self._out:
                answer = json.loads(line)
                waiting = self._waiting.pop(answer["id"], None)
                if waiting is not None:
                    waiting.put(answer)
        except (OSError, ValueError):
            pass  # the connection is closed
        if self._process is not None and self._process.stderr is not None:
            said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            self._process.stderr.close()
            if said:
                self._why = said[-1].removeprefix("convladder: ")
        with self._lock:
            self._ended = True
            for one in self._waiting.values():
                one.put(None)
            self._waiting.clear()
