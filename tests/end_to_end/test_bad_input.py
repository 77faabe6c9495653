"""What cannot be done is said in one line, at once, with exit code 3, and nothing is left behind."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Callable, Iterator

import pytest

from conftest import ALL, SMALL, assert_refused, idx_images, idx_labels, mounted, record, run, write_idx

HUGE = "1" + "0" * 30
SHAPE_NUMBERS = "expected a whole number from 0 to 1048576, got"
COMMANDS = [[], ["list"], ["run"], ["network"]]

NAMES = {
    "family": (["--family", "cup"], "unknown family 'cup'; known: cpu"),
    "variant": (["--variant", "compiletime"], "unknown variant 'compiletime'; known: compile-time,"),
    "second of a list": (["--variant", "onednn,flat_vector"], "unknown variant 'flat_vector'; known: flat-vector,"),
    "network": (["--network", "lenet27"], "unknown network 'lenet27'; known: lenet2"),
    "layer": (["--layer", "lenet72.conv9"], "unknown layer 'lenet72.conv9'; known: lenet72.conv"),
    "layer of another network": (["--layer", "lenet28.conv2"], "unknown layer 'lenet28.conv2'; known: lenet28.conv1,"),
    "device": (["--device", "cpu0"], "unknown device 'cpu0'; known: cpu"),
    "option": (["--bacth", "1"], "unknown option '--bacth'; known: --batch,"),
    "word": (["stray"], "stray: no folder with a problem.json; unknown problem 'stray'"),
    "isolation": (["--isolate", "docker"], "--isolate: docker not in {process,none}"),
    "network and layer": (["--network", "lenet28", "--layer", "conv2"], "unknown layer 'conv2'; known: conv1,"),
}
NUMBERS = {
    **{f"batch {value}": (["--batch", value], f"--batch: expected a whole number from 1 to 10000000, got '{value}'")
       for value in ("0", "-1", "1e99", "99999999999", HUGE, "abc", "1.5", "+3", "0x10", " 7", "7 ", "٣")},
    "batch in a list": (["--batch", "10,zero"], "got 'zero'"),
    "no batch": (["--batch"], "--batch"),
    "seed -1": (["--seed", "-1"], "--seed: expected a whole number from 0 to"),
    "huge seed": (["--seed", HUGE], "--seed: expected a whole number from 0 to"),
    "seed of words": (["--seed", "lucky"], "--seed: expected a whole number from 0 to"),
    "budget": (["--budget", "-1"], "--budget"),
    "budget not a number": (["--budget", "nan"], "--budget"),
    "endless budget": (["--budget", "inf"], "--budget"),
    "precision not a number": (["--precision", "nan"], "--precision"),
    "timeout not a number": (["--timeout", "nan"], "--timeout"),
    "precision": (["--precision", "2"], "--precision"),
    "timeout": (["--timeout", "0"], "--timeout"),
    "repetitions": (["--repetitions", "0"], "--repetitions"),
    "a million repetitions": (["--repetitions", "1000000"], "--repetitions"),
}
SHAPES = {
    "1,8,8,2": "expected C,H,W,M,K[,stride[,padding]], got 4 numbers",
    "1,8,8,2,3,1,1,1": "expected C,H,W,M,K[,stride[,padding]], got 8 numbers",
    "1,8,8,2,": "got 4 numbers",
    "": SHAPE_NUMBERS,
    "1x8x8x2x3": SHAPE_NUMBERS,
    "1,8,8,-2,3": SHAPE_NUMBERS,
    "1,8,8,2,3.5": SHAPE_NUMBERS,
    f"1,{HUGE},8,2,3": SHAPE_NUMBERS,
    "1,2000000,8,2,3": SHAPE_NUMBERS,
    "0,8,8,2,3": "in_channels is 0, it must be at least 1",
    "1,0,8,2,3": "height is 0",
    "1,8,0,2,3": "width is 0",
    "1,8,8,0,3": "out_channels is 0",
    "1,8,8,2,0": "kernel is 0",
    "1,8,8,2,3,0": "stride is 0",
    "1,8,8,2,9": "the kernel 9x9 is larger than the padded image 8x8",
    "1,8,3,2,5": "the kernel 5x5 is larger than the padded image 8x3",
    "1,8,8,2,3,1,3": "padding 3 is not smaller than the kernel 3",
    "1,1000000,1000000,1,1": "2^31 elements or more",
    "1048576,1048576,1048576,1048576,1": "2^31 elements or more",
    "1048576,1,1,1048576,1": "2^31 elements or more",
    "1,1048576,1048576,1,1048576,1,1048575": "2^31 elements or more",
}
GOOGLE = {
    "unknown": ("--benchmark_foo=1", "Google Benchmark does not know '--benchmark_foo=1'"),
    "format": ("--benchmark_format=xml", "expected json or console, got 'xml'"),
    "format of the file": ("--benchmark_out_format=", "expected json or console, got ''"),
    "time": ("--benchmark_min_time=-1", "--benchmark_min_time: expected seconds above 0"),
    "repetitions": ("--benchmark_repetitions=0", "--benchmark_repetitions: expected a whole number from 1"),
    "expression": ("--benchmark_filter=[", "'[' is not a regular expression"),
    "nothing matches": ("--benchmark_filter=no-such-case", "no case remains"),
    "list": ("--benchmark_list_tests=true", "--dry-run"),
    "no file": ("--benchmark_out=", "--benchmark_out: expected a file name"),
    "no folder": ("--benchmark_out=no/such/folder.json", "no/such is not a folder"),
    "a folder": ("--benchmark_out=.", "expected a file name, found a folder"),
}


def refused(tmp_path: Path, arguments: list[object], *words: str) -> str:
    """`run` with the arguments says no and leaves nothing in its folder."""
    line = assert_refused(run("run", *arguments, cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []
    return line


@pytest.mark.parametrize("arguments, word", NAMES.values(), ids=NAMES)
def test_unknown_names_with_the_nearest_first(tmp_path: Path, arguments: list[object], word: str) -> None:
    refused(tmp_path, arguments, word)


@pytest.mark.parametrize("kind, commands", [
    ("run", "'convladder report', 'compare' and 'explain' take it"), ("rank", "'convladder report' takes it"),
])
def test_a_record_in_the_place_of_a_network(tmp_path: Path, kind: str, commands: str) -> None:
    # Larger than a network can be.
    file = tmp_path / "tonight.json"
    file.write_text(f'{{\n "schema_version": "1.0",\n "kind": "{kind}",\n "text": "{"x" * (2 << 20)}"\n}}\n')
    said = f"tonight.json: a record ({kind}), not a network or a problem; {commands}"
    for arguments in (["run", file], ["run", "--network", file], ["network", "--network", file], ["sweep", file]):
        assert_refused(run(*arguments, cwd=tmp_path), said)


def test_a_file_in_the_place_of_a_network(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"name": "mine", "layers": []}')
    assert_refused(run("run", "mine.json", cwd=tmp_path), "mine.json: not a network file: it has no title, input")


@pytest.mark.parametrize("arguments, word", NUMBERS.values(), ids=NUMBERS)
def test_numbers(tmp_path: Path, arguments: list[object], word: str) -> None:
    refused(tmp_path, arguments, word)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(tmp_path: Path, shape: str) -> None:
    refused(tmp_path, [f"--shape={shape}", "--batch", "1"] if shape else ["--shape", "", "--batch", "1"],
            f"--shape {shape}: ", SHAPES[shape])


def test_a_case_beyond_memory_is_skipped_and_says_how_much_it_needs(tmp_path: Path) -> None:
    done = run("run", "--device", "simulated", "--variant", "global-memory", "--layer", "lenet28.conv1", "--batch", "10000000",
               "--output", tmp_path / "out", cwd=tmp_path)
    (one,) = record(tmp_path / "out")["cases"]
    assert done.returncode == 0 and one["status"] == "skipped", (done, one["reason"])
    assert "GB are there; the largest batch that fits is about " in one["reason"]


@pytest.mark.parametrize("flag, word", GOOGLE.values(), ids=GOOGLE)
def test_googles_flags(tmp_path: Path, flag: str, word: str) -> None:
    refused(tmp_path, [*SMALL, flag], word)


@pytest.mark.parametrize("arguments, word", [
    (["frobnicate"], "unknown command 'frobnicate'; known: "), (["lst"], "unknown command 'lst'; known: list,"),
    (["list", "--foo"], "--foo"), (["list", "stray"], "stray"), (["run", "--jsn"], "--jsn"), (["--foo"], "--help"),
    ([""], "unknown command ''")])
def test_commands(tmp_path: Path, arguments: list[object], word: str) -> None:
    assert_refused(run(*arguments, cwd=tmp_path), word)


@pytest.mark.parametrize("command", COMMANDS, ids=["convladder", "list", "run", "network"])
def test_help_has_examples(command: list[str]) -> None:
    done = run(*command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "example" in done.stdout and f"  convladder {' '.join(command)}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 160


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    """The same with one bit the other way round."""
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]


PACKED = gzip.compress(idx_images(), mtime=0)
IMAGES = {
    "empty": (b"", "expected a header of 16 bytes"),
    "half a header": (idx_images()[:9], "expected a header of 16 bytes"),
    "truncated": (idx_images()[:-1], "expected 360 bytes of pixels, found 359"),
    "oversized": (idx_images() + b"\x00", "expected the end of the data, found more"),
    "wrong magic": (struct.pack(">I", 0x802) + idx_images()[4:], "expected the IDX magic number 0x00000803"),
    "labels": (idx_labels(), "found 0x00000801 (a label file)"),
    "no images": (struct.pack(">4I", 0x803, 0, 6, 5), "expected at least 1 in every dimension"),
    "a promise of exabytes": (struct.pack(">4I", 0x803, *[2**32 - 1] * 3), "expected at most 1073741824 bytes"),
    "a bit flipped in the magic": (flipped(idx_images(), 3), "expected the IDX magic number"),
    "a bit flipped in the count": (flipped(idx_images(), 7), "bytes of pixels, found 360"),
    "a bit flipped in the height": (flipped(idx_images(), 11, 6), "bytes of pixels, found 360"),
    "packed, truncated": (PACKED[:-9], "byte "),
    "packed, a bit flipped": (flipped(PACKED, len(PACKED) // 2), "byte "),
    "packed, wrong checksum": (flipped(PACKED, len(PACKED) - 8), "byte "),
    "text": (b"<html>404 Not Found</html>", "expected the IDX magic number"),
}


@pytest.mark.parametrize("images, word", IMAGES.values(), ids=IMAGES)
def test_damaged_images(tmp_path: Path, images: bytes, word: str) -> None:
    data = write_idx(tmp_path / "data", images)
    (cwd := tmp_path / "empty").mkdir()
    refused(cwd, [*SMALL, "--data", data], str(data / "t10k-images-idx3-ubyte"), word)


def test_labels_that_do_not_belong_to_the_images(tmp_path: Path) -> None:
    (cwd := tmp_path / "empty").mkdir()
    data = write_idx(tmp_path / "data", labels=idx_labels(11))
    refused(cwd, [*SMALL, "--data", data], str(data / "t10k-labels-idx1-ubyte"), "expected 12 labels")
    (data / "t10k-labels-idx1-ubyte").unlink()
    refused(cwd, [*SMALL, "--data", data], "no labels beside it")


def test_folders_without_data(tmp_path: Path) -> None:
    (cwd := tmp_path / "empty").mkdir()
    refused(cwd, [*SMALL, "--data", cwd], str(cwd), "no IDX images found")
    refused(cwd, [*SMALL, "--data", tmp_path / "nowhere"], str(tmp_path / "nowhere"), "No such file")
    (file := tmp_path / "file").write_bytes(idx_images())
    refused(cwd, [*SMALL, "--data", file], str(file), "Not a directory")


ONE = ["--variant", "flat-vector", *SMALL, "--batch", "1"]


def test_a_folder_that_holds_a_run_already(tmp_path: Path) -> None:
    assert run("run", *ONE, "--output", tmp_path).returncode == 0
    before = (tmp_path / "run.json").read_bytes()
    assert_refused(run("run", *ONE, "--output", tmp_path), f"--resume {tmp_path}", "another --output")
    assert (tmp_path / "run.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("mine")
    for folder in (file, file / "below"):
        assert_refused(run("run", *ONE, "--output", folder, cwd=tmp_path), str(folder), "Not a directory")
    long = tmp_path / ("x" * 300)
    assert_refused(run("run", *ONE, "--output", long, cwd=tmp_path), "File name too long")
    assert file.read_text() == "mine" and [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_device(tmp_path: Path) -> None:
    """Written to, found full, and not replaced by a file."""
    done = run("run", *ONE, "--quiet", "--output", tmp_path, "--benchmark_out=/dev/full")
    assert_refused(done, "cannot write /dev/full: No space left on device")
    assert Path("/dev/full").is_char_device()
    assert record(tmp_path)["complete"], "the record is not touched by it"
    with open("/dev/full", "w", encoding="utf-8") as full:
        for command in (["list"], ["list", "--machine"], ["--help"], ["run", *ONE, "--dry-run"]):
            done = run(*command, capture_output=False, stdout=full, stderr=-1)
            assert done.returncode == 3 and done.stderr.startswith("convladder: cannot write")
            assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk that holds the beginning of a run."""
    yield from mounted(tmp_path / "disk", ["size=40k"])


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A disk that cannot be written to, not even by root."""
    yield from mounted(tmp_path / "disk", ["ro"])


def test_a_disk_that_fills_in_mid_run(tiny: Path, mount: Callable[..., None], sanitized: bool) -> None:
    if sanitized and not ALL:
        pytest.skip("a run of twenty cases; scripts/test.sh --all has it with sanitizers")
    many = ["--variant", "flat-vector,cached-tile", *SMALL, "--batch", "1,2,3,4,5,6,7,8,9,10", "--quiet"]
    assert_refused(run("run", *many, "--output", tiny / "run"), f"cannot write {tiny}/run/run.json: No space left")
    stopped = record(tiny / "run")
    assert 0 < len(stopped["cases"]) < len(stopped["planned"]) and not stopped["complete"]
    assert [path.name for path in (tiny / "run").iterdir()] == ["run.json"]

    mount("-o", "remount,size=4m", tiny)
    assert run("run", "--resume", tiny / "run").returncode == 0
    finished = record(tiny / "run")
    assert finished["complete"]
    then = {one["id"]: one for one in stopped["cases"]}
    assert {one["id"]: one for one in finished["cases"] if one["id"] in then} == then


def test_a_full_disk(tiny: Path) -> None:
    (tiny / "ballast").write_bytes(b"x" * 40 * 1024)
    assert_refused(run("run", *ONE, "--output", tiny / "run"), str(tiny / "run"), "No space left on device")
    assert not list(tiny.glob("run/*"))


def test_a_read_only_folder(read_only: Path) -> None:
    assert_refused(run("run", *ONE, "--output", read_only / "run"), str(read_only / "run"), "Read-only file system")
    assert_refused(run("run", *ONE, "--output", read_only), str(read_only), "Read-only file system")


def test_a_default_folder_that_is_read_only(read_only: Path) -> None:
    assert_refused(run("run", *ONE, cwd=read_only), "results/", "Read-only file system")
