"""Counters by line of the source, as `convladder simulate --lines --output` writes them, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Optional

from markupsafe import Markup

from convladder_charts.json_text import RecordError
from convladder_report.html import environment_of_templates, script_policy, template_text

_SHARE: dict[str, Any] = {"title": "share", "unit": "", "is_ratio": False}
"""The first column, which is no figure of the others: it is a part of the kernel's predicted time."""
_AROUND = 2
"""Lines of source that are shown before the first and behind the last that has counts."""


def page(document: dict[str, Any], title: str) -> str:
    """The page for a document of `simulate`: of a launch, of several side by side, or of a program."""
    kernels = list(_kernels(document))
    if not kernels:
        raise RecordError("no counters by line: 'convladder simulate --lines' writes them")
    script = Markup(template_text("lines.js"))
    return environment_of_templates().get_template("lines.html").render(
        title=title, style=Markup(template_text("style.css")), scripts=[script], policy=script_policy(script),
        differences=list(_differences(document)), kernels=[_shown(label, one) for label, one in kernels])


def _kernels(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kernels with lines, each with the words before its name."""
    for process in document.get("processes", []):
        for kernel in process["kernels"]:
            if kernel.get("lines"):
                yield "", kernel["lines"]
    for lines in document.get("lines") or []:
        yield "", lines
    for number, one in enumerate(document.get("simulations", [])):
        for lines in one["lines"] or []:
            yield f"{_letter(number)}, {Path(one['file']).name}: ", lines


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _figures(line: dict[str, Any]) -> list[Optional[float]]:
    """The share, and what the columns name."""
    return [line["share"] or None, *line["figures"]]


def _columns(kernel: dict[str, Any], rows: list[list[Optional[float]]]) -> list[int]:
    """Those in which any row has a figure; the share in any case."""
    return [at for at in range(len(kernel["columns"]) + 1) if at == 0 or any(row[at] is not None for row in rows)]


def _titles(kernel: dict[str, Any], columns: list[int]) -> list[str]:
    named = [_SHARE, *kernel["columns"]]
    return ["\n".join(word for word in (named[at]["title"], named[at]["unit"]) if word) for at in columns]


def _text(kernel: dict[str, Any], column: int, value: Optional[float]) -> str:
    if value is None:
        return ""
    if column == 0:
        return f"{100 * value:.1f} %"
    is_ratio = kernel["columns"][column - 1]["is_ratio"]
    return f"{value:.2f}" if is_ratio and abs(value - round(value)) >= 0.005 else f"{value:,.0f}"


def _shown(label: str, kernel: dict[str, Any]) -> dict[str, Any]:
    by_place = {(line["file"], line["line"]): line for line in kernel["lines"]}
    columns = _columns(kernel, [_figures(line) for line in kernel["lines"]])
    code: dict[tuple[Optional[str], int], list[dict[str, Any]]] = {}
    for one in kernel["instructions"]:
        place = one["places"][0] if one["places"] else {"file": None, "line": 0}
        code.setdefault((place["file"], place["line"]), []).append(one)
    files = []
    for name in sorted({line["file"] for line in kernel["lines"]}, key=lambda file: (file is None, file)):
        source = kernel["sources"].get(name, []) if name else []
        told = sorted(line["line"] for line in kernel["lines"] if line["file"] == name)
        shown = range(max(told[0] - _AROUND, 1), max(told[-1], min(told[-1] + _AROUND, len(source))) + 1) if source else told
        files.append({"name": name or "no line is known",
                      "rows": [_row(kernel, number, source, by_place.get((name, number)), code.get((name, number), []), columns)
                               for number in shown]})
    executed = sum(line["figures"][0] or 0 for line in kernel["lines"])
    bound = f"; the predicted time is bound by {kernel['bound_by']}" if kernel["bound_by"] else ""
    left_out = f"; {kernel['left_out']:,} of other kernels with this name are not in it" if kernel["left_out"] else ""
    return {"title": label + kernel["kernel"], "columns": _titles(kernel, columns), "files": files,
            "said": f"{executed:,.0f} instructions of warps in {kernel['launches']:,} "
                    f"launch{'' if kernel['launches'] == 1 else 'es'}{left_out}{bound}"}


def _row(kernel: dict[str, Any], number: int, source: list[str], line: Optional[dict[str, Any]], code: list[dict[str, Any]],
         columns: list[int]) -> dict[str, Any]:
    values = _figures(line) if line else []
    return {"line": number, "source": source[number - 1] if 0 < number <= len(source) else "",
            "cells": [{"value": values[at] or 0, "text": _text(kernel, at, values[at])} for at in columns] if line else [],
            "part": f"{100 * line['share']:.1f}" if line else "0", "code": [_instruction(kernel, one) for one in code]}


def _instruction(kernel: dict[str, Any], one: dict[str, Any]) -> dict[str, str]:
    via = ", ".join(f"{place['file']}:{place['line']}" for place in one["places"][1:])
    executed, lanes = (_text(kernel, at, one["figures"][at - 1]) for at in (1, 2))
    return {"executed": executed, "lanes": lanes, "ptx_line": str(one["ptx_line"]), "opcode": one["opcode"],
            "via": f"called from {via}" if via else ""}


def _differences(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines that differ from the first of several launches."""
    firsts = [one["lines"][0] for one in document.get("simulations", []) if one["lines"]]
    for number, pairs in enumerate(document.get("line_differences", [])):
        if number == 0:
            continue
        sides = [tuple(None if pair[name] is None else kernel["lines"][pair[name]]
                       for name, kernel in (("first", firsts[0]), ("other", firsts[number]))) for pair in pairs]
        columns = _columns(firsts[0], [_figures(line) for pair in sides for line in pair if line])
        rows = []
        for order, (one, other) in enumerate(sides):
            line = other or one
            assert line is not None
            rows.append({"mark": "gone" if other is None else "new" if one is None else "changed", "order": order,
                         "cells": [_change(firsts[0], at, one, other) for at in columns],
                         "source": f"{line['line']:>5}  {line['source']}"})
        yield {"title": f"From A to {_letter(number)}: {len(rows)} lines differ", "rows": rows,
               "columns": [*_titles(firsts[0], columns), "line, source"]}


def _change(kernel: dict[str, Any], column: int, one: Optional[dict[str, Any]], other: Optional[dict[str, Any]]) -> dict[str, Any]:
    before, after = (_figures(side)[column] if side else None for side in (one, other))
    texts = [_text(kernel, column, value) for value in (before, after)]
    change = abs((after or 0) - (before or 0))
    if one is None or other is None or texts[0] == texts[1]:
        return {"value": change, "text": texts[1] or texts[0]}
    return {"value": change, "text": f"{texts[0] or '–'} → {texts[1] or '–'}"}
