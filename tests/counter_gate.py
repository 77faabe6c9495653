#!/usr/bin/env python3
"""The counter gate as a test: counter_gate.py PROGRAM FOLDER [option of 'convladder baseline check'...]

Passes if every case counts exactly what the folder's files say. Exits with 77, skipped, where all that can be compared
is the same and the rest was recorded with another version of its compiler. A new or missing case fails.
"""

from __future__ import annotations

import json
import subprocess
import sys

SKIPPED = 77
MOST_LINES = 40


def main() -> int:
    """The exit status of the test."""
    program, folder, *options = sys.argv[1:]
    command = [program, "baseline", "check", "--folder", folder, "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if "no PTX in this build" in done.stderr:
        print("skipped:", done.stderr.strip())
        return SKIPPED
    if not done.stdout:
        print(done.stderr)
        return 1
    report = json.loads(done.stdout)
    print("\n".join(report["notes"]))
    print({verdict: count for verdict, count in report["summary"].items() if count > 0})
    wrong = [case for case in report["cases"] if case["verdict"] not in ("same", "compiler changed")]
    lines = []
    for case in wrong:
        lines.append(f"{case['verdict']}  {case['id']}  {case['ptx_compiler']} {case['compiler_version']}: "
                     f"{case['reason'] or ('another PTX' if case['ptx_changed'] else 'the same PTX')}")
        lines += [f"    {move['counter']} of {move['kernel']}: {move['recorded']} -> {move['now']} ({move['kind']})"
                  for move in case["moves"][:3]]
    print("\n".join(lines[:MOST_LINES]))
    if wrong or not report["cases"]:
        return 1
    changed = sorted({f"{case['ptx_compiler']} {case['compiler_version']}: {case['reason']}"
                      for case in report["cases"] if case["verdict"] == "compiler changed"})
    if changed:
        print("skipped:", "; ".join(changed))
        return SKIPPED
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
