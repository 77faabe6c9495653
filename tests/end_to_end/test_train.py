"""`convladder train`: weights in the cache, the same for the same seed, and one line for what cannot be done."""

from __future__ import annotations

import json
import os
import re
import struct
from pathlib import Path

import pytest

from conftest import DATASETS, assert_refused, idx_images, idx_labels, only_with_all, run

SOME_IMAGES = ["--network", "lenet28", "--images", "200", "--test-images", "0:50"]
TINY = [*SOME_IMAGES, "--epochs", "1"]
RESULT = re.compile(r"accuracy (0\.\d{4}) \((\d+) of (\d+), 95% interval (0\.\d{4}) to (0\.\d{4})\)")


@pytest.fixture(scope="module", autouse=True)
def needs_onednn(tmp_path_factory: pytest.TempPathFactory) -> None:
    done = run("train", *TINY, "--output", tmp_path_factory.mktemp("first") / "x.safetensors")
    if "without oneDNN" in done.stderr:
        pytest.skip("this build has no oneDNN")


def _header(path: Path) -> dict:
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    return json.loads(content[8:8 + length])


def test_the_weights_are_in_the_cache_and_say_where_they_come_from(tmp_path: Path) -> None:
    done = run("train", *TINY, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    file = tmp_path / "convladder/weights/lenet28-synthetic-high.safetensors"
    assert done.stdout.splitlines()[-1].endswith(f": {file}")
    header = _header(file)
    metadata = header.pop("__metadata__")
    assert {name: entry["shape"] for name, entry in header.items()} == {
        "conv1.weight": [50, 1, 5, 5], "fc1.weight": [500, 7200], "fc1.bias": [500],
        "fc2.weight": [10, 500], "fc2.bias": [10]}
    assert metadata["network"] == "lenet28" and metadata["dataset"] == "synthetic" and metadata["quality"] == "high"
    assert metadata["images"] == "200 images of synthetic, tested on 50 of synthetic"
    assert metadata["seed"] == "1" and metadata["updates"] == "3"


def test_every_epoch_is_reported_with_its_interval(tmp_path: Path) -> None:
    done = run("train", *SOME_IMAGES, "--epochs", "2", "--output", tmp_path / "x.safetensors")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["epoch", "1/2"], ["epoch", "2/2"]]
    for line in lines[1:]:
        accuracy, right, tested, low, high = RESULT.search(line).groups()
        assert tested == "50" and float(accuracy) == int(right) / 50
        assert float(low) < float(accuracy) < float(high)


def test_the_seed_decides_the_bytes(tmp_path: Path) -> None:
    files = []
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        files.append(tmp_path / name)
        assert run("train", *TINY, "--seed", seed, "--output", files[-1]).returncode == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()


def test_low_stops_early(tmp_path: Path) -> None:
    done = run("train", "--network", "lenet28", "--quality", "low", "--quiet", "--output", tmp_path / "low")
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(RESULT.search(done.stdout).group(1)) < 0.8
    assert int(re.search(r"(\d+) updates", done.stdout).group(1)) < 300


@only_with_all
def test_nine_hundred_garments(tmp_path: Path, sanitized: bool) -> None:
    """Real Fashion-MNIST images, trained on 600, tested on the other 300."""
    folder = DATASETS / "fashion-mnist-sample"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    if sanitized:
        pytest.skip("trains on 600 images, which takes long with sanitizers; the others here train on fewer")
    done = run("train", "--network", "lenet28", "--data", folder, "--split", 600, "--output", tmp_path / "x", "--quiet")
    assert done.returncode == 0, done.stderr
    accuracy, right, tested, *_ = RESULT.search(done.stdout).groups()
    assert tested == "300" and float(accuracy) >= 0.75
    assert _header(tmp_path / "x")["__metadata__"]["dataset"] == "fashion-mnist"


