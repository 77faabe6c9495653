"""How far a plan is: every shard's record, its place in the queue, its log."""

from typing import Dict, List, NamedTuple, Optional, Sequence

from convladder_slurm import cluster, jobs, logs
from convladder_slurm.cluster import Task
from convladder_slurm.plan import Plan, Shard, read_shard

FINISHED, RUNNING, PENDING, FAILED, NOT_SUBMITTED = "finished", "running", "pending", "failed", "not submitted"
STATES = (FINISHED, RUNNING, PENDING, FAILED, NOT_SUBMITTED)


class ShardState(NamedTuple):
    """Of a shard that has cases."""
    shard: int
    state: str
    record: Shard
    task: Optional[Task]  # in the queue
    last: Optional[logs.LastTask]


def in_queue(plan: Plan) -> Dict[int, Task]:
    """The task that is to run a shard, or runs it, for every shard that has one. Raises NoScheduler."""
    found = {}  # type: Dict[int, Task]
    for task in cluster.queue(jobs.names(plan, cluster.largest_array())):
        first = jobs.first_shard(plan, task.name)
        if first is None:
            for shard in plan.cases:
                found.setdefault(shard, task)
        elif task.index >= 0:
            shard = first + task.index
            if shard not in found or found[shard].waits or found[shard].index < 0:
                found[shard] = task
    return found


def look(plan: Plan, queued: Dict[int, Task], shards: Optional[Sequence[int]] = None) -> List[ShardState]:
    """The state of these shards, or of all that have cases."""
    return [_state(plan, shard, queued.get(shard)) for shard in sorted(plan.cases if shards is None else shards)]


def _state(plan: Plan, shard: int, task: Optional[Task]) -> ShardState:
    record, last = read_shard(plan, shard), logs.last_task(plan, shard)
    if task and task.index < 0:  # one job for all: the log says which of them it is at
        task = _of_one_job(task, record, last)
    if task:
        state = PENDING if task.waits else RUNNING
    elif record.complete:
        state = FINISHED
    elif last or record.done or record.problem:
        state = FAILED
    else:
        state = NOT_SUBMITTED
    return ShardState(shard, state, record, task, last)


def _of_one_job(job: Task, record: Shard, last: Optional[logs.LastTask]) -> Optional[Task]:
    began = last is not None and last.job == job.id
    if began and last is not None and last.exit_code is not None:
        return None
    if record.complete and not began:
        return None
    return job if began or job.waits else job._replace(state="PENDING", reason="None")
