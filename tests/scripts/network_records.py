"""Records like those of real runs of whole networks, made from a few numbers."""

from __future__ import annotations

import json
import math
import random
import statistics
from typing import Any, Iterable, Optional

from conftest import REPOSITORY, context, variant

STAGES = [(1, "memory-accumulation", "Accumulate in memory", 9.0), (2, "flat-vector", "Flat vector", 1.5),
          (None, "onednn", "oneDNN", 1.0)]
"""Rung, name, title, nanoseconds per thousand operations."""
MIXED = "conv1=flat-vector,conv2=onednn"
NETWORKS = {
    "lenet72": [("conv1", "convolution", 5.1e6), ("activation1", "tanh", 5e4), ("pool1", "max_pool", 5e4),
                ("conv2", "convolution", 20.6e6), ("fc1", "fully_connected", 5.6e6), ("activation2", "tanh", 160),
                ("fc2", "fully_connected", 3.2e3), ("softmax", "softmax", 10)],
    "lenet28": [("conv1", "convolution", 1.44e6), ("fc1", "fully_connected", 1.8e6), ("softmax", "softmax", 10)],
    "lenet64": [("conv1", "convolution", 2.1e6), ("conv2", "convolution", 9.4e6), ("softmax", "softmax", 10)],
    "alexnet": [*((f"conv{index}", "convolution", flop) for index, flop in enumerate(
        [211e6, 896e6, 299e6, 449e6, 299e6], 1)), ("pool1", "max_pool", 3e5), ("conv1 bias", "bias", 3e5),
        ("activation1", "relu", 3e5), ("fc1", "fully_connected", 75e6), ("fc2", "fully_connected", 34e6)],
}
PHASES = {"allocate": 3e4, "prepare weights": 8e5, "copy images to device": 2e5,
          "run layers": 1e3, "synchronise": 3e3, "copy scores to host": 2e3, "free": 4e4}


