"""The report in a real browser: nothing fetched, nothing complained of, nothing wider than the screen; with and
without the charts that need JavaScript."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Iterator

import pytest

from browser import CHROMIUM, Browser
from conftest import SCRIPTS
from reports import report
from test_report import FIGURES_OF_NETWORKS, FIGURES_OF_RUN

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium (Debian's package chromium)")

WIDTHS = (1280, 400)
SCREENS = ((1280, 720), (400, 1275))
"""What the answer has to fit into: a screen, and one and a half of a telephone's."""


@pytest.fixture(scope="module")
def page(reported: Path) -> Path:
    """The report of a run and of networks, without scripts."""
    return reported / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, with an empty profile."""
    with Browser(tmp_path_factory.mktemp("chromium") / "profile") as one:
        yield one


@pytest.fixture(scope="module")
def interactive(reported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the run with the chart library, which npm gets once."""
    if not shutil.which("npm"):
        pytest.skip("no npm: no chart library")
    done = subprocess.run([str(SCRIPTS / "report_library.sh")], capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip())
    path = tmp_path_factory.mktemp("interactive") / "report.html"
    assert report(reported / "run.json", "--output", path, static=False).returncode == 0
    assert path.stat().st_size < 2_000_000
    return path


def open_all(browser: Browser, page: Path) -> None:
    """With every chapter and every table open."""
    browser.open(page)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def open_interactive(browser: Browser, page: Path) -> None:
    """All chapters opened; waits until every chart is drawn."""
    open_all(browser, page)
    for _ in range(200):
        if browser.evaluate("document.querySelectorAll('.explorer').length > 0 && "
                            "document.querySelectorAll('.explorer:not([data-drawn])').length === 0"):
            return
        time.sleep(0.05)
    raise AssertionError("the charts were not drawn")


def assert_clean(browser: Browser, page: Path, width: int) -> None:
    """Nothing said in the console, nothing fetched, no scrolling to the side."""
    assert browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert browser.evaluate("document.documentElement.clientWidth") == width
    for event in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
        assert browser.of(event) == []
    assert {one["request"]["url"] for one in browser.of("Network.requestWillBeSent")} == {page.resolve().as_uri()}


OVERLAPS = """[...document.querySelectorAll('figure svg, .explorer svg')].flatMap(svg => {
    const boxes = [...svg.querySelectorAll('text')].filter(one => one.textContent.trim() &&
        getComputedStyle(one).opacity > 0).map(one => [one.textContent, one.getBoundingClientRect()]);
    return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) =>
        Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 &&
        Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 5).map(([b]) => a + ' | ' + b));
})"""
"""Texts of one drawing that lie on each other, some points of tolerance aside."""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen_and_nothing_is_complained_of(width: int, scheme: str, page: Path, browser: Browser,
                                                         tmp_path: Path) -> None:
    browser.media(prefers_color_scheme=scheme)
    browser.resize(width)
    browser.open(page)
    assert_clean(browser, page, width)
    assert browser.evaluate(OVERLAPS) == []
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", WIDTHS)
def test_charts_that_answer_are_drawn_beside_the_drawings(width: int, interactive: Path, browser: Browser) -> None:
    browser.media(prefers_color_scheme="light")
    browser.resize(width)
    open_interactive(browser, interactive)
    assert_clean(browser, interactive, width)
    assert browser.evaluate("document.querySelectorAll('.explorer svg').length") == 2
    assert browser.evaluate("[...document.querySelectorAll('figure svg')].filter(one => one.checkVisibility()).length"
                            ) == FIGURES_OF_RUN - 2, "a chart that answers stands in its drawing's place"
    assert browser.evaluate(OVERLAPS) == []
    assert browser.evaluate("[...document.querySelectorAll('.explorer select')].every(one => one.labels.length == 1)")
    assert browser.evaluate("[...document.querySelectorAll('.explorer [role=graphics-document], .explorer svg')]"
                            ".some(one => one.getAttribute('aria-label'))")


def test_choosing_a_layer_and_pointing_at_a_bar_shows_its_values(interactive: Path, browser: Browser) -> None:
    browser.resize(1280)
    open_interactive(browser, interactive)
    offered = choose(browser, "layer", "lenet72.conv1")
    assert {"lenet28.conv1", "lenet72.conv1", "lenet72.conv2"} == set(offered)
    assert choose(browser, "batch", "100") == ["10", "100", "1000"] and "linear axis" in choose(browser, "look", "linear axis")
    assert browser.evaluate("document.activeElement.parentElement.dataset.choice") == "look", "the focus stays where it was"
    box = browser.evaluate("""(() => { const box = document.querySelector(
        '#r1-hero-explorer .mark-rect path').getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]; })()""")
    shown = pointed_at(browser, *box)
    assert "Accumulate in memory" in shown and "lenet72.conv1" in shown and "$.ladders[" in shown
    assert "over the baseline" in shown


