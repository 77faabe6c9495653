"""Says how far a plan is, what failed, where its log is, and what to type next."""

import shlex
from typing import List, Optional, Sequence

from convladder_slurm import logs, state
from convladder_slurm.cluster import NoScheduler
from convladder_slurm.plan import Plan, ranges, script_words, shown

MOST_LINES = 20
ORDINARY = ("None", "Priority", "Resources", "JobArrayTaskLimit", "Dependency", "BeginTime")
SIGNALS = 128
"""A shell's exit code of a program that signal N ended is this plus N; the program itself has none above it but 130."""


def status(plan: Plan) -> int:
    """Prints it; returns the exit status: 0 finished, 1 something failed, 2 the scheduler does not answer, 4 not
    finished."""
    problem = None  # type: Optional[str]
    try:
        queued = state.in_queue(plan)
    except NoScheduler as error:
        queued, problem = {}, str(error)
    states = state.look(plan, queued)
    of = {name: [one for one in states if one.state == name] for name in state.STATES}
    if problem is not None:
        _print_without_queue(plan, states, problem)
        return 2
    empty = plan.shards - len(states)
    counts = ", ".join("{} {}".format(len(there), name) for name, there in of.items() if there) or "none has cases"
    print("{} shards{}: {}".format(len(states), " ({} more are empty)".format(empty) if empty else "", counts))
    _print_cases(plan, states)
    _print_waiting(of[state.PENDING])
    _print_failed(plan, of[state.FAILED])
    bad = _print_failed_cases(plan, states)
    _print_next(plan, of)
    if of[state.FAILED] or (bad and len(of[state.FINISHED]) == len(states)):
        return 1
    return 0 if len(of[state.FINISHED]) == len(states) else 4


def _print_cases(plan: Plan, states: Sequence[state.ShardState]) -> None:
    done = sum(one.record.done for one in states)
    print("{} of {} cases are recorded".format(done, sum(plan.cases.values())))


def _print_without_queue(plan: Plan, states: Sequence[state.ShardState], problem: str) -> None:
    finished = sum(1 for one in states if one.record.complete)
    print("{} shards: {} finished; what the others do cannot be told: {}".format(len(states), finished, problem))
    _print_cases(plan, states)


def _print_waiting(waiting: Sequence[state.ShardState]) -> None:
    """Why it waits, for each reason that is none of those that pass by themselves."""
    reasons = {}  # type: dict
    for one in waiting:
        if one.task is not None and one.task.reason not in ORDINARY:
            reasons.setdefault(one.task.reason, []).append(one)
    for reason, there in sorted(reasons.items()):
        is_held = "held" in reason.lower()
        held = " ('scontrol release {}' lets it go on)".format(there[0].task.id) if is_held else ""
        print("  waiting because Slurm says {}: {}{}".format(reason, ranges(one.shard for one in there), held))


def _print_failed(plan: Plan, failed: Sequence[state.ShardState]) -> None:
    for one in failed[:MOST_LINES]:
        print("  shard {}: {}\n    {}".format(one.shard, why(plan, one), shown(logs.log_of(plan, one.shard))))
    if len(failed) > MOST_LINES:
        print("  and {} more: {}".format(len(failed) - MOST_LINES, ranges(one.shard for one in failed[MOST_LINES:])))


def why(plan: Plan, one: state.ShardState) -> str:
    """How the last task of a shard that failed ended, in one line."""
    done = " ({} of {} cases are recorded)".format(one.record.done, plan.cases[one.shard]) if one.record.done else ""
    if one.record.problem:
        return one.record.problem
    if one.last is None:
        return "begun, but not by Slurm" + done
    where = "job {} on {} ".format(one.last.job, one.last.node)
    if one.last.exit_code is None:
        said = logs.slurm_said(plan, one.last.number) or "killed, or its node was lost"
        return where + "did not end: " + said + done
    if one.last.exit_code > SIGNALS and one.last.exit_code != 130:
        return where + "ended: signal {} killed the program".format(one.last.exit_code - SIGNALS) + done
    said = ": " + one.last.said if one.last.said else ""
    return where + "ended with exit code {}".format(one.last.exit_code) + said + done


def _print_failed_cases(plan: Plan, states: Sequence[state.ShardState]) -> int:
    """Cases that failed are results: no retry runs them again."""
    cases = [(case, one.shard) for one in states for case in one.record.failed]
    if cases:
        print("{} failed; that is their result, and 'retry' does not run them again:".format(
            "1 case" if len(cases) == 1 else "{} cases".format(len(cases))))
        for case, shard in cases[:MOST_LINES]:
            print("  {} (shard {})".format(case, shard))
        if len(cases) > MOST_LINES:
            print("  and {} more".format(len(cases) - MOST_LINES))
    return len(cases)


def _print_next(plan: Plan, of: "dict[str, List[state.ShardState]]") -> None:
    folder = shlex.quote(shown(plan.folder))
    if of[state.FAILED] or (of[state.NOT_SUBMITTED] and (of[state.FINISHED] or of[state.RUNNING] or of[state.PENDING])):
        print("next: {} retry {}".format(script_words(), folder))
    elif of[state.NOT_SUBMITTED]:
        print("next: {} submit {}".format(script_words(), folder))
    elif not (of[state.RUNNING] or of[state.PENDING]):
        print("next: {} merge {}".format(script_words(), folder))
