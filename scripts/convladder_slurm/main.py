"""The command line of scripts/slurm.sh, for what is not passed on to the program."""

import argparse
import os
import re
import sys
from typing import List, Sequence

from convladder_slurm import submit
from convladder_slurm.cluster import NoScheduler
from convladder_slurm.plan import Refused, numbers, read_plan
from convladder_slurm.status import status

BAD_INPUT = 3


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line and exit code 3."""

    def error(self, message: str) -> None:  # type: ignore
        raise Refused("{}, see --help".format(message))


def main(arguments: Sequence[str]) -> int:
    """Runs 'submit', 'status' or 'retry'; returns the exit status."""
    try:
        words, rest = _without_rest(list(arguments))
        options = _parser().parse_args(words)
        options.sbatch = rest
        return _run(options)
    except (Refused, NoScheduler) as problem:
        print("slurm.sh: {}".format(str(problem).replace("\n", " ")), file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT


def _run(options: argparse.Namespace) -> int:
    plan = read_plan(options.folder)
    if options.command == "status":
        if options.sbatch:
            raise Refused("status takes no options of sbatch")
        return status(plan)
    retry = options.command == "retry"
    if retry:
        off = submit.nodes_off(plan)
        if off:
            print("not on {}: the last merge found it off".format(", ".join(off)))
        options.not_on = (options.not_on or []) + off
    settings = submit.settings_from(options, submit.last_settings(plan) if retry else submit.Settings())
    wanted = numbers(options.shards, plan) if options.shards else None
    return submit.submit(plan, settings, os.environ["CONVLADDER_PROGRAM"], wanted, options.dry_run)


def _without_rest(arguments: List[str]) -> "tuple[List[str], List[str]]":
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1:]


def _whole(text: str) -> int:
    if not re.match(r"^[1-9][0-9]{0,5}$", text):
        raise argparse.ArgumentTypeError("expected a whole number, 1 or more, got '{}'".format(text))
    return int(text)


def _margin(text: str) -> float:
    if not re.match(r"^[0-9]{1,4}(\.[0-9]{1,6})?$", text) or float(text) < 1:
        raise argparse.ArgumentTypeError("expected a number, 1 or more, got '{}'".format(text))
    return float(text)


def _node(text: str) -> str:
    if not submit.NODE.match(text):
        raise argparse.ArgumentTypeError("expected the name of one node, got '{}'".format(text))
    return text


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="slurm.sh", add_help=False, allow_abbrev=False)
    parser.add_argument("command", choices=("submit", "status", "retry"))
    parser.add_argument("folder", metavar="DIR")
    words = sys.argv[1:2]
    if words == ["status"]:
        return parser
    parser.add_argument("--limit", type=_whole)
    parser.add_argument("--one-job", action="store_true", default=None)
    parser.add_argument("--array", action="store_false", default=None, dest="one_job")
    parser.add_argument("--exclusive", action="store_true", default=None)
    parser.add_argument("--requeue", action="store_true", default=None)
    parser.add_argument("--no-requeue", action="store_false", default=None, dest="requeue")
    for name in ("--partition", "--account", "--qos", "--constraint", "--gres", "--exclude", "--time"):
        parser.add_argument(name)
    parser.add_argument("--margin", type=_margin)
    parser.add_argument("--shards")
    parser.add_argument("--dry-run", action="store_true")
    if words == ["retry"]:
        parser.add_argument("--not-on", action="append", type=_node)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
