"""What the program has recorded, as tables of pandas and as the pictures of its reports. Nothing is computed here that the record does
not say: times, factors and intervals are its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

from convladder.program import ConvladderError

if TYPE_CHECKING:
    import pandas

_GPU = "h100"
"""The one of the program's tables."""
_FACTORS = ("x_previous", "x_baseline", "percent_of_library", "percent_of_floor")


class Record:
    """A document of the program's, of any kind.

    document: the JSON as it is. exit_code: of the call that made it; None if it was loaded.
    """

    def __init__(self, document: dict[str, Any], path: Optional[Path] = None) -> None:
        self.document = document
        self.path = path
        self.exit_code: Optional[int] = None

    @property
    def kind(self) -> str:
        """As the record calls itself: run, network, duel, comparison, simulated program, rank, ..."""
        return str(self.document.get("kind", "run"))

    @property
    def pictures(self) -> Mapping[str, Any]:
        """The drawings of the report, by their names; a notebook shows each. They are drawn when they are asked for."""
        from convladder.pictures import pictures_of

        return pictures_of(self)

    @property
    def table(self) -> str:
        """The report's table of the record, as text."""
        from convladder.pictures import text_of

        return text_of(self)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the document. A file that is there stays: raises FileExistsError."""
        with open(path, "x", encoding="utf-8") as file:
            json.dump(self.document, file, indent=1)
            file.write("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.kind}{f' of {self.path}' if self.path else ''}>"


class Run(Record):
    """What `convladder run` has measured, counted or predicted."""

    @property
    def cases(self) -> pandas.DataFrame:
        """A row for each case: variant, size and device.

        time is "measured" or missing, time_of says of what: layer (NCHW in to NCHW out), op, or call. median_ns, low_ns and high_ns are the
        median of a call and its interval in nanoseconds; level says how surely the interval holds it. predicted_low_ns and
        predicted_high_ns are a model's range for the GPU in predicted_for (`predictions` has the others). x_previous and x_baseline are factors over the
        stage that this one builds on and over the first, percent_of_library and percent_of_floor shares, each with _low and _high.
        quality says noisy or disturbed where the machine was not quiet. status is ok, or reason says why not.
        """
        rows = {row["case"]: row for ladder in self.document.get("ladders", []) for row in ladder.get("rows", [])}
        return _table([_case(case, rows.get(case["id"], {})) for case in self.document["cases"]], _CASE_COLUMNS)

    def ladder(self, layer: Optional[str] = None, *, batch: Optional[int] = None, device: Optional[str] = None) -> pandas.DataFrame:
        """The stages by rung, then the libraries: the rows of `cases` that are on a ladder, indexed by variant.

        layer: "lenet72.conv1", or the layer's or size's own name. Without it, a batch or a device, the first of the record.
        Raises ConvladderError where there is no such ladder.
        """
        for ladder in self.document.get("ladders", []):
            if ((layer is None or layer in (f"{ladder['network']}.{ladder['layer']}", ladder["layer"])) and
                    (batch is None or ladder["batch"] == batch) and (device is None or ladder["device"] == device)):
                order = [row["case"] for row in ladder.get("rows", [])] or self._counted_cases(ladder)
                cases = self.cases.set_index("id")
                return cases.loc[[one for one in order if one in cases.index]].reset_index().set_index("variant")
        held = ", ".join(dict.fromkeys(f"{one['network']}.{one['layer']}/{one['batch']} on {one['device']}"
                                       for one in self.document.get("ladders", [])))
        raise ConvladderError(f"no ladder of {layer or 'any layer'}"
                              f"{f', batch {batch}' if batch is not None else ''}{f', device {device}' if device else ''}; "
                              f"the record has {held or 'none'}")

    def _counted_cases(self, ladder: Mapping[str, Any]) -> list[str]:
        """Of a ladder without times, which has no rows."""
        same = ("device", "family", "network", "layer", "batch")
        found = [one for one in self.document["cases"] if all(one.get(name) == ladder.get(name) for name in same)]
        return [one["id"] for one in sorted(found, key=lambda one: (one["rung"] is None, one["rung"] or 0))]

    def counters(self, *, modelled: bool = False) -> pandas.DataFrame:
        """The counts of the simulated device, a row for each counted case, a column for each counter (Nsight Compute's names).

        They are exact; with `modelled`, those of the traffic below its model of the caches instead, which are a model's.
        """
        return _table([{"id": case["id"], "variant": case["variant"], **case["counters"]["modelled" if modelled else "totals"]}
                       for case in self.document["cases"] if case.get("counters")], ("id", "variant"))

    def predictions(self) -> pandas.DataFrame:
        """A model's range of the time of a call, a row for each counted case and GPU: id, variant, gpu, low_ns, high_ns."""
        return _table([{"id": case["id"], "variant": case["variant"], "gpu": one["gpu"], "low_ns": one["low"], "high_ns": one["high"]}
                       for case in self.document["cases"] for one in (case.get("prediction") or {}).get("gpus", [])],
                      ("id", "variant", "gpu", "low_ns", "high_ns"))

    def samples(self) -> pandas.DataFrame:
        """Every sample in the order in which it was taken: id, variant, sample, ns (of a call)."""
        return _table([{"id": case["id"], "variant": case["variant"], "sample": number, "ns": value}
                       for case in self.document["cases"] if case.get("time")
                       for number, value in enumerate(case["time"]["samples"])], ("id", "variant", "sample", "ns"))

    def compare(self, base: Union[str, os.PathLike[str], Run], **options: Any) -> Comparison:
        """Did this run get slower than `base`? See convladder.compare."""
        from convladder.calls import compare

        return compare(base, self, **options)

    def _repr_html_(self) -> str:
        wanted = ["id", "status", "median_ns", "low_ns", "high_ns", "x_previous", "x_baseline", "quality"]
        cases: Any = self.cases
        return str(cases[[one for one in wanted if one in cases]]._repr_html_())


class Judgement(Record):
    """Base of what says whether something got slower."""

    @property
    def cases(self) -> pandas.DataFrame:
        """A row for each case: verdict, reason, and the change with its interval as fractions of the base (0.1 is 10 % more)."""
        return _table([_judged(case) for case in self.document["cases"]], ("id", "verdict", "reason", "change", "low", "high"))

    @property
    def counts(self) -> dict[str, int]:
        """How many cases have which verdict."""
        return dict(self.document["counts"])

    @property
    def notes(self) -> list[str]:
        """What else to know, a line each."""
        return list(self.document.get("notes", []))

    def _repr_html_(self) -> str:
        cases: Any = self.cases
        return str(cases._repr_html_())


class Comparison(Judgement):
    """What `convladder compare` says of two runs."""


class Duel(Judgement):
    """What `convladder duel` has measured of two sides in turns, and says."""


class Simulation(Record):
    """What a program did on the simulated GPU. output: what it printed on the standard output."""

    output = ""

    @property
    def findings(self) -> pandas.DataFrame:
        """What the checkers have found, a row for each place: checker, severity (finding, or note), problem, kernel, file, line,
        count (of threads), and launched, the line of the host."""
        rows = [{"checker": one["checker"], "severity": one.get("severity", "finding"), "problem": one["problem"], "kernel": one["kernel"],
                 "configuration": one.get("configuration", ""), "file": one["source_file"], "line": one["source_line"],
                 "ptx_line": one["ptx_line"], "count": one["count"], "launched": (one.get("host") or {}).get("text", "")}
                for process in self.document["processes"] for one in process["findings"]]
        return _table(rows, ("checker", "severity", "problem", "kernel", "configuration", "file", "line", "ptx_line", "count",
                             "launched"))

    @property
    def kernels(self) -> pandas.DataFrame:
        """A row for each kernel: calls, total_ns, average_ns, least_ns and most_ns (predicted), and its counters (Nsight Compute's names),
        summed over the calls."""
        rows = [{"kernel": one["name"], "configuration": one.get("configuration") or "", **one["predicted"], **one["counters"]}
                for process in self.document["processes"] for one in process["kernels"]]
        return _table(rows, ("kernel", "configuration", "calls", "total_ns", "average_ns", "least_ns", "most_ns"))

    @property
    def orders(self) -> pandas.DataFrame:
        """What other orders of each kernel's launches have come to (schedules=N): orders in all, and how many of them differ, do so by
        sums of atomics only, or fail. Empty unless they were asked for."""
        rows = [{"kernel": one["name"], "configuration": one.get("configuration") or "", **one["orders"]}
                for process in self.document["processes"] for one in process["kernels"] if one.get("orders")]
        return _table(rows, ("kernel", "configuration", "launches", "orders", "differing", "sums_only", "failing", "complete", "seconds",
                             "not_tried"))

    @property
    def lines(self) -> pandas.DataFrame:
        """The counters of each line of the source (lines=True), with its share of the kernel's predicted time. Empty unless asked for."""
        rows = [{"kernel": one["name"], "configuration": one.get("configuration") or "", "file": line["file"], "line": line["line"],
                 "source": line["source"], "share": line["share"], **line["counters"]}
                for process in self.document["processes"] for one in process["kernels"] if one.get("lines")
                for line in one["lines"]["lines"]]
        return _table(rows, ("kernel", "configuration", "file", "line", "source", "share"))

    @property
    def tunings(self) -> pandas.DataFrame:
        """What autotuners have tried, a row for each configuration: predicted_ns, findings, and how its result differs from the first's."""
        rows = [{"kernel": tuning["kernel"], "arguments": tuning["arguments"], **tried}
                for process in self.document["processes"] for tuning in process.get("tunings", []) for tried in tuning["tried"]]
        return _table(rows, ("kernel", "arguments", "configuration", "predicted_ns", "findings", "result"))

    @property
    def remarks(self) -> list[str]:
        """What else the report says, a line each: calls that were computed on the host, what was left undone."""
        found = list(self.document["remarks"])
        for process in self.document["processes"]:
            found += process.get("notes", {})
        return found

    def _repr_html_(self) -> str:
        found: Any = self.findings
        return str(found._repr_html_()) if len(found) else "<p>Nothing was found.</p>"


def load(path: Union[str, os.PathLike[str]]) -> Record:
    """Reads a record of the program's: a run.json or the folder of one, a network.json, a duel, a comparison, a simulated program.

    Raises ConvladderError, in one line, where it cannot be read or is no record.
    """
    file = Path(path)
    if file.is_dir():
        file = next((file / name for name in ("run.json", "network.json", "rank.json", "sweep.json") if (file / name).exists()),
                    file / "run.json")
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConvladderError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise ConvladderError(f"{file}: no JSON: {error}") from None
    return of_document(document, file)


def of_document(document: Any, path: Optional[Path] = None) -> Record:
    """The record that a document holds. Raises ConvladderError where it is none."""
    kinds: dict[str, type[Record]] = {"comparison": Comparison, "duel": Duel, "simulated program": Simulation}
    needed = {Run: "cases", Comparison: "cases", Duel: "cases", Simulation: "processes"}
    if not isinstance(document, dict) or "schema_version" not in document and document.get("kind") != "comparison":
        raise ConvladderError(f"{path or 'the document'}: no record of convladder")
    kind = kinds.get(document.get("kind", ""), Run if "ladders" in document else Record)
    if kind in needed and not isinstance(document.get(needed[kind]), list):
        raise ConvladderError(f"{path or 'the document'}: no {needed[kind]} in this record")
    return kind(document, path)


_CASE_COLUMNS = ("id", "variant", "family", "rung", "device", "network", "layer", "problem", "batch", "status", "reason", "time", "time_of",
                 "median_ns", "low_ns", "high_ns", "level", "samples", "quality", "predicted_low_ns", "predicted_high_ns", "predicted_for",
                 "gflop_per_s", *(f"{name}{end}" for name in _FACTORS for end in ("", "_low", "_high")))


def _case(case: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    time, interval = case.get("time") or {}, (case.get("time") or {}).get("interval") or {}
    quality = case.get("quality") or {}
    found = {name: case.get(name) for name in ("id", "variant", "family", "rung", "device", "network", "layer", "problem", "batch", "status",
                                               "reason")}
    found |= {"time": time.get("kind"), "time_of": time.get("of"), "median_ns": time.get("median"), "low_ns": interval.get("low"),
              "high_ns": interval.get("high"), "level": interval.get("level"), "samples": len(time.get("samples", [])),
              "quality": quality.get("mark"), "gflop_per_s": row.get("gflop_per_s")}
    for gpu in (case.get("prediction") or {}).get("gpus", []):
        if gpu["gpu"] == _GPU:
            found |= {"predicted_low_ns": gpu["low"], "predicted_high_ns": gpu["high"], "predicted_for": gpu["gpu"]}
    for name in _FACTORS:
        ratio = row.get(name) or {}
        found |= {name: ratio.get("value"), f"{name}_low": ratio.get("low"), f"{name}_high": ratio.get("high")}
    return found


def _judged(case: Mapping[str, Any]) -> dict[str, Any]:
    change = case.get("change") or {}
    kept = {name: value for name, value in case.items() if not isinstance(value, (dict, list))}
    return {**kept, "change": change.get("estimate", change.get("value")), "low": change.get("low"), "high": change.get("high")}


def _table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> pandas.DataFrame:
    """With the columns first that are always there, also where there is no row."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ConvladderError("pandas is not installed: pip install pandas") from None
    more: Iterator[str] = (name for row in rows for name in row)
    return pandas.DataFrame(rows, columns=list(dict.fromkeys([*columns, *more])))
