"""What is not verified is not timed: whatever cheats or is wrong gets a status, a reason and no time, on every command.

The variants are those of tests/seeded_variants; the head of each file says what is wrong with it. A case is left out
where its variant is right: image 5 of a batch of one, say.

Two batches are run, of some and of very many images, and one is run in networks and fused. The others differ in how many
images there are to look at, and in nothing that finds a cheat: scripts/test.sh --all runs them too, and the cheats with a
run of their own in networks.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import ALL, SEEDED, complaints, is_sanitized, run

FAILED = {"incorrect", "crashed", "timeout", "launch failed", "refused", "not judged"}
CONTROLS = ["memory-accumulation", "compile-time", "register-tile", "seeded-correct", "seeded-tunable"]
BATCHES = (8,) if is_sanitized() else (1, 8, 1000) if ALL else (8, 1000)
"""Sanitizers see in one batch what they see in all."""
NETWORK_BATCHES = BATCHES if ALL else (8,)
"""And those of fused variants."""
MANY = tuple(batch for batch in BATCHES if batch >= 8)
MORE_THAN_EIGHT = tuple(batch for batch in BATCHES if batch > 8)
NEVER: tuple[int, ...] = ()
FEW = BATCHES[-2:]
ONE = BATCHES[-1:]
"""Of what takes seconds to be found, and nothing of it depends on the batch."""

SHAPES = {1: "16,18,18,16,3", 8: "8,14,14,8,3", 1000: "1,8,8,2,3"}
"""About a million operations a call: quick, and above what a clock can tell. All of it fits into the caches, where the floor is that of
the operations: the ceilings of the memory, whose buffers are small here, refuse nothing."""

LARGE = ("1,20,20,3,3", 300)
"""Shape and batch of an output that is filled in pieces: 291600 elements."""
LARGE_SAMPLES = {"one call": "0.000001", "several calls": "0.05"}
"""--benchmark_min_time, at a few milliseconds a call."""
WRONG_WHEN_LARGE = ["own-output", "half-own-output", "off-when-timed", "null-after-verification", "first-answer",
                    "previous-answer", "every-1000th"]
"""What goes by what its output held before, or answers for another input."""

PLACE = r"image \d+|right behind a call, item \d+"
ITEM = r"(image|item) \d+"  # as problems other than the convolution say it
"""An output was compared, and the reason names where it was wrong."""
TIME = r"time|clock|floor|fast|ns\b|it claims"
ANY = rf"{PLACE}|{TIME}|before the call"
"""An idle call leaves a wrong output, and is faster than the layer can be."""


@dataclass(frozen=True)
class Wrong:
    """What the reason must match, and where it is wrong: batches of `run` and `network`, and whether in a duel."""

    reason: str
    batches: tuple[int, ...] = BATCHES
    network: tuple[int, ...] = NEVER
    duel: bool = True
    alone: bool = False


# A network prepares every pass anew: what is honest in its first call is honest there. Its chunks are of one call each.
WRONG = {
    "image-five": Wrong(r"(image|item) 5\b", MANY, MANY),
    "compared-images": Wrong(PLACE, MORE_THAN_EIGHT, MORE_THAN_EIGHT),
    "in-prepare": Wrong(PLACE, network=BATCHES),
    "first-answer": Wrong(PLACE, network=BATCHES),
    "not-poison": Wrong(ANY, network=BATCHES),
    "own-output": Wrong(ANY),
    "half-not-poison": Wrong(ANY, network=BATCHES),
    "half-own-output": Wrong(ANY),
    "reads-reference": Wrong(ANY, network=BATCHES),
    "reads-parent": Wrong(ANY, network=BATCHES),
    "forged-answers": Wrong(r"\S", network=FEW, alone=True),
    "forged-samples": Wrong(r"\S"),
    "forged-times": Wrong(TIME, network=(1000,)),  # of a smaller batch it is the least part of a pass
    "null-after-verification": Wrong(ANY),
    "hashed-input": Wrong(PLACE),  # every pass of a network has other images, and other hashes
    "background": Wrong(ANY),
    "every-1000th": Wrong(ANY),
    "changed-images": Wrong(PLACE),
    "clock": Wrong(TIME, network=(1000,)),
    "one-float": Wrong(PLACE, MANY, MANY),
    "off-when-timed": Wrong(PLACE),
    "half-precision": Wrong(PLACE, network=BATCHES),
    "half-when-timed": Wrong(PLACE),
    "equal-images": Wrong(PLACE, MANY, MANY),
    "border-column": Wrong(PLACE, network=BATCHES),
    "same-address": Wrong(PLACE, network=BATCHES),
    "nan-when-timed": Wrong(PLACE),
    # Their layer times, which duels and networks have alone, are honest.
    "work-in-store": Wrong(TIME, ONE, duel=False),
    "work-in-load": Wrong(TIME, ONE, duel=False),
    "work-in-choice": Wrong(PLACE),
    "loose-tolerance": Wrong(rf"toleranc|{PLACE}", network=BATCHES),
    "two-tolerances": Wrong(rf"toleranc|{PLACE}", network=BATCHES),
    "rewrites-workload": Wrong(r"\S", network=FEW, alone=True),
    "quick-calls": Wrong(ANY),
    "previous-answer": Wrong(PLACE),
    # In a network the next step pays, and a small batch is too little work to tell.
    "on-demand": Wrong(ANY + r"|Bad address", ONE, network=(1000,)),
    "caller": Wrong(ANY, duel=False),  # a duel's slots have two ways to it as well
    "saturates": Wrong(PLACE, network=BATCHES),
    "negative-inputs": Wrong(PLACE),
    "nonsense-answers": Wrong(r"\S", network=FEW, alone=True),
}
ALONE = {name: wrong for name, wrong in WRONG.items() if wrong.alone}
TOGETHER = [name for name in WRONG if name not in ALONE]

FUSED = {
    "fused-idle": Wrong(rf"{ANY}|{ITEM}"),
    "fused-image-five": Wrong(r"(image|item) 5\b", MANY, MANY),
    "fused-first-answer": Wrong(ITEM, network=BATCHES),
    "fused-half": Wrong(ANY, network=BATCHES),
}
# What a fused variant is compared with is a case of its own; this one has a stage that cheats.
SEPARATE_CHEAT = "separate-seeded-first-answer"
OPERATORS = {
    "idle": Wrong(ANY, network=BATCHES),
    "image-five": Wrong(r"image 5\b", network=MANY),
    "first-answer": Wrong(PLACE, network=BATCHES),
}
IN_NETWORK = {name: wrong for name, wrong in (WRONG | FUSED).items() if wrong.network}

# All of them take minutes: CONVLADDER_SLOW_TESTS=1 has them. Otherwise one of each kind, and two with all batches.
QUICK_DUELS = ["background", "clock", "forged-samples", "forged-times", "image-five",
               "off-when-timed", "on-demand", "own-output", "first-answer", "reads-parent"]
SLOW = bool(os.environ.get("CONVLADDER_SLOW_TESTS"))
DUELS = [(name, batch) for name, wrong in WRONG.items() if wrong.duel for batch in wrong.batches if batch in BATCHES
         and (SLOW or (batch == 1000 and name in QUICK_DUELS) or name in ("own-output", "first-answer"))]

NETWORK = {
    "name": "refused", "title": "One of each", "input": {"channels": 1, "height": 12, "width": 12},
    "layers": [{"name": "conv1", "type": "convolution", "out_channels": 12, "kernel": 3},
               {"name": "relu1", "type": "relu"},
               {"name": "pool1", "type": "max_pool", "size": 2, "stride": 2},
               {"name": "fc1", "type": "fully_connected", "out_features": 10},
               {"name": "softmax", "type": "softmax"}], "batches": [8]}


def of(table: dict[str, Wrong], attribute: str, among: tuple[int, ...] = BATCHES) -> list[tuple[str, int]]:
    """Every name with each of its batches."""
    return [(name, batch) for name, wrong in table.items() for batch in getattr(wrong, attribute) if batch in among]


def in_networks(table: dict[str, Wrong]) -> list[tuple[str, int]]:
    """Every name with each of its batches in networks, but for what has a run of its own there."""
    return [(name, batch) for name, batch in of(table, "network", NETWORK_BATCHES) if ALL or not table[name].alone]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the records of this file's runs are."""
    return tmp_path_factory.mktemp("refused")


