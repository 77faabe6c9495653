"""Input files that the suites have elsewhere, made here: small, and the same in every run."""

from __future__ import annotations

import array
import random
import struct
from pathlib import Path
from typing import Any


def make(folder: Path, entry: dict[str, Any]) -> None:
    """Makes what an entry {"make": NAME, "file": FILE, ...} describes."""
    values = dict(entry)
    name = values.pop("make")
    path = folder / values.pop("file")
    path.parent.mkdir(parents=True, exist_ok=True)
    _MAKERS[name](path, random.Random(1), **values)


def graph(path: Path, rng: random.Random, nodes: int, edges: int) -> None:
    """A connected graph for the two programs bfs: nodes with (first edge, edges), the source, edges with (to, cost)."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for node in range(1, nodes):
        neighbours[node].append(rng.randrange(node))
    for _ in range(max(0, edges - (nodes - 1))):
        neighbours[rng.randrange(nodes)].append(rng.randrange(nodes))
    for node, targets in enumerate([list(one) for one in neighbours]):
        for target in targets:
            neighbours[target].append(node)
    lines = [str(nodes)]
    first = 0
    for targets in neighbours:
        lines.append(f"{first} {len(targets)}")
        first += len(targets)
    lines += ["", "0", "", str(first)]
    lines += [f"{target} {rng.randrange(1, 10)}" for targets in neighbours for target in targets]
    path.write_text("\n".join(lines) + "\n")


def numbers(path: Path, rng: random.Random, count: int, low: float, high: float) -> None:
    """A number in a line."""
    path.write_text("".join(f"{rng.uniform(low, high):.6f}\n" for _ in range(count)))


def text(path: Path, _rng: random.Random, text: str) -> None:  # pylint: disable=redefined-outer-name
    """The text itself."""
    path.write_text(text)


def raw(path: Path, rng: random.Random, parts: list[Any]) -> None:
    """Binary parts, in order: [type, values...] or [type, "random", count, low, high], types as struct has them."""
    data = bytearray()
    for kind, *values in parts:
        if values and values[0] == "random":
            _, count, low, high = values
            whole = kind in "bBhHiIqQ"
            made = [rng.randint(low, high) if whole else rng.uniform(low, high) for _ in range(count)]
            data += array.array(kind, made).tobytes()
        else:
            data += struct.pack(f"<{len(values)}{kind}", *values)
    path.write_bytes(bytes(data))


def keys(path: Path, rng: random.Random, count: int) -> None:
    """Keys for a B+ tree: how many, then each."""
    made = list(range(count))
    rng.shuffle(made)
    path.write_text("\n".join(map(str, [count, *made])) + "\n")


def image(path: Path, rng: random.Random, width: int, height: int) -> None:
    """A plain PGM with a bright square in noise."""
    rows = []
    for y in range(height):
        row = [60 + rng.randrange(40) + (100 if width // 4 < x < width // 2 and height // 4 < y < height // 2 else 0)
               for x in range(width)]
        rows.append(" ".join(map(str, row)))
    path.write_text(f"P2\n{width} {height}\n255\n" + "\n".join(rows) + "\n")  # behind each slice an empty line


def bitmap(path: Path, rng: random.Random, width: int, height: int) -> None:
    """A BMP of 24 bits: colours that run, with noise."""
    stride = (3 * width + 3) // 4 * 4
    rows = bytearray()
    for y in range(height):
        row = bytearray()
        for x in range(width):
            row += bytes(((x * 2 + rng.randrange(8)) % 256, (y * 2 + rng.randrange(8)) % 256, (x + y) % 256))
        rows += row + bytes(stride - len(row))
    header = b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54)
    header += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0)
    path.write_bytes(header + bytes(rows))


def hurricanes(path: Path, rng: random.Random, records: int) -> None:
    """Records of 49 bytes as nearest neighbours reads them: latitude at byte 28, longitude at byte 33."""
    lines = []
    for number in range(records):
        head = f"{1950 + number % 50} {number % 12 + 1:2} {number % 28 + 1:2} {number % 24:2} {number % 100:2} N{number:06}"
        line = f"{head:<28}{rng.uniform(7, 70):5.1f}{rng.uniform(0, 99):5.1f}"
        lines.append(f"{line:<48}\n")
    path.write_text("".join(lines))


def mesh(path: Path, rng: random.Random, size: int) -> None:
    """A box of cells for cfd: for each its volume, then four neighbours with the normals of the faces between them."""
    cells = size * size * size
    lines = [str(cells)]
    for cell in range(cells):
        x, y, z = cell % size, cell // size % size, cell // size // size
        fields = [f"{0.9 + 0.2 * rng.random():.4f}"]
        for (dx, dy, dz) in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
            nx, ny = x + dx, y + dy
            if 0 <= nx < size and 0 <= ny < size:
                neighbour = nx + size * (ny + size * z) + 1
            else:
                neighbour = -2 if dx else -1
            fields.append(f"{neighbour} {0.1 * dx:.4f} {0.1 * dy:.4f} {0.1 * dz:.4f}")
        lines.append(" ".join(fields))
    path.write_text("\n".join(lines) + "\n")


def atoms(path: Path, rng: random.Random, count: int, side: float) -> None:
    """Atoms in a box, in PQR."""
    lines = []
    for number in range(1, count + 1):
        place = "".join(f"{rng.uniform(0, side):8.3f}" for _ in range(3))
        lines.append(f"ATOM  {number:5}  O   WAT {number % 1000:5}    {place} {rng.uniform(-1, 1):6.3f} {1.5:6.3f}")
    path.write_text("\n".join(lines) + "\nEND\n")


def sparse(path: Path, rng: random.Random, rows: int, per_row: int) -> None:
    """A square matrix in Matrix Market's form."""
    entries = []
    for row in range(1, rows + 1):
        for column in sorted({row, *(rng.randint(1, rows) for _ in range(per_row - 1))}):
            entries.append(f"{row} {column} {rng.uniform(-1, 1):.6f}")
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n"
                    + "\n".join(entries) + "\n")


def matrix(path: Path, rng: random.Random, rows: int, columns: int) -> None:
    """A matrix as Parboil's sgemm reads it."""
    path.write_text(f"{rows} {columns}\n" + " ".join(f"{rng.uniform(0, 1):.6f}" for _ in range(rows * columns)) + "\n")


def sky(path: Path, rng: random.Random, points: int) -> None:
    """Points on the sphere: right ascension and declination in arc minutes."""
    path.write_text("".join(f"{rng.uniform(0, 21600):.4f} {rng.uniform(-5400, 5400):.4f}\n" for _ in range(points)))


def obstacles(path: Path, rng: random.Random, x: int, y: int, z: int) -> None:
    """A channel for lbm: '#' where there is something in the way."""
    slices = []
    for k in range(z):
        rows = []
        for j in range(y):
            wall = j in (0, y - 1)
            rows.append("".join("#" if wall or (8 < k < z - 8 and rng.random() < 0.005) else "." for _ in range(x)))
        slices.append("\n".join(rows) + "\n")  # behind each slice an empty line
    path.write_text("\n".join(slices) + "\n")


_MAKERS = {made.__name__: made for made in (graph, numbers, text, raw, keys, image, bitmap, hurricanes, mesh, atoms,
                                            sparse, matrix, sky, obstacles)}
