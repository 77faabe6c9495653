"""scripts/check_comments.py finds comments that cannot be read alone."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def check(root):
    return subprocess.run(["/usr/bin/python3", str(ROOT / "scripts" / "check_comments.py"), "--root", str(root)],
                          capture_output=True, text=True, timeout=60, check=False)


def test_this_tree():
    found = check(ROOT)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("text", [
    "/// The bytes of a tensor.\nint bytes;\n",
    "// A warp's access,\n// Of which this is the second line.\n",
    'const char* const kPage = "http://What.example";\n',
    "/// Whatever the device does.\n/// Offset of the first.\n",
])
def test_what_can_be_read_alone_passes(tmp_path, text):
    (tmp_path / "a.hpp").write_text(text)
    found = check(tmp_path)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("text, word", [
    ("/// What it needs.\nint bytes;\n", "What"),
    ("int bytes;  ///< Of one item\n", "Of"),
    ("int a;\n// Likewise in bytes.\n", "Likewise"),
    ("  // The same for rows\n", "The same"),
])
def test_what_points_at_a_neighbour_is_found(tmp_path, text, word):
    (tmp_path / "b.cu").write_text(text)
    found = check(tmp_path)
    assert found.returncode == 1
    assert f"begins with '{word}'" in found.stderr and "b.cu:" in found.stderr


def test_tests_are_left_out(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "c.cpp").write_text("// What is tested\n")
    assert check(tmp_path).returncode == 0
