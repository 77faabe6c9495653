"""`convladder check`: the CUDA variants and operators under the checkers, from the PTX of every compiler."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import assert_refused, run


def _checked(*arguments: str) -> list[dict[str, Any]]:
    done = run("check", "--format", "json", *arguments)
    if "no PTX in this build" in done.stderr:
        pytest.skip("no PTX in this build")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_variant_is_right_and_nothing_is_found() -> None:
    cases = _checked("--shape", "2,17,19,5,3,1,1", "--batch", "1,3")
    compilers = {case["ptx_compiler"] for case in cases}
    listed = json.loads(run("list", "--format", "json").stdout)["variants"]
    ours = [one for one in listed if one["family"] == "cuda" and (one["rung"] is not None or "leaves_out" in one)]
    assert len(cases) == len(ours) * 2 * len(compilers)
    # A stage without an idea is compiled for a few tiles only; all stages run.
    few_tiles = {one["name"] for one in ours if "leaves_out" in one}
    assert {case["status"] for case in cases if case["id"].split("/")[1] not in few_tiles} == {"ok"}
    assert {case["status"] for case in cases if case["id"].split("/")[1] in few_tiles} == {"unsupported"}
    assert [case for case in cases if case["findings"]] == []


def test_what_a_variant_cannot_run_is_no_failure() -> None:
    cases = _checked("--variant", "compile-time", "--shape", "2,17,19,5,4", "--batch", "1")
    assert {case["status"] for case in cases} == {"unsupported"}
    assert all("kernel 4" in case["reason"] for case in cases)


def test_every_operator_of_a_network_is_right_and_nothing_is_found() -> None:
    cases = _checked("--problem", "softmax,max-pooling,tanh", "--network", "lenet28", "--batch", "1,3")
    compilers = {case["ptx_compiler"] for case in cases}
    # lenet28 has a max_pool and a softmax, and two tanh of different shapes; a batch is a case of its own.
    assert len(cases) == 4 * 2 * len(compilers)
    assert {case["status"] for case in cases} == {"ok"}
    assert [case for case in cases if case["findings"]] == []
    assert len({(case["id"], case["ptx_compiler"]) for case in cases}) == len(cases)


def test_the_text_has_the_sum_first_and_a_line_for_each_of_a_few_cases() -> None:
    done = run("check", "--variant", "shared-memory", "--shape", "1,8,8,2,3", "--batch", "1")
    if "no PTX in this build" in done.stderr:
        pytest.skip("no PTX in this build")
    assert done.returncode == 0
    assert "simulated/shared-memory/shape.C1H8W8M2K3/1" in done.stdout
    assert done.stdout.splitlines()[0].endswith("checked, 0 failed")
    verbose = run("check", "--variant", "shared-memory", "--shape", "1,8,8,2,3", "--batch", "1", "--verbose")
    assert verbose.stdout.splitlines()[-1] == done.stdout.splitlines()[0]


def test_of_many_cases_only_the_failed_ones_are_listed() -> None:
    done = run("check", "--problem", "tanh,softmax", "--network", "lenet28", "--batch", ",".join(map(str, range(1, 12))))
    if "no PTX in this build" in done.stderr:
        pytest.skip("no PTX in this build")
    assert len(done.stdout.splitlines()) == 2 and done.stdout.splitlines()[1].endswith("cases did not: --verbose")


@pytest.mark.parametrize("arguments, said", [
    (["--variant", "shared-memry"], "shared-memory"),
    (["--checkers", "rice"], "race"),
    (["--problem", "softmx"], "softmax"),
    (["--problem", "softmax", "--variant", "shared-memory"], "shared-memory"),
    (["--problem", "tanh", "--network", "lenet86"], "no layer of these networks"),
    (["--batch", "0"], "--batch"),
    (["--batch", "65"], "64"),
    (["--shape", "1,8,8"], "expected C,H,W,M,K"),
    (["--layer", "lenet28.conv9"], "lenet28.conv1"),
])
def test_bad_input_is_one_line(arguments: list[str], said: str) -> None:
    assert_refused(run("check", *arguments), said)


def test_tensor_cores_that_cut_off_are_further_off_and_within_the_tolerance() -> None:
    stages = ("--variant", "tensor-3xtf32,tensor-image-3xtf32,vectors-of-four", "--shape", "16,9,9,16,3", "--batch", "1")
    errors = {}
    for cores in ("rounding", "a100", "h100"):
        cases = _checked(*stages, "--tensor-cores", cores)
        assert {case["status"] for case in cases} == {"ok"}
        assert all(0 < case["largest_error"] <= case["tolerance"] for case in cases)
        errors[cores] = {(case["id"], case["ptx_compiler"]): case["largest_error"] for case in cases}
    for case, rounded in errors["rounding"].items():
        if "3xtf32" in case[0]:
            assert rounded < errors["h100"][case] < errors["a100"][case]
        else:
            assert rounded == errors["h100"][case] == errors["a100"][case], "without tensor cores"
    assert_refused(run("check", *stages, "--tensor-cores", "k80"), "k80")
