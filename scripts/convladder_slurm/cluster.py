"""What Slurm says: its settings and its queue. Only sbatch, squeue and scontrol: no accounting database is needed."""

import os
import re
import subprocess
from typing import Dict, List, NamedTuple, Sequence, Tuple

from convladder_slurm.plan import Refused

KEPT = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT")
"""What says which Slurm it is. All other variables of a job that this may be called from, and those that make squeue
show less than there is, stay out."""

SECONDS = 120
"""A scheduler that has not answered by then does not answer."""


class NoScheduler(Exception):
    """Slurm is not here or does not answer."""


class Task(NamedTuple):
    """A job, or a task of an array, that is in the queue."""
    id: str  # "12_3" or "12"
    name: str
    state: str  # PENDING, RUNNING, ...
    node: str
    reason: str

    @property
    def index(self) -> int:
        """The number in its array; -1 for a job that is no array."""
        return int(self.id.partition("_")[2]) if "_" in self.id else -1

    @property
    def waits(self) -> bool:
        """Not on a node yet, or no longer."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")


def environment() -> Dict[str, str]:
    """This process's, without what belongs to a job."""
    return {name: value for name, value in os.environ.items()
            if name in KEPT or not (name.startswith("SLURM_") or name.startswith("SQUEUE_"))}


def call(command: Sequence[str]) -> Tuple[int, str, str]:
    """Exit status and both outputs. Raises NoScheduler where the command is not there."""
    try:
        done = subprocess.run(list(command), env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS)
    except FileNotFoundError:
        raise NoScheduler("{} is not installed: this is no machine of a cluster with Slurm "
                          "(scripts/setup.sh --slurm sets one up here)".format(command[0]))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoScheduler("{}: {}".format(command[0], error))
    return (done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def _ask(command: Sequence[str]) -> str:
    status, output, said = call(command)
    if status != 0:
        raise NoScheduler("Slurm does not answer: {}".format(last_line(said) or "exit status {}".format(status)))
    return output


def last_line(text: str) -> str:
    """What a command of Slurm said last, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def largest_array() -> int:
    """Slurm's MaxArraySize: one more than the highest number of an array's task. Raises NoScheduler."""
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", _ask(["scontrol", "show", "config"]), re.MULTILINE)
    if not found:
        raise NoScheduler("'scontrol show config' does not say MaxArraySize")
    return int(found.group(1))


def queue(names: Sequence[str]) -> List[Task]:
    """Every task in the queue whose job has one of these names, whoever submitted it. Raises NoScheduler."""
    tasks = []
    for begin in range(0, len(names), 200):
        for line in _ask(["squeue", "-h", "-r", "-o", "%i|%j|%T|%N|%r",
                          "--name=" + ",".join(names[begin:begin + 200])]).splitlines():
            fields = line.split("|", 4)
            if len(fields) != 5 or not re.match(r"^\d+(_\d+)?$", fields[0]):
                raise Refused("squeue: a line that this script does not know: '{}'".format(line))
            tasks.append(Task(*fields))
    return tasks
