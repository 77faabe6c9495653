#!/usr/bin/env python3
"""Every form of the probe is PTX: opcode_probe.py PROBE PTXAS

ptxas must accept each line of opcode_probe.txt for the target of its group, so that no spelling is made up. The form of
the file is described at its head. No GPU takes part.
"""

import re
import subprocess
import sys
import tempfile

HEAD = """.version 9.0
.target {target}
.address_size 64
.global .align 128 .b8 g[1024];
.const .align 128 .b8 k[64];
.shared .align 128 .b8 s[1024];
"""
BODY = """.visible .entry test(.param .u64 p, .param .align 64 .b8 m[128]) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %l<20>; .local .align 16 .b8 t[64];
"""


def groups(path):
    """(name, target, module scope, forms) of every group."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in map(str.strip, file):
            if line.startswith("== "):
                *name, target = line[3:].split()
                found.append((" ".join(name), target, [], []))
            elif line.startswith("module "):
                found[-1][2].append(line[7:])
            elif line and not line.startswith("#"):
                found[-1][3].append(line.split(" | ")[-1])
    return found


def refused(ptxas, target, module, forms):
    """The forms that ptxas refuses, with its reason."""
    head = HEAD.format(target=target) + "".join(line + "\n" for line in module) + BODY
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(head + "".join("{ " + form + " }\n" for form in forms) + "ret;\n}\n")
        file.flush()
        run = subprocess.run([ptxas, f"-arch={target}", "-O0", file.name, "-o", "/dev/null"],
                             capture_output=True, text=True)
    if "Unsupported .version" in run.stderr or "is not defined for option 'gpu-name'" in run.stderr:
        print(f"skipped: {ptxas} is older than CUDA 13.0")
        sys.exit(77)
    errors = [(int(line) - head.count("\n") - 1, error) for line, error in
              re.findall(r"line (\d+); error\s*: (.*)", run.stderr)]
    if run.returncode != 0 and not all(0 <= at < len(forms) for at, _ in errors) or run.returncode != 0 and not errors:
        sys.exit(f"{ptxas} failed for {target}: {run.stderr}")
    return [f"{forms[at]}  {error}" for at, error in errors]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: opcode_probe.py PROBE PTXAS")
    failures = []
    count = 0
    for name, target, module, forms in groups(sys.argv[1]):
        failures += [f"{name}: {each}" for each in refused(sys.argv[2], target, module, forms)]
        count += len(forms)
    if count == 0:
        sys.exit(f"{sys.argv[1]} holds no form")
    for failure in failures:
        print(failure)
    print(f"{count} forms, {len(failures)} refused by ptxas")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
