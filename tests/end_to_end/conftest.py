"""Runs the real program and looks at what it leaves behind: records, messages, processes."""

from __future__ import annotations

import functools
import json
import os
import re
import struct
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = REPOSITORY / "scripts"
sys.path.insert(0, str(SCRIPTS))

from validate_record import complaints  # noqa: E402  (found through the line above)

RELEASE = REPOSITORY / "build/release"
PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", RELEASE / "convladder")).resolve()
SEEDED = Path(os.environ.get("CONVLADDER_SEEDED_PROGRAM", RELEASE / "tests/convladder_seeded")).resolve()
DATASETS = Path(os.environ.get("CONVLADDER_DATASETS", REPOSITORY.parent / "shared/datasets"))

ALL = "CONVLADDER_ALL_TESTS" in os.environ
"""Whether what is rare is tested as well, or what other tests prove in less time: scripts/test.sh --all."""
only_with_all = pytest.mark.skipif(not ALL, reason="takes long; scripts/test.sh --all runs it")

SMALL = ["--shape", "1,8,8,2,3", "--repetitions", "3", "--benchmark_min_time=0.0005"]
"""A case of a few milliseconds."""

_MARK = f"CONVLADDER_TEST_MARK={uuid.uuid4().hex}"
os.environ.update([_MARK.split("=")])  # inherited by everything that is started here
os.environ.setdefault("OMP_NUM_THREADS", "1")
"""Beside other tests, two threads wait for each other a thousand times longer than these cases compute."""
os.environ.setdefault("CONVLADDER_CEILING_MIB", "4")
"""The buffers of the ceilings would be most of what these runs do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Nothing can be said of a program that is not there."""
    for item in items:
        needed = {PROGRAM, SEEDED} if hasattr(item.module, "SEEDED") else {PROGRAM}
        missing = sorted(str(path) for path in needed if not os.access(path, os.X_OK))
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"not built: {', '.join(missing)}"))


def run(*arguments: object, program: Path = PROGRAM, **options: Any) -> subprocess.CompletedProcess[str]:
    """Calls the program as a user does, without a terminal."""
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 300, "check": False} | options
    return subprocess.run([str(program), *map(str, arguments)], **options)


def start(*arguments: object, program: Path = PROGRAM, **options: Any) -> subprocess.Popen[str]:
    """The same without waiting for its end."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"} | options
    return subprocess.Popen([str(program), *map(str, arguments)], **options)


def without_load(text: str) -> str:
    """What was printed, but for the line that says that the machine was busy."""
    return "".join(line for line in text.splitlines(True) if " cases were measured while the machine was " not in line)


def record(folder: Path, kind: str = "run") -> dict[str, Any]:
    """The record in a folder, valid by the schema and by the rules beyond it."""
    path = folder / f"{kind}.json"
    assert complaints(path) == []
    return json.loads(path.read_text(encoding="utf-8"))


def cases(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cases of a record by id."""
    found = {one["id"]: one for one in document["cases"]}
    assert len(found) == len(document["cases"]), "a case is there twice"
    return found


def assert_refused(done: subprocess.CompletedProcess[str], *words: str, stdout: str = "") -> str:
    """The program said no in one line that holds all the words, and printed nothing else. Returns the line."""
    assert (done.returncode, done.stdout) == (3, stdout), done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and done.stderr.endswith("\n"), done.stderr
    assert lines[0].startswith("convladder: "), lines
    for word in words:
        assert word in lines[0]
    return lines[0]


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Until the file is there or the process has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.002)


def left_behind() -> list[str]:
    """The processes that were started here and still live: number, command line, what the system says they do."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            if _MARK.encode() in (entry / "environ").read_bytes():
                doing = re.findall(r"^(?:State|PPid|Threads|SigBlk):.*", (entry / "status").read_text(), re.MULTILINE)
                command = (entry / "cmdline").read_text().replace("\0", " ")
                found.append(f"{entry.name} {command}({', '.join(doing)}, in {(entry / 'wchan').read_text()})")
        except OSError:
            continue  # it has ended, or is not ours to see
    return found


@pytest.fixture(autouse=True)
def _no_process_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test, however it ended: cases are processes, and none may outlive its run."""
    yield
    deadline = time.monotonic() + 5
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left_behind() == []


@functools.cache
def is_sanitized() -> bool:
    """Whether the program was built with sanitizers, which turn signals into exit codes and take many times as long."""
    return json.loads(run("list", "--machine", "--format", "json").stdout)["program"]["sanitized"]


@pytest.fixture(scope="session")
def sanitized() -> bool:
    """Likewise."""
    return is_sanitized()


def idx_images(count: int = 12, height: int = 6, width: int = 5) -> bytes:
    """The bytes of an IDX image file."""
    pixels = bytes((7 * i + i // 11) % 256 for i in range(count * height * width))
    return struct.pack(">4I", 0x803, count, height, width) + pixels


def idx_labels(count: int = 12) -> bytes:
    """The bytes of an IDX label file."""
    return struct.pack(">2I", 0x801, count) + bytes(i % 10 for i in range(count))


def write_idx(folder: Path, images: bytes = idx_images(), labels: bytes = idx_labels(), ending: str = "") -> Path:
    """A folder as --data takes it."""
    folder.mkdir(exist_ok=True)
    (folder / f"t10k-images-idx3-ubyte{ending}").write_bytes(images)
    (folder / f"t10k-labels-idx1-ubyte{ending}").write_bytes(labels)
    return folder


def mounted(folder: Path, options: Sequence[str]) -> Iterator[Path]:
    """A tmpfs at the folder for as long as the generator lives; skips where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "none", str(folder)], capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def mount() -> Callable[..., None]:
    """Calls mount, for a change of what is mounted already."""
    return lambda *arguments: subprocess.run(["mount", *map(str, arguments)], check=True) and None
