"""Counters by line of the source, as `convladder simulate --lines --output` writes them, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from convladder_charts.json_text import RecordError
from convladder_report.html import script_policy, template_text

EXECUTED = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed_pred_on.sum"
TENSOR = "sm__inst_executed_pipe_tensor.sum"
_LOAD = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum"
_STORE = "l1tex__t_{}_pipe_lsu_mem_global_op_st.sum"
_PASSES = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")
_SHARED = ("smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum")
_CONFLICTS = ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
              "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")
_BYTES = ("smsp__sass_data_bytes_mem_global_op_ld.sum", "smsp__sass_data_bytes_mem_global_op_st.sum",
          "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
          "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum")
_DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"

COLUMNS = ("share", "executed", "lanes\nof 32", "sectors\na load", "sectors\na store", "wavefronts\na request",
           "bank\nconflicts", "global\nbytes", "tensor\ninstructions", "divergent\nbranches")


def page(document: Dict[str, Any], title: str) -> str:
    """The page for a document of `simulate`: of a launch, of several side by side, or of a program."""
    kernels = list(_kernels(document))
    if not kernels:
        raise RecordError("no counters by line: 'convladder simulate --lines' writes them")
    script = Markup(template_text("lines.js"))
    environment = Environment(loader=FileSystemLoader(Path(__file__).resolve().parent / "templates"), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("lines.html").render(
        title=title, style=Markup(template_text("style.css")), script=script, policy=script_policy(script),
        differences=list(_differences(document, kernels)), kernels=[_shown(label, one) for label, one in kernels])


def _kernels(document: Dict[str, Any]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """The kernels with lines, each with the words before its name."""
    if "processes" in document:
        for process in document["processes"]:
            for kernel in process["kernels"]:
                if kernel.get("lines"):
                    yield "", kernel["lines"]
        return
    for number, one in enumerate(document.get("simulations", [document])):
        for lines in one.get("lines") or []:
            yield (f"{_letter(number)}, {Path(one['file']).name}: " if "simulations" in document else ""), lines


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _sum(counters: Dict[str, float], *names: str) -> float:
    return sum(counters.get(name, 0) for name in names)


def _ratio(above: float, below: float) -> Optional[float]:
    return above / below if below else None


def figures(line: Dict[str, Any]) -> List[Optional[float]]:
    """What COLUMNS name."""
    counters = line["counters"]
    return [line["share"], _sum(counters, EXECUTED), _ratio(_sum(counters, LANES), _sum(counters, EXECUTED)),
            _ratio(_sum(counters, _LOAD.format("sectors")), _sum(counters, _LOAD.format("requests"))),
            _ratio(_sum(counters, _STORE.format("sectors")), _sum(counters, _STORE.format("requests"))),
            _ratio(_sum(counters, *_PASSES), _sum(counters, *_SHARED)), _sum(counters, *_CONFLICTS) or None,
            _sum(counters, *_BYTES) or None, _sum(counters, TENSOR) or None, _sum(counters, _DIVERGENT) or None]


def _text(column: int, value: Optional[float]) -> str:
    if value is None:
        return ""
    if column == 0:
        return f"{100 * value:.1f} %" if value else ""
    if column in (2, 3, 4, 5):
        return f"{value:.0f}" if abs(value - round(value)) < 0.005 else f"{value:.2f}"
    return f"{value:,.0f}"


def _cell(column: int, value: Optional[float]) -> Dict[str, Any]:
    return {"value": -1 if value is None else value, "text": _text(column, value)}


def _shown(label: str, kernel: Dict[str, Any]) -> Dict[str, Any]:
    by_place = {(line["file"], line["line"]): line for line in kernel["lines"]}
    used = {column for line in kernel["lines"] for column, value in enumerate(figures(line)) if value is not None}
    columns = [column for column in range(len(COLUMNS)) if column in used]
    code: Dict[Tuple[Optional[str], int], List[Dict[str, Any]]] = {}
    for one in kernel["instructions"]:
        place = one["places"][0] if one["places"] else {"file": None, "line": 0}
        code.setdefault((place["file"], place["line"]), []).append(one)
    files = []
    for name in sorted({line["file"] for line in kernel["lines"]}, key=lambda file: (file is None, file)):
        source = kernel["sources"].get(name, []) if name else []
        told = {line["line"]: line for line in kernel["lines"] if line["file"] == name}
        shown = range(max(min(told) - 3, 1), max(told) + 3) if source else sorted(told)
        rows = [_row(number, source, by_place.get((name, number)), code.get((name, number), []), columns)
                for number in shown if not source or number <= len(source)]
        files.append({"name": name or "no line is known", "rows": rows})
    executed = sum(_sum(line["counters"], EXECUTED) for line in kernel["lines"])
    bound = f"; the predicted time is bound by {kernel['bound_by']}" if kernel["bound_by"] else ""
    return {"title": label + kernel["kernel"], "columns": [COLUMNS[column] for column in columns], "files": files,
            "said": f"{executed:,.0f} instructions of warps in {kernel['launches']:,} "
                    f"launch{'' if kernel['launches'] == 1 else 'es'}{bound}"}


def _row(number: int, source: List[str], line: Optional[Dict[str, Any]], code: List[Dict[str, Any]],
         columns: List[int]) -> Dict[str, Any]:
    values = figures(line) if line else []
    return {"line": number, "source": source[number - 1] if 0 < number <= len(source) else "",
            "cells": [_cell(column, values[column]) for column in columns] if line else [],
            "part": f"{100 * line['share']:.1f}" if line else "0", "code": [_instruction(one) for one in code]}


def _instruction(one: Dict[str, Any]) -> Dict[str, str]:
    counters = one["counters"]
    lanes = _ratio(_sum(counters, LANES), _sum(counters, EXECUTED))
    via = ", ".join(f"{place['file']}:{place['line']}" for place in one["places"][1:])
    return {"executed": f"{_sum(counters, EXECUTED):,.0f}", "lanes": _text(2, lanes), "ptx_line": str(one["ptx_line"]),
            "opcode": one["opcode"], "via": f"called from {via}" if via else ""}


def _differences(document: Dict[str, Any], kernels: List[Tuple[str, Dict[str, Any]]]) -> Iterator[Dict[str, Any]]:
    lists = document.get("line_differences", [])
    firsts = [one["lines"][0] for one in document.get("simulations", []) if one.get("lines")]
    shown = [0, 1, 3, 4, 5, 6]
    for number, pairs in enumerate(lists):
        if number == 0:
            continue
        rows = []
        for order, pair in enumerate(pairs):
            one = None if pair["first"] is None else firsts[0]["lines"][pair["first"]]
            other = None if pair["other"] is None else firsts[number]["lines"][pair["other"]]
            line = other or one
            before, after = (figures(side) if side else None for side in (one, other))
            cells = [_change(column, before, after) for column in shown]
            rows.append({"mark": "gone" if other is None else "new" if one is None else "changed", "cells": cells,
                         "order": order, "source": f"{line['line']:>5}  {line['source']}"})
        yield {"title": f"From A to {_letter(number)}: {len(rows)} lines differ", "rows": rows,
               "columns": [COLUMNS[column] for column in shown] + ["line, source"]}


def _change(column: int, before: Optional[List[Optional[float]]], after: Optional[List[Optional[float]]]) -> Dict[str, Any]:
    texts = [_text(column, side[column]) if side else "" for side in (before, after)]
    change = ((after[column] or 0) if after else 0) - ((before[column] or 0) if before else 0)
    if before is None or after is None or texts[0] == texts[1]:
        return {"value": abs(change), "text": texts[1] or texts[0]}
    return {"value": abs(change), "text": f"{texts[0] or '–'} → {texts[1] or '–'}"}
