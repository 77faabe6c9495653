"""`convladder report` as a user calls it: of real records, against a base, and where something is missing."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY, assert_refused, cases, run
from test_compare import SLOWER, real, resampled, scaled  # pylint: disable=unused-import  # a fixture

sys.path.append(str(REPOSITORY / "tests/scripts"))

from html_page import Element, cells, parsed  # noqa: E402

GONE = "cpu/local-accumulation/shape.C1H8W8M2K3/2"
COUNTED = "simulated/shared-memory/shape.C1H8W8M2K3/2"
COUNTER = "smsp__inst_executed.sum"
CHROMIUM = Path("/usr/bin/chromium")

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def changed(document: dict[str, Any]) -> dict[str, Any]:
    """Measured again with one case 10 % slower, one case gone, one that is new, and one that executes more."""
    new = scaled(resampled(document, seed=2), 1.10)
    new["cases"] = [one for one in new["cases"] if one["id"] != GONE]
    new["planned"].remove(GONE)
    cases(new)[COUNTED]["counters"]["totals"][COUNTER] *= 2
    return new


@pytest.fixture(scope="module")
def folder(real: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """The report of a changed run against its base, where also a case of the base is new."""
    path = tmp_path_factory.mktemp("report")
    base, new = copy.deepcopy(real), changed(real)
    added = next(one["id"] for one in real["cases"] if one["id"].startswith("cpu/memory-accumulation/"))
    base["cases"] = [one for one in base["cases"] if one["id"] != added]
    base["planned"].remove(added)
    (path / "base.json").write_text(json.dumps(base), encoding="utf-8")
    (path / "run.json").write_text(json.dumps(new), encoding="utf-8")
    (path / "added").write_text(added, encoding="utf-8")
    done = run("report", "run.json", "--base", "base.json", "--format", "markdown", "--output", "markdown", cwd=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].endswith("report.html") and (path / "markdown/report.md").is_file()
    shutil.copy(path / "markdown/report.html", path)
    return path


@pytest.fixture(scope="module")
def page(folder: Path) -> Element:
    """The page, every element of it closed."""
    return parsed((folder / "report.html").read_text(encoding="utf-8"))


def section(page: Element, name: str) -> Element:
    """The content below a heading."""
    return next(one for one in page.all("section") if one.attributes.get("id") == name)


def test_the_summary_names_what_regressed_and_by_how_much(page: Element, folder: Path) -> None:
    text = section(page, "summary").text
    compared = json.loads(run("compare", folder / "base.json", folder / "run.json", "--format", "json").stdout)
    one = next(each for each in compared["cases"] if each["id"] == SLOWER)
    assert f"Against the base: {compared['counts']['regressed']} regressed" in text
    assert f"{SLOWER}, {100 * one['change']['estimate']:+.1f} %" in text
    assert f"exit code {compared['exit_code']}" in text and f"{COUNTED}, {COUNTER} from " in text


def test_every_change_stands_in_the_forest_and_in_the_map(page: Element) -> None:
    forest, verdicts = section(page, "changes-forest"), section(page, "changes-verdicts")
    texts = [one.text for one in forest.all("svg")[0].all("text")]
    assert {"tau", "Delta", "▲ regressed"} <= set(texts)
    rows = {row[0]: row for row in cells(forest.all("table")[0])}
    assert rows[SLOWER][1] == "regressed" and GONE not in rows
    assert rows[SLOWER][5].split(" (")[0] in texts
    signs = [one.text.split()[0] for one in verdicts.all("svg")[0].all("text") if one.text]
    assert signs.count("▲") == 3 and "?" in signs and "+" in signs  # the slower one, the counted one, the legend
    ids = [row[0] for row in cells(verdicts.all("table")[0])]
    assert SLOWER in ids and GONE in ids and COUNTED in ids


def test_causes_are_told_by_counters(page: Element) -> None:
    rows = {row[0]: row for row in cells(section(page, "changes-causes").all("table")[0])}
    assert rows[COUNTED][1] == "regressed" and rows[COUNTED][4].startswith(f"{COUNTER} from ")
    old, new = rows[COUNTED][4].split(" from ")[1].split(" to ")
    assert float(new) == 2 * float(old)


def test_missing_and_new_cases_are_listed(page: Element, folder: Path) -> None:
    rows = {row[0]: row for row in cells(section(page, "changes-unmatched").all("table")[0])}
    assert rows["missing"][4] == GONE
    assert rows["new"][4] == (folder / "added").read_text(encoding="utf-8")


def test_a_base_that_cannot_be_compared_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    output = ("--output", tmp_path / "x.html")
    (tmp_path / "half.json").write_text((folder / "base.json").read_text(encoding="utf-8")[:1000], encoding="utf-8")
    assert_refused(run("report", folder / "run.json", "--base", tmp_path / "half.json", *output), "half.json")
    assert_refused(run("report", folder / "run.json", "--base", tmp_path / "none.json", *output), "none.json")
    assert not (tmp_path / "x.html").exists()
    assert_refused(run("report"), "RECORD.json")
    assert_refused(run("report", tmp_path / "half.json"), "report: ", "half.json")


def test_a_site_has_both_runs_their_comparison_and_what_compare_says(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("base", "run"):
        (tmp_path / "results" / name).mkdir(parents=True)
        shutil.copy(folder / f"{name}.json", tmp_path / "results" / name / "run.json")
    done = run("report", "--site", site, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == str(site / "index.html")
    (pair,) = (site / "compare").iterdir()
    text = parsed(pair.read_text(encoding="utf-8")).text
    compared = json.loads(run("compare", folder / "base.json", folder / "run.json", "--format", "json").stdout)
    assert f"{compared['counts']['regressed']} got slower" in text and str(tmp_path) not in text
    assert len(list((site / "runs").iterdir())) == 2
    assert run("report", "--site", site, tmp_path / "results").stdout.splitlines()[1].endswith(": 0 written")
    (tmp_path / "results/half.json").write_text("{", encoding="utf-8")
    done = run("report", "--site", site, tmp_path / "results")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "half.json" in done.stderr
    for wrong in (("--output", "x"), ("--base", "x"), ("--format", "pdf")):
        assert_refused(run("report", "--site", site, tmp_path / "results", *wrong), "--site")
    assert_refused(run("report", "--site", tmp_path / "none", folder / "nothing"), "nothing")
    assert not (tmp_path / "none").exists()


def test_what_python_lacks_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    record = folder / "run.json"
    assert_refused(run("report", record, env=os.environ | {"PYTHON": "/no/python"}), "/no/python", "matplotlib")
    for module in ("jinja2", "matplotlib"):
        (tmp_path / module).mkdir()
        (tmp_path / module / f"{module}.py").write_text(
            f"raise ModuleNotFoundError('none', name='{module}')\n", encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(tmp_path / module)}
        assert_refused(run("report", record, "--output", tmp_path / "x.html", env=environment),
                       f"missing Python module {module}", "python3-jinja2")


def test_the_scripts_are_found_beside_the_program(folder: Path, tmp_path: Path) -> None:
    """As in a bundle; and a program without them says so."""
    program = tmp_path / "convladder"
    shutil.copy(PROGRAM, program)
    assert_refused(run("report", folder / "run.json", program=program), "scripts/report.py")
    shutil.copytree(REPOSITORY / "scripts", tmp_path / "scripts")
    done = run("report", folder / "run.json", "--output", tmp_path / "there/x.html", program=program)
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "there/x.html").stat().st_size > 100000


def test_a_pdf_needs_chromium(folder: Path, tmp_path: Path) -> None:
    arguments = ("report", folder / "run.json", "--format", "pdf", "--output", tmp_path)
    done = run(*arguments, env=os.environ | {"CHROMIUM": "/no/chromium"})
    assert_refused(done, "Chromium was not found", "report.html")
    assert (tmp_path / "report.html").is_file() and not (tmp_path / "report.pdf").exists()
    if not CHROMIUM.exists():
        pytest.skip("no Chromium (Debian's package chromium)")
    assert run(*arguments).returncode == 0
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF") and len(content) > 50000
