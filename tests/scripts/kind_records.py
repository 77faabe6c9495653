"""Small records of the kinds beyond runs, networks and rankings, as the program writes them."""

from __future__ import annotations

from typing import Any

from conftest import context, known

LIMITS = {"tau": 0.02, "delta": 0.05, "alpha": 0.01}
VERDICTS = ("regressed", "failed", "missing", "incomparable", "inconclusive", "improved", "new", "pass", "skipped")


def _time(median: float, spread: float = 0.1) -> dict[str, Any]:
    return {"kind": "measured", "of": "layer", "unit": "ns", "median": median, "samples": [median, median],
            "interval": {"low": median * (1 - spread), "high": median * (1 + spread), "level": 0.95}}


def sweep(kind: str = "measured") -> dict[str, Any]:
    """Three configurations, the best another than the default, and one that is wrong."""
    name = "cpu/implicit-gemm/lenet72.conv2/10"
    scores = {"maps=8,channels=2": 2.0e6, "maps=4,channels=2": 1.0e6, "maps=8,channels=1": 3.0e6}
    cases = [{"id": f"{name}/{text}", "sweep": name, "text": text, "status": "ok", "reason": None,
              "configuration": {key: int(value) for key, value in (part.split("=") for part in text.split(","))},
              "score": {"value": score, "low": score * 0.9, "high": score * 1.1}} for text, score in scores.items()]
    cases.append({"id": f"{name}/maps=1,channels=1", "sweep": name, "text": "maps=1,channels=1", "status": "incorrect",
                  "reason": "off by 3", "configuration": {"maps": 1, "channels": 1}, "score": None})
    return {"schema_version": "1.1", "kind": "sweep", "complete": True, "context": context(),
            "planned": [case["id"] for case in cases], "cases": cases, "sweeps": [
                {"id": name, "device": "cpu", "scoring": {"kind": kind, "of": "time", "unit": "ns", "gpu": None},
                 "possible": 100, "tried": 4, "default": "maps=8,channels=2", "by_model": "maps=8,channels=2",
                 "best": "maps=4,channels=2", "of_default": {text: known(score / 2.0e6, 0.1) for text, score in scores.items()}}]}


def _counts(**counts: int) -> dict[str, int]:
    return {verdict: counts.get(verdict, 0) for verdict in VERDICTS}


def _change(estimate: float) -> dict[str, float]:
    return {"estimate": estimate, "low": estimate - 0.02, "high": estimate + 0.02}


def duel() -> dict[str, Any]:
    """One case that got slower, one that was skipped, and a control that stood still."""
    rounds = [{"order": "ABBA", "values": [1.0e6, 1.3e6, 1.3e6, 1.0e6]}] * 13
    metric = {"name": "layer time", "unit": "ns", "better": "lower"}
    build = {"path": "before/convladder", "program": context()["program"]}
    slower = {"id": "cpu/flat-vector/lenet28.conv1/10", "device": "cpu", "base_variant": "flat-vector",
              "new_variant": "flat-vector", "metric": metric, "verdict": "regressed", "reason": None, "base_median": 1.0e6,
              "new_median": 1.3e6, "change": _change(0.3), "rounds_wanting": None,
              "screen": {"change": _change(0.3), "rounds": rounds[:9]}, "confirm": {"change": _change(0.3), "rounds": rounds}}
    skipped = {"id": "cuda/compile-time/lenet28.conv1/10", "device": "cuda", "base_variant": "compile-time",
               "new_variant": "compile-time", "metric": metric, "verdict": "skipped", "reason": "no CUDA device", "base_median": None,
               "new_median": None, "change": None, "rounds_wanting": None, "screen": None, "confirm": None}
    return {"schema_version": "2.0", "kind": "duel", "base": build, "new": build,
            "settings": LIMITS | {"extra_percent": 0}, "exit_code": 1, "counts": _counts(regressed=1, skipped=1),
            "notes": ["a note"], "control": {"change": _change(0.0), "contaminated": False, "failure": None,
                                             "rounds": rounds}, "cases": [slower, skipped], "context": context()}


