"""Not regular files, endless or far too large files, and too little address space: one line says so at once."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from conftest import assert_refused, cases, record, run

GIGABYTE = 10**9
EMPTY_KERNEL = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing(.param .u64 p)\n{\nret;\n}\n"

READERS: dict[str, Callable[[Path, Path], list[object]]] = {
    "simulate": lambda file, folder: ["simulate", file],
    "array": lambda file, folder: ["simulate", ptx(folder), "--arg", f"p=in:f32:@{file}"],
    "bytes": lambda file, folder: ["simulate", ptx(folder), "--arg", f"bytes:@{file}"],
    "compare": lambda file, folder: ["compare", file, file],
    "explain": lambda file, folder: ["explain", file],
    "report": lambda file, folder: ["report", file, "--output", folder / "report.html"],
    "network": lambda file, folder: ["network", "--network", file, "--batch", "1", "--output", folder / "out"],
    "weights": lambda file, folder: ["network", "--network", "lenet28", "--batch", "1", "--weights", file, "--output",
                                     folder / "out"],
    "resume": lambda file, folder: ["run", "--resume", as_run(file, folder)],
    "baseline": lambda file, folder: ["baseline", "check", "--network", "lenet28", "--folder",
                                      as_baseline(file, folder)],
    "images": lambda file, folder: ["run", "--shape", "1,8,8,2,3", "--data", as_images(file, folder), "--output",
                                    folder / "out"],
}


def ptx(folder: Path) -> Path:
    """A kernel that does nothing."""
    file = folder / "nothing.ptx"
    file.write_text(EMPTY_KERNEL, encoding="utf-8")
    return file


def linked(file: Path, folder: Path, name: str) -> Path:
    """A folder in which the file has this name."""
    inner = folder / "inner"
    inner.mkdir()
    (inner / name).symlink_to(file)
    return inner


def as_run(file: Path, folder: Path) -> Path:
    """A run's folder."""
    return linked(file, folder, "run.json")


def as_baseline(file: Path, folder: Path) -> Path:
    """A folder of baselines."""
    return linked(file, folder, "lenet28.json")


def as_images(file: Path, folder: Path) -> Path:
    """A folder of data."""
    return linked(file, folder, "train-images-idx3-ubyte")


def assert_one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Refused in one line, by the program or the script that it calls."""
    assert done.returncode != 0 and done.stdout == "", done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("reader", READERS)
def test_a_device_that_never_ends(tmp_path: Path, reader: str) -> None:
    assert_one_line(run(*READERS[reader](Path("/dev/zero"), tmp_path), timeout=60))


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_that_nobody_writes_into(tmp_path: Path, reader: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert_one_line(run(*READERS[reader](pipe, tmp_path), timeout=60))


@pytest.mark.parametrize("reader", READERS)
def test_a_terabyte_of_nothing(tmp_path: Path, reader: str) -> None:
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(10**12)
    assert_one_line(run(*READERS[reader](sparse, tmp_path), timeout=60))


@pytest.mark.parametrize("reader", ["simulate", "bytes"])
def test_a_pipe_without_an_end(tmp_path: Path, reader: str) -> None:
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        number = endless.stdout.fileno()
        done = run(*READERS[reader](Path(f"/dev/fd/{number}"), tmp_path), pass_fds=[number], timeout=60)
        endless.kill()
    assert_refused(done, "it is larger than the")


def test_a_pipe_is_read_as_a_file_is() -> None:
    read, write = os.pipe()
    os.write(write, EMPTY_KERNEL.encode())
    os.close(write)
    done = run("simulate", f"/dev/fd/{read}", "--list", pass_fds=[read], timeout=60)
    os.close(read)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "nothing\n" in done.stdout


def test_names_from_ptx_give_the_terminal_no_orders(tmp_path: Path) -> None:
    file = tmp_path / "escapes.ptx"
    names = b'.file 1 "a/\x1b[31mred\x07\xc2\x9b\xff.cu"\n.visible'
    body = b".reg .b64 %d<2>; .reg .b32 %r; .loc 1 7 1\nld.param.u64 %d1, [p]; ld.global.u32 %r, [%d1+-4]; ret;"
    text = EMPTY_KERNEL.encode().replace(b".visible", names).replace(b"ret;", body)
    file.write_bytes(text.replace(b".version 8.0", b'.version "\x1b[32m"'))
    for arguments in (["--list"], ["--arg", "p=u64:0"], ["--arg", "p=u64:0", "--format", "json"]):
        done = run("simulate", file, *arguments, encoding="utf-8", errors="replace")
        assert done.returncode in (0, 1), done
        assert not set("\x1b\x07\x9b") & set(done.stdout + done.stderr), (arguments, done.stdout)
    assert "memcheck: read of 4 bytes at 0xfffffffffffffffc" in run(
        "simulate", file, "--arg", "p=u64:0", errors="replace").stdout


def limited(gigabytes: float) -> Callable[[], None]:
    """What `ulimit -v` does."""
    most = int(gigabytes * GIGABYTE)
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))


@pytest.mark.parametrize("gigabytes", [1, 4, 16])
def test_few_addresses_are_enough_for_what_is_small(tmp_path: Path, sanitized: bool, gigabytes: int) -> None:
    if sanitized:
        pytest.skip("sanitizers take terabytes of addresses for themselves")
    few = {"preexec_fn": limited(gigabytes)}
    folder = tmp_path / "run"
    done = run("run", "--device", "simulated", "--variant", "shared-memory", "--network", "lenet28", "--batch", "10",
               "--output", folder, **few)
    assert done.returncode == 0, done
    assert [one["status"] for one in cases(record(folder)).values()] == ["ok"]
    done = run("simulate", ptx(tmp_path), "--arg", "p=in:f32:1", **few)
    assert (done.returncode, done.stderr) == (0, ""), done
    done = run("check", "--variant", "shared-memory", "--layer", "lenet28.conv1", "--batch", "1", **few)
    assert done.returncode == 0, done


def test_too_few_addresses_are_named_and_no_case_is_blamed(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("sanitizers take terabytes of addresses for themselves")
    few = {"preexec_fn": limited(0.5)}
    folder = tmp_path / "run"
    done = run("run", "--device", "simulated", "--variant", "shared-memory", "--network", "lenet28", "--batch", "10",
               "--output", folder, **few)
    assert done.returncode == 0, done
    one, = cases(record(folder)).values()
    assert one["status"] == "skipped" and "the address space is limited to 476 MiB (ulimit -v)" in one["reason"], one
    assert_refused(run("check", "--variant", "shared-memory", **few), "limited to 476 MiB (ulimit -v)")
    assert_refused(run("baseline", "check", "--network", "lenet28", "--folder", "/", **few), "limited to 476 MiB (ulimit -v)")
    assert_refused(run("simulate", ptx(tmp_path), "--arg", "p=out:f32:200000000", **few), "are needed")
