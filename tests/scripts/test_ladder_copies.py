"""What several ladders include lies once, in a folder that each of them names (include_folders): no header has a copy."""

import collections
import pathlib

ROOT = pathlib.Path(__file__).parents[2]


def copies(root: pathlib.Path) -> dict[str, list[str]]:
    """Headers of folders in variants/ that have the same name and first line as another, changed or not, with their folders."""
    found: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for pattern in ("*/*.hpp", "*/*.cuh"):
        for header in sorted((root / "variants").glob(pattern)):
            found[header.name, header.read_text(encoding="utf-8").split("\n")[0]].append(header.parent.name)
    return {name: folders for (name, _), folders in found.items() if len(folders) > 1}


def test_this_tree():
    assert copies(ROOT) == {}


def test_a_copy_is_found_also_when_it_was_changed(tmp_path):
    for folder, text in (("a", "// Tiles\none\n"), ("b", "// Tiles\none\n"), ("c", "// Tiles\ntwo\n"), ("d", "// Others\n")):
        (tmp_path / "variants" / folder).mkdir(parents=True)
        (tmp_path / "variants" / folder / "tile.hpp").write_text(text)
    assert copies(tmp_path) == {"tile.hpp": ["a", "b", "c"]}
