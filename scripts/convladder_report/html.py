"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from convladder_report.document import Report

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def html(report: Report) -> str:
    """The same text for the same report. Only the style sheet and the drawings, both made here, are not escaped."""
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    style = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return environment.get_template("report.html").render(report=report, style=style, drawing=Markup)
