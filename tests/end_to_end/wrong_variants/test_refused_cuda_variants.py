"""What is not verified is not counted: CUDA variants that cheat or are wrong have no counters on the simulated device.

The variants are those of tests/seeded_cuda/wrong_variants.cu, which says what is wrong with each. A case is left out
where its variant is right.
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

from conftest import RELEASE, complaints, run
from test_refused_variants import BATCHES, FAILED, MANY, MORE_THAN_EIGHT, NETWORK, NEVER, numbers_in

PROGRAM = Path(os.environ.get("CONVLADDER_SEEDED_CUDA_PROGRAM", RELEASE / "tests/convladder_seeded_cuda")).resolve()
pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="no compiler for kernels in this build")

CONTROLS = ["global-memory", "shared-memory", "seeded-correct"]
SHAPES = {1: "8,10,10,8,3", 8: "4,9,9,4,3", 100: "2,8,8,3,3", 1000: "1,8,8,2,3"}
PLACE = r"image \d+"
COUNTED = r"image \d+|count|launch|kernel|plan|window|grid|floor|instruction"
"""The counters are not those of the work, or of the launches that were planned."""


@dataclass(frozen=True)
class Wrong:
    """What the reason must match, and the batches of `run` and `network` with which the variant is wrong."""

    reason: str
    batches: tuple[int, ...] = BATCHES
    network: tuple[int, ...] = NEVER


# A network prepares every pass anew: what is honest in its first call is honest there.
WRONG = {
    "idle-launch": Wrong(rf"{PLACE}|before the call", network=BATCHES),
    "idle-after-first": Wrong(COUNTED),
    "image-five": Wrong(r"image 5\b", MANY, MANY),
    "first-answer": Wrong(COUNTED, network=BATCHES),
    "in-prepare": Wrong(COUNTED, network=BATCHES),
    "first-images": Wrong(COUNTED, MORE_THAN_EIGHT, MORE_THAN_EIGHT),
    "host-work": Wrong(COUNTED, network=BATCHES),
    "takes-counters": Wrong(COUNTED, network=BATCHES),
    "narrow-window": Wrong(COUNTED, MANY),
    "lying-plan": Wrong(COUNTED),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the records of this file's runs are."""
    return tmp_path_factory.mktemp("refused_cuda")


@functools.cache
def recorded(folder: Path, command: str, batch: int) -> dict[str, Any]:
    """The cases of one run of all that are wrong with that batch and the controls, by variant, and "exit code"."""
    output = Path(tempfile.mkdtemp(dir=folder))
    names = [f"seeded-{name}" for name, wrong in WRONG.items()
             if batch in (wrong.batches if command == "run" else wrong.network)]
    what = ["--shape", SHAPES[batch], "--no-table"]
    if command == "network":
        (output / "network_file.json").write_text(json.dumps(NETWORK), encoding="utf-8")
        what = ["--network", output / "network_file.json", "--weights", "random"]
    done = run(command, "--device", "simulated", "--variant", ",".join(names + CONTROLS), "--batch", batch, "--quiet",
               "--timeout", 30, "--output", output, *what, program=PROGRAM)
    assert done.returncode in (0, 1), done.stderr
    assert complaints(output / f"{command}.json") == []
    document = json.loads((output / f"{command}.json").read_text(encoding="utf-8"))
    return {case["id"].split("/")[1]: case for case in document["cases"]} | {"exit code": done.returncode}


def assert_refused_case(of_run: dict[str, Any], variant: str, reason: str) -> None:
    """It failed for a reason that is in the record, and nothing that it counted is."""
    case = of_run[variant]
    counted = case.get("counters") or [step["counters"] for step in case.get("steps", [])]
    assert case["status"] in FAILED, f"published as {case['status']}: {numbers_in(counted)[:5]}"
    assert re.search(reason, case["reason"], re.IGNORECASE), case["reason"]
    assert numbers_in(counted) == []
    assert of_run["exit code"] == 1


@pytest.mark.parametrize("name, batch", [(name, batch) for name, wrong in WRONG.items() for batch in wrong.batches])
def test_run(folder: Path, name: str, batch: int) -> None:
    assert_refused_case(recorded(folder, "run", batch), f"seeded-{name}", WRONG[name].reason)


@pytest.mark.parametrize("name, batch", [(name, batch) for name, wrong in WRONG.items() for batch in wrong.network])
def test_network(folder: Path, name: str, batch: int) -> None:
    assert_refused_case(recorded(folder, "network", batch), f"seeded-{name}", WRONG[name].reason)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("command", ["run", "network"])
def test_controls_stand(folder: Path, command: str, batch: int) -> None:
    of_run = recorded(folder, command, batch)
    for control in CONTROLS:
        assert (of_run[control]["status"], of_run[control]["reason"]) == ("ok", None)
