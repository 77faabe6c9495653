"""Which shards go into which job, how long it may take, and the scripts that Slurm starts."""

import hashlib
import math
import os
import shlex
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

from convladder_slurm.plan import Plan, Refused, ranges

SPARE_SECONDS = 600
"""Beyond the margin: starting, reading data, a file system that has much to do."""


class Array(NamedTuple):
    """A job whose tasks are the shards first + index."""
    first: int
    shards: List[int]

    def spec(self, limit: int) -> str:
        """As sbatch's --array wants it."""
        return "{}%{}".format(ranges(shard - self.first for shard in self.shards), limit)


def job_prefix(plan: Plan) -> str:
    """What the names of this plan's jobs begin with. The same plan in another folder is another one."""
    place = plan.id + "\n" + os.path.realpath(plan.folder)
    return "convladder-" + hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def array_name(plan: Plan, first: int) -> str:
    """The name of the array whose task 0 is that shard."""
    return "{}-{}".format(job_prefix(plan), first)


def one_job_name(plan: Plan) -> str:
    """The name of the job whose steps are shards."""
    return job_prefix(plan) + "-all"


def first_shard(plan: Plan, name: str) -> Optional[int]:
    """What the array of this name begins with; None for another job."""
    rest = name[len(job_prefix(plan)) + 1:]
    return int(rest) if name.startswith(job_prefix(plan) + "-") and rest.isdigit() else None


def names(plan: Plan, largest_array: int) -> List[str]:
    """The names that jobs of this plan can have."""
    return [one_job_name(plan)] + [array_name(plan, first) for first in range(0, plan.shards, max(largest_array, 1))]


def split(shards: Iterable[int], largest_array: int) -> List[Array]:
    """Arrays none of which has a number that Slurm refuses."""
    by_first = {}  # type: Dict[int, List[int]]
    for shard in sorted(shards):
        by_first.setdefault(shard - shard % largest_array, []).append(shard)
    return [Array(first, there) for first, there in sorted(by_first.items())]


def minutes(plan: Plan, shards: Sequence[int], margin: float, at_once: Optional[int] = None) -> int:
    """A time limit for the longest of these shards, or for all of them in one job, so many at once."""
    seconds = max(plan.seconds[shard] for shard in shards)
    if at_once is not None:
        seconds += sum(plan.seconds[shard] for shard in shards) / at_once
    return math.ceil((seconds * margin + SPARE_SECONDS) / 60)


def sbatch_file_name(path: str) -> str:
    """A path in which sbatch replaces nothing. Raises Refused for one that it cannot be given."""
    if "\\" in path or "\n" in path:
        raise Refused("{}: the plan's folder has a character in its name that Slurm cannot take".format(path))
    return path.replace("%", "%%")


def task_script(plan: Plan, program: str, not_from: Sequence[str]) -> str:
    """Runs one shard: 'array FIRST' for the task of an array, 'shard K' for a step."""
    options = "".join(" --not-from {}".format(shlex.quote(node)) for node in not_from)
    return """#!/bin/bash
# One shard of a plan, as a task of Slurm. scripts/slurm.sh writes this with every submission.
program={program}
folder={folder}
case $1 in
  array) shard=$(($2 + SLURM_ARRAY_TASK_ID)) job=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID ;;
  *) shard=$2 job=$SLURM_JOB_ID ;;
esac
printf -v log '%s/logs/%05d.log' "$folder" "$shard"
mkdir -p -- "$folder/logs" && exec >>"$log" 2>&1
# Of a task that goes on after a requeue, Slurm says how often.
echo "$(date -u +%FT%TZ) shard $shard of {shards}: job $job on ${{SLURMD_NODENAME:-$HOSTNAME}}" \\
  "(number $SLURM_JOB_ID${{SLURM_RESTART_COUNT:+, restart $SLURM_RESTART_COUNT}})"
"$program" run --plan "$folder" --shard "$shard/{shards}" --quiet{options}
status=$?
echo "$(date -u +%FT%TZ) shard $shard of {shards}: ended with exit code $status"
exit "$status"
""".format(program=shlex.quote(program), folder=shlex.quote(plan.folder), shards=plan.shards, options=options)


def steps_script(plan: Plan, shards: Sequence[int], limit: int, step_options: Sequence[str], whole_nodes: bool) -> str:
    """Runs these shards as steps of one job, so many at once."""
    options = "".join(" " + shlex.quote(one) for one in step_options)
    if whole_nodes:
        options += ' --cpus-per-task="$SLURM_CPUS_ON_NODE"'
    return """#!/bin/bash
# The shards of a plan as steps of one job of Slurm. scripts/slurm.sh writes this with every submission.
folder={folder}
steps=()
for shard in {shards}; do
  while (($(jobs -rp | wc -l) >= {limit})); do sleep 0.2; done
  srun --nodes=1 --ntasks=1 --exact{options} bash "$folder/slurm/task.sh" shard "$shard" &
  steps+=($!)
done
status=0
for step in "${{steps[@]}}"; do wait "$step" || status=1; done
exit "$status"
""".format(folder=shlex.quote(plan.folder), shards=" ".join(map(str, shards)), limit=limit, options=options)