def test_a_network_of_ones_own_with_colour_and_more_outputs(tmp_path: Path) -> None:
    network = tmp_path / "own.json"
    network.write_text(json.dumps({
        "name": "own", "title": "t", "input": {"channels": 3, "height": 20, "width": 24}, "layers": [
            {"name": "c", "type": "convolution", "out_channels": 4, "kernel": 5, "stride": 2, "padding": 2,
             "bias": True},
            {"name": "r", "type": "relu"},
            {"name": "f", "type": "fully_connected", "out_features": 100}]}))
    done = run("train", "--network", network, "--images", 200, "--epochs", 1, "--output", tmp_path / "x")
    assert done.returncode == 0, done.stderr
    header = _header(tmp_path / "x")
    assert header["c.weight"]["shape"] == [4, 3, 5, 5] and header["f.weight"]["shape"] == [100, 4 * 10 * 12]


BAD = {
    "no network": ([], "--network is required"),
    "unknown network": (["--network", "lenet27"], "unknown network 'lenet27'; known: lenet28,"),
    "quality": (["--quality", "middling"], "--quality: middling not in {high,low}"),
    "epochs": (["--epochs", "0"], "--epochs: expected a whole number from 1 to 10000, got '0'"),
    "batch": (["--batch", "many"], "--batch: expected a whole number from 1 to 4096, got 'many'"),
    "seed": (["--seed", "-1"], "--seed: expected a whole number from 0 to"),
    "images": (["--images", "12001"], "--images: expected a whole number from 1 to 12000, got '12001'"),
    "test images": (["--test-images", "5"], "--test-images: expected A:B"),
    "no test images": (["--test-images", "5:5"], "--test-images: expected a whole number from 6 to 2000, got '5'"),
    "split": (["--split", "12000"], "--split: expected a whole number from 1 to 11999, got '12000'"),
    "split and images": (["--split", "10", "--images", "10"], "--split cannot be combined with --images"),
    "learning rate": (["--learning-rate", "nan"], "--learning-rate"),
    "no folder": (["--data", "/nowhere"], "/nowhere"),
    "no folder to write to": (["--images", "64", "--epochs", "1", "--output", "/nowhere/x"], "cannot write /nowhere/x"),
    "a full disk": (["--images", "64", "--epochs", "1", "--output", "/dev/full"],
                    "cannot write /dev/full: No space left on device"),
}


@pytest.mark.parametrize("arguments, message", BAD.values(), ids=BAD.keys())
def test_what_cannot_be_done_is_said_in_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    network = [] if "--network" in arguments or not arguments else ["--network", "lenet28"]
    output = [] if "--output" in arguments else ["--output", tmp_path / "x"]
    assert_refused(run("train", *network, *arguments, *output, "--quiet"), message)
    assert list(tmp_path.iterdir()) == []


def test_several_networks_are_not_one_file(tmp_path: Path) -> None:
    assert_refused(run("train", "--network", "all", "--output", tmp_path / "x"), "--output is one file, but 7 networks")


def test_images_to_learn_from_are_not_tested_on(tmp_path: Path) -> None:
    (tmp_path / "own-images-idx3-ubyte").write_bytes(idx_images(30))
    (tmp_path / "own-labels-idx1-ubyte").write_bytes(idx_labels(30))
    arguments = ["train", "--network", "lenet28", "--data", tmp_path, "--epochs", "1", "--output", tmp_path / "x"]
    assert_refused(run(*arguments), "own-images-idx3-ubyte holds the images for training and for testing, 30 in all")
    assert_refused(run(*arguments, "--images", 20, "--test-images", "19:30"), "--split N trains on the first N")
    for choice in (["--images", 20, "--test-images", "20:30"], ["--split", 20]):
        assert run(*arguments, *choice).returncode == 0


def test_a_label_beyond_the_outputs(tmp_path: Path) -> None:
    network = tmp_path / "own.json"
    network.write_text(json.dumps({
        "name": "own", "title": "t", "input": {"channels": 1, "height": 8, "width": 8},
        "layers": [{"name": "f", "type": "fully_connected", "out_features": 5}]}))
    arguments = ["--network", network, "--output", tmp_path / "x", "--quiet"]
    assert_refused(run("train", *arguments), "own has 5 outputs")
