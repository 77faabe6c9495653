"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, Optional

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from convladder_report.document import Report

LARGEST = 2_000_000
"""Bytes of a page; one that is larger with the chart library goes without it."""
_TEMPLATES = Path(__file__).resolve().parent / "templates"


def html(report: Report, library: Optional[str]) -> str:
    """The same text for the same report. Only the style sheet, the drawings, and the chart library with the script
    that calls it, where there is one, are not escaped. These two are all that the page's policy lets run."""
    plain = _html(report, None)
    if library is None or not report.has_explorers:
        return plain
    whole = _html(report, [library, (_TEMPLATES / "explorers.js").read_text(encoding="utf-8")])
    return whole if len(whole.encode("utf-8")) < LARGEST else plain


def _html(report: Report, scripts: Optional[list[str]]) -> str:
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["json"] = _json
    style = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))
    texts = [Markup(script) for script in scripts or ()]
    return environment.get_template("report.html").render(
        report=report, style=style, drawing=Markup, scripts=texts, policy=" ".join(map(_source, texts)))


def _source(script: str) -> str:
    """A script by its hash, in the words of a Content-Security-Policy."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") + "'"


def _json(value: Any) -> Markup:
    """JSON inside of a script element, which no name in it can end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
                  .replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
