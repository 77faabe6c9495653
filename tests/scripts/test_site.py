"""A site of many records: what is in it, what is made again, and how it behaves in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import unquote, urlsplit

import pytest

import kind_records
from browser import CHROMIUM, Browser
from calls import Done, call
from conftest import LAYERS, SCRIPTS, RecordMaker
from html_page import Element, parsed

MARKUP = "<script>hostile()</script><img src=x>"
PROGRAM = f"""#!{sys.executable}
import json, sys
sys.path.insert(0, {str(Path(__file__).resolve().parent)!r})
import kind_records
print(json.dumps(kind_records.history() if sys.argv[1] == "history" else kind_records.comparison()))
"""
"""Answers like the program, whatever it is asked to compare."""


def put(path: Path, document: Any) -> None:
    """The document as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def a_run(day: int, host: str = "bench", layer: int = 0) -> dict[str, Any]:
    """A small run of that day."""
    record = RecordMaker([LAYERS[layer]], [10]).add_cpu().record()
    record["context"]["date"] = f"2025-01-0{day}T12:00:00Z"
    record["context"]["host"]["name"] = host
    record["cases"][0]["quality"] = {"mark": "noisy", "reasons": ["busy"]}
    return record


def make_records(folder: Path) -> Path:
    """Three runs, of which two have cases in common, and others."""
    put(folder / "results/monday/run.json", a_run(1))
    put(folder / "results/tuesday/run.json", a_run(2))
    put(folder / "results/tuesday/sweep.json", kind_records.sweep())
    put(folder / "results/other/run.json", a_run(3, MARKUP, 1))
    program = folder / "program"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    return folder


