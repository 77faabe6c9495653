"""Alarms of a history that are measured again. The runs are made from a real one; what is measured again is real."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any, Callable

import pytest

from commit_repositories import MISSING, commit, git, small_repository
from conftest import PROGRAM, SMALL, assert_refused, record, run

ALARMED = "cpu/flat-vector/shape.C1H8W8M2K3/2"
CHANGED, RUNS = 8, 16

History = Callable[..., Path]


@pytest.fixture(scope="module", name="real")
def _real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A real run."""
    folder = tmp_path_factory.mktemp("real")
    done = run("run", "--device", "cpu", "--variant", "memory-accumulation,flat-vector", *SMALL, "--batch", "2", "--output",
               folder)
    assert done.returncode == 0, done
    return record(folder)


@pytest.fixture(name="history")
def _history(tmp_path: Path, real: dict[str, Any]) -> History:
    """Writes runs that scatter by 1 %, in which a case takes `factor` as long from run CHANGED on."""
    def write(before: str, after: str, factor: float = 1.1, dirty: bool = False) -> Path:
        for number in range(RUNS):
            document = copy.deepcopy(real)
            draw = random.Random(number)
            document["context"]["date"] = f"2026-02-{1 + number:02d}T08:00:00Z"
            document["context"]["program"].update(commit=before if number < CHANGED else after, dirty=dirty)
            for one in document["cases"]:
                slower = factor if one["id"] == ALARMED and number >= CHANGED else 1
                one["time"]["samples"] = [one["time"]["median"] * slower * draw.lognormvariate(0, 0.01) for _ in range(9)]
            place = tmp_path / "runs" / str(number)
            place.mkdir(parents=True)
            (place / "run.json").write_text(json.dumps(document), encoding="utf-8")
        return tmp_path / "runs"
    return write


def confirm(folder: Path, *words: object, **options: Any) -> tuple[int, dict[str, Any]]:
    """The exit code, and the one alarm."""
    done = run("history", folder, "--confirm", "--suspect", "0", *words, "--format", "json", **options)
    assert done.stdout, done
    confirmed = json.loads(done.stdout)["confirmed"]
    assert confirmed["alpha"] == 0.01
    one, = confirmed["alarms"]
    assert one["id"] == ALARMED and one["marked"] == pytest.approx(0.1 if one["slower"] else -0.1, abs=0.02)
    return done.returncode, one


def test_an_alarm_that_is_not_so_is_not_confirmed(tmp_path: Path, history: History) -> None:
    """The runs say 10 % slower; both builds are the same program."""
    folder = history("a" * 40, "b" * 40)
    other = Path(shutil.copy(PROGRAM, tmp_path / "other"))
    code, one = confirm(folder, "--base", other)
    assert one["outcome"] in ("not confirmed", "cannot be told") and one["slower"], one
    assert code == (0 if one["outcome"] == "not confirmed" else 2)
    if one["outcome"] == "not confirmed":
        assert one["measured_again"]["high"] < 0.05
    text = run("history", folder, "--confirm", "--base", other)
    assert "alarms, measured again" in text.stdout and "in at most 1% of histories" in " ".join(text.stdout.split())
    assert all(len(line) <= 100 for line in text.stdout.splitlines())


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_the_builds_are_those_of_the_runs(tmp_path: Path, history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = small_repository(tmp_path / "repository")
    first = git(repository, "rev-parse", "HEAD")
    second = commit(repository, "The second")
    folder = history(first, second, factor=0.9)
    code, one = confirm(folder, "--repository", repository)
    assert not one["slower"] and one["outcome"] != "confirmed" and code in (0, 2), one
    assert (one["base_commit"], one["new_commit"]) == (first, second)
    built = {path.parent.name[:40] for path in (tmp_path / "cache/convladder/builds").glob("*/convladder")}
    assert built == {first, second}
    assert_refused(run("history", folder, "--confirm", cwd=tmp_path), "no repository to take commits from")


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_what_cannot_be_built_again_cannot_be_told(tmp_path: Path, history: History) -> None:
    repository = small_repository(tmp_path / "repository")
    first = git(repository, "rev-parse", "HEAD")
    for before, after, dirty, reason in ((first, first, False, "of the same commit"), (first, first, True, "uncommitted changes"),
                                         ("a" * 40, first, False, "no such commit"), ("unknown", first, False, "does not say")):
        folder = history(before, after, dirty=dirty)
        code, one = confirm(folder, "--repository", repository)
        assert (code, one["outcome"]) == (2, "cannot be told") and reason in one["reason"], one
        shutil.rmtree(folder)


def test_without_an_alarm_nothing_is_measured(history: History) -> None:
    folder = history("a" * 40, "b" * 40, factor=1)
    done = run("history", folder, "--confirm", "--suspect", "0")
    assert done.returncode == 0 and "no alarm: nothing measured again" in done.stdout


def test_what_is_suspected_is_measured_again(tmp_path: Path, history: History) -> None:
    """Nothing is marked; both builds are the same program."""
    folder = history("a" * 40, "b" * 40, factor=1)
    other = Path(shutil.copy(PROGRAM, tmp_path / "other"))
    done = run("history", folder, "--confirm", "--suspect", "1", "--base", other, "--format", "json")
    document = json.loads(done.stdout)
    series, = (one for one in document["series"] if one["id"] == ALARMED)
    assert done.returncode == 0 and series["p"] > 0.05 and not series["changes"], done
    told = document["confirmed"]
    if told["alarms"]:
        one, = told["alarms"]
        assert (one["outcome"], one["marked"], one["p"]) == ("not confirmed", None, series["p"]), one
    else:
        assert any("1 series suspected, and cannot be told" in note for note in told["notes"]), told
    text = run("history", folder, "--confirm", "--suspect", "1")
    assert text.returncode == 0 and "1 series suspected, and cannot be told" in " ".join(text.stdout.split())


def test_bad_options_are_one_line(tmp_path: Path, history: History) -> None:
    folder = history("a" * 40, "b" * 40)
    assert_refused(run("history", folder, "--base", PROGRAM), "--base", "--confirm")
    assert_refused(run("history", folder, "--confirm", "--new", PROGRAM), "--new", "--base")
    assert_refused(run("history", folder, "--suspect", "0.5"), "--suspect", "--confirm")
    assert_refused(run("history", folder, "--confirm", "--suspect", "2"), "--suspect")
    assert_refused(run("history", folder, "--confirm", "--repository", tmp_path / "none"), "no such folder")
    assert_refused(run("history", folder, "--selftest"), "--selftest", "FOLDER")
    assert_refused(run("history", folder, "--levels", "5"), "--levels", "--selftest")
    assert run("history", folder, "--confirm", "--base", tmp_path / "none").returncode == 2, "it is listed"


def test_selftest_counts_alarms(tmp_path: Path) -> None:
    done = run("history", "--selftest", "--levels", "200", "--runs", "1", "--output", tmp_path / "selftest.json")
    document = json.loads((tmp_path / "selftest.json").read_text(encoding="utf-8"))
    level, = document["levels"]
    one, = document["histories"]
    assert (level["histories"], level["marked"], one["slower"], len(one["ratios"])) == (1, 1, True, 24), done
    assert level["confirmed"] == 1 or one["outcome"] == "cannot be told"
    assert done.returncode == 0
