"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, Optional

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from convladder_charts.style import DARK
from convladder_report.document import MOST_ROWS, Report
from convladder_report.figures import Styles

LARGE = 6_000_000
"""Bytes from which on a page opens slowly; whoever writes a larger one is told."""
_STYLE_SHEET = "/* the style sheet */"
_TEMPLATES = Path(__file__).resolve().parent / "templates"


def html(report: Report, library: Optional[str], static: bool = False) -> str:
    """The same text for the same report. Only the style sheet, the drawings, the page's own scripts, and the chart
    library, where there is one, are not escaped. These scripts are all that the page's policy lets run; a static page
    has none."""
    interactive = bool(library and report.explorers and not static)
    scripts = [] if static else [template_text("page.js")]
    if interactive:
        scripts += [library or "", template_text("explorers.js")]
    environment = environment_of_templates()
    environment.filters["json"] = as_json
    environment.filters["short"] = lambda block: block.short(MOST_ROWS)
    texts = [Markup(script) for script in scripts]
    styles = Styles()
    page = environment.get_template("report.html").render(
        report=report, style=_STYLE_SHEET, drawing=lambda text: Markup(styles.shared(text)), scripts=texts,
        interactive=interactive, dark=DARK, data=report.data if interactive else (), policy=" ".join(map(script_policy, texts)))
    return page.replace(_STYLE_SHEET, template_text("style.css") + styles.rules, 1)


def environment_of_templates() -> Environment:
    """For the templates of pages: every text is escaped, and a name that is not there is an error."""
    return Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True)


def template_text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def script_policy(script: str) -> str:
    """A script by its hash, in the words of a Content-Security-Policy."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") + "'"


def as_json(value: Any) -> Markup:
    """JSON inside of a script element, which no name in it can end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
                  .replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
