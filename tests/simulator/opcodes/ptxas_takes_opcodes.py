#!/usr/bin/env python3
"""Every opcode of the test vectors is PTX: ptxas_takes_opcodes.py VECTORS PTXAS

The vectors' opcodes are all that the simulated device knows (opcode_vectors_test.cpp); ptxas must accept each of them
with operands of the widths that the vectors give, so that none is made up. No GPU takes part.
"""

import re
import subprocess
import sys
import tempfile

HEAD = """.version {version}
.target {target}
.address_size 64
.visible .entry test() {{
.reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p<9>;
"""
OLDEST = "sm_90"
REGISTERS = {"8": "%c", "16": "%h", "32": "%r", "64": "%l", "p": "%p", "": "%p"}
AT_A_TIME = 500  # the errors of more would be cut off


def opcodes(path):
    """Target, full opcode and operands, each opcode once for each list of operands."""
    with open(path, encoding="ascii") as file:
        cases = [line.split() for line in file if line.startswith("case ")]
    found = {}
    for case in cases:
        target = case[3][1:] if case[3][0] == "@" else OLDEST
        found[(target, case[1], *(operand for operand in case[3:] if operand[0] != "@"))] = None
    return list(found)


def instruction(opcode, *operands):
    texts = []
    for number, operand in enumerate(o for o in operands if not o.startswith("carry")):
        if operand[0] == "=":
            texts.append(operand[1:])
        elif operand in ("dp|dp", "d32|dp"):
            texts.append("%p7|%p8" if operand == "dp|dp" else "%r7|%p8")
        else:
            sign, register, selector = re.fullmatch(r"(-?)(\w+)(.*)", operand).groups()
            texts.append(f"{sign}{REGISTERS[register[1:]]}{number}{selector}")
    return f"{opcode} {', '.join(texts)};\n"


def refused(ptxas, target, instructions):
    """The instructions that ptxas refuses, with its reason; None if it does not know the target."""
    head = HEAD.format(version="8.3" if target == OLDEST else "9.0", target=target)
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(head + "".join(instructions) + "ret;\n}\n")
        file.flush()
        run = subprocess.run([ptxas, f"-arch={target}", "-O0", file.name, "-o", "/dev/null"],
                             capture_output=True, text=True)
    if "Unsupported .version" in run.stderr or "is not defined for option 'gpu-name'" in run.stderr:
        return None
    errors = re.findall(r"line (\d+); error\s*: (.*)", run.stderr)
    if run.returncode != 0 and not errors:
        sys.exit(f"{ptxas} failed: {run.stderr}")
    first = head.count("\n") + 1
    return [f"{instructions[int(line) - first].strip()}  {error}" for line, error in errors
            if 0 <= int(line) - first < len(instructions)]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: ptxas_takes_opcodes.py VECTORS PTXAS")
    by_target = {}
    for target, *each in opcodes(sys.argv[1]):
        by_target.setdefault(target, []).append(instruction(*each))
    if OLDEST not in by_target:
        sys.exit(f"{sys.argv[1]} holds no case")
    failures = []
    for target, instructions in by_target.items():
        for begin in range(0, len(instructions), AT_A_TIME):
            found = refused(sys.argv[2], target, instructions[begin:begin + AT_A_TIME])
            if found is None:
                print(f"skipped for {target}: {sys.argv[2]} is too old")
                if target == OLDEST:
                    sys.exit(77)
                break
            failures += found
    for failure in failures:
        print(failure)
    print(f"{sum(map(len, by_target.values()))} instructions, {len(failures)} refused by ptxas")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
