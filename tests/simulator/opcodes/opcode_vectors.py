#!/usr/bin/env python3
"""Test vectors for every instruction of the simulated device that computes one lane's value: opcode_vectors.py FILE

The expected results come from opcode_oracle, which knows the PTX ISA and nothing of the device. The file is text; its
form, and what is expected where PTX leaves a result open, are described in opcode_oracle/cases.py.
"""

import os
import sys

from opcode_oracle import approximations, arithmetic, comparisons, conversions, integers, narrow, video
from opcode_oracle.cases import Cases


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: opcode_vectors.py FILE")
    cases = Cases()
    for subject in (integers, arithmetic, approximations, comparisons, conversions, narrow, video):
        subject.add_all(cases)
    temporary = sys.argv[1] + ".part"
    with open(temporary, "w", encoding="ascii") as file:
        cases.write(file)
    os.replace(temporary, sys.argv[1])


if __name__ == "__main__":
    main()
