"""Puts into the queue what is not finished and not there yet."""

import contextlib
import errno
import fcntl
import json
import os
import re
import shlex
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from convladder_slurm import cluster, jobs, logs, state
from convladder_slurm.plan import Plan, Refused, ranges, script_words, shown

OURS = ("--array", "-a", "--job-name", "-J", "--output", "-o", "--error", "-e", "--wrap", "--open-mode", "--parsable")
"""Options of sbatch by which this script finds its jobs and their output again."""


NODE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


class Settings(NamedTuple):
    """What a submission is told; 'retry' goes on with those of the last one."""
    limit: Optional[int] = None
    one_job: bool = False
    exclusive: bool = False
    requeue: bool = True
    time: Optional[str] = None
    margin: float = 3.0
    gres: Optional[str] = None
    exclude: Optional[str] = None
    not_on: List[str] = []
    sbatch: List[str] = []  # --partition, --account, ..., and what stood after --

    @property
    def at_once(self) -> int:
        """How many tasks may run at a time."""
        return self.limit or (4 if self.one_job else 32)


class Job(NamedTuple):
    """A call of sbatch and the script that it is given."""
    command: List[str]
    script: str  # its file
    shards: List[int]


def submit(plan: Plan, settings: Settings, program: str, wanted: Optional[Sequence[int]], dry_run: bool) -> int:
    """Submits; returns the exit status. Raises Refused and NoScheduler."""
    refuse_ours(settings.sbatch)
    folder = jobs.sbatch_file_name(plan.folder)
    with _lock(plan, dry_run):
        queued = state.in_queue(plan)
        states = state.look(plan, queued)
        chosen = [one.shard for one in states if _is_to_run(one, settings) and (wanted is None or one.shard in wanted)]
        _tell_what_is_left_out(states, chosen, wanted)
        if not chosen:
            return 0
        scripts, planned = _jobs(plan, settings, program, chosen, folder)
        if dry_run:
            _print(scripts, planned)
            return 0
        for name, text in scripts.items():
            _write(os.path.join(plan.folder, "slurm", name), text, 0o755)
        text = json.dumps(settings._asdict(), indent=1) + "\n"
        _write(os.path.join(plan.folder, "slurm", "settings.json"), text, 0o644)
        return _submit(plan, planned, settings)


def last_settings(plan: Plan) -> Settings:
    """Of the last submission; the defaults where there was none. Raises Refused."""
    path = os.path.join(plan.folder, "slurm", "settings.json")
    try:
        with open(path, encoding="utf-8") as stream:
            return Settings(**json.load(stream))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError, TypeError) as error:
        raise Refused("{}: {}: delete it, and give the options again".format(path, error))


def nodes_off(plan: Plan) -> List[str]:
    """Those that the last merge named: their sentinel is off."""
    try:
        with open(os.path.join(plan.folder, "slurm", "off"), encoding="utf-8", errors="replace") as stream:
            return [line for line in stream.read().splitlines() if NODE.match(line)]
    except OSError:
        return []


def refuse_ours(options: Sequence[str]) -> None:
    """Raises Refused where an option for sbatch would hide the jobs from this script."""
    for option in options:
        name = option.partition("=")[0]
        short = option[:2] if option[:1] == "-" and option[1:2] != "-" else ""
        if name in OURS or short in OURS:
            raise Refused("{}: this script sets that option of sbatch itself".format(name))


def _is_to_run(one: state.ShardState, settings: Settings) -> bool:
    if one.state in (state.RUNNING, state.PENDING):
        return False
    return one.state != state.FINISHED or bool(one.record.nodes.intersection(settings.not_on))


def _tell_what_is_left_out(states: Sequence[state.ShardState], chosen: Sequence[int],
                           wanted: Optional[Sequence[int]]) -> None:
    counts = {name: sum(1 for one in states if one.state == name) for name in state.STATES}
    again = sum(1 for one in states if one.state == state.FINISHED and one.shard in chosen)
    there = ["{} {}".format(number, words) for number, words in (
        (counts[state.FINISHED] - again, "finished"), (counts[state.RUNNING], "running"),
        (counts[state.PENDING], "pending")) if number]
    if not chosen:
        what = "none of --shards" if wanted is not None else "nothing"
        print("{} to submit: of {} shards {}".format(what, len(states), ", ".join(there) or "none is chosen"))
    elif there:
        print("left out: " + ", ".join(there))


