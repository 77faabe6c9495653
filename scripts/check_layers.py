"""Proves from the includes that use goes one way: layers.txt says who may use whom."""

import argparse
import pathlib
import re
import sys

SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


class BadTable(Exception):
    """layers.txt is not what it should be. The message names the line."""


def read_table(path):
    """The height of every folder: 0 for those of the first line."""
    heights = {}
    height = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        folders = line.split("#", 1)[0].split()
        for folder in folders:
            if folder in heights:
                raise BadTable(f"{path.name}:{number}: {folder} is in the table twice")
            heights[folder] = height
        height += bool(folders)
    return heights


def folder_of(file, heights):
    """The longest folder of the table that holds `file`, a path below the root; None outside all of them. A folder that
    the table has as FOLDER/* is one."""
    for parent in file.parents:
        if parent.as_posix() in heights or f"{parent.parent.as_posix()}/*" in heights:
            return parent.as_posix()
    return None


def height_of(folder, heights):
    return heights[folder] if folder in heights else heights[f"{folder.rpartition('/')[0]}/*"]


def includes(path):
    """(line number, path as written) of what a file includes with quotes."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1]


def findings(root, heights):
    """A line for every include that the table does not allow, and for every source outside its folders."""
    for top in sorted({folder.split("/")[0] for folder in heights}):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            place = file.relative_to(root)
            user = folder_of(place, heights)
            if user is None:
                yield f"{place}: its folder is not in layers.txt"
                continue
            for number, included in includes(file):
                # A path is relative to the root, or to the file itself.
                target = next((t for t in (root / included, file.parent / included) if t.is_file()), None)
                if target is None:  # generated, or another project's
                    continue
                used = folder_of(target.resolve().relative_to(root), heights)
                if used is None:
                    yield f"{place}:{number}: {user} may not use {included}, which is in no folder of layers.txt"
                elif used != user and height_of(used, heights) >= height_of(user, heights):
                    yield f"{place}:{number}: {user} may not use {used} ({included})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: scripts/check_layers.py")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent,
                        help="the tree to check (default: this one)")
    root = parser.parse_args().root.resolve()
    try:
        heights = read_table(root / "layers.txt")
    except (OSError, BadTable) as error:
        print(f"check_layers.py: {error}", file=sys.stderr)
        return 3
    found = list(findings(root, heights))
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"layers: {len(heights)} folders, use goes one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
