"""The processes that import problems: some at a time, each of which starts a process of its own for every problem."""
from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from .found_problems import Found

PACKAGE = Path(__file__).resolve().parent
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CONVLADDER_PROBLEMS_TRACES")
"""Others' code sees no other: some hold keys."""


class NoTorch(Exception):
    """The Python that should run others' problems cannot; the text says why in one line."""


def read_answer(file: Path) -> dict:
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        answer = None
    return answer if isinstance(answer, dict) else {"reason": "its process left no answer"}


class Importers:
    def __init__(self, jobs: int, place: Path, program: Path | None) -> None:
        """`place` is where the workers find problems and leave answers; `program` confines them, if it is given."""
        self.jobs = jobs
        self.place = place
        self.program = program
        self.python = os.environ.get("PYTHON") or sys.executable

    def __enter__(self) -> Importers:
        check = ("import sys, importlib.util as u; assert sys.version_info >= (3, 10), 'Python 3.10 is needed'\n"
                 "for one in ('numpy', 'torch'): assert u.find_spec(one), 'no module named ' + one\n"
                 "print(sys.executable, sys.prefix, sys.base_prefix, *{p for p in sys.path if p}, sep='\\n')")
        try:
            found = subprocess.run([self.python, "-c", check], capture_output=True, text=True, check=False)
        except OSError as error:
            raise NoTorch(f"cannot start {self.python}: {error.strerror}; PYTHON names it") from error
        if found.returncode != 0:
            line = (found.stderr.strip().splitlines() or ["it ended"])[-1]
            raise NoTorch(f"{self.python} has no torch that works ({line}); name one that has with PYTHON")
        self.executable, *self.folders = found.stdout.splitlines()
        return self

    def __exit__(self, *_ended) -> None:
        pass

    def started(self) -> subprocess.Popen:
        script = PACKAGE.parent / "import_worker.py"
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        command = [self.executable, "-B", str(script)]
        if self.program is not None:
            environment |= {"CONVLADDER_IMPORT_PYTHON": self.executable, "CONVLADDER_IMPORT_SCRIPT": str(script),
                            "CONVLADDER_IMPORT_READABLE": ":".join([*self.folders, str(PACKAGE.parent)]),
                            "CONVLADDER_IMPORT_WRITABLE": str(self.place)}
            command = [str(self.program), "serve-confined-import", "0", "0"]
        worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.place, env=environment)
        if worker.stdout.readline() != "ready\n":
            worker.wait()
            raise NoTorch(f"{self.python} could not import torch and start an importer")
        return worker

    def answers(self, requests: list[tuple[Found, dict]]) -> Iterator[tuple[Found, dict]]:
        """The answers as they come."""
        waiting: queue.SimpleQueue = queue.SimpleQueue()
        done: queue.SimpleQueue = queue.SimpleQueue()
        for i, one in enumerate(requests):
            waiting.put((i, one))

        def work() -> None:
            try:
                worker = self.started()
            except NoTorch as error:
                done.put(error)
                return
            try:
                while True:
                    try:
                        i, (found, request) = waiting.get_nowait()
                    except queue.Empty:
                        break
                    answer = self.place / f"{i}.json"
                    worker.stdin.write(json.dumps(request | {"answer": str(answer)}) + "\n")
                    worker.stdin.flush()
                    ended = not worker.stdout.readline()
                    done.put((found, {"reason": "its importer ended"} if ended else read_answer(answer)))
                    if ended:
                        worker.wait()
                        worker = self.started()
            except NoTorch as error:
                done.put(error)
            finally:
                worker.stdin.close()
                worker.wait()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.jobs, len(requests)))]
        for one in threads:
            one.start()
        for _ in requests:
            answer = done.get()
            if isinstance(answer, NoTorch):
                raise answer
            yield answer
        for one in threads:
            one.join()
