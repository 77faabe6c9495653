"""The pages that list: the index of all records, and the comparisons."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from convladder_report.html import as_json
from convladder_site.entry import Entry

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def index(entries: Sequence[Entry], links: Sequence[tuple[str, str]], left_out: Sequence[str]) -> str:
    """All records, the newest first."""
    return _page("index.html", entries=entries, links=links, left_out=list(dict.fromkeys(left_out)))


def comparisons(runs: Sequence[Entry], rows: Sequence[dict[str, Any]], left_out: str) -> str:
    """All pairs in a table, and a script that finds the page of two runs."""
    numbers = {run.label: number for number, run in enumerate(runs)}
    pairs = {f"{numbers[row['base'].label]}-{numbers[row['new'].label]}": [row["page"], row["outcome"]] for row in rows}
    script = Markup((_TEMPLATES / "compare.js").read_text(encoding="utf-8"))
    return _page("compare.html", runs=runs, rows=rows, left_out=left_out, pairs=pairs, script=script,
                 policy="'sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() + "'")


def _page(template: str, **values: Any) -> str:
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["json"] = as_json
    style = Markup((_TEMPLATES / "site.css").read_text(encoding="utf-8"))
    return environment.get_template(template).render(style=style, **values)
