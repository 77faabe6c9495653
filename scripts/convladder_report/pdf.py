"""A page as PDF, printed by a Chromium without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Optional

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 120


class NoPdf(Exception):
    """No PDF was written. The message is one line."""


def browser() -> Optional[str]:
    """The program that the environment variable CHROMIUM names, or the first of the usual names that is there."""
    chosen = os.environ.get("CHROMIUM")
    return shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, _NAMES)), None)


def write_pdf(page: Path, output: Path) -> None:
    """Raises NoPdf where there is no Chromium, or where it writes nothing."""
    from convladder_charts.page import write  # where there is no matplotlib, that is said first

    program = browser()
    if program is None:
        raise NoPdf(f"no PDF: Chromium was not found (tried {', '.join(_NAMES)}; set CHROMIUM to use another program); "
                    f"any browser prints {page}")
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "page.pdf"
        # The sandbox needs rights that a container does not give; the page is our own and fetches nothing.
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}/profile",
                   "--no-pdf-header-footer", f"--print-to-pdf={drawn}", page.resolve().as_uri()]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoPdf(f"no PDF: {program} did not print: {error}") from None
        if done.returncode != 0 or not drawn.is_file() or not drawn.read_bytes().startswith(b"%PDF"):
            raise NoPdf(f"no PDF: {program} ended with status {done.returncode} and printed nothing")
        write(output, drawn.read_bytes())
