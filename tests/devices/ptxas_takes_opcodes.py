#!/usr/bin/env python3
"""Every opcode of the test vectors is PTX: ptxas_takes_opcodes.py VECTORS PTXAS

The vectors' opcodes are all that the simulated device knows (opcode_vectors_test.cpp); ptxas must accept each of them
with operands of the widths that the vectors give, so that none is made up. No GPU takes part.
"""

import re
import subprocess
import sys
import tempfile

HEAD = """.version 8.1
.target sm_90
.address_size 64
.visible .entry test() {
.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p<9>;
"""
REGISTERS = {"16": "%h", "32": "%r", "64": "%l", "p": "%p", "": "%p"}
AT_A_TIME = 500  # the errors of more would be cut off


def opcodes(path):
    """Full opcode and operands, each opcode once for each list of operands."""
    with open(path, encoding="ascii") as file:
        cases = [line.split() for line in file if line.startswith("case ")]
    return list(dict.fromkeys((case[1], *case[3:]) for case in cases))


def instruction(opcode, *operands):
    texts = []
    for number, operand in enumerate(o for o in operands if not o.startswith("carry")):
        if operand[0] == "=":
            texts.append(operand[1:])
        elif operand == "dp|dp":
            texts.append("%p7|%p8")
        else:
            texts.append(f"{REGISTERS[operand[1:]]}{number}")
    return f"{opcode} {', '.join(texts)};\n"


def refused(ptxas, instructions):
    """The instructions that ptxas refuses, with its reason."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(HEAD + "".join(instructions) + "ret;\n}\n")
        file.flush()
        run = subprocess.run([ptxas, "-arch=sm_90", "-O0", file.name, "-o", "/dev/null"], capture_output=True, text=True)
    if "Unsupported .version" in run.stderr or "is not defined for option 'gpu-name'" in run.stderr:
        print(f"skipped: {ptxas} is older than CUDA 12.1")
        sys.exit(77)
    errors = re.findall(r"line (\d+); error\s*: (.*)", run.stderr)
    if run.returncode != 0 and not errors:
        sys.exit(f"{ptxas} failed: {run.stderr}")
    first = HEAD.count("\n") + 1
    return [f"{instructions[int(line) - first].strip()}  {error}" for line, error in errors
            if 0 <= int(line) - first < len(instructions)]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: ptxas_takes_opcodes.py VECTORS PTXAS")
    instructions = [instruction(*each) for each in opcodes(sys.argv[1])]
    if not instructions:
        sys.exit(f"{sys.argv[1]} holds no case")
    failures = []
    for begin in range(0, len(instructions), AT_A_TIME):
        failures += refused(sys.argv[2], instructions[begin:begin + AT_A_TIME])
    for failure in failures:
        print(failure)
    print(f"{len(instructions)} instructions, {len(failures)} refused by ptxas")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