def commands() -> dict[str, Any]:
    """A duel of two commands in two metrics: the time stayed, the rate fell."""
    document = duel()
    slower = document["cases"][0]
    names = {"base_variant": "parse", "new_variant": "parse", "group": "commands"}
    rate = slower | names | {"id": "parse: rate", "metric": {"name": "rate", "unit": None, "better": "higher"}, "base_median": 400.0,
                             "new_median": 280.0, "change": _change(-0.3)}
    time = slower | names | {"id": "parse: wall time", "metric": {"name": "wall time", "unit": "ns", "better": "lower"}, "verdict": "pass",
                             "change": _change(0.0), "confirm": None}
    sides = {name: {"command": f"./{name}/parse", "folder": None, "variables": ["THREADS=1"], "sha256": None}
             for name in ("base", "new")}
    return document | sides | {"cases": [time, rate], "counts": _counts(regressed=1, **{"pass": 1})}


def selftest() -> dict[str, Any]:
    """Two levels."""
    def level(extra: int, regressed: int) -> dict[str, Any]:
        return {"extra_percent": extra, "duels": 4, "regressed": regressed, "inconclusive": 0, "pass": 4 - regressed,
                "improved": 0, "contaminated": 0, "regressed_low": 0.0, "regressed_high": 0.6}
    return {"schema_version": "1.0", "kind": "selftest", "case": "cpu/memory-accumulation/shape.C1/1",
            "settings": LIMITS, "complete": True, "seconds": 9.0, "levels": [level(0, 0), level(10, 4)], "runs": [],
            "context": context()}


def comparison() -> dict[str, Any]:
    """One case that got faster, and one that cannot be told."""
    def case(variant: str, verdict: str, estimate: float) -> dict[str, Any]:
        return {"id": f"cpu/{variant}/lenet28.conv1/10", "verdict": verdict, "reason": None, "cause": None,
                "control": False, "witness": "onednn", "base_median_ns": 1.0e6, "new_median_ns": 1.0e6 * (1 + estimate),
                "change": _change(estimate), "beside_witness": None, "counters": [], "modelled": []}
    side = {"file": "base/run.json", "commit": "0123456789abcdef", "dirty": False, "date": "2025-01-01T12:00:00Z",
            "host": "bench", "ptx": []}
    return {"kind": "comparison", "base": side, "new": side | {"file": "new/run.json"}, "limits": LIMITS, "exit_code": 2,
            "counts": _counts(improved=1, inconclusive=1), "notes": [], "cases": [
                case("flat-vector", "improved", -0.4), case("compile-time", "inconclusive", 0.01)]}


def history() -> dict[str, Any]:
    """A case that got slower, beside its anchor."""
    def series(variant: str, anchor: str, factor: float, changes: list[Any]) -> dict[str, Any]:
        points = [{"run": at, "median_ns": 1.0e6 * factor, "interval_ns": None, "samples": 25,
                   "ratio": None if variant == anchor else factor, "ratio_interval": None, "quiet": True} for at in range(8)]
        return {"id": f"cpu/{variant}/lenet28.conv1/10", "number": 1, "variant": variant, "rung": 4, "device": "cpu",
                "network": "lenet28", "layer": "conv1", "batch": 10, "of": "layer", "hardware": "Example CPU",
                "host": "bench", "anchor": anchor, "split": [], "not_judged": None, "points": points, "changes": changes}
    change = {"point": 5, "run": 5, "change": 0.25, "anchor_change": 0.0, "p": 0.001, "marked": True}
    runs = [{"file": f"{at}/run.json", "date": f"2025-01-0{at + 1}T12:00:00Z", "commit": f"{at}123456789", "dirty": False,
             "host": "bench", "complete": True} for at in range(8)]
    return {"kind": "history", "alpha": 0.05, "series_alpha": 0.05, "judged": 1, "tau": 0.02, "fewest_runs": 8,
            "runs": runs, "unreadable": [], "notes": [], "series": [
                series("flat-vector", "onednn", 2.0, [change]), series("onednn", "onednn", 1.0, [])]}


