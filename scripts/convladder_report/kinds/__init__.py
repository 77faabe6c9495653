"""Kinds of records beyond runs of layers, networks and rankings."""

from __future__ import annotations

from convladder_report.kind import Kind

KINDS: tuple[Kind, ...] = ()
"""In the order in which they are asked whether a document is theirs."""
