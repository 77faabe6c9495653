"""Stages on AMX tiles: refused without AMX, verified by emulation, and never with a time of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import cases, record, run

EMULATED = os.environ | {"CONVLADDER_AMX": "emulated"}
REAL = {name: value for name, value in os.environ.items() if name != "CONVLADDER_AMX"}
STAGES = "amx-six-products,amx-three-products"
LAYER = ["--family", "cpu", "--shape", "2,13,11,20,3", "--batch", "3"]

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="AMX is of x86-64")


def test_an_emulated_stage_is_verified_and_has_no_time(tmp_path: Path) -> None:
    done = run("run", "--variant", f"local-accumulation,{STAGES}", *LAYER, "--repetitions", "5",
               "--output", tmp_path / "run", env=EMULATED)
    assert done.returncode == 0, done
    assert "right, and not timed: its tile instructions are emulated" in done.stdout
    found = {one["variant"]: one for one in cases(record(tmp_path / "run")).values()}
    assert found["local-accumulation"]["status"] == "ok", "others are measured beside it"
    # 20 maps are 2 tiles, 99 pixels 7, 18 taps 1 step; 3 images.
    for stage, tolerance, products in (("amx-six-products", 1e-6, 6 * 2 * 7 * 3),
                                       ("amx-three-products", 5e-5, 3 * 2 * 7 * 3)):
        case = found[stage]
        assert (case["status"], case["time"], case["other_times"], case["counters"]) == ("skipped", None, [], None)
        verified = case["verification"]
        assert verified["tolerance"] == tolerance and verified["images_compared"] == 3
        assert verified["before"]["passed"] and verified["integers"]["passed"]
        assert case["choice"].startswith("AMX, emulated") and f", {products} tile products a call" in case["choice"]


@pytest.mark.parametrize("command", [
    ["network", "--network", "lenet28", "--variant", "amx-six-products", "--batch", "1"],
    ["duel", "--base-variant", "local-accumulation", "--new-variant", "amx-six-products", *LAYER, "--rounds", "13"],
])
def test_what_compares_times_takes_none_of_an_emulation(tmp_path: Path, command: list[str]) -> None:
    if command[0] == "network":
        command = [*command, "--device", "cpu", "--output", str(tmp_path / "network")]
    done = run(*command, env=EMULATED)
    assert done.returncode in (0, 4), done
    assert "not timed: its tile instructions are emulated" in " ".join((done.stdout + done.stderr).split()), done


def test_without_amx_the_reason_says_what_can_be_done(tmp_path: Path) -> None:
    listed = run("list", "--machine", env=REAL).stdout
    tiles = next(line for line in listed.splitlines() if line.split()[:2] == ["AMX", "tiles"])
    if "the processor's" in tiles:
        pytest.skip("this processor has AMX")
    assert "none; CONVLADDER_AMX=emulated" in tiles
    assert "emulated, as CONVLADDER_AMX asks for" in run("list", "--machine", env=EMULATED).stdout
    done = run("run", "--variant", STAGES, *LAYER, "--output", tmp_path / "run", env=REAL)
    assert done.returncode == 0, done
    for case in cases(record(tmp_path / "run")).values():
        assert case["status"] == "unsupported" and "CONVLADDER_AMX=emulated" in case["reason"]


def test_another_wish_is_refused_with_the_known_one(tmp_path: Path) -> None:
    run("run", "--variant", STAGES, *LAYER, "--output", tmp_path / "run", env=REAL | {"CONVLADDER_AMX": "yes"})
    reasons = {case["reason"] for case in cases(record(tmp_path / "run")).values()}
    assert reasons == {"CONVLADDER_AMX is 'yes', it must be emulated or not be set"}
