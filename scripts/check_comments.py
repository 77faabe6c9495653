"""Finds comments that cannot be read alone: those that begin with a word that points at a neighbour."""

import argparse
import pathlib
import re
import subprocess
import sys

SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
WORDS = ("What", "Of", "Likewise", "The same")
BEGIN = re.compile(r"(?P<code>.*?)//+<?!?\s*(?P<text>.*)$")


def first_word(text):
    """The one of the words that the text begins with, or None."""
    return next((word for word in WORDS if re.match(rf"{word}\b", text)), None)


def is_comment(line):
    return line.lstrip().startswith("//")


def findings(path, name):
    """A line for every block of comment lines, and every comment behind code, that begins with one of the words."""
    before = ""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = BEGIN.match(line)
        starts = match and (not is_comment(line) or not is_comment(before))
        # A text with two slashes is no comment: an address, or a string.
        if starts and match["code"].count('"') % 2 == 0 and first_word(match["text"]):
            yield f"{name}:{number}: a comment that begins with '{first_word(match['text'])}' cannot be read alone"
        before = line


def sources(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [
        path.relative_to(root).as_posix() for path in sorted(root.rglob("*"))]
    # Tests are read beside what they test.
    return [name for name in names if pathlib.Path(name).suffix in SOURCES and not name.startswith("tests/")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: scripts/check_comments.py")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent,
                        help="the tree to check (default: this one)")
    root = parser.parse_args().root.resolve()
    names = [name for name in sources(root) if (root / name).is_file()]
    found = [line for name in names for line in findings(root / name, name)]
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"comments: {len(names)} files, each comment can be read alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
