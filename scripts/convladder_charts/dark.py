"""Drawings that follow the reader's scheme: light as they are drawn, dark by rules in the file."""

from __future__ import annotations

from convladder_charts.style import DARK, PAPER

KEPT = "kept"
"""Names what has its colours on a dark ground as well: a text on a colour of its own."""


def rules() -> str:
    """A style element for an SVG file. What cannot read it draws the light one; so does a printer."""
    lines = []
    for light, dark in DARK.items():
        elements = ("path", "use") if light == PAPER else ("",)  # white letters stand on a colour of their own
        for what in ("fill", "stroke"):
            where = ",".join(f'{element}[style*="{what}: {light}"]:not(#{KEPT} *)' for element in elements)
            lines.append(f"{where} {{{what}:{dark} !important}}")
    return "<style>@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(lines) + "\n}</style>"
