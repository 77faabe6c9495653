"""A ladder's folder stands for itself, so what several of them include is copied. The copies are the same."""

import collections
import pathlib

ROOT = pathlib.Path(__file__).parents[2]


def others_of(root: pathlib.Path) -> dict[str, list[str]]:
    """Headers of folders with a problem.json that have the same name and first line, and not the same text."""
    texts: dict[tuple[str, str], dict[str, str]] = collections.defaultdict(dict)
    for problem in sorted((root / "variants").glob("*/problem.json")):
        for pattern in ("*.hpp", "*.cuh"):
            for header in sorted(problem.parent.glob(pattern)):
                text = header.read_text(encoding="utf-8")
                texts[header.name, text.split("\n")[0]][problem.parent.name] = text
    return {name: sorted(of) for (name, _), of in texts.items() if len(set(of.values())) > 1}


def test_this_tree():
    assert others_of(ROOT) == {}


def test_a_copy_that_was_changed_alone_is_found(tmp_path):
    for folder, text in (("a", "// Tiles\none\n"), ("b", "// Tiles\none\n"), ("c", "// Tiles\ntwo\n"), ("d", "// Others\n")):
        (tmp_path / "variants" / folder).mkdir(parents=True)
        (tmp_path / "variants" / folder / "problem.json").write_text("{}")
        (tmp_path / "variants" / folder / "tile.hpp").write_text(text)
    assert others_of(tmp_path) == {"tile.hpp": ["a", "b", "c"]}
