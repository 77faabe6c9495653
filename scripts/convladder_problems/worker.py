"""Imports problems, each in a process of its own with a limit of time and memory: what it runs of them is somebody else's code.

It reads a request in each line of its standard input, leaves the answer in the file that the
request names, and prints a line when it is there.
"""
from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

import torch

from . import definition, gpu_mode, kernelbench
from .importing import Imported
from .source import NotImportable, one_line

KINDS = {"kernelbench": kernelbench.Source, "definition": definition.Source, "gpu-mode": gpu_mode.Source}


def imported(request: dict) -> dict:
    folder = Path(request["folder"])
    source = KINDS[request["kind"]](folder, request["file"], **request.get("more", {}))
    done = Imported(source, request["small_bytes"])
    problem = done.problem(request["name"], request["title"])
    scalars = source.scalar_arguments()
    inputs = [[one.name, one.original, one.kept() if not one.dtype.is_floating_point else "float"] for one in source.inputs]
    inputs += [[one["name"], one["original"], "number"] for one in scalars]
    reference = {"kind": request["kind"], "original": request["file"], "dimensions": source.dimensions, "inputs": inputs,
                 "outputs": [one.name for one in source.outputs], "numbers": {}, "fixed": source.fixed, "more": source.more}
    answer = {"problem": problem, "reference": reference, "small": done.small}
    if request.get("audit"):
        answer["audit"] = done.audit()
    return answer


def answer(request: dict) -> dict:
    try:
        return imported(request)
    except NotImportable as error:
        return {"reason": str(error)}
    except MemoryError:
        return answer_of_memory(request)
    except BaseException as error:  # whatever somebody else's code does
        if os.environ.get("CONVLADDER_PROBLEMS_TRACES"):
            traceback.print_exc()
        if "allocate memory" in str(error):
            return answer_of_memory(request)
        return {"reason": f"{type(error).__name__}: {one_line(error)}"}


def answer_of_memory(request: dict) -> dict:
    return {"reason": f"it takes more than the {request['memory_bytes'] / 2**30:g} GiB that --memory allows"}


def own_bytes() -> int:
    """The address space of this process, and so of its children at first. A confined child cannot ask."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")


def in_child(request: dict, used: int) -> None:
    """In the process of one problem. Its output is nobody's: the request's answer is a file."""
    os.setpgid(0, 0)
    limit = used + request["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    torch.set_num_threads(1)
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
        if not os.environ.get("CONVLADDER_PROBLEMS_TRACES"):
            os.dup2(nothing.fileno(), 2)
    Path(request["answer"]).write_text(json.dumps(answer(request)), encoding="utf-8")
    os._exit(0)


def ended(child: int, seconds: float) -> str | None:
    """Waits for a process; why it left no answer, if it did not. Ends what it has started as well."""
    until = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"it takes longer than the {seconds:g} s that --seconds allows"
        time.sleep(0.02)
    try:
        os.killpg(child, signal.SIGKILL)  # what it has left behind
    except ProcessLookupError:
        pass
    code = os.waitstatus_to_exitcode(status)
    return None if code == 0 else f"its process ended with {'signal' if code < 0 else 'exit code'} {abs(code)}"


def main() -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        used = own_bytes()
        child = os.fork()
        if child == 0:
            try:
                in_child(request, used)
            finally:
                os._exit(1)
        why = ended(child, request["seconds"])
        if why is not None:
            Path(request["answer"]).write_text(json.dumps({"reason": why}), encoding="utf-8")
        print("done", flush=True)


if __name__ == "__main__":
    main()