@pytest.fixture(scope="module")
def network_file(folder: Path) -> Path:
    """A network of few layers, one of which each kind of variant is."""
    path = folder / "refused_network.json"
    path.write_text(json.dumps(NETWORK), encoding="utf-8")
    return path


@functools.cache
def recorded(folder: Path, command: str, names: tuple[str, ...], batch: int, *arguments: object) -> dict[str, Any]:
    """The cases of one run's record, which is valid, by variant or configuration, and "exit code"."""
    output = Path(tempfile.mkdtemp(dir=folder))
    done = run(command, "--variant", ",".join(names), "--batch", batch, "--timeout", 5, "--quiet", "--output", output,
               *arguments, program=SEEDED)
    assert done.returncode in (0, 1), done.stderr
    path = output / f"{command}.json"
    assert complaints(path) == []
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["complete"]
    if command == "sweep":
        one, = document["sweeps"]
        return {tried["text"]: tried for tried in document["cases"]} | {
            "best": one["best"], "exit code": done.returncode}
    return {case["id"].split("/")[1]: case for case in document["cases"]} | {"exit code": done.returncode}


def seeded(names: Any) -> list[str]:
    """As they are registered."""
    return [f"seeded-{name}" for name in names]


def run_of(folder: Path, name: str, batch: int) -> dict[str, Any]:
    """The run that the variant is in: of all that are wrong with that batch, or of its own; each with the controls."""
    names = TOGETHER if name in TOGETHER else [name]
    variants = seeded(one for one in names if batch in WRONG[one].batches) + CONTROLS
    return recorded(folder, "run", tuple(variants), batch, "--family", "cpu", "--no-table", "--repetitions", 6,
                    "--benchmark_min_time=0.006", "--shape", SHAPES[batch])


