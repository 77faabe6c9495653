"""Counts which wrong answers the checks of imported problems accept."""
from __future__ import annotations

import json
from pathlib import Path

from .found_problems import Found

Audits = list[tuple[Found, dict[str, dict[str, bool]]]]
ORDER = ("its own answer", "zeros", "a constant", "a copy of an input", "the last answer", "half precision", "truncated to bf16",
         "right in 99 %", "one NaN", "NaN everywhere")


def write(file: Path, audits: Audits) -> None:
    content = [{"problem": found.name, "kind": found.kind, "accepted": audit} for found, audit in audits]
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def table(audits: Audits) -> str:
    """For each kind of problem a table: answers down, checks across; accepted of asked."""
    parts = []
    for kind in dict.fromkeys(found.kind for found, _ in audits):
        those = [audit for found, audit in audits if found.kind == kind]
        checks = list(dict.fromkeys(check for audit in those for verdicts in audit.values() for check in verdicts))
        lines = [f"{f'accepted, of {len(those)} problems ({kind})':42}" + "".join(f"{check:>18}" for check in checks)]
        for answer in ORDER:
            asked = [audit[answer] for audit in those if answer in audit]
            if asked:
                lines.append(f"{answer:42}" + "".join(f"{f'{sum(one[check] for one in asked)} of {len(asked)}':>18}" for check in checks))
        parts.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(parts)