def baseline() -> dict[str, Any]:
    """Counters of two variants, and one that does not suit the layer."""
    def case(variant: str, instructions: int) -> dict[str, Any]:
        kernel = {"kernel": f"conv_{variant}", "grid": [8, 1, 1], "block": [64, 1, 1],
                  "values": {"smsp__inst_executed.sum": instructions}, "modelled": {}}
        return {"compiler": "nvcc", "compiler_version": "13.0.88", "layer": "conv1", "variant": variant,
                "shape": [8, 1, 28, 28, 50, 5, 1, 0, 1], "ptx_sha256": "00", "kernels": [kernel]}
    unsupported = case("winograd", 0) | {"unsupported": "only for stride 1"}
    del unsupported["kernels"]
    return {"schema_version": 1, "kind": "counter baseline", "network": "lenet28",
            "cases": [case("global-memory", 900000), case("register-tile", 70000), unsupported]}


def baseline_check() -> dict[str, Any]:
    """A case that moved, one from nothing, and one that did not move."""
    def case(variant: str, verdict: str, moves: list[Any]) -> dict[str, Any]:
        return {"id": f"simulated/{variant}/lenet28.conv1/8", "ptx_compiler": "nvcc", "compiler_version": "13.0.88",
                "verdict": verdict, "ptx_changed": False, "reason": None, "moves": moves}
    def move(recorded: float, now: float) -> dict[str, Any]:
        return {"kernel": "conv<5, 1>", "counter": "smsp__inst_executed.sum", "title": "instructions", "kind": "counted",
                "recorded": recorded, "now": now, "change": now / recorded - 1 if recorded else None}
    return {"kind": "counter baseline comparison", "exit_code": 1, "notes": ["clang is skipped"],
            "summary": {"moved": 2, "same": 1}, "cases": [
                case("register-tile", "moved", [move(1000.0, 1250.0), move(0.0, 7.0)]),
                case("shared-memory", "moved", [move(0.0, 8.0)]), case("global-memory", "same", [])]}


FINDING = {"checker": "memcheck", "severity": "finding", "problem": "read of 4 bytes past the end", "kernel": "average", "opcode": "ld.global.f32",
           "ptx_line": 46, "source_file": "averages.cu", "source_line": 7, "block": [3, 0, 0], "thread": [231, 0, 0],
           "space": "global", "address": 17, "allocation": "", "count": 2, "memory": None, "host": None}


def program() -> dict[str, Any]:
    """A kernel, a copy, a call, a failure, and a finding."""
    times = {"calls": 2, "total_ns": 5000, "average_ns": 2500.0, "least_ns": 2000, "most_ns": 3000}
    place = {"function": "main", "file": "a.cu", "line": 9, "binary": "a", "text": "main, a.cu line 9"}
    freed = {"label": "device memory 1", "call": "cudaMalloc", "bytes": 4000, "host": place}
    process = {"program": "./averages", "arguments": ["./averages"], "signal": None, "findings": [FINDING],
               "kernels": [{"name": "average", "predicted": times, "counters": {"smsp__inst_executed.sum": 704.0}}],
               "copies": [{"name": "[CUDA memcpy HtoD]", "predicted": times, "bytes": 4000}],
               "calls": [{"name": "cudaMalloc", "predicted": times}],
               "failures": [{"call": "cudaFree", "status": 1, "name": "cudaErrorInvalidValue", "text": "x", "count": 1,
                             "host": place}],
               "not_supported": {"cudaGraphLaunch": 1}, "notes": {}, "never_freed": [freed], "predicted": {"host": 9000},
               "most_device_bytes": 8000}
    return {"schema_version": "1.0", "kind": "simulated program", "command": ["./averages"],
            "gpu": {"name": "h100", "title": "NVIDIA H100 SXM"}, "checkers": ["memcheck"], "exit_code": 0, "signal": None,
            "remarks": [], "processes": [process], "ended_without_report": []}


