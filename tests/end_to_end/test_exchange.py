"""Records in the formats of others, and files of others as records: by the real program, and by the real readers that are here."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import SCRIPTS, SMALL, assert_refused, cases, record, run

GOOGLE_COMPARE = Path("/usr/share/benchmark/compare.py")
"""Of Debian's libbenchmark-tools."""
REPOSITORY = "--repository=https://github.com/owner/name"
FORMATS = ("bencher", "conbench", "csv", "github-action-benchmark", "google", "junit", "lnt")
"""Those that show times: SARIF has what is wrong, and nothing else."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stages, timed, and one of them counted as well; and the same with other samples."""
    folder = tmp_path_factory.mktemp("measured")
    done = run("run", "--device", "cpu,simulated", "--variant", "memory-accumulation,flat-vector,shared-memory", *SMALL,
               "--batch", "2", "--output", folder)
    assert (done.returncode, done.stderr) == (0, "")
    for name, seed in (("base.json", 1), ("new.json", 2)):
        (folder / name).write_text(json.dumps(resampled(record(folder), seed)), encoding="utf-8")
    return folder


def resampled(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Samples around the medians; the second time flat-vector takes half as long again."""
    document = copy.deepcopy(document)
    draw = random.Random(seed)
    for one in document["cases"]:
        if one["time"]:
            centre = one["time"]["median"] * (1.5 if seed == 2 and "flat-vector" in one["id"] else 1)
            one["time"]["samples"] = [centre * draw.lognormvariate(0, 0.001) for _ in range(25)]
            one["time"]["median"], one["time"]["interval"] = sorted(one["time"]["samples"])[12], None
    return document


def exported(path: Path, to: str, *arguments: object) -> str:
    done = run("export", path, "--to", to, REPOSITORY, *arguments)
    assert done.returncode == 0, done
    return done.stdout


def google_file(path: Path, seed: int, slower: float = 1) -> Path:
    """As Google Benchmark writes it, with samples that no machine disturbs."""
    draw = random.Random(seed)
    benchmarks = [{"name": name, "run_name": name, "run_type": "iteration", "repetitions": 25, "repetition_index": index,
                   "threads": 1, "iterations": 10, "real_time": time * draw.lognormvariate(0, 0.001), "cpu_time": 1,
                   "time_unit": "us"}
                  for index in range(25) for name, time in (("BM_<a>,\"b\"", 3 * slower), ("BM_c/8", 5), ("BM_d", 7))]
    context = {"date": f"2026-01-{seed:02}T12:00:00+00:00", "host_name": "box", "executable": "./bench", "num_cpus": 2,
               "caches": [], "library_build_type": "release"}
    text = json.dumps({"context": context, "benchmarks": benchmarks}).replace('"cpu_time": 1,', '"cpu_time": NaN,', 1)
    path.write_bytes(b"\xef\xbb\xbf" + text.replace(", ", ",\r\n").encode())
    return path


@pytest.mark.parametrize("to", FORMATS)
def test_every_format_has_every_time_under_its_own_name(measured: Path, to: str) -> None:
    text = exported(measured / "run.json", to)
    for name, one in cases(record(measured)).items():
        if one["time"]:
            shown = "flat-vector" if to == "conbench" and "flat-vector" in name else name
            assert shown in text
    assert exported(measured / "run.json", to) == text, "the same record gives the same text"
    if to == "junit":
        ElementTree.fromstring(text)
    elif to != "csv":
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_counters_are_no_latencies(measured: Path) -> None:
    document = json.loads(exported(measured / "run.json", "bencher"))
    counted = document["simulated/shared-memory/shape.C1H8W8M2K3/2"]
    assert "latency" not in counted
    assert all(name.startswith(("counted-", "modelled-", "predicted-")) for name in counted)
    assert all(len(name) <= 64 for measures in document.values() for name in measures)


def test_what_a_format_has_no_place_for_is_named(measured: Path) -> None:
    done = run("export", measured / "run.json", "--to", "lnt")
    assert done.returncode == 0 and "1 case left out, simulated/shared-memory/" in done.stderr


def test_a_failed_case_is_an_error_or_is_named(measured: Path, tmp_path: Path) -> None:
    document = record(measured)
    one = next(one for one in document["cases"] if one["time"])
    one.update(status="crashed", reason="ended by signal 11", time=None, other_times=[])
    broken = tmp_path / "run.json"
    broken.write_text(json.dumps(document), encoding="utf-8")
    done = run("export", broken, "--to", "bencher")
    assert done.returncode == 2 and f"{one['id']}: crashed: ended by signal 11" in done.stderr
    assert one["id"] not in done.stdout
    errors = [each for each in json.loads(exported(broken, "conbench")) if "error" in each]
    assert [each["error"]["status"] for each in errors] == ["crashed"]


def test_with_a_base_the_verdicts_are_those_of_compare(measured: Path) -> None:
    compared = json.loads(run("compare", measured / "base.json", measured / "new.json", "--format", "json").stdout)
    expected = {one["id"]: one["verdict"] for one in compared["cases"]}
    assert "regressed" in expected.values() or "inconclusive" in expected.values()
    table = csv.DictReader(io.StringIO(exported(measured / "new.json", "csv", "--base", measured / "base.json"), newline=""))
    assert {row["case"]: row["verdict"] for row in table} == expected


def test_a_comparison_and_a_duel_can_be_exported(measured: Path, tmp_path: Path) -> None:
    done = run("compare", measured / "base.json", measured / "new.json", "--format", "json", "--output", tmp_path / "c.json")
    assert done.returncode in (0, 1, 2)
    assert '"change"' in exported(tmp_path / "c.json", "bencher")


def test_the_table_has_all_samples(measured: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(measured / "run.json", "csv"), newline="")))
    for name, one in cases(record(measured)).items():
        if one["time"]:
            assert [float(row["value"]) for row in rows if row["case"] == name and row["measure"] == "latency"
                    and row["sample"]] == one["time"]["samples"]


@pytest.mark.skipif(not GOOGLE_COMPARE.exists(), reason="needs compare.py of libbenchmark-tools")
def test_google_benchmarks_own_compare_reads_it(measured: Path, tmp_path: Path) -> None:
    for name in ("base", "new"):
        (tmp_path / f"{name}.json").write_text(exported(measured / f"{name}.json", "google"), encoding="utf-8")
    done = subprocess.run([sys.executable, GOOGLE_COMPARE, "--no-color", "benchmarks", tmp_path / "base.json",
                           tmp_path / "new.json"], capture_output=True, text=True, check=False, cwd=GOOGLE_COMPARE.parent)
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip("compare.py needs scipy")
    assert done.returncode == 0, done.stderr
    assert "cpu/flat-vector/shape.C1H8W8M2K3/2_pvalue" in done.stdout


def test_an_export_to_google_comes_back_the_same(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(exported(measured / "run.json", "google"), encoding="utf-8")
    assert run("import", tmp_path / "g.json", "--output", tmp_path).returncode == 0
    back = {one["variant"]: one["time"]["samples"] for one in record(tmp_path)["cases"]}
    for name, one in cases(record(measured)).items():
        if one["time"]:
            assert back[name] == pytest.approx(one["time"]["samples"], rel=1e-9)


def test_their_files_are_compared_as_they_are(tmp_path: Path) -> None:
    base, new = google_file(tmp_path / "a.json", 1), google_file(tmp_path / "b.json", 2, slower=1.2)
    done = run("compare", base, new, "--format", "json")
    assert done.returncode == 1, done
    verdicts = {one["id"]: one["verdict"] for one in json.loads(done.stdout)["cases"]}
    assert verdicts == {"cpu/BM_<a>,\"b\"/google-benchmark.real-time/1": "regressed",
                        "cpu/BM_c/8/google-benchmark.real-time/1": "pass",
                        "cpu/BM_d/google-benchmark.real-time/1": "pass"}
    assert "not verified here" in done.stdout


def test_their_files_are_a_history(tmp_path: Path) -> None:
    files = [google_file(tmp_path / f"{day}.json", day, slower=1.2 if day > 6 else 1) for day in range(1, 13)]
    done = run("history", *files, "--no-index", "--anchor", "BM_d", "--format", "json")
    assert done.returncode == 0, done
    marked = [series["variant"] for series in json.loads(done.stdout)["series"]
              for change in series["changes"] if change["marked"]]
    assert marked == ['BM_<a>,"b"']


def test_an_imported_run_is_valid_and_says_so(tmp_path: Path) -> None:
    done = run("import", google_file(tmp_path / "a.json", 1), "--output", tmp_path, "--commit", "0123abc",
               "--date", "2026-02-01T00:00:00+01:00")
    assert done.returncode == 0, done
    document = record(tmp_path)
    assert document["context"]["imported"]["from"] == "Google Benchmark"
    assert (document["context"]["date"], document["context"]["program"]["commit"]) == ("2026-01-31T23:00:00Z", "0123abc")
    assert all(one["verification"] is None for one in document["cases"])
    again = run("import", tmp_path / "a.json", "--output", tmp_path)
    assert again.returncode == 3 and "run.json" in again.stderr
    assert_refused(run("explain", tmp_path / "a.json"), "which of its benchmarks builds on which")
    assert_refused(run("import", tmp_path / "a.json", "--date", "today"), "--date today")


def test_what_nobody_knows_is_refused_in_one_line(tmp_path: Path) -> None:
    for text in ('{"benchmarks": [{"name": "a", "stats": {}}]}', "{}", "[NaN]", "", '{"benchmarks": [], "context": {"num_cpus": 1}}',
                 '{"benchmarks": [{"name": "a", "run_type": "iteration", "real_time": "1"}]}'):
        (tmp_path / "x.json").write_text(text, encoding="utf-8")
        assert_refused(run("import", tmp_path / "x.json"), "x.json")
        assert_refused(run("export", tmp_path / "x.json", "--to", "csv"), "x.json")


def test_a_report_shows_their_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    done = run("report", google_file(tmp_path / "a.json", 1), "--output", tmp_path / "a.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "BM_&lt;a&gt;,&#34;b&#34;" in page and "<a>," not in page
    assert "Nothing was verified here" in page
    (tmp_path / "bad.json").write_text('{"benchmarks": [{"name": 1, "run_type": "iteration"}]}', encoding="utf-8")
    assert_refused(run("report", tmp_path / "bad.json"), "bad.json: benchmarks[0]: name")


def test_charts_draw_an_imported_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("import", google_file(tmp_path / "a.json", 1), "--output", tmp_path)
    done = subprocess.run(["/usr/bin/python3", SCRIPTS / "charts.py", tmp_path / "run.json", "--format", "svg"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "times.svg").exists() and "c/8 | ok" in (tmp_path / "table.md").read_text(encoding="utf-8")
