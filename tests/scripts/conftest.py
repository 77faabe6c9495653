"""Records like those of real runs, made from a few numbers."""

from __future__ import annotations

import copy
import json
import os
import random
import statistics
import sys
from pathlib import Path
from typing import Any, Callable, Iterable, Optional

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = REPOSITORY / "scripts"
sys.path.insert(0, str(SCRIPTS))

os.environ.setdefault("CONVLADDER_CEILING_MIB", "4")
"""Where a script runs the program, the buffers of the ceilings would be most of what it does."""

CPU_STAGES = [("memory-accumulation", "Accumulate in memory", 110.0),
              ("local-accumulation", "Local accumulation", 31.0),
              ("cached-tile", "Tile in cache", 34.0), ("flat-vector", "Flat vector", 9.5),
              ("unrolled-taps", "Unrolled taps", 5.2), ("compile-time", "Compile-time constants", 2.9)]
LIBRARIES = [("onednn", "oneDNN", 4.1), ("onednn-blocked", "oneDNN, blocked layout", 1.6)]
CUDA_STAGES = ["Global memory", "Local accumulation", "Shared memory", "1-D block remap", "Loop unrolling",
               "Compile-time constants"]
LAYERS = [("lenet28", "conv1", (1, 28, 28, 50, 5)), ("lenet72", "conv1", (1, 72, 72, 12, 7)),
          ("lenet72", "conv2", (12, 33, 33, 24, 7))]
BATCHES = [10, 100, 1000]
LAYOUT_CHANGE = 1.35
"""Layer time over op time of the library with its own layout."""


def summary(**told: Any) -> dict[str, Any]:
    """The summary of a ladder as the program writes it, with nothing in it but what is told."""
    return {"baseline": None, "sixth": None, "best": None, "best_by": "measured", "gpu": None, "library": None,
            "not_told_from_best": [], "faster_less_accurate": [], "sixth_x_baseline": None, "best_x_baseline": None,
            "best_x_sixth": None, "best_percent_of_library": None, "best_percent_of_floor": None, "no_headline": None,
            "loses": []} | told


