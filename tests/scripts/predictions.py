"""Predictions like those of real runs, for records that RecordMaker counted."""

from __future__ import annotations

from typing import Any, Optional

from conftest import summary

GPUS = {"k80": "NVIDIA Tesla K80", "h100": "NVIDIA H100 SXM", "h200": "NVIDIA H200 SXM"}
CEILINGS = {"fp32_gflop_per_s": 60000.0, "shared_gb_per_s": 30000.0, "l1_gb_per_s": 30000.0, "l2_gb_per_s": 9000.0,
            "dram_gb_per_s": 3000.0}


def with_predictions(document: dict[str, Any]) -> dict[str, Any]:
    """The document, with a prediction for each of its counted cases; no time of two stages or GPUs is the same."""
    for case in document["cases"]:
        if case["counters"] is not None:
            case["prediction"] = prediction(case["work"]["flop"], case["rung"])
    for ladder in document["ladders"]:
        rungs = {case["rung"]: case["variant"] for case in document["cases"] if case["prediction"] and all(
            case[name] == ladder[name] for name in ("device", "family", "network", "layer", "batch"))}
        if rungs:
            ladder["summary"] = summary(baseline=rungs[min(rungs)], best=rungs[max(rungs)], best_by="predicted", gpu="h100")
    return document


def prediction(flop: float, rung: int) -> dict[str, Any]:
    """Of one kernel: shared memory from the third rung on."""
    return {"kind": "predicted", "of": "op", "unit": "ns", "model": "bottlenecks 1",
            "roofline": {"flop": flop, "shared_bytes": 0.0 if rung < 3 else 5.0 * flop, "l1_bytes": 8 * flop / rung,
                         "l2_bytes": flop / rung, "dram_bytes": flop / 10},
            "gpus": [on_gpu(name, flop / 1e3 / rung * (index + 1), rung) for index, name in enumerate(GPUS)]}


def on_gpu(name: str, low: Optional[float], rung: int) -> dict[str, Any]:
    """From `low` to three times of it; without it the kernel cannot be launched."""
    runs = low is not None
    high = 3 * low if low is not None else None
    ends = {"low": low, "high": high, "binding_low": "issue" if runs else None,
            "binding_high": "load/store unit" if runs else None}
    kernel = {"kernel": "convolve", "registers": 30 + rung, "shared_bytes": 0,
              "occupancy": {"blocks": 2 if runs else 0, "warps": 32 if runs else 0, "share": 0.5 if runs else 0.0,
                            "limited_by": ["registers" if runs else "shared memory"]},
              "waves": {"low": 1.5, "high": 2.0} if runs else None, **ends,
              "terms": {"issue": {"low": low, "high": low}, "load/store unit": {"low": 0.0, "high": high}} if runs else
              None}
    return {"gpu": name, "title": GPUS[name], "resources_of": "sm_90", **ends, "ceilings": dict(CEILINGS),
            "kernels": [kernel]}
