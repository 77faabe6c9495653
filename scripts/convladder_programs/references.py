"""Results computed again, for programs that check nothing themselves and have no CPU version in their suite."""

from __future__ import annotations

import math
import re
from collections import deque
from pathlib import Path


def check(name: str, folder: Path, printed: str) -> str:
    """Why what a program has left in `folder` or printed is not right; empty if it is."""
    return _CHECKS[name](folder, printed)


def _levels(path: Path) -> list[int]:
    """Steps from the source to each node of a graph of inputs.graph()."""
    words = list(map(int, path.read_text().split()))
    nodes = words[0]
    first = words[1:1 + 2 * nodes:2]
    count = words[2:2 + 2 * nodes:2]
    source = words[1 + 2 * nodes]
    targets = words[3 + 2 * nodes::2]
    levels = [-1] * nodes
    levels[source] = 0
    waiting = deque([source])
    while waiting:
        node = waiting.popleft()
        for target in targets[first[node]:first[node] + count[node]]:
            if levels[target] < 0:
                levels[target] = levels[node] + 1
                waiting.append(target)
    return levels


def _breadth_first(folder: Path, _printed: str) -> str:
    expected = _levels(folder / "graph.txt")
    found = [int(cost) for cost in re.findall(r"cost:(-?\d+)", (folder / "result.txt").read_text())]
    if len(found) != len(expected):
        return f"{len(found)} nodes of {len(expected)} are in result.txt"
    wrong = sum(1 for mine, theirs in zip(expected, found) if mine != theirs)
    return f"{wrong} of {len(expected)} nodes have another level" if wrong else ""


def _pathfinder(_folder: Path, printed: str) -> str:
    rows = [[int(word) for word in line.split()] for line in printed.splitlines()
            if re.fullmatch(r"(-?\d+ )+\s*", line)]
    if len(rows) < 3:
        return "it printed no wall"
    wall, result = rows[:-2], rows[-1]  # then the first row again, and the result
    costs = wall[0]
    for row in wall[1:]:
        last = len(costs) - 1
        costs = [min(costs[max(i - 1, 0):min(i + 1, last) + 1]) + value for i, value in enumerate(row)]
    wrong = sum(1 for mine, theirs in zip(costs, result) if mine != theirs)
    if len(costs) != len(result):
        return f"{len(result)} columns of {len(costs)}"
    return f"{wrong} of {len(costs)} columns have another cost" if wrong else ""


def _gaussian(_folder: Path, printed: str) -> str:
    found = re.search(r"The final solution is:\s*\n([-\d. e+]+)\n", printed)
    if not found:
        return "it printed no solution"
    solution = [float(word) for word in found.group(1).split()]
    size = len(solution)
    coefficients = [10.0 * math.exp(-0.01 * i) for i in range(size)]
    worst = 0.0
    for row in range(size):
        left = sum(coefficients[abs(row - column)] * solution[column] for column in range(size))
        worst = max(worst, abs(left - 1.0))
    return "" if worst < 1e-3 else f"its solution leaves {worst:g}"


def _hotspot(folder: Path, _printed: str) -> str:
    size, steps = 64, 4
    heat = [float(word) for word in (folder / "temp.txt").read_text().split()]
    power = [float(word) for word in (folder / "power.txt").read_text().split()]
    found = [float(line.split()[1]) for line in (folder / "result.txt").read_text().splitlines()]
    # Constants of the program: a chip of 16 mm x 16 mm, half a millimetre of silicon.
    side = 0.016 / size
    capacity = 0.5 * 1.75e6 * 0.0005 * side * side
    across = side / (2 * 100 * 0.0005 * side)
    down = 0.0005 / (100 * side * side)
    step = 0.001 / (3.0e6 / (0.5 * 0.0005 * 1.75e6))
    for _ in range(steps):
        now = heat
        heat = []
        for y in range(size):
            for x in range(size):
                centre = now[y * size + x]
                vertical = now[min(y + 1, size - 1) * size + x] + now[max(y - 1, 0) * size + x] - 2 * centre
                horizontal = now[y * size + min(x + 1, size - 1)] + now[y * size + max(x - 1, 0)] - 2 * centre
                heat.append(centre + step / capacity * (power[y * size + x] + (vertical + horizontal) / across
                                                        + (80.0 - centre) / down))
    if len(found) != len(heat):
        return f"{len(found)} cells of {len(heat)}"
    worst = max(abs(mine - theirs) for mine, theirs in zip(heat, found))
    return "" if worst < 0.01 else f"a cell is off by {worst:g}"


def _nearest(folder: Path, printed: str) -> str:
    latitude, longitude = 30.0, 90.0
    distances = []
    for line in (folder / "records.txt").read_text().splitlines():
        distances.append(math.hypot(latitude - float(line[28:33]), longitude - float(line[33:38])))
    expected = sorted(distances)[:5]
    found = [float(word) for word in re.findall(r"Distance=([\d.]+)", printed)]
    if len(found) != 5:
        return f"{len(found)} records of 5"
    return "" if all(abs(a - b) < 1e-4 for a, b in zip(expected, found)) else f"{found} for {expected}"


def _passed_flag(folder: Path, _printed: str) -> str:
    """mri-gridding compares with its own CPU version and leaves whether that was the same."""
    return "" if (folder / "result.out").read_bytes()[:1] == b"\x01" else "it says that its CPU version differs"


_CHECKS = {"breadth_first": _breadth_first, "pathfinder": _pathfinder, "gaussian": _gaussian, "hotspot": _hotspot, "nearest": _nearest,
           "passed_flag": _passed_flag}
