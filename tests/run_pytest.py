#!/usr/bin/python3
"""Runs files of pytest for ctest. Exits with 77, skipped, where one of its packages is missing.

CONVLADDER_PYTEST_NAMES, an expression as of pytest's -k, chooses tests by name. A file that has none of them did not fail.
"""

from __future__ import annotations

import importlib.util
import os
import sys

SKIPPED = 77
NEEDED = {"pytest": "python3-pytest", "jsonschema": "python3-jsonschema", "matplotlib": "python3-matplotlib"}


def main() -> int:
    """The exit status of pytest, or SKIPPED."""
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        print(f"skipped: Debian's {', '.join(missing)} is not installed (scripts/setup.sh does it)")
        return SKIPPED
    import pytest

    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    names = os.environ.get("CONVLADDER_PYTEST_NAMES", "")
    chosen = ["-k", names] if names else []
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-rs", *chosen, *sys.argv[1:]])
    return 0 if names and status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


if __name__ == "__main__":
    sys.exit(main())
