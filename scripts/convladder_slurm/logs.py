"""What the tasks of a shard wrote: when one began, where, and how it ended."""

import os
import re
from typing import List, NamedTuple, Optional

from convladder_slurm.plan import Plan

BEGIN = re.compile(r"^\S+Z shard \d+ of \d+: job (\S+) on (\S+) \(number (\d+)(?:, restart (\d+))?\)$")
END = re.compile(r"^\S+Z shard \d+ of \d+: ended with exit code (\d+)$")
TAIL = 64 * 1024
"""Bytes at a log's end that are looked at."""


class LastTask(NamedTuple):
    """The last task that began with a shard."""
    job: str
    node: str
    number: str  # of the job, as in Slurm's own messages
    restarts: int
    exit_code: Optional[int]  # None: it runs, or it was killed
    said: str  # the last line of the program


def log_of(plan: Plan, shard: int) -> str:
    """Where a shard's tasks write."""
    return os.path.join(plan.folder, "logs", "{:05d}.log".format(shard))


def slurm_output(plan: Plan) -> str:
    """Where Slurm's own messages about all tasks go."""
    return os.path.join(plan.folder, "slurm", "output.log")


def last_task(plan: Plan, shard: int) -> Optional[LastTask]:
    """None where none has begun."""
    found = None  # type: Optional[LastTask]
    for line in _tail(log_of(plan, shard)):
        begin, end = BEGIN.match(line), END.match(line)
        if begin:
            job, node, number, restarts = begin.groups()
            found = LastTask(job, node, number, int(restarts or 0), None, "")
        elif found and end:
            found = found._replace(exit_code=int(end.group(1)))
        elif found and line.strip():
            found = found._replace(said=line.strip())
    return found


def slurm_said(plan: Plan, number: str) -> str:
    """Slurm's last message about a job: that it was cancelled, or why it ended; empty where it said nothing."""
    about = re.compile(r"\*\*\* (?:JOB|STEP) {}\b.*\*\*\*".format(re.escape(number)))
    lines = [line for line in _tail(slurm_output(plan)) if about.search(line)]
    return about.search(lines[-1]).group(0).strip("* ") if lines else ""  # type: ignore


def _tail(path: str) -> List[str]:
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL))
            return stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
