"""Starts convladder_problems.worker by its path, in a process that may read little else."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from convladder_problems.worker import main  # noqa: E402

main()
