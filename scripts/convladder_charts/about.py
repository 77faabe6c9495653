"""What stands in every figure's heading: the machine, the program, the images, and what a reader must be warned of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from convladder_charts.json_text import Node
from convladder_charts.machines import machines, nodes_text
from convladder_charts.machines import warnings as machine_warnings
from convladder_charts.stage import is_size, printable


@dataclass(frozen=True)
class About:
    """Where the figures of a record come from."""

    host: str
    cpu: str
    commit: str
    data: str
    program: str
    date: str
    warnings: tuple[str, ...]


def about(root: Node) -> dict[str, Any]:
    """The members of `About`, from the document of either kind of record."""
    context = root.field("context")
    found = machines(context)
    kinds = {one.kind: cpu_text(one.cpu) for one in found}
    return {"host": nodes_text(found) or printable(context.field("host").field("name").text()),
            "cpu": " or ".join(dict.fromkeys(kinds.values())) or cpu_text(context.field("cpu")),
            "commit": _commit(context.field("program")),
            "data": _data(context.field("dataset"), root.field("cases").outlines()),
            "program": _program(context.field("program")),
            "date": printable(context.field("date").text()),
            "warnings": (*machine_warnings(found), *_warnings(root))}


def hardware(device: str, context: Node) -> str:
    """What the times were taken on: the model, and for a CPU the threads."""
    cpu = cpu_text(context.field("cpu"))
    if device == "cpu":
        return cpu
    name = fact(device, "name", context) or fact(device, "model", context)
    if name:
        return printable(name)
    return f"device {printable(device)} on {cpu}"


def fact(device: str, key: str, context: Node) -> Optional[str]:
    """What the record says of a device under a key."""
    for node in context.field("devices").items():
        facts = node.field("facts")
        if node.field("kind").text() == device and isinstance(facts.value, dict) and key in facts.value:
            return facts.field(key).text()
    return None


def cpu_text(cpu: Node) -> str:
    """Its model and the threads that were used."""
    threads = cpu.field("threads").integer()
    return f"{printable(cpu.field('model').text())}, {threads} thread{'' if threads == 1 else 's'}"


def _commit(program: Node) -> str:
    commit = printable(program.field("commit").text()[:9]) or "unknown"
    return commit + (" (dirty)" if program.field("dirty").boolean() else "")


def _data(dataset: Node, cases: Sequence[Node]) -> str:
    if cases and all(is_size(case) and case.field("input").text() == "random" for case in cases):
        return "random, as the problem fills its tensors"
    name = printable(dataset.field("name").text())
    size = f"{dataset.field('height').integer()}×{dataset.field('width').integer()}"
    return f"{name}, {dataset.field('images').integer()} images {size}"


def _program(program: Node) -> str:
    parts = ("name", "version", "build_type", "compiler")
    name, version, build_type, compiler = (printable(program.field(part).text()) for part in parts)
    return f"{name} {version}, {build_type} build, {compiler}"


def _warnings(root: Node) -> tuple[str, ...]:
    """What a reader must know before believing a figure."""
    warnings = []
    cases = root.field("cases").outlines()
    if not root.field("complete").boolean():
        planned = root.field("planned").items() if "planned" in root.value else []
        known = f"{len(cases)} of {len(planned)}" if planned else f"{len(cases)}"
        warnings.append(f"incomplete run: {known} cases recorded")
    if root.field("context").field("program").field("sanitized").boolean():
        warnings.append("sanitized build: its times say nothing about speed")
    used = {case.field("device").text() for case in cases if "device" in case.value}
    for device in root.field("context").field("devices").items():
        if "warning" in device.value and not device.field("warning").is_null() and device.field("kind").text() in used:
            warnings.append(printable(f"{device.field('kind').text()}: {device.field('warning').text()}", 200))
    return tuple(warnings)