def _jobs(plan: Plan, settings: Settings, program: str, chosen: Sequence[int],
          folder: str) -> "tuple[Dict[str, str], List[Job]]":
    """The scripts by their names, and the jobs."""
    scripts = {"task.sh": jobs.task_script(plan, program, settings.not_on)}
    common = ["--requeue" if settings.requeue else "--no-requeue", "--open-mode=append",
              "--output=" + jobs.sbatch_file_name(logs.slurm_output(plan)), "--chdir=" + plan.folder]
    if settings.exclusive:
        common.append("--exclusive")
    if settings.gres:
        common.append("--gres=" + settings.gres)
    excluded = ",".join(([settings.exclude] if settings.exclude else []) + settings.not_on)
    if excluded:
        common.append("--exclude=" + excluded)
    if settings.one_job:
        at_once = min(settings.at_once, len(chosen))
        limit = settings.time or str(jobs.minutes(plan, chosen, settings.margin, at_once))
        step_options = ["--gres=" + settings.gres] if settings.gres else []
        scripts["steps.sh"] = jobs.steps_script(plan, chosen, at_once, step_options, settings.exclusive)
        room = (["--nodes={}".format(at_once), "--ntasks-per-node=1"] if settings.exclusive
                else ["--ntasks={}".format(at_once)])
        command = ["sbatch", "--parsable", "--job-name=" + jobs.one_job_name(plan), *room, "--time=" + limit, *common,
                   *settings.sbatch]
        return scripts, [Job(command + [os.path.join(plan.folder, "slurm", "steps.sh")], "steps.sh", list(chosen))]
    largest = cluster.largest_array()
    if largest < 1:
        raise Refused("this Slurm allows no arrays (MaxArraySize=0): use --one-job")
    planned = []
    for array in jobs.split(chosen, largest):
        limit = settings.time or str(jobs.minutes(plan, array.shards, settings.margin))
        command = ["sbatch", "--parsable", "--job-name=" + jobs.array_name(plan, array.first),
                   "--array=" + array.spec(settings.at_once), "--time=" + limit, *common, *settings.sbatch,
                   os.path.join(plan.folder, "slurm", "task.sh"), "array", str(array.first)]
        planned.append(Job(command, "task.sh", array.shards))
    return scripts, planned


def _after(command: Sequence[str], before: Optional[str]) -> List[str]:
    """An array that waits for the one before it, so that the limit holds for both together."""
    has_own = any(one.startswith(("--dependency", "-d")) for one in command[1:])
    return list(command) if before is None or has_own else [command[0], "--dependency=afterany:" + before, *command[1:]]


def _print(scripts: Dict[str, str], planned: Sequence[Job]) -> None:
    for name, text in scripts.items():
        print("# {}\n{}".format(name, text))
    before = None  # type: Optional[str]
    for job in planned:
        print(" ".join(map(shlex.quote, _after(job.command, before))))
        before = "<the job before>"


def _submit(plan: Plan, planned: Sequence[Job], settings: Settings) -> int:
    before = None  # type: Optional[str]
    for done, job in enumerate(planned):
        status, output, said = cluster.call(_after(job.command, before))
        number = output.strip().splitlines()[-1].partition(";")[0] if output.strip() else ""
        if status != 0 or not number.isdigit():
            why = cluster.last_line(said) or cluster.last_line(output) or "sbatch: exit status {}".format(status)
            rest = sorted(shard for other in planned[done:] for shard in other.shards)
            some = " The jobs before it are in the queue; 'submit' again submits the rest" if done else ""
            raise Refused("not submitted: {}: {}.{}".format(_shards(rest), why.rstrip("."), some))
        limit = "" if len(job.shards) == 1 else ", {} at a time".format(min(settings.at_once, len(job.shards)))
        print("job {}: {}{}, at most {}".format(number, _shards(job.shards), limit, _time_of(job.command)))
        before = number
    print("next: {} status {}".format(script_words(), shlex.quote(shown(plan.folder))))
    return 0


def _time_of(command: Sequence[str]) -> str:
    limit = [one.partition("=")[2] for one in command if one.startswith("--time=")][-1]
    return limit + " minutes" if limit.isdigit() else limit


def _shards(shards: Sequence[int]) -> str:
    return "{} {} ({})".format(len(shards), "shard" if len(shards) == 1 else "shards", ranges(shards))


@contextlib.contextmanager
def _lock(plan: Plan, dry_run: bool) -> Iterator[None]:
    """One submission of a plan at a time: the second one sees the jobs of the first."""
    if dry_run:
        yield
        return
    path = os.path.join(plan.folder, "slurm", "lock")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.makedirs(os.path.join(plan.folder, "logs"), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise Refused("cannot write to {}: {}".format(plan.folder, error.strerror))
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):  # a file system without locks
                raise Refused("cannot lock {}: {}".format(path, error.strerror))
        yield
    finally:
        os.close(descriptor)


def _write(path: str, text: str, mode: int) -> None:
    """As a whole or not at all."""
    new = "{}.{}".format(path, os.getpid())
    try:
        with open(new, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(new, mode)
        os.replace(new, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise Refused("cannot write {}: {}".format(path, error.strerror))


def settings_from(options: Any, before: Settings) -> Settings:
    """What the command line says, beside what it leaves as it was."""
    named = []  # type: List[str]
    for name in ("partition", "account", "qos", "constraint"):
        if getattr(options, name) is not None:
            named.append("--{}={}".format(name, getattr(options, name)))
    changed = {name: getattr(options, name) for name in ("limit", "one_job", "exclusive", "requeue", "time", "margin",
                                                         "gres", "exclude") if getattr(options, name) is not None}
    if named or options.sbatch:
        changed["sbatch"] = named + options.sbatch
    if getattr(options, "not_on", None):
        changed["not_on"] = sorted(set(before.not_on).union(options.not_on))
    return before._replace(**changed)
