"""No two headers define a type of the same name in the same namespace: to the linker both would be one, and what the
compiler makes of templates over the one would be taken for the other."""

import collections
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ["support", "devices", "variants", "datasets", "network", "harness"]
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: ?:[^;{]*)? ?\{", re.MULTILINE)


def defined(text: str) -> list[str]:
    """The types of a header that stand at the margin, with the namespace that was opened last before them."""
    spaces = [(match.start(), match[1]) for match in NAMESPACE.finditer(text)]
    return [[name for at, name in [(-1, ""), *spaces] if at < match.start()][-1] + "::" + match[1]
            for match in TYPE.finditer(text)]


def twice(root: pathlib.Path) -> dict[str, list[str]]:
    holders = collections.defaultdict(list)
    for folder in FOLDERS:
        for header in sorted((root / folder).rglob("*.hpp")):
            if (header.parent / "problem.json").exists():
                continue  # of a ladder's folder, whose stages are libraries of their own
            for name in defined(header.read_text(encoding="utf-8")):
                holders[name].append(str(header.relative_to(root)))
    return {name: headers for name, headers in holders.items() if len(headers) > 1}


def test_this_tree():
    assert twice(ROOT) == {}


@pytest.mark.parametrize("second, found", [
    ("struct Tensor {\n};\n", ["a::Tensor"]),
    ("class Tensor final : public Other {\n};\n", ["a::Tensor"]),
    ("enum class Tensor : int { one };\n", ["a::Tensor"]),
    ("struct Tensor;\n", []),  # only declared
    ("}\nnamespace b {\nstruct Tensor {\n};\n", []),
])
def test_what_is_there_twice_is_found(second, found, tmp_path):
    (tmp_path / "network").mkdir()
    (tmp_path / "variants").mkdir()
    (tmp_path / "network/one.hpp").write_text("namespace a {\nstruct Tensor {\n};\n}\n")
    (tmp_path / "variants/other.hpp").write_text("namespace a {\n" + second + "}\n")
    assert list(twice(tmp_path)) == found