def network_of(folder: Path, network_file: Path, name: str, batch: int) -> dict[str, Any]:
    """Likewise, plugged into the network."""
    alone = name in WRONG and WRONG[name].alone
    names = [name] if alone else [one for one in IN_NETWORK if one in FUSED or not WRONG[one].alone]
    variants = seeded(one for one in names if batch in IN_NETWORK[one].network) + CONTROLS + ["seeded-fused-correct"]
    return recorded(folder, "network", tuple(variants), batch, "--network", network_file, "--device", "cpu",
                    "--weights", "random", "--repetitions", 3)


def fused_of(folder: Path, network_file: Path, batch: int) -> dict[str, Any]:
    """The fused variants beside the separate operators."""
    names = seeded(name for name, wrong in FUSED.items() if batch in wrong.batches)
    names += ["seeded-fused-correct", "separate-seeded-correct", SEPARATE_CHEAT]
    return recorded(folder, "run", tuple(names), batch, "--problem", "fused-convolution", "--device", "cpu",
                    "--no-table", "--repetitions", 6, "--benchmark_min_time=0.006", "--network", network_file)


def numbers_in(value: Any) -> list[Any]:
    """Every number below a member of a record."""
    if isinstance(value, dict):
        return [number for member in value.values() for number in numbers_in(member)]
    if isinstance(value, list):
        return [number for member in value for number in numbers_in(member)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def assert_refused_case(of_run: dict[str, Any], variant: str, reason: str, *times: str) -> None:
    """It failed for a reason that is in the record, and none of its times is."""
    case = of_run[variant]
    assert case["status"] in FAILED, f"published as {case['status']}: {[case.get(name) for name in times]}"
    if case["status"] == "not judged":  # other tests run beside it
        assert "the machine was busy" in case["reason"], case["reason"]
    else:
        assert re.search(reason, case["reason"], re.IGNORECASE), case["reason"]
    assert case["reason"].isprintable(), "a reason is one line"
    for name in times:
        assert numbers_in(case.get(name)) == [], name
    judged = [one for one in of_run.values() if isinstance(one, dict) and one.get("status") in FAILED - {"not judged"}]
    assert of_run["exit code"] == (1 if judged else 0)


def assert_stands(of_run: dict[str, Any], variant: str) -> None:
    """Nothing that went on beside it touched the case."""
    case = of_run[variant]
    assert (case["status"], case["reason"]) == ("ok", None)


@pytest.mark.parametrize("name, batch", of(WRONG, "batches"))
def test_run(folder: Path, name: str, batch: int) -> None:
    assert_refused_case(run_of(folder, name, batch), f"seeded-{name}", WRONG[name].reason, "time", "other_times")


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("beside", ["image-five", *ALONE])
def test_run_controls_stand(folder: Path, beside: str, batch: int) -> None:
    of_run = run_of(folder, beside, batch)
    for control in CONTROLS:
        assert_stands(of_run, control)
        assert min(of_run[control]["time"]["samples"]) > 0


@pytest.mark.parametrize("samples", LARGE_SAMPLES)
@pytest.mark.parametrize("name", WRONG_WHEN_LARGE)
def test_run_with_a_large_output(folder: Path, samples: str, name: str) -> None:
    shape, batch = LARGE
    of_run = recorded(folder, "run", tuple(seeded(WRONG_WHEN_LARGE) + ["seeded-correct"]), batch, "--family", "cpu",
                      "--no-table", "--repetitions", 6, f"--benchmark_min_time={LARGE_SAMPLES[samples]}", "--shape", shape)
    assert_refused_case(of_run, f"seeded-{name}", ANY, "time", "other_times")
    assert_stands(of_run, "seeded-correct")
    assert (of_run["seeded-correct"]["time"]["iterations_per_sample"] == 1) == (samples == "one call")


@pytest.mark.parametrize("batch", BATCHES)
def test_sweep(folder: Path, batch: int) -> None:
    of_sweep = recorded(folder, "sweep", ("seeded-tunable",), batch, "--device", "cpu", "--repetitions", 3, "--shape",
                        SHAPES[batch])
    for cheat in (1, 2, 3) if batch in MANY else (1, 3):  # the second has image 5 wrong
        assert_refused_case(of_sweep, f"cheat={cheat}", ANY, "time", "score")
    assert_stands(of_sweep, "cheat=4")
    assert batch not in MANY or of_sweep["best"] == "cheat=4"


def duel(tmp_path: Path, variant: str, batch: int) -> dict[str, Any]:
    """The only case of a duel with a variant that is right, and "exit code"."""
    done = run("duel", "--base-variant", "seeded-correct", "--new-variant", variant, "--family", "cpu", "--shape",
               SHAPES[batch], "--batch", batch, "--rounds", 13, "--timeout", 5, "--quiet", "--output",
               tmp_path / "duel.json", program=SEEDED)
    assert (tmp_path / "duel.json").exists(), done.stderr
    one, = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))["cases"]
    return one | {"exit code": done.returncode}


