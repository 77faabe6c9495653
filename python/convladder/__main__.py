"""`python -m convladder` is the program."""

from __future__ import annotations

import os
import sys

from convladder.program import ConvladderError, environment, program


def main() -> None:
    """Becomes the program, with the words of this command line."""
    try:
        path = program()
    except ConvladderError as error:
        sys.exit(f"convladder: {error}")
    os.execve(path, [str(path), *sys.argv[1:]], environment(sys.argv[1:]))


if __name__ == "__main__":
    main()