def summary_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of a ladder with times; none of its stages is stage 6."""
    timed = [row for row in rows if row["median_ns"]]
    stages = [row for row in timed if row["rung"] is not None]
    libraries = [row for row in timed if row["rung"] is None]
    if not stages:
        return summary()
    best = min(stages, key=lambda row: row["median_ns"])
    near = [row["variant"] for row in stages if row is not best and row["low_ns"] <= best["high_ns"]]
    return summary(baseline=next((row["variant"] for row in stages if row["x_baseline"] and row["x_baseline"]["value"] == 1.0), None), best=best["variant"],
                   library=min(libraries, key=lambda row: row["median_ns"])["variant"] if libraries else None,
                   not_told_from_best=near, best_x_baseline=best["x_baseline"],
                   best_percent_of_library=best["percent_of_library"], best_percent_of_floor=best["percent_of_floor"])


class RecordMaker:
    """Builds a whole run: `RecordMaker().add_cpu().add_skipped_cuda().record()`."""

    def __init__(self, layers: Iterable[Any] = LAYERS, batches: Iterable[int] = BATCHES, seed: int = 1) -> None:
        self.layers = list(layers)
        self.batches = list(batches)
        self.random = random.Random(seed)
        self.variants: list[dict[str, Any]] = []
        self.cases: list[dict[str, Any]] = []
        self.ladders: list[dict[str, Any]] = []
        self.ceilings: list[dict[str, Any]] = []

    def add_cpu(self, stages: Iterable[Any] = CPU_STAGES, libraries: Iterable[Any] = LIBRARIES, device: str = "cpu",
                family: str = "cpu", kind: str = "measured") -> "RecordMaker":
        """A ladder with times: (name, title, nanoseconds per thousand multiply-adds) per stage."""
        stages, libraries = list(stages), list(libraries)
        if kind == "measured":
            self.ceilings.append(ceilings(device))
        previous: Optional[str] = None
        for rung, (name, title, _) in enumerate(stages, 1):
            self.variants.append(variant(family, rung, name, title, previous))
            previous = name
        self.variants += [variant(family, None, name, title, None) for name, title, _ in libraries]
        for network, layer, dims in self.layers:
            for batch in self.batches:
                cases = [self._timed(device, family, kind, network, layer, dims, batch, rung, name, cost)
                         for rung, (name, _, cost) in [*enumerate(stages, 1), *((None, one) for one in libraries)]]
                self._ladder(device, family, kind, network, layer, batch, cases)
        return self

    def add_skipped_cuda(self, titles: Iterable[str] = CUDA_STAGES) -> "RecordMaker":
        """A ladder no stage of which could run."""
        rungs = list(enumerate(titles, 1)) + [(None, "cuDNN")]
        self.variants += [variant("cuda", rung, name_of(title), title, None) for rung, title in rungs]
        for network, layer, dims in self.layers:
            for batch in self.batches:
                cases = [self._case("cuda", "cuda", network, layer, dims, batch, rung, name_of(title))
                         for rung, title in rungs]
                for case in cases:
                    case.update(status="skipped", reason="no CUDA device")
                self._ladder("cuda", "cuda", "measured", network, layer, batch, cases)
        return self

    def add_counted(self, titles: Iterable[str] = CUDA_STAGES, device: str = "simulated",
                    executed: int = 8) -> "RecordMaker":
        """Stages that were counted on a device without a clock, in the order in which they ended, and a library."""
        rungs = list(enumerate(titles, 1))
        if not any(one["family"] == "cuda" for one in self.variants):
            self.variants += [variant("cuda", rung, name_of(title), title, None) for rung, title in rungs]
            self.variants.append(variant("cuda", None, "cudnn", "cuDNN", None))
        for network, layer, dims in self.layers:
            for batch in self.batches:
                for rung, title in reversed(rungs):
                    case = self._case(device, "cuda", network, layer, dims, batch, rung, name_of(title))
                    case["counters"] = counters(case["work"]["flop"], rung, min(executed, batch), batch)
                case = self._case(device, "cuda", network, layer, dims, batch, None, "cudnn")
                case.update(status="unsupported", reason="no PTX of it")
                self._ladder(device, "cuda", "measured", network, layer, batch, [case])
        return self

    def record(self) -> dict[str, Any]:
        """The document."""
        return {"schema_version": "1.1", "kind": "run", "complete": True, "context": context(), "variants": self.variants,
                "planned": [case["id"] for case in self.cases], "ceilings": self.ceilings, "cases": self.cases,
                "ladders": self.ladders}

    def _case(self, device: str, family: str, network: str, layer: str, dims: Any, batch: int, rung: Optional[int],
              name: str) -> dict[str, Any]:
        shape = shape_of(dims)
        outputs = shape["out_channels"] * shape["out_height"] * shape["out_width"]
        flop = 2.0 * batch * outputs * shape["in_channels"] * shape["kernel"] ** 2
        case = {"id": f"{device}/{name}/{network}.{layer}/{batch}", "variant": name, "family": family, "rung": rung,
                "device": device, "network": network, "layer": layer, "shape": shape, "batch": batch, "status": "ok",
                "reason": None, "input": "images", "work": {"flop": flop, "minimum_bytes": 4.0 * batch * outputs},
                "verification": None, "time": None, "other_times": [], "counters": None, "resources": [],
                "prediction": None, "choice": None, "device_state": {}, "quality": None, "session": 0}
        self.cases.append(case)
        return case

    def _timed(self, device: str, family: str, kind: str, network: str, layer: str, dims: Any, batch: int,
               rung: Optional[int], name: str, cost: float) -> dict[str, Any]:
        case = self._case(device, family, network, layer, dims, batch, rung, name)
        center = 4000.0 + case["work"]["flop"] / 2000.0 * cost
        own_layout = name.endswith("-blocked")
        case["time"] = self._time(center, "op" if own_layout else "layer", kind)
        if own_layout:
            case["other_times"] = [self._time(center * LAYOUT_CHANGE, "layer", kind)]
        return case

    def _time(self, center: float, of: str, kind: str) -> dict[str, Any]:
        samples = [center * (1 + abs(self.random.gauss(0, 0.03))) for _ in range(self.random.choice([13, 17, 21]))]
        ordered = sorted(samples)
        return {"kind": kind, "of": of, "unit": "ns", "median": statistics.median(samples),
                "interval": {"low": ordered[3], "high": ordered[-4], "level": 0.9648}, "samples": samples,
                "iterations_per_sample": 3, "stopped_because": "interval"}

    def _ladder(self, device: str, family: str, kind: str, network: str, layer: str, batch: int,
                cases: list[dict[str, Any]]) -> None:
        layer_times = {case["variant"]: layer_time(case) for case in cases}
        builds_on = {one["name"]: one["builds_on"] for one in self.variants if one["family"] == family}
        first = next((layer_times[case["variant"]] for case in cases if case["rung"] == 1), None)
        library = min((layer_times[case["variant"]] for case in cases if case["rung"] is None and case["time"]),
                      default=None)
        floor = floor_of(cases[0]) if device in [one["device"] for one in self.ceilings] else None
        rows = []
        for case in cases:
            own, time = layer_times[case["variant"]], layer_figure(case)
            stage = case["rung"] is not None
            op = case["time"] if case["time"] and case["time"]["of"] == "op" else None
            rows.append({
                "case": case["id"], "variant": case["variant"], "rung": case["rung"], "status": case["status"],
                "median_ns": own,
                "low_ns": time and time["interval"]["low"], "high_ns": time and time["interval"]["high"],
                "gflop_per_s": time and case["work"]["flop"] / own,
                "x_previous": over(layer_times.get(builds_on[case["variant"]]), own) if stage else None,
                "x_baseline": over(first, own), "percent_of_library": over(library, own, 100.0),
                "percent_of_floor": over(floor and floor["value"], own, 100.0),
                "op_in_own_layout": op and {"median_ns": op["median"], "low_ns": op["interval"]["low"],
                                            "high_ns": op["interval"]["high"]},
                "roofline": roofline_of(floor, own, self.ceilings) if floor and own else None,
                "quality": None})
        self.ladders.append({"device": device, "family": family, "network": network, "layer": layer, "batch": batch,
                             "kind": kind, "floor": floor, "rows": rows, "summary": summary_of(rows), "steps": []})


def roofline_of(floor: dict[str, Any], layer: float, of_devices: list[dict[str, Any]]) -> dict[str, Any]:
    """Where a case of that layer time stands under the roof; all devices have the same ceilings."""
    limits = {limit["name"]: limit["median"] for limit in of_devices[0]["limits"]}
    flop, moved = floor["flop"], floor["bytes_read"] + floor["bytes_written"]
    by_bytes = flop / moved * limits["copy"]
    return {"work": "derived", "flop": flop, "bytes": moved, "flop_per_byte": flop / moved, "gflop_per_s": flop / layer,
            "gb_per_s": moved / layer, "roof_gflop_per_s": min(limits["FMA peak"], by_bytes),
            "bound": "bytes" if by_bytes < limits["FMA peak"] else "operations"}


def counters(flop: float, rung: int, executed: int, batch: int) -> dict[str, Any]:
    """Counters that differ from rung to rung: 20 / rung thread instructions per multiply-add, rung sectors per load."""
    requests = flop / 16
    totals = {"smsp__thread_inst_executed_pred_on.sum": 10.0 * flop / rung,
              "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": requests,
              "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": requests * rung,
              "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": float(rung),
              "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": flop / 64 * rung,
              "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": flop / 64 * 0.5}
    modelled = {"dram__bytes_read.sum": 3e6 * rung, "dram__bytes_write.sum": 1e6}
    kernel = {"kernel": "convolve", "grid": [1, 1, 1], "block": [32, 1, 1], "values": totals, "modelled": modelled}
    return {"kind": "counted", "of": "PTX", "images_executed": executed, "batch": batch, "exact": True,
            "totals": totals, "modelled": modelled, "kernels": [kernel]}


LIMITS = {"FMA peak": ("GFLOP/s", 400.0), "streaming store": ("GB/s", 40.0), "copy": ("GB/s", 60.0)}
"""Unit and median of each ceiling."""


def ceilings(device: str) -> dict[str, Any]:
    """What a device can do at most."""
    limits = [{"name": name, "kind": "measured", "unit": unit, "median": rate,
               "interval": {"low": 0.9 * rate, "high": rate, "level": 0.75}, "samples": [0.9 * rate, rate, rate]}
              for name, (unit, rate) in LIMITS.items()]
    return {"device": device, "choice": "avx2, 2 threads", "last_level_cache_bytes": 1 << 25,
            "buffer_bytes": 1 << 27, "reason": None, "limits": limits}


def floor_of(case: dict[str, Any]) -> dict[str, Any]:
    """Of the case's layer and batch; none of these shapes has padding."""
    shape, batch = case["shape"], case["batch"]
    written = 4.0 * batch * shape["out_channels"] * shape["out_height"] * shape["out_width"]
    read = 4.0 * shape["in_channels"] * (batch * shape["height"] * shape["width"]
                                         + shape["out_channels"] * shape["kernel"] ** 2)
    operations = case["work"]["flop"] / LIMITS["FMA peak"][1]
    store, copy = LIMITS["streaming store"][1], LIMITS["copy"][1]
    moved = written / store + read * (2 / copy - 1 / store) if read + written > 1 << 25 else None
    bound = "bytes" if moved is not None and moved > operations else "operations"
    return {"kind": "predicted", "unit": "ns", "value": moved if bound == "bytes" else operations, "bound": bound,
            "operations": operations, "bytes": moved, "flop": case["work"]["flop"], "bytes_read": read,
            "bytes_written": written}