def kernel() -> dict[str, Any]:
    """One launch, as `simulate FILE --output` writes it."""
    return {"kernel": "transpose", "display_name": "transpose", "grid": [2, 3, 1], "block": [32, 8, 1],
            "dynamic_shared_bytes": 0, "outputs": [{"name": "out", "type": "f32", "shape": [2, 2],
                                                    "values": [0.0, None, 2.5, 3.0]}],
            "counters": {"smsp__inst_executed.sum": 7062.0, "smsp__inst_executed_op_barrier.sum": 48.0}, "printed": None,
            "findings": [FINDING], "fault": None, "stopped": None, "expectations": [
                {"expectation": "out=1,2", "name": "out", "met": False, "elements": 4, "wrong": 3}]}


def kernels() -> dict[str, Any]:
    """Two beside each other."""
    return {"simulations": [kernel() | {"file": "a.ptx"}, kernel() | {"file": "b.ptx", "findings": []}]}


def checked() -> list[Any]:
    """A clean case, one with a finding, and one that could not be run."""
    def case(variant: str, status: str, findings: list[Any]) -> dict[str, Any]:
        return {"id": f"simulated/{variant}/lenet28.conv1/1", "ptx_compiler": "nvcc", "status": status, "reason": None,
                "largest_error": 2.0e-7 if status == "ok" else None, "tolerance": 1.0e-6, "findings": findings}
    return [case("global-memory", "ok", []), case("shared-memory", "ok", [FINDING]), case("cudnn", "unsupported", [])]


def explanation() -> dict[str, Any]:
    """Two stages on a GPU."""
    def stage(variant: str, title: str, below: Any, low: Any) -> dict[str, Any]:
        return {"variant": variant, "title": title, "builds_on": below, "predictions": [
            {"gpu": "h100", "kind": "predicted", "unit": "ns", "low": low, "high": low and 4 * low,
             "binding_low": "DRAM bandwidth", "binding_high": "latency", "occupancy": 1.0, "limited_by": "warps"}],
            "counters_against_builds_on": [{"counter": "barriers", "ratio": 0.5}] if below else [], "measured": None,
            "why_not": None}
    step = {"variant": "shared-memory", "builds_on": "global-memory", "x": known(2.5), "kind": "counted",
            "relieved": "Fewer sectors.", "binds": None}
    ladder = {"device": "simulated", "family": "cuda", "network": "lenet28", "layer": "conv1", "batch": 10, "steps": [
        step | {"variant": "global-memory", "builds_on": None, "x": None}, step]}
    return {"kind": "explanation", "ladders": [ladder], "groups": [{"network": "lenet28", "layer": "conv1", "batch": 10, "measured_on": None,
                                               "published": [], "stages": [
                                                   stage("global-memory", "1 Global memory", None, 4000.0),
                                                   stage("shared-memory", "2 Shared memory", "global-memory", 1000.0),
                                                   stage("odd", "3 Odd", "shared-memory", None)]}]}


def profile() -> list[Any]:
    """One pass."""
    row = {"time_percent": 60.0, "total_ns": 6.0e6, "calls": 1, "avg_ns": 6.0e6, "name": "conv1"}
    return [{"id": "cpu/flat-vector/lenet28/10", "program": {"kind": "measured"}, "profile": {"unit": "ns", "groups": [
        {"group": "layers", "rows": [row, row | {"name": "fc1", "time_percent": 40.0, "total_ns": 4.0e6}]}]}}]


ALL = {"sweep": sweep, "duel": duel, "commands": commands, "selftest": selftest, "comparison": comparison,
       "history": history, "baseline": baseline, "baseline_check": baseline_check, "program": program, "kernel": kernel,
       "kernels": kernels, "checked": checked, "explanation": explanation, "profile": profile}
"""Each kind by a name of its own."""
