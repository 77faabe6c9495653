"""Keeping labels apart."""

from __future__ import annotations

from typing import Sequence


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions in the order of the wanted ones, at least `gap` apart, within the bounds, moved as little as possible.

    After subtracting the gaps this is isotonic regression, which pooling adjacent violators solves exactly.
    """
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    pools: list[list[float]] = []
    for place, index in enumerate(order):
        pools.append([wanted[index] - place * gap, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, count = pools.pop()
            total = pools[-1][1] + count
            pools[-1] = [(pools[-1][0] * pools[-1][1] + value * count) / total, total]
    ceiling = max(high - (len(order) - 1) * gap, low)
    levels = [min(max(value, low), ceiling) for value, count in pools for _ in range(int(count))]
    placed = [0.0] * len(order)
    for place, (index, level) in enumerate(zip(order, levels)):
        placed[index] = level + place * gap
    return placed


def thinned(positions: Sequence[float], widths: Sequence[float], space: float) -> list[int]:
    """Which labels along an axis to keep so that none touches the next; the last one always stays."""
    kept: list[int] = []
    for index in reversed(range(len(positions))):
        if not kept or positions[kept[-1]] - positions[index] >= (widths[index] + widths[kept[-1]]) / 2 + space:
            kept.append(index)
    return kept[::-1]
