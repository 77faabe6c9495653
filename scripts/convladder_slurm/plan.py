"""plan.json and what its shards have written so far."""

import json
import os
import shlex
from typing import Any, Dict, FrozenSet, Iterable, List, NamedTuple, Optional

NOT_FAILED = ("ok", "skipped", "unsupported")


class Refused(Exception):
    """Bad input, or something that cannot be done here: one line, exit code 3."""


class Plan(NamedTuple):
    """What the scheduler has to know of a plan."""
    folder: str  # absolute
    id: str
    shards: int
    seconds: Dict[int, float]  # predicted, of every shard that has cases
    cases: Dict[int, int]  # how many, of the same shards


class Shard(NamedTuple):
    """What a shard's record says."""
    complete: bool
    done: int  # cases
    failed: List[str]  # ids of cases
    nodes: FrozenSet[str]  # that cases were measured on
    problem: Optional[str]  # why it cannot be read


def read_plan(path: str) -> Plan:
    """The plan of a folder, or of its plan.json. Raises Refused."""
    is_file = os.path.basename(path) == "plan.json" and not os.path.isdir(path)
    file = path if is_file else os.path.join(path, "plan.json")
    folder = absolute(os.path.dirname(file) or ".")
    document = _read(file)
    try:
        if document["kind"] != "plan":
            raise Refused("{}: not a plan ('convladder plan' writes one)".format(file))
        count = _whole(document["shards"])
        seconds, cases = {}, {}  # type: Dict[int, float], Dict[int, int]
        for group in document["groups"]:
            shard = _whole(group["shard"])
            if shard >= count:
                raise Refused("{}: shard {} of {}".format(file, shard, count))
            seconds[shard] = seconds.get(shard, 0.0) + float(group["predicted_seconds"])
            cases[shard] = cases.get(shard, 0) + len(group["cases"])
        return Plan(folder, str(document["id"]), count, seconds, cases)
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("{}: not a plan that this script knows ({}: {})".format(file, type(error).__name__, error))


def absolute(path: str) -> str:
    """With the names that the user's shell knows: where a folder is linked to may have another name on the nodes."""
    here = os.environ.get("PWD", "")
    if not here or not os.path.isdir(here) or not os.path.samefile(here, os.getcwd()):
        here = os.getcwd()
    return os.path.normpath(os.path.join(here, path))


def shown(path: str) -> str:
    """As a user at this place would type it."""
    short = os.path.relpath(path)
    return path if short.startswith("..") else short


def script_words() -> str:
    """This script as it was called, for what to type next."""
    return shlex.quote(os.environ.get("CONVLADDER_SLURM_SH", "scripts/slurm.sh"))


def record_of(plan: Plan, shard: int) -> str:
    """Where a shard's record is, or will be."""
    return os.path.join(plan.folder, "shards", "{:05d}".format(shard), "shard.json")


def read_shard(plan: Plan, shard: int) -> Shard:
    """What is there of a shard; nothing where it was not begun."""
    file = record_of(plan, shard)
    if not os.path.lexists(file):
        return Shard(False, 0, [], frozenset(), None)
    try:
        document = _read(file)
        cases = document["cases"]
        failed = [str(case["id"]) for case in cases if case["status"] not in NOT_FAILED]
        return Shard(document["complete"] is True, len(cases), failed, _nodes(document), None)
    except Refused as error:
        return Shard(False, 0, [], frozenset(), str(error))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Shard(False, 0, [], frozenset(), "{}: not a shard's record ({})".format(file, error))


def _nodes(document: Dict[str, Any]) -> FrozenSet[str]:
    """The names of the machines that cases were run on."""
    context = document["context"]
    sessions = {case["session"] for case in document["cases"] if case["status"] not in ("skipped", "unsupported")}
    return frozenset(str(context["machines"][context["sessions"][one]["machine"]]["node"]) for one in sessions)


def numbers(text: str, plan: Plan) -> List[int]:
    """"0-3,7" as numbers of shards. Raises Refused."""
    found = set()  # type: set
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise Refused("--shards: expected numbers as 0-3,7, got '{}'".format(text))
        end = int(last) if dash else int(first)
        if end >= plan.shards or int(first) > end:
            raise Refused("--shards {}: this plan has the shards 0 to {}".format(text, plan.shards - 1))
        found.update(range(int(first), end + 1))
    return sorted(found)


def ranges(shards: Iterable[int]) -> str:
    """[0, 1, 2, 7] as "0-2,7"."""
    parts = []  # type: List[List[int]]
    for one in sorted(shards):
        if parts and one == parts[-1][1] + 1:
            parts[-1][1] = one
        else:
            parts.append([one, one])
    return ",".join(str(first) if first == last else "{}-{}".format(first, last) for first, last in parts)


def _read(file: str) -> Any:
    try:
        with open(file, encoding="utf-8") as stream:
            return json.load(stream)
    except OSError as error:
        raise Refused("{}: {}".format(file, error.strerror or error))
    except ValueError as error:
        raise Refused("{}: not JSON ({})".format(file, error))


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("expected a whole number, got {!r}".format(value))
    return value