def known(value: float, half_width: float = 0.02) -> dict[str, Any]:
    """A ratio as the program writes it; one of a figure and itself is exactly 1."""
    half = 0.0 if value == 1 else half_width
    return {"value": value, "low": value * (1 - half), "high": value * (1 + half), "level": 0.95, "by": "rounds"}


def over(dividend: Optional[float], divisor: Optional[float], factor: float = 1.0) -> Optional[dict[str, Any]]:
    """A ratio, or None where a side is missing."""
    return None if dividend is None or divisor is None else known(factor * dividend / divisor)


def layer_figure(case: dict[str, Any]) -> Optional[dict[str, Any]]:
    """The time from NCHW in to NCHW out."""
    return next((time for time in (case["time"], *case["other_times"]) if time and time["of"] == "layer"), None)


def layer_time(case: dict[str, Any]) -> Optional[float]:
    """Its median."""
    found = layer_figure(case)
    return found and found["median"]


def name_of(title: str) -> str:
    """A title as it would be typed."""
    return title.lower().replace(" ", "-")


def variant(family: str, rung: Optional[int], name: str, title: str, builds_on: Optional[str]) -> dict[str, Any]:
    """What a registration says."""
    return {"family": family, "rung": rung, "name": name, "title": title, "builds_on": builds_on,
            "hypothesis": "Faster."}


