#!/usr/bin/env python3
"""Makes ladder folders of KernelBench's modules, definitions of FlashInfer-Trace and SOL-ExecBench, and tasks of GPU MODE."""
from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from convladder_problems import audit_table  # noqa: E402
from convladder_problems.found_problems import BadSource, Found, found_problems  # noqa: E402
from convladder_problems.importers import Importers, NoTorch  # noqa: E402
from convladder_problems.written_folder import write_folder  # noqa: E402

EXIT_OK, EXIT_SOME, EXIT_ERROR = 0, 2, 3
UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def number_of_bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB)?", text)
    if not found or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 4GiB, found '{text}'")
    return int(float(found[1]) * UNITS[found[2] or ""])


def whole(least: int, most: int):
    def read(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, found '{text}'")
        return int(text)
    return read


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        print(f"convladder: import-problems: {message}", file=sys.stderr)
        sys.exit(EXIT_ERROR)


def arguments() -> argparse.Namespace:
    parser = Parser(prog="import_problems.py", description=__doc__)
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a module, definition.json or task.yml, or a folder of them")
    parser.add_argument("--output", type=Path, default=Path("problems"), metavar="FOLDER", help="where the folders are made")
    parser.add_argument("--program", type=Path, help="the convladder that confines the code of the problems")
    parser.add_argument("--small-bytes", type=number_of_bytes, default=4 * 2**30, metavar="SIZE", help="what a default size may take")
    parser.add_argument("--memory", type=number_of_bytes, default=4 * 2**30, metavar="SIZE", help="of the process of one problem")
    parser.add_argument("--seconds", type=whole(1, 86400), default=300, help="for one problem")
    parser.add_argument("--jobs", type=whole(1, 256), default=1, help="problems at a time")
    parser.add_argument("--audit", action="store_true", help="ask which wrong answers the problems' own checks accept")
    return parser.parse_args()


def complain(line: str) -> None:
    shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in line)
    print(f"convladder: {shown}", file=sys.stderr, flush=True)


def request_for(found: Found, a: argparse.Namespace, staged: Path) -> dict:
    return {"kind": found.kind, "folder": str(staged), "file": found.file, "name": found.name, "title": found.title, "more": found.more,
            "small_bytes": a.small_bytes, "memory_bytes": a.memory, "seconds": a.seconds, "audit": a.audit}


def imported(problems: list[Found], a: argparse.Namespace) -> tuple[int, list[tuple[Found, dict]]]:
    """Imports all; how many folders were made, and the answers of audits."""
    made = 0
    audits = []
    with tempfile.TemporaryDirectory() as place, Importers(a.jobs, Path(place), a.program) as importers:
        staged = {}
        for i, one in enumerate(problems):
            staged[one.name] = Path(place) / str(i)
            one.stage(staged[one.name])
        for done, (one, answer) in enumerate(importers.answers([(one, request_for(one, a, staged[one.name])) for one in problems]), 1):
            if "reason" in answer:
                complain(f"{one.path}: not imported: {answer['reason']}")
                continue
            try:
                write_folder(a.output / one.name, answer, one)
                if a.audit:
                    audits.append((one, {name: {check: bool(it) for check, it in found.items()} for name, found in answer["audit"].items()}))
            except (KeyError, TypeError, ValueError, AttributeError):  # its own code wrote the file
                complain(f"{one.path}: not imported: its process left no answer that is one")
                continue
            made += 1
            print(f"[{done}/{len(problems)}] {a.output / one.name}: {', '.join(answer['problem']['sizes'])}", flush=True)
    return made, audits


def main() -> int:
    a = arguments()
    try:
        problems = found_problems(a.sources)
        taken = [one for one in problems if (a.output / one.name).exists()]
        for one in taken:
            complain(f"{one.path}: not imported: {a.output / one.name} is there already")
        a.output.mkdir(parents=True, exist_ok=True)
        made, audits = imported([one for one in problems if one not in taken], a)
    except (BadSource, NoTorch) as error:
        complain(f"import-problems: {error}")
        return EXIT_ERROR
    except OSError as error:
        complain(f"import-problems: {error.filename or a.output}: {error.strerror}")
        return EXIT_ERROR
    print(f"\nimported {made} of {len(problems)} problems into {a.output}")
    if audits:
        audit_table.write(a.output / "audit.json", audits)
        print("\n" + audit_table.table(audits))
    if made == 0:
        return EXIT_ERROR
    return EXIT_OK if made == len(problems) else EXIT_SOME


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(EXIT_ERROR)
