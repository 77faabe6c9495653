"""Problems with several tensors of any element type, and with tensors that go in and out (tests/toy_problem): what is right passes
on the CPU and on the simulated device, and what is wrong in one way is refused with a reason that names the tensor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import REPOSITORY, cases, record, run

TOY = Path(os.environ.get("CONVLADDER_TOY_PROGRAM", REPOSITORY / "build/release/tests/convladder_toy")).resolve()
QUICK = ["--repetitions", "2", "--benchmark_min_time=0.0002"]
BATCH = 5  # more than the small problem of whole numbers has

# Of each problem: its size, the variants that are right, and the others with what is said of them.
ON_CPU = {
    "histogram": ("P300", ["loop"], {
        "skips-zeros": " of counts is as it was before the call",
        "never-writes-the-mode": " of mode is as it was before the call",
        "zeros": " of counts is 0, expected ",
        "off-by-one": "element 200 of counts is ",
        "keeps-the-last-mode": " of mode is ",
        "keeps-the-first-answer": " of counts is ",
        "overwrites-its-input": "item 0, element 0 of the input 'pixels' was overwritten",
        "forgets-the-items": "item 1, ",
    }),
    "product-sum": ("M7N9K5", ["loops"], {
        "never-writes": " of d is as it was before the call",
        "zeros": " of d is 0, expected ",
        "ignores-b": " of d is ",
        "ignores-c": " of d is ",
        "keeps-answer": " of d is ",
        "overwrites-c": "item 0, element 62 of the input 'c' was overwritten",
        "not-a-number": "item 0, element 62 of d is nan",
    }),
    "scaled-addition": ("N100", ["loop"], {
        "adds-twice": " of y is ",
        "does-nothing": " of y is as it was before the call",
        "leaves-one": "element 99 of y is as it was before the call",
        "overwrites-x": "element 99 of the input 'x' was overwritten",
        "keeps-answer": " of y is ",
        "zeros": " of y is 0, expected ",
        "in-float": " of y is ",
        "not-a-number": "element 99 of y is nan",
    }),
}
SIMULATED = {
    "histogram": (["block"], {"forgets-a-count": "element 255 of counts is as it was before the call",
                              "overwrites-its-input": "element 299 of the input 'pixels' was overwritten",
                              "off-by-one": "element 255 of counts is "}),
    "product-sum": (["element"], {"ignores-b": " of d is ", "not-a-number": "element 62 of d is nan"}),
    "scaled-addition": (["element"], {"adds-twice": " of y is ",
                                      "overwrites-x": "element 0 of the input 'x' was overwritten"}),
}
BYTES = {"histogram": 5 * (300 + 4 * 256 + 1), "product-sum": 5 * (2 * (7 * 5 + 5 * 9 + 7 * 9) + 4 * 7 * 9),
         "scaled-addition": 5 * 100 * (8 + 8 + 8) + 8}

pytestmark = pytest.mark.skipif(not os.access(TOY, os.X_OK), reason=f"not built: {TOY}")


def run_all(tmp_path: Path, problem: str, device: str, right: list[str], wrong: dict[str, str]) -> dict[str, dict]:
    """The cases by variant, of a record that is valid by its schema."""
    size = ON_CPU[problem][0]
    done = run("run", "--problem", problem, "--device", device, "--size", size, "--batch", str(BATCH), "--variant",
               ",".join([*right, *wrong]), *QUICK, "--output", tmp_path, program=TOY)
    assert done.returncode == 1, done.stderr
    found = {one["variant"]: one for one in cases(record(tmp_path)).values()}
    assert sorted(found) == sorted([*right, *wrong])
    return found


def assert_verdicts(found: dict[str, dict], right: list[str], wrong: dict[str, str]) -> None:
    for variant in right:
        assert found[variant]["status"] == "ok", (variant, found[variant]["reason"])
    for variant, reason in wrong.items():
        assert found[variant]["status"] == "incorrect", (variant, found[variant]["status"])
        assert reason in found[variant]["reason"], (variant, found[variant]["reason"])


@pytest.mark.parametrize("problem", ON_CPU)
def test_on_the_cpu(tmp_path: Path, problem: str) -> None:
    _, right, wrong = ON_CPU[problem]
    found = run_all(tmp_path, problem, "cpu", right, wrong)
    assert_verdicts(found, right, wrong)
    one = found[right[0]]
    assert one["work"]["minimum_bytes"] == BYTES[problem] and one["verification"]["after"]["passed"]


@pytest.mark.parametrize("problem", SIMULATED)
def test_on_the_simulated_device(tmp_path: Path, problem: str) -> None:
    if "family cuda" not in run("list", program=TOY).stdout:
        pytest.skip("built without the CUDA family")
    right, wrong = SIMULATED[problem]
    assert_verdicts(run_all(tmp_path, problem, "simulated", right, wrong), right, wrong)


def test_memcheck_names_an_input_that_is_written_to() -> None:
    if "family cuda" not in run("list", program=TOY).stdout:
        pytest.skip("built without the CUDA family")
    checked = run("check", "--problem", "scaled-addition", "--batch", "1", program=TOY)
    assert checked.returncode == 1
    right, twice, overwrites = (next(lines for lines in checked.stdout.split("simulated/") if lines.startswith(name))
                                for name in ("element/", "adds-twice/", "overwrites-x/"))
    assert "'x'" in overwrites and "'x'" not in right and "y" in twice


def test_a_duel_reads_every_tensor() -> None:
    done = run("duel", "--base", TOY, "--problem", "scaled-addition", "--size", "N100", "--batch", "5", "--variant", "loop",
               "--device", "cpu", "--dry-run", program=TOY)
    assert done.returncode == 0, done.stderr