def shape_of(dims: tuple[int, int, int, int, int]) -> dict[str, int]:
    """A shape without stride and padding."""
    channels, height, width, maps, kernel = dims
    return {"in_channels": channels, "height": height, "width": width, "out_channels": maps, "kernel": kernel,
            "stride": 1, "padding": 0, "groups": 1, "out_height": height - kernel + 1, "out_width": width - kernel + 1}


def context() -> dict[str, Any]:
    """Where a run took place."""
    return {
        "program": {"name": "convladder", "version": "0.1.0", "commit": "0123456789abcdef0123456789abcdef01234567",
                    "dirty": True, "build_type": "Release", "compiler": "GNU 12.2.0", "compiler_flags": "-O3",
                    "cpu_variant_flags": "-march=native", "cuda_compiler": None, "cuda_architectures": None,
                    "sanitized": False},
        "host": {"name": "bench", "system": "Debian GNU/Linux 12", "kernel": "6.1.0", "virtual_machine": True,
                 "memory_bytes": 8 << 30},
        "cpu": {"model": "Example CPU 7000 @ 2.40GHz", "cores": 2, "threads": 2, "instruction_sets": ["avx2"],
                "caches": [{"level": 1, "type": "Data", "bytes": 32768}]},
        "devices": [{"kind": "cpu", "family": "cpu", "unavailable": None, "facts": {"name": "Example CPU 7000"}},
                    {"kind": "cuda", "family": "cuda", "unavailable": "no CUDA device", "facts": {}},
                    {"kind": "simulated", "family": "cuda", "unavailable": None,
                     "facts": {"name": "sm_90 simulated", "modelled GPU": "Example GPU X"}}],
        "libraries": {"oneDNN": "2.6"}, "command_line": ["convladder", "run"], "options": {}, "seed": 1,
        "date": "2025-01-01T12:00:00Z",
        "dataset": {"name": "synthetic", "source": "built-in", "images": 1000, "height": 28, "width": 28,
                    "sha256": "00" * 32},
        "sessions": [{"started": "2025-01-01T12:00:00Z"}]}


@pytest.fixture(scope="session")
def _whole_run() -> dict[str, Any]:
    return RecordMaker().add_cpu().add_skipped_cuda().record()


@pytest.fixture
def run(_whole_run: dict[str, Any]) -> dict[str, Any]:
    """A complete run on a machine without a GPU; a copy that a test may change."""
    return copy.deepcopy(_whole_run)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], Path]:
    """Writes a document to a run.json of the test's own."""
    def write(document: Any) -> Path:
        path = tmp_path / "run.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return path
    return write


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, networks, and the report of both as a page and as Markdown; made once, only to be read."""
    from reports import ladders, networks, report

    path = tmp_path_factory.mktemp("reported")
    (path / "run.json").write_text(json.dumps(ladders()), encoding="utf-8")
    (path / "network.json").write_text(json.dumps(networks()), encoding="utf-8")
    done = report(path / "run.json", path / "network.json", "--markdown", path / "markdown")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.splitlines()[0]) == path / "report.html"
    return path
