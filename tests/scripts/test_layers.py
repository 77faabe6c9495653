"""scripts/check_layers.py proves from the includes that use goes one way."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TABLE = "# who may use whom\nfloor\nleft right\nroof roof/attic\n"


def check(root):
    return subprocess.run(["/usr/bin/python3", str(ROOT / "scripts" / "check_layers.py"), "--root", str(root)],
                          capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(name="house")
def _house(tmp_path):
    """A tree in which every use is allowed."""
    (tmp_path / "layers.txt").write_text(TABLE)
    for name, text in {"floor/a.hpp": "", "left/b.hpp": '#include "floor/a.hpp"\n', "right/c.cpp": "",
                       "roof/d.cpp": '#include <vector>\n#include "left/b.hpp"\n', "roof/attic/e.hpp": ""}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_this_tree():
    found = check(ROOT)
    assert (found.returncode, found.stderr) == (0, "")


def test_what_is_allowed_passes(house):
    found = check(house)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("user, used, message", [
    ("floor/a.hpp", "left/b.hpp", "floor may not use left"),            # upwards
    ("left/b.hpp", "right/c.cpp", "left may not use right"),            # beside it
    ("roof/d.cpp", "roof/attic/e.hpp", "roof may not use roof/attic"),  # a folder of its own inside
    ("roof/attic/e.hpp", "roof/d.cpp", "roof/attic may not use roof"),
])
def test_what_is_not_allowed_is_named(house, user, used, message):
    file = house / user
    file.write_text(file.read_text() + f'\n  #  include "{used}" // here\n')
    line = len(file.read_text().splitlines())
    found = check(house)
    assert found.returncode == 1
    assert found.stderr.splitlines() == [f"{user}:{line}: {message} ({used})"]


def test_all_folders_in_one_are_neighbours(house):
    (house / "layers.txt").write_text("floor\nhall/*\nhall/tower\n")
    for name, text in {"hall/one/f.hpp": '#include "floor/a.hpp"\n', "hall/two/deep/g.cpp": '#include "hall/two/h.hpp"\n',
                       "hall/two/h.hpp": "", "hall/tower/i.cpp": '#include "hall/one/f.hpp"\n'}.items():
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).write_text(text)
    assert check(house).stderr == ""
    (house / "hall/one/f.hpp").write_text('#include "hall/two/h.hpp"\n')
    assert check(house).stderr == "hall/one/f.hpp:1: hall/one may not use hall/two (hall/two/h.hpp)\n"


def test_a_path_relative_to_the_file_hides_nothing(house):
    (house / "floor" / "a.hpp").write_text('#include "../left/b.hpp"\n')
    assert "floor may not use left" in check(house).stderr


def test_a_source_outside_the_table(house):
    (house / "roof" / "attic" / "deep").mkdir()
    (house / "roof" / "attic" / "deep" / "f.cu").write_text("")
    assert check(house).returncode == 0  # the folder above it counts
    (house / "layers.txt").write_text("floor\nleft right\nroof/attic\n")
    found = check(house)
    assert found.returncode == 1
    assert "roof/d.cpp: its folder is not in layers.txt" in found.stderr


def test_a_folder_twice(house):
    (house / "layers.txt").write_text("floor\nleft floor\n")
    found = check(house)
    assert found.returncode == 3
    assert found.stderr == "check_layers.py: layers.txt:2: floor is in the table twice\n"


def test_an_upward_include_planted_in_this_tree(tmp_path):
    """The real table and the real files, with one include that should not be."""
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.cpp", "*.hpp", "*.cu", "*.cuh", "layers.txt"],
                           capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    assert check(tmp_path).returncode == 0
    planted = tmp_path / "devices" / "device.hpp"
    planted.write_text(planted.read_text() + '#include "variants/convolution/problem.hpp"\n')
    found = check(tmp_path)
    assert found.returncode == 1
    assert "devices may not use variants/convolution (variants/convolution/problem.hpp)" in found.stderr
