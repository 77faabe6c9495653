"""The report in a real browser: nothing fetched, nothing complained of, nothing wider than the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest

from browser import CHROMIUM, Browser
from test_report import FIGURES_OF_NETWORKS, FIGURES_OF_RUN

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium (Debian's package chromium)")

WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def page(reported: Path) -> Path:
    """The report of a run and of networks, without scripts."""
    return reported / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, with an empty profile."""
    with Browser(tmp_path_factory.mktemp("chromium") / "profile") as one:
        yield one


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen_and_nothing_is_complained_of(width: int, scheme: str, page: Path, browser: Browser,
                                                         tmp_path: Path) -> None:
    browser.media(prefers_color_scheme=scheme)
    browser.resize(width)
    browser.open(page)
    overflow = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow == 0
    assert browser.evaluate("document.documentElement.clientWidth") == width
    for event in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
        assert browser.of(event) == []
    assert {one["request"]["url"] for one in browser.of("Network.requestWillBeSent")} == {page.resolve().as_uri()}
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_is_seen_without_scripts(width: int, page: Path, browser: Browser) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.resize(width)
    browser.open(page)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    sizes = browser.evaluate("[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect())"
                             ".map(box => [box.width, box.height])")
    assert len(sizes) == FIGURES_OF_RUN + FIGURES_OF_NETWORKS
    assert all(width >= 700 and height >= 100 for width, height in sizes), "wide enough to read its texts"


def test_labels_of_figures_do_not_lie_on_each_other(page: Path, browser: Browser) -> None:
    """Texts of one figure, each in its own box, a point of tolerance aside."""
    browser.resize(1280)
    browser.open(page)
    hits = browser.evaluate("""[...document.querySelectorAll('figure svg')].flatMap(svg => {
        const boxes = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
        return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) =>
            Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 &&
            Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 5).map(([b]) => a + ' | ' + b));
    })""")
    assert hits == []


def test_text_can_be_read_on_its_ground(page: Path, browser: Browser) -> None:
    """WCAG's contrast of every cell and sentence, in both schemes: at least 4.5."""
    for scheme in ("light", "dark"):
        browser.media(prefers_color_scheme=scheme)
        browser.open(page)
        poor = browser.evaluate("""(() => {
            const parts = colour => colour.match(/[\\d.]+/g).map(Number);
            const light = colour => { const [r, g, b] = parts(colour).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const ground = one => { for (; one; one = one.parentElement) {
                const found = getComputedStyle(one).backgroundColor;
                if (!(parts(found).length == 4 && parts(found)[3] == 0)) return found; } return 'rgb(255,255,255)'; };
            return [...document.querySelectorAll('p, li, th, td, caption, figcaption, summary, a, h1, h2, h3, h4')]
                .map(one => [light(getComputedStyle(one).color), light(ground(one)), one.className])
                .filter(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5);
        })()""")
        assert poor == [], scheme


def test_it_is_reached_by_keyboard(page: Path, browser: Browser) -> None:
    """The first stop is the link that skips the contents; tables and drawings that scroll are stops as well."""
    browser.open(page)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("[...document.querySelectorAll('.table, .drawing')].every(one => one.tabIndex == 0)")


def test_it_prints(page: Path, browser: Browser) -> None:
    """On A4 with half an inch of margin nothing is cut off, and what a screen opens is there."""
    browser.resize(698)
    browser.open(page)
    browser.call("Emulation.setEmulatedMedia", media="print")
    heights = browser.evaluate("[...document.querySelectorAll('details table')].map(one => one.offsetHeight)")
    wide = browser.evaluate("[...document.querySelectorAll('figure svg, table')].filter(one =>"
                            " one.getBoundingClientRect().right > 699).map(one => one.textContent.slice(0, 100))")
    browser.call("Emulation.setEmulatedMedia", media="")
    assert len(heights) > 20 and min(heights) > 30
    assert wide == []
    assert len(browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]) > 50000