class NetworkRecordMaker:
    """Builds a whole run: `NetworkRecordMaker().add("lenet72", [100, 1000]).record()`."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.networks: list[dict[str, Any]] = []
        self.cases: list[dict[str, Any]] = []
        self.published: dict[str, list[dict[str, Any]]] = {}

    def add(self, network: str, batches: Iterable[int], choices: Optional[Iterable[str]] = None, passes: int = 9,
            accuracy: bool = True, device: str = "cpu") -> "NetworkRecordMaker":
        """Cases of every stage with times."""
        self._network(network)
        for batch in batches:
            for name in choices or [name for _, name, _, _ in STAGES]:
                case = self._case(network, device, name, batch)
                self._measure(case, NETWORKS[network], passes)
                if accuracy:
                    case["accuracy"] = accuracy_of(round(0.77 * batch), batch)
        return self

    def add_counted(self, network: str, batch: int) -> "NetworkRecordMaker":
        """Cases on a device that counts, and a library that it cannot run."""
        self._network(network)
        for rung, name, _, _ in STAGES:
            case = self._case(network, "simulated", name, batch)
            if rung is None:
                case.update(status="unsupported", reason="conv1 (onednn): there is no PTX of it", images_at_once=0,
                            steps=[], stopped_because=None)
                continue
            case["stopped_because"] = "counted"
            for step, (_, _, flop) in zip(case["steps"], NETWORKS[network]):
                totals = {"smsp__inst_executed.sum": float(round(flop * batch / 32 * 5 / rung))}
                step["counters"] = {"kind": "counted", "of": "PTX", "images_executed": batch, "batch": batch,
                                    "exact": True, "totals": totals, "modelled": {}, "kernels": []}
        return self

    def add_failed(self, network: str, batch: int, name: str, status: str, reason: str) -> "NetworkRecordMaker":
        """A case that went wrong."""
        self._network(network)
        self._case(network, "cpu", name, batch).update(status=status, reason=reason, images_at_once=0, steps=[],
                                                       stopped_because=None)
        return self

    def record(self) -> dict[str, Any]:
        """The document."""
        return {"schema_version": "1.1", "kind": "network", "complete": True, "context": context(),
                "variants": [variant(family, rung, name, title, None) for family in ("cuda", "cpu")
                             for rung, name, title, _ in STAGES],
                "networks": self.networks, "published": self.published,
                "planned": [case["id"] for case in self.cases], "cases": self.cases}

    def _network(self, name: str) -> None:
        if any(one["name"] == name for one in self.networks):
            return
        layers = [{"name": step, "input": [1, 8, 8], "output": [1, 8, 8]} for step, _, _ in NETWORKS[name]]
        self.networks.append({"name": name, "title": f"The network {name}", "input": [1, 8, 8], "layers": layers,
                              "flop_per_image": sum(flop for _, _, flop in NETWORKS[name]),
                              "weights": {"name": f"{name} synthetic high", "sha256": "00" * 32, "dataset": None,
                                          "trained_on": None, "held_out": None, "from": None, "note": None}})

    def _case(self, network: str, device: str, name: str, batch: int) -> dict[str, Any]:
        self.published.setdefault(f"{network}/{batch}", published(network, batch))
        steps = [{"name": step, "type": kind,
                  "implementation": plugged_in(name, step) if kind == "convolution" else "vector",
                  "verification": verification(kind, batch), "time": None, "counters": None}
                 for step, kind, _ in NETWORKS[network]]
        case = {"id": f"{device}/{name}/{network}/{batch}", "network": network, "device": device, "variants": name,
                "batch": batch, "status": "ok", "reason": None, "images_at_once": batch, "steps": steps, "phases": [],
                "total": None, "compared_passes": 1, "loaded": None, "stopped_because": "budget", "program": None,
                "quality": None, "accuracy": None, "within_rounding": [], "profile": None, "session": 0}
        self.cases.append(case)
        return case

    def _measure(self, case: dict[str, Any], layers: Any, passes: int) -> None:
        cost = {name: cost for _, name, _, cost in STAGES}
        for step, (_, _, flop) in zip(case["steps"], layers):
            slow = cost.get(step["implementation"], 2.0)
            step["time"] = self._time("layer", 400 + flop * case["batch"] / 1000 * slow, passes)
        of_layers = [sum(samples) for samples in zip(*(step["time"]["samples"] for step in case["steps"]))]
        case["phases"] = [{"name": name, "time": self._time("host phase", time, passes)}
                          for name, time in PHASES.items()]
        launching = next(phase for phase in case["phases"] if phase["name"] == "run layers")["time"]
        launching["samples"] = [own + layers for own, layers in zip(launching["samples"], of_layers)]
        launching["median"] = statistics.median(launching["samples"])
        launching["interval"] = None
        totals = [sum(samples) * 1.001 for samples in zip(*(phase["time"]["samples"] for phase in case["phases"]))]
        case["total"] = time_of("pass", totals)
        case["compared_passes"] = len(totals)
        case["program"] = {"kind": "measured", "user_seconds": 0.5, "system_seconds": 0.1, "elapsed_seconds": 0.4,
                           "cpu_percent": 150.0, "max_resident_kilobytes": 123456}
        case["profile"] = {"unit": "ns", "groups": [profile_of("layers", case["steps"]),
                                                    profile_of("host phases", case["phases"])]}

    def _time(self, of: str, center: float, passes: int) -> dict[str, Any]:
        return time_of(of, [center * (1 + abs(self.random.gauss(0, 0.05))) for _ in range(passes)])


def time_of(of: str, samples: list[float]) -> dict[str, Any]:
    """The samples of a few passes, and what follows from them."""
    ordered = sorted(samples)
    interval = {"low": ordered[1], "high": ordered[-2], "level": 0.961} if len(samples) > 4 else None
    return {"kind": "measured", "of": of, "unit": "ns", "median": statistics.median(samples), "interval": interval,
            "samples": samples}


def verification(kind: str, batch: int) -> dict[str, Any]:
    """Of every image; in linear layers most of them in combinations."""
    combined = max(0, batch - 8) if kind in ("convolution", "fully_connected") else 0
    return {"passed": True, "compared_images": batch - combined, "combined_images": combined,
            "max_scaled_error": 2e-7, "failure": None}


def plugged_in(choice: str, layer: str) -> str:
    """The variant that a choice has for a layer."""
    if "=" not in choice:
        return choice
    return dict(part.split("=") for part in choice.split(",")).get(layer, "flat-vector")


def accuracy_of(correct: int, of: int) -> dict[str, Any]:
    """With Wilson's interval."""
    z, share = 1.959964, correct / of
    center, half = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return {"correct": correct, "of": of, "value": share, "low": (center - half) / (1 + z * z / of),
            "high": (center + half) / (1 + z * z / of), "level": 0.95}


def profile_of(group: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A row for each part, the longest first."""
    last = {part["name"]: part["time"]["samples"][-1] for part in parts}
    rows = [{"time_percent": 100 * time / sum(last.values()), "total_ns": time, "calls": 1, "avg_ns": time,
             "med_ns": time, "min_ns": time, "max_ns": time, "stddev_ns": 0.0, "name": name}
            for name, time in sorted(last.items(), key=lambda item: -item[1])]
    return {"group": group, "rows": rows, "cut_rows": 0, "cut_time_percent": 0.0}


def published(network: str, batch: int) -> list[dict[str, Any]]:
    """The very figures of the tables under version control that have a column of batches."""
    found = []
    for path in sorted((REPOSITORY / "results/published").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for table in document["tables"] if document["network"] == network else []:
            columns = table.get("columns", [])
            names = [column["name"] for column in columns]
            for row in table.get("rows", []) if "batch" in names else []:
                if row[names.index("batch")] == batch:
                    stage = row[names.index("stage")] if "stage" in names else None
                    found += [{"source": document["name"], "device": document["device"], "batch": batch,
                               "stage": stage, "model": None, "layer": column.get("layer"), "what": column["what"],
                               "value": value, "unit": column.get("unit"), "approximate": False, "path": "/"}
                              for column, value in zip(columns, row) if "what" in column and value is not None]
    return found
