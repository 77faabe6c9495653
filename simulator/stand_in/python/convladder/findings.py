"""What the simulated GPU has seen of this process so far."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from pathlib import Path

_EACH = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int)


def is_simulated() -> bool:
    """Whether this process sees a simulated GPU."""
    return "CONVLADDER_STAND_IN" in os.environ


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(os.path.abspath(__file__)).parents[2] / "libconvladder_cuda.so"))


def findings_so_far() -> Counter[str]:
    """The findings in words, with the number of times; without notes."""
    found: Counter[str] = Counter()

    @_EACH
    def each(text: bytes, count: int, is_note: int) -> None:
        if not is_note:
            found[text.decode(errors="replace")] += count

    _library().convladder_stand_in_each_finding(each)
    return found


def launches_so_far() -> Counter[str]:
    """The launches of each kernel."""
    found: Counter[str] = Counter()

    @_EACH
    def each(name: bytes, count: int, _: int) -> None:
        found[name.decode(errors="replace")] += count

    _library().convladder_stand_in_each_kernel(each)
    return found