def choose(browser: Browser, name: str, value: str) -> list[str]:
    """Takes a value of one of the first chart's choices, as a reader would; returns what was offered."""
    offered = browser.evaluate(f"""(() => {{
        const select = document.querySelector('#r1-hero-explorer [data-choice="{name}"] select');
        const offered = [...select.options].map(one => one.value);
        select.focus();
        select.value = {value!r};
        select.dispatchEvent(new Event('change', {{bubbles: true}}));
        return offered; }})()""")
    wait(browser, "document.querySelector('#r1-hero-explorer').dataset.drawn === ''")
    return offered  # type: ignore[no-any-return]


def pointed_at(browser: Browser, x: float, y: float) -> str:
    """What is shown beside the pointer."""
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    wait(browser, "document.querySelector('#vg-tooltip-element.visible')")
    return str(browser.evaluate("document.querySelector('#vg-tooltip-element.visible').innerText"))


def wait(browser: Browser, expression: str) -> None:
    """Until it holds."""
    for _ in range(100):
        if browser.evaluate(f"Boolean({expression})"):
            return
        time.sleep(0.05)
    raise AssertionError(f"never: {expression}")


def test_no_name_of_a_record_becomes_markup_in_the_charts(reported: Path, interactive: Path, browser: Browser,
                                                          tmp_path: Path) -> None:
    text = (reported / "run.json").read_text(encoding="utf-8")
    hostile = "</script><img src=x onerror=alert(1)>"
    (tmp_path / "run.json").write_text(text.replace("Accumulate in memory", hostile), encoding="utf-8")
    assert report(tmp_path / "run.json", static=False).returncode == 0
    browser.resize(1280)
    open_interactive(browser, tmp_path / "report.html")
    assert_clean(browser, tmp_path / "report.html", 1280)
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert hostile[:20] in browser.evaluate("document.querySelector('.explorer svg').textContent")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_is_seen_without_scripts(width: int, page: Path, browser: Browser) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.resize(width)
    browser.open(page)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    sizes = browser.evaluate("[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect())"
                             ".map(box => [box.width, box.height])")
    assert len(sizes) == FIGURES_OF_RUN + FIGURES_OF_NETWORKS
    assert all(width >= 360 and height >= 100 for width, height in sizes), "wide enough to read its texts"


def test_nothing_is_missing_where_scripts_are_off(interactive: Path, browser: Browser) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(interactive)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    shown = browser.evaluate("[...document.querySelectorAll('figure svg')].filter(one => one.checkVisibility()).length")
    assert shown == FIGURES_OF_RUN
    assert browser.evaluate("[...document.querySelectorAll('.explorer')].every(one => !one.checkVisibility())")


CONTRASTS = """(() => {
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const seen = colour => !/^none|url/.test(colour) && !(parts(colour).length == 4 && parts(colour)[3] == 0);
    const light = colour => { const [r, g, b] = parts(colour).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const ground = one => { for (; one; one = one.parentElement) {
        const found = getComputedStyle(one).backgroundColor;
        if (seen(found)) return found; } return 'rgb(255,255,255)'; };
    const poor = [...document.querySelectorAll('p, li, th, td, caption, figcaption, summary, a, h1, h2, h3, h4, strong, '
        + 'button, select, label')].filter(one => one.checkVisibility())
        .map(one => [one.textContent.trim().slice(0, 60), getComputedStyle(one).color, ground(one)]);
    for (const svg of document.querySelectorAll('figure svg, .explorer svg')) {
        if (!svg.checkVisibility()) continue;
        const shapes = [...svg.querySelectorAll('path, rect')].filter(one => !one.closest('defs, clipPath'))
            .map(one => [one, one.getBoundingClientRect(), getComputedStyle(one)])
            .filter(([one, box, style]) => seen(style.fill) && style.fillOpacity * style.opacity > 0.5 && box.width > 8);
        for (const text of svg.querySelectorAll('text')) {
            const box = text.getBoundingClientRect(), style = getComputedStyle(text);
            if (!text.textContent.trim() || style.opacity == 0 || !box.width) continue;
            const x = box.left + box.width / 2, y = box.top + box.height / 2;
            const below = shapes.filter(([one, at]) => at.left <= x && x <= at.right && at.top <= y && y <= at.bottom
                && one.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1);
            poor.push([text.textContent.slice(0, 60), style.fill, below ? below[2].fill : ground(svg)]);
        }
    }
    return [poor.length, poor.filter(([, text, on]) => ratio(light(text), light(on)) < 4.5)];
})()"""
"""How many texts there are, and those with less than WCAG's 4.5 against what is painted below them; in charts too."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(scheme: str, page: Path, interactive: Path, browser: Browser) -> None:
    browser.media(prefers_color_scheme=scheme)
    browser.resize(1280)
    for one in (page, interactive):
        (open_interactive if one is interactive else open_all)(browser, one)
        number, poor = browser.evaluate(CONTRASTS)
        assert number > 1000 and poor == []


def press(browser: Browser, key: str) -> None:
    """One key, as a keyboard sends it."""
    code, text = {"Tab": (9, ""), "Enter": (13, "\r"), "Space": (32, " "), "ArrowDown": (40, ""), "Escape": (27, "")}[key]
    name = " " if key == "Space" else key
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=key, windowsVirtualKeyCode=code,
                     **({"text": text} if text and kind == "keyDown" else {}))


def focus(browser: Browser, selector: str) -> None:
    """As somebody who has pressed Tab until there."""
    browser.evaluate(f"document.querySelector({selector!r}).focus()")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_control_is_reached_by_keyboard(width: int, interactive: Path, browser: Browser) -> None:
    """Tab visits every link, button, choice and fold, in the page's order, and each shows that it has the focus."""
    browser.media(prefers_color_scheme="light")
    browser.resize(width)
    open_interactive(browser, interactive)
    wanted = browser.evaluate("""(() => {
        window.controls = [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility());
        return window.controls.length; })()""")
    reached = []
    for _ in range(wanted):
        press(browser, "Tab")
        at, outlined = browser.evaluate("""(() => { const one = document.activeElement, style = getComputedStyle(one);
            return [window.controls.indexOf(one), parseFloat(style.outlineWidth) > 1 && style.outlineStyle != 'none']; })()""")
        assert at >= 0 and outlined, browser.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        reached.append(at)
    assert reached == list(range(wanted)) and wanted > 20


