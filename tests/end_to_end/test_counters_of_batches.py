"""What is published for a large batch is what the batch does, wherever a kernel has its images in its grid."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import RELEASE, cases, record, run

# Also has the kernels of tests/seeded_cuda/image_places.cu.
MOVED = Path(os.environ.get("CONVLADDER_MOVED_PROGRAM", RELEASE / "tests/convladder_moved")).resolve()

MULTIPLY_ADDS = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
STORED_BYTES = "smsp__sass_data_bytes_mem_global_op_st.sum"
BATCH = 100
OF_AN_IMAGE = 6 * 7 * 8 * 9
"""Multiply-adds: maps, rows and columns of the output, taps."""

NAMES = ["x", "y", "z", "guarded", "z-said-x", "silent", "with-maps", "persistent", "strided", "pairs", "inner-loop",
         "skip-zeros", "last-more", "each-a-launch", "two-kernels"]


def test_every_kernel_publishes_what_its_batch_does(tmp_path: Path) -> None:
    if not os.access(MOVED, os.X_OK):
        pytest.skip(f"not built: {MOVED}")
    folder = tmp_path / "run"
    done = run("run", "--device", "simulated", "--variant", ",".join(f"seeded-images-{name}" for name in NAMES),
               "--shape", "1,9,10,6,3", "--batch", BATCH, "--output", folder, program=MOVED)
    if "no PTX in this build" in done.stdout:
        pytest.skip("no PTX in this build")
    assert done.returncode == 0, done
    found = {one["variant"].removeprefix("seeded-images-"): one for one in cases(record(folder)).values()}
    assert sorted(found) == sorted(NAMES)
    for name, one in found.items():
        assert one["status"] == "ok", one
        counters = one["counters"]
        executed = 8 if name in ("x", "y", "z", "guarded", "two-kernels") else BATCH
        assert (counters["batch"], counters["images_executed"]) == (BATCH, executed), name
        assert counters["exact"] == (name != "skip-zeros"), name
        if name == "skip-zeros":  # how many there are depends on images that were not there
            assert 0 < counters["totals"][MULTIPLY_ADDS] <= BATCH * OF_AN_IMAGE
            continue
        images = BATCH + (name == "last-more")
        of_weights = 4 * 6 * 9 if name == "two-kernels" else 0
        assert counters["totals"][MULTIPLY_ADDS] == images * OF_AN_IMAGE, name
        assert counters["totals"][STORED_BYTES] == images * 4 * 6 * 7 * 8 + of_weights, name