@pytest.mark.parametrize("name, batch", DUELS)
def test_duel(tmp_path: Path, name: str, batch: int) -> None:
    one = duel(tmp_path, f"seeded-{name}", batch)
    busy = "the machine was busy" in (one["reason"] or "")  # other tests run beside it
    assert (one["verdict"], one["exit code"] == 1) == (("inconclusive", False) if busy else ("failed", True)), one
    assert busy or re.search(WRONG[name].reason, one["reason"], re.IGNORECASE), one["reason"]
    assert one["change"] is None


def test_duel_control_stands(tmp_path: Path) -> None:
    assert duel(tmp_path, "memory-accumulation", 1000)["verdict"] != "failed"


@pytest.mark.parametrize("name, batch", in_networks(IN_NETWORK))
def test_network(folder: Path, network_file: Path, name: str, batch: int) -> None:
    of_run = network_of(folder, network_file, name, batch)
    assert_refused_case(of_run, f"seeded-{name}", IN_NETWORK[name].reason, "total", "phases")
    for step in of_run[f"seeded-{name}"]["steps"]:
        assert step["time"] is None


@pytest.mark.parametrize("beside, batch", [("in-prepare", batch) for batch in NETWORK_BATCHES] + in_networks(ALONE))
def test_network_controls_stand(folder: Path, network_file: Path, beside: str, batch: int) -> None:
    of_run = network_of(folder, network_file, beside, batch)
    for control in [*CONTROLS, "seeded-fused-correct"]:
        assert_stands(of_run, control)


@pytest.mark.parametrize("name, batch", in_networks(OPERATORS))
def test_network_with_an_operator(folder: Path, network_file: Path, name: str, batch: int) -> None:
    of_run = recorded(folder, "network", ("seeded-correct",), batch, "--network", network_file, "--device", "cpu",
                      "--weights", "random", "--repetitions", 3, "--operator", f"max_pool=seeded-{name}")
    assert_refused_case(of_run, "seeded-correct", OPERATORS[name].reason, "total", "phases")


@pytest.mark.parametrize("batch", NETWORK_BATCHES)
def test_network_with_an_operator_that_is_right(folder: Path, network_file: Path, batch: int) -> None:
    of_run = recorded(folder, "network", ("seeded-correct",), batch, "--network", network_file, "--device", "cpu",
                      "--weights", "random", "--repetitions", 3, "--operator", "max_pool=seeded-correct")
    assert_stands(of_run, "seeded-correct")


@pytest.mark.parametrize("name, batch", of(FUSED, "batches", NETWORK_BATCHES))
def test_fused(folder: Path, network_file: Path, name: str, batch: int) -> None:
    of_run = fused_of(folder, network_file, batch)
    assert_refused_case(of_run, f"seeded-{name}", FUSED[name].reason, "time", "other_times")


@pytest.mark.parametrize("batch", NETWORK_BATCHES)
def test_fused_controls_stand_and_a_cheat_among_the_separate_ones_does_not(
        folder: Path, network_file: Path, batch: int) -> None:
    of_run = fused_of(folder, network_file, batch)
    assert_stands(of_run, "seeded-fused-correct")
    assert_stands(of_run, "separate-seeded-correct")
    assert_refused_case(of_run, SEPARATE_CHEAT, ITEM, "time", "other_times")
