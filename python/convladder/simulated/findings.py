"""What the simulated GPU has seen of this process so far."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from typing import Any

from convladder.simulated import native

_EACH = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int)


def is_simulated() -> bool:
    """Whether this process sees a simulated GPU."""
    return "CONVLADDER_STAND_IN" in os.environ


def _counted(function: str) -> Counter[str]:
    """The texts that a function of the library tells, with their counts; without notes."""
    found: Counter[str] = Counter()

    @_EACH
    def each(text: bytes, count: int, is_note: int) -> None:
        if not is_note:
            found[text.decode(errors="replace")] += count

    tell: Any = getattr(native.load("libconvladder_cuda.so"), function)
    tell(each)
    return found


def findings_so_far() -> Counter[str]:
    """The findings in words, with the number of times."""
    return _counted("convladder_stand_in_each_finding")


def launches_so_far() -> Counter[str]:
    """The launches of each kernel."""
    return _counted("convladder_stand_in_each_kernel")
