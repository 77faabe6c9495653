"""Kinds of records beyond runs of layers, networks and rankings."""

from __future__ import annotations

from convladder_report.kind import Kind
from convladder_report.kinds import baseline, comparison, history, imported, printed, simulated, sweep

KINDS: tuple[Kind, ...] = (sweep.KIND, comparison.DUEL, comparison.SELFTEST, comparison.KIND, history.KIND,
                           baseline.KIND, baseline.CHECK, simulated.PROGRAM, simulated.KERNELS, simulated.CHECK,
                           printed.EXPLANATION, printed.PROFILE, imported.KIND)
"""In the order in which they are asked whether a document is theirs."""