def test_keys_work_every_control(interactive: Path, browser: Browser) -> None:
    browser.resize(400)
    browser.open(interactive)
    wait(browser, "document.querySelector('#r1-hero-explorer').dataset.drawn === ''")
    focus(browser, "nav > button")
    press(browser, "Enter")
    assert browser.evaluate("document.getElementById('contents').checkVisibility()")
    focus(browser, "#paths")
    assert not browser.evaluate("document.querySelector('.place').checkVisibility()")
    press(browser, "Space")
    assert browser.evaluate("document.querySelector('.place').checkVisibility()"), "paths on demand"
    focus(browser, "#fold")
    press(browser, "Space")
    assert browser.evaluate("[...document.querySelectorAll('.chapter')].every(one => one.open)")
    press(browser, "Enter")
    assert not browser.evaluate("[...document.querySelectorAll('.chapter')].some(one => one.open)")
    focus(browser, "#contents li:last-child a")
    press(browser, "Enter")
    wait(browser, "document.querySelector('.chapter:last-of-type').open")
    assert not browser.evaluate("document.getElementById('contents').checkVisibility()"), "a link closes the contents"
    focus(browser, ".chapter > summary")
    press(browser, "Space")
    assert browser.evaluate("document.querySelector('.chapter').open")
    focus(browser, '#r1-hero-explorer [data-choice="look"] select')
    press(browser, "ArrowDown")
    wait(browser, "document.querySelector('#r1-hero-explorer [data-choice=look] select').value === 'linear axis'")


@pytest.mark.parametrize("width, height", SCREENS)
@pytest.mark.parametrize("is_interactive", [True, False])
def test_the_answer_fits_the_first_screen(width: int, height: int, is_interactive: bool, reported: Path, interactive: Path,
                                          browser: Browser) -> None:
    """What was asked, the answers, the machine, and the picture at least to its last row."""
    page = interactive
    if not is_interactive:
        page = interactive.parent / "alone.html"
        assert page.exists() or report(reported / "run.json", "--output", page).returncode == 0
    browser.resize(width, height)
    browser.open(page)
    if is_interactive:
        wait(browser, "document.querySelector('#r1-hero-explorer').dataset.drawn === ''")
    ends = browser.evaluate("['.asked', '.machine', '.answers', '.hero svg'].map(name => "
                            "document.querySelector(name).getBoundingClientRect().bottom)")
    assert max(ends) <= height


def test_it_prints(page: Path, browser: Browser) -> None:
    """On A4 with half an inch of margin nothing is cut off, and what a screen opens is there."""
    browser.resize(698)
    browser.open(page)
    browser.call("Emulation.setEmulatedMedia", media="print")
    heights = browser.evaluate("[...document.querySelectorAll('details.chapter > section')].map(one => one.offsetHeight)")
    hidden = browser.evaluate("[...document.querySelectorAll('nav, .explorer')].every(one => !one.checkVisibility())")
    wide = browser.evaluate("[...document.querySelectorAll('figure svg, table')].filter(one =>"
                            " one.getBoundingClientRect().right > 699).map(one => one.textContent.slice(0, 100))")
    browser.call("Emulation.setEmulatedMedia", media="")
    assert len(heights) > 8 and min(heights) > 30, "every chapter is open"
    assert hidden
    assert wide == []
    assert len(browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]) > 50000
