"""What the commands that draw have in common: formats, errors as one line, exit statuses."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from typing import Callable, Iterable

from convladder_charts.json_text import RecordError

BAD_INPUT = 3
CANNOT_WRITE = 4


def names(text: str) -> tuple[str, ...]:
    """Of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def formats(text: str) -> tuple[str, ...]:
    """Of --format."""
    chosen = names(text)
    if not chosen or not set(chosen) <= {"svg", "png"}:
        raise argparse.ArgumentTypeError(f"expected svg, png or svg,png, not {text!r}")
    return chosen


def status_of(program: str, draw: Callable[[], Iterable[object]]) -> int:
    """Draws, and prints what is returned, a line each; returns the exit status. A RecordError is bad input."""
    sys.stdout.reconfigure(errors="replace")
    # A name in a script that the font lacks is drawn as boxes in PNG; that is no reason to fill the terminal.
    warnings.filterwarnings("ignore", message="Glyph .* missing from current font")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        for line in draw():
            print(line)
    except RecordError as error:
        return _complain(program, str(error), BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        return _complain(program, f"cannot write {error.filename or ''}: {error.strerror}", CANNOT_WRITE)
    return 0


def _complain(program: str, message: str, status: int) -> int:
    print(f"{program}: {message}", file=sys.stderr)
    return status