def site(folder: Path, *arguments: object) -> Done:
    """Makes it, or brings it up to date."""
    return call("report.py", "--static", "--program", folder / "program", "--site", folder / "site",
                *(arguments or (folder / "results",)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records and their site; only to be read."""
    folder = make_records(tmp_path_factory.mktemp("site"))
    done = site(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(folder / "site/index.html"), "8 pages: 9 written"]
    return folder


@pytest.fixture
def records(made: Path, tmp_path: Path) -> Path:
    """Records with a site that is the test's own."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def pages(folder: Path) -> dict[str, Element]:
    """Every page by its place."""
    return {path.relative_to(folder / "site").as_posix(): parsed(path.read_text(encoding="utf-8"))
            for path in sorted((folder / "site").rglob("*.html"))}


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file each page is: one that is written again is another."""
    return {path.relative_to(folder / "site").as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in (folder / "site").rglob("*") if path.is_file()}


def test_the_index_says_what_each_record_is(made: Path) -> None:
    text = pages(made)["index.html"].text
    assert text.index("results/other/run.json") < text.index("results/tuesday/run.json") < text.index("results/monday")
    assert "2025-01-02 12:00" in text and "Example CPU 7000" in text and "bench" in text
    assert "the best of 4 configurations has maps 4" in text and "1 of 1 times noisy" in text
    assert MARKUP in text and str(made) not in text


def test_the_index_counts_what_is_right_by_luck_as_failed(tmp_path: Path) -> None:
    make_records(tmp_path)
    record = a_run(1)
    record["cases"][-1] |= {"status": "unsafe", "reason": "racecheck: read after write", "time": None, "other_times": []}
    put(tmp_path / "results/monday/run.json", record)
    assert site(tmp_path, tmp_path / "results/monday").returncode == 0
    assert "1 case failed" in pages(tmp_path)["index.html"].text


def test_every_link_leads_to_a_page_of_the_site(made: Path) -> None:
    found = pages(made)
    reached = {"index.html"}
    for name, page in found.items():
        for link in page.all("a"):
            place = urlsplit(link.attributes["href"] or "")
            assert not place.scheme and not place.netloc and not place.path.startswith("/")
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(place.path))) if place.path else name
            assert target in found, (name, target)
            reached.add(target)
            if place.fragment:
                assert any(one.attributes.get("id") == place.fragment for one in found[target].all()), (name, place)
    assert reached == set(found)


def test_two_runs_with_a_case_in_common_are_compared(made: Path) -> None:
    page = pages(made)["compare.html"]
    rows = [[cell.text for cell in row.children] for row in page.all("tbody")[0].children]
    ((new, base, outcome),) = rows
    assert new.startswith("2025-01-02 12:00, bench, ") and new.endswith("results/tuesday/run.json")
    assert base.endswith("results/monday/run.json") and outcome == "Of 2 cases: 1 got faster, 1 cannot be told."
    (pair,) = [found for name, found in pages(made).items() if name.startswith("compare/")]
    assert "results/tuesday/run.json" in pair.text and "results/monday/run.json" in pair.text
    assert "flat-vector" in pair.text and str(made) not in pair.text
    assert "1 change marked" in pages(made)["history.html"].text


def test_only_what_changed_is_written_again(records: Path) -> None:
    before = stamps(records)
    assert site(records).stdout.splitlines()[1] == "8 pages: 0 written"
    assert stamps(records) == before
    put(records / "results/tuesday/sweep.json", kind_records.sweep("predicted"))
    (records / "site/notes.txt").write_text("somebody's own", encoding="utf-8")
    assert site(records).returncode == 0
    after = stamps(records)
    changed = {name for name in before if before[name] != after[name]}
    assert {name.split("-")[0] for name in changed} == {"index.html", "site.json", "runs/results"} and len(changed) == 3
    (records / "site/index.html").write_text("broken", encoding="utf-8")
    (records / "results/monday/run.json").unlink()
    assert site(records).returncode == 0
    names = set(stamps(records))
    assert len(before) - len(names) == 3 - 1, "the page of the run, the comparison and the list of comparisons; a note"
    assert "notes.txt" in names and "compare.html" not in names and "broken" not in pages(records)["index.html"].text


def test_a_bad_record_is_named_and_the_rest_is_made(records: Path) -> None:
    broken = a_run(4)
    broken["cases"][0]["status"] = 7
    put(records / "results/wednesday/run.json", broken)
    (records / "results/half.json").write_text('{"kind": "run"', encoding="utf-8")
    done = site(records)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 2
    assert "half.json" in done.stderr and "wednesday" in done.stderr and "status" in done.stderr
    text = pages(records)["index.html"].text
    assert "Left out" in text and "half.json" in text and "results/wednesday/run.json" in text and str(records) not in text
    assert "results/monday/run.json" in text and "results/other/run.json" in text


def test_nothing_is_written_where_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    done = site(tmp_path)
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1
    (tmp_path / "results/half.json").write_text("{", encoding="utf-8")
    assert site(tmp_path).returncode == 3
    assert not (tmp_path / "site").exists()


def test_a_folder_of_somebody_else_is_left_alone(records: Path) -> None:
    shutil.rmtree(records / "site")
    (records / "site").mkdir()
    for name in ("index.html", "site.json"):
        (records / "site" / name).write_text("[]", encoding="utf-8")
        done = site(records)
        assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and name in done.stderr
        assert [one.name for one in (records / "site").iterdir()] == [name]
        (records / "site" / name).unlink()


def test_a_list_that_was_tampered_with_removes_nothing_else(records: Path) -> None:
    document = json.loads((records / "site/site.json").read_text(encoding="utf-8"))
    document["pages"] |= {"../results/monday/run.json": {}, "/etc/hostname": {}, "runs/../../program": {}, "index.html": 7}
    document["entries"] = {key: 7 for key in document["entries"]}
    put(records / "site/site.json", document)
    assert site(records).returncode == 0
    assert (records / "results/monday/run.json").exists() and (records / "program").exists()


@pytest.mark.parametrize("by", ["kill", "interrupt"])
def test_what_was_made_before_an_end_is_not_made_again(by: str, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is written while pages are being made, and where somebody interrupts it."""
    from convladder_site import site as sites
    from convladder_site import store

    shutil.rmtree(records / "site")
    monkeypatch.setattr(store, "_SECONDS", -1.0 if by == "kill" else 1e9)

    class Killed(BaseException):
        """Nobody catches it."""

    def ended(_: object, __: object) -> bool:
        raise KeyboardInterrupt if by == "interrupt" else Killed

    with monkeypatch.context() as broken:
        broken.setattr(sites._Maker, "_history", ended)  # pylint: disable=protected-access
        if by == "interrupt":
            done = site(records)
            assert (done.returncode, done.stdout) == (130, "") and len(done.stderr.splitlines()) == 1
        else:
            with pytest.raises(Killed):
                site(records)
    assert not (records / "site/index.html").exists() and len(list((records / "site/runs").iterdir())) == 4

    def again(*_: object) -> None:
        raise AssertionError("read and drawn again")

    monkeypatch.setattr(sites, "entry_of", again)
    assert site(records).returncode == 0 and (records / "site/index.html").exists()


def test_two_at_once_make_one_whole_site(made: Path, records: Path) -> None:
    shutil.rmtree(records / "site")
    command = [str(SCRIPTS / "report.py"), "--static", "--program", str(records / "program"), "--site",
               str(records / "site"), str(records / "results")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    said = [one.communicate(timeout=120) for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert sorted(out.splitlines()[1] for out, _ in said) == ["8 pages: 0 written", "8 pages: 9 written"]
    names = {name for name in stamps(records) if name.endswith(".html")}
    assert names == {name for name in stamps(made) if name.endswith(".html")}
    for name in names:
        assert (records / "site" / name).read_bytes() == (made / "site" / name).read_bytes()
    assert not list((records / "site").rglob("*.partial"))


def test_without_the_program_there_is_a_page_for_each_record(records: Path) -> None:
    (records / "program").unlink()
    (records / "results/tuesday/run.json").unlink()
    done = call("report.py", "--static", "--program", records / "program", "--site", records / "site", records / "results")
    assert done.returncode == 0 and "without history and comparisons" in done.stdout
    assert {name.split("/")[0] for name in pages(records)} == {"index.html", "runs"}


def test_a_file_is_no_folder_of_a_site(records: Path) -> None:
    done = call("report.py", "--site", records / "program", records / "results")
    assert done.returncode == 3 and "not a folder" in done.stderr


def test_what_cannot_go_together_is_refused(tmp_path: Path) -> None:
    for more in ("--output", "--base", "--markdown", "--pdf"):
        assert call("report.py", "--site", tmp_path / "site", tmp_path, more, tmp_path / "x").returncode == 2
    assert call("report.py").returncode == 2


needs_chromium = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium (Debian's package chromium)")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, with an empty profile."""
    with Browser(tmp_path_factory.mktemp("chromium") / "profile") as one:
        yield one


POOR = """(() => {
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => { const [r, g, b] = parts(colour).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = one => { for (; one; one = one.parentElement) {
        const found = getComputedStyle(one).backgroundColor;
        if (!(parts(found).length == 4 && parts(found)[3] == 0)) return found; } return 'rgb(255,255,255)'; };
    return [...document.querySelectorAll('p, li, th, td, caption, a, h1, h2, dt, dd, label, select')]
        .filter(one => one.checkVisibility()).map(one => [light(getComputedStyle(one).color), light(ground(one)), one.outerHTML])
        .filter(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5);
})()"""
"""What has less contrast than WCAG asks for."""


@needs_chromium
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_pages_fit_and_nothing_is_fetched(width: int, scheme: str, made: Path, browser: Browser) -> None:
    browser.media(prefers_color_scheme=scheme)
    browser.resize(width)
    for name in pages(made):
        browser.open(made / "site" / name)
        assert browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, name
        for event in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            assert browser.of(event) == [], name
        assert {one["request"]["url"] for one in browser.of("Network.requestWillBeSent")} == {
            (made / "site" / name).resolve().as_uri()}
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        if "/" not in name:
            assert browser.evaluate(POOR) == [], name


@needs_chromium
def test_any_two_runs_are_chosen_with_the_keyboard(made: Path, browser: Browser) -> None:
    browser.resize(1280)
    browser.open(made / "site/compare.html")
    outcome = "document.getElementById('outcome')"
    assert browser.evaluate(f"{outcome}.textContent") == "Of 2 cases: 1 got faster, 1 cannot be told."
    place = browser.evaluate(f"{outcome}.querySelector('a').getAttribute('href')")
    assert (made / "site" / place).is_file()
    browser.evaluate("document.getElementById('base').focus()")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp"):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=38)
    assert "no page here" in browser.evaluate(f"{outcome}.textContent")
    browser.evaluate("for (const [id, at] of [['base', 1], ['new', 2]]) document.getElementById(id).value = at;"
                     "document.getElementById('new').dispatchEvent(new Event('change'))")
    assert browser.evaluate(f"{outcome}.textContent").startswith("The other way around")
    assert all(browser.evaluate("[...document.querySelectorAll('a, select, .table')].map(one => one.tabIndex == 0)"))
