#!/usr/bin/python3
"""Runs the pytest suite of a folder for ctest. Exits with 77, skipped, where one of its packages is missing."""

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
    return pytest.main(["-q", "-p", "no:cacheprovider", "-rs", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
